// Package trial has pairs of a Deployment and a Service made in a real Kubernetes in several
// ways, each in a cluster of its own, and says what that took:
//
//	cluster -> controller, caches filled -> AppServices -> all Ready -> idle -> steady -> restart
//
// The ways are appsvc-controller as it is shipped, kro with a ResourceGraphDefinition of
// the same pair, and `kubectl apply --server-side` of what the AppServices render to. They
// take turns, so that what disturbs the machine hits all of them. That the pairs are there,
// and are what an AppService renders to, is checked each time.
//
// Deployments have no replicas: it is about objects, not about pods.
package trial
