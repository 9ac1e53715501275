// Package referee holds pkg/diff to the word of a real API server.
//
//	seed --> objects --> applied --> edited by others --> wanted otherwise --> judged
//
// A case is drawn from its seed alone. Its objects are applied as the controller would
// apply them; then others edit them, each by the kind of request and under the name that
// kubectl, the controllers of Kubernetes and other appliers have. Then what is wanted may
// change, too. For each object pkg/diff says whether a server-side apply would write, what
// would be stored and what would be refused, and the API server is asked by dry-run.
//
// The referee believes nothing that pkg/diff says of types, keys or defaults: it compares
// answers of the API server with each other. Whether the content that was predicted is
// right is asked by a dry-run update that holds it, whose defaults are the API server's.
package referee
