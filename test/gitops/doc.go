// Package gitops holds the tests of appsvc-render as a KRM function under the real
// programs: kustomize and kpt.
//
//	kustomize, kpt --> recorder --> appsvc-render
//
// kustomize is built from tools/go.mod, kpt from build/kpt/go.mod, once for each
// version, into a folder of the user's cache; appsvc-render is built from this
// repository. Where a program comes from, and what it sends, is nobody's memory:
// testdata/stdin holds the ResourceLists that the two send, as a recorder between
// them and the function saw them, and testdata/stdout the answers. `go test
// ./test/gitops -update` writes all golden files anew.
//
// There is no code outside of tests.
package gitops
