// Package packaging holds the tests of what is installed and given away: the manifests
// of config/, the images, the release archives, the bundle for the Operator Lifecycle
// Manager, the metrics' dashboard and alerts.
//
//	make --> kustomize, image, archive, bundle --> what a user gets --> the tests
//
// The tests call make, as a user does, with folders of their own to write to. What reads
// the results in earnest judges them here: crane the images, by way of a registry, and
// in the module of the folder referee OLM the bundle and Prometheus the queries.
//
// There is no code outside of tests.
package packaging
