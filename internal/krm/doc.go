// Package krm makes appsvc-render a KRM function: it reads a ResourceList, renders
// the AppServices in it, and writes the ResourceList back.
//
//	ResourceList -> mode -> render -> upsert children -> prune (kpt) -> ResourceList
//
// The rules, each of which a real orchestrator taught (kustomize 5.8, kpt 1.0):
//
//  1. A functionConfig that is an AppService makes it a generator: the children of
//     that one come out, and its copy among the items, a work-around of kustomize
//     (kubernetes-sigs/kustomize#5502), is left out, unless it has a file. With any
//     other functionConfig, or none, it is a transformer: every AppService among the
//     items is rendered, and its children follow it.
//  2. A transformer keeps the AppService, marked config.kubernetes.io/local-config,
//     so that kustomize can still follow references to its name and no tool applies
//     it; spec.keepSources: false drops it. One that says "false" itself is left
//     as it is.
//  3. Everything else keeps its value, comments and place, things without kind or
//     name too (kpt hands over kustomization.yaml).
//  4. A child that is there already is replaced where it stands and keeps its path;
//     one that is the same already is not touched. So a second run changes nothing
//     (kptdev/kpt#938). One that somebody else made is an error, unless the
//     AppService has the adopt annotation.
//  5. Where items carry paths (kpt), a new child gets a file beside its AppService,
//     and a transformer removes children whose AppService is gone, unless it drops
//     AppServices itself. Under kustomize neither happens: there an item is one of a
//     single build.
//  6. Faults go to the results and, a line each, to standard error, and the exit
//     code is 1: kustomize shows no results, and both take an error with exit code
//     0 for success. The items written are then those that were read.
package krm
