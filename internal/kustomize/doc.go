// Package kustomize builds a kustomization in process, from local files only.
//
//	folder --> tree (read and checked) --> view (a file system) --> krusty --> []Object
//
// [Build] gives what `kustomize build` prints for the folder, in the same order,
// with these additions:
//
//   - images, replicas and name references reach an AppService, in every layer of
//     the build, although nobody wrote `configurations` for it. A field that any
//     layer declares otherwise is left to that declaration.
//
//   - Each object comes with the file that it was declared in.
//
//   - An AppService that is marked local-config is built like any other: the mark
//     keeps it from the cluster, and what is wanted here is what it renders to.
//
//   - An AppService that a function of the build has rendered, and left there for local
//     use, is left out: what it renders to is there.
//
// What it never does: open a connection or write a file and, unless [Options] say so,
// run a process or read a file that lies outside. kustomize would, for a remote base,
// an http path, a helm chart or a plugin, so every kustomization file is checked
// before kustomize sees it, and all that is refused is reported at once as [Faults]:
// with file, line, field and what to do instead. The checks err on the side of
// refusing; what kustomize is given is what was checked, not what is on the disk by
// then. What a function that is run does is its own.
//
// kustomize itself prints warnings about deprecated fields to standard error, which
// cannot be turned off.
package kustomize
