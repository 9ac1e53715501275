// Package render turns an AppService into the Kubernetes objects that it stands
// for.
//
//	AppService -> validate -> resolve ports, labels, defaults of the profile -> objects -> patches
//
// It is pure: no I/O, no clock, no environment, no client, no state. The same
// AppService and Options give the same objects on any machine, in any order, at
// any concurrency, which is what lets the command line, a KRM function, a golden
// test and the controller agree.
//
// # What is promised of the objects
//
//  1. Only what was meant is written: never null, an empty string, list or map,
//     status or a creation timestamp. A server-side apply of the object owns no
//     field that nobody asked for.
//  2. What the API server would default inside a list or map that is replaced as
//     a whole is written out (fieldRef.apiVersion, resourceFieldRef.divisor), and
//     so are the keys of keyed lists (a port's protocol).
//  3. Members of a union come together from the first apply on: strategy.type
//     with rollingUpdate. A later change of the type would else be refused, as the
//     server's own defaults belong to nobody (kubernetes/kubernetes#24198).
//     serviceAccountName is always written: once it was, leaving it out changes
//     nothing, because its deprecated alias brings it back
//     (kubernetes/kubernetes#108208).
//  4. Quantities are canonical; lists whose order carries no meaning are sorted,
//     the others keep the author's order.
//  5. References to other objects (ConfigMaps, Secrets) pass through untouched, so
//     that kustomize can still follow them.
//  6. The objects of one AppService come in the order in which they are applied.
//
// The values inside are plain JSON values: map[string]any, []any, string, int64,
// float64 and bool. They share no memory with the AppService or with each other.
//
// # What it never does
//
// It never guesses: a name that is too long is refused, not cut; a target port
// that nothing defines is an error, not 0. All faults of an AppService are
// reported at once, each with its field path.
package render
