// The modules whose CustomResourceDefinitions a cluster can be given, each read
// out of the module itself. The tools are never built: they are what keeps
// `go mod tidy` from dropping the modules.
module kudevops.io/appsvc/test/controlplane/manifests

go 1.26.0

tool (
	github.com/prometheus-operator/prometheus-operator/example/alertmanager-webhook
	sigs.k8s.io/gateway-api/wasm
)

require (
	github.com/prometheus-operator/prometheus-operator v0.85.0 // indirect
	sigs.k8s.io/gateway-api v1.6.3 // indirect
)
