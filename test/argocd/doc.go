// Package argocd tests config/argocd with the real Argo CD: its config management
// plugin server, driven through its own client and through the repo-server's code, and
// its code that judges health and differences.
//
//	config/argocd/plugin.yaml -> argocd-cmp-server -> appsvc-render
//	                                   ^ gRPC over a socket
//	              Argo CD's client, or its repo-server's GenerateManifests
//
// The version of Argo CD is the one in go.mod and stands nowhere else. This is a module
// of its own because Argo CD pins versions of Kubernetes' libraries that differ from
// those of the main module; so nothing of the main module is imported here, and
// appsvc-render is run as the program that it is in the sidecar.
//
// argocd-cmp-server is built by the go command from cmd/argocd-cmp-server. Its packages
// are those that the tests import too, so that it takes little more than to link it,
// once: the go command keeps it in its build cache.
//
// Tests that stand for a public report name its row in the table of reports, as
// "row 15: argo-cd#24004".
package argocd
