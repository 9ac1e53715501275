package render

import "kudevops.io/appsvc/api/v1alpha1"

// defaults are what a profile decides for an AppService that does not say.
//
// A profile is frozen once it was released: a better default goes into a new
// profile, which an AppService chooses by name. To add one, add a constant to
// api/v1alpha1, a case to defaultsOf and golden cases; the cases of the older
// profiles must not change.
type defaults struct {
	// maxSurge and maxUnavailable of a rolling update.
	maxSurge, maxUnavailable string
	// serviceAccountName of the pods.
	serviceAccountName string
}

// defaultsOf gives the defaults of a profile that validation has accepted. An
// absent profile means v1, for ever.
func defaultsOf(profile v1alpha1.Profile) defaults {
	switch profile {
	default: // "" and v1
		return defaults{
			// What the API server defaults to, written out: rule 3 of the package.
			maxSurge:           "25%",
			maxUnavailable:     "25%",
			serviceAccountName: "default",
		}
	}
}

// profiles lists the profiles that exist, for the text of an error.
func profiles() []v1alpha1.Profile { return []v1alpha1.Profile{v1alpha1.ProfileV1} }
