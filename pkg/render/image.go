package render

import (
	"strings"

	corev1 "k8s.io/api/core/v1"
)

// pullPolicy is the policy that the kubelet's own rule gives an image when none
// is asked for: Always when it names neither tag nor digest, or the tag latest, a
// digest beside it or not.
// It has to be written, because the API server applies that rule once, when the
// Deployment is made, and not again when the image changes.
func pullPolicy(image string) corev1.PullPolicy {
	image, _, digested := strings.Cut(image, "@")
	// A colon before the last slash belongs to the port of a registry.
	name := image[strings.LastIndexByte(image, '/')+1:]
	_, tag, tagged := strings.Cut(name, ":")
	if tag == "latest" || (!tagged && !digested) {
		return corev1.PullAlways
	}
	return corev1.PullIfNotPresent
}
