// Package apply makes a cluster hold a set of objects, by server-side apply, and
// nothing that it need not write.
//
//	desired --> own it? --> cache: as desired? -- yes --> unchanged, no request
//	                              | no
//	                              v
//	            uncached GET --> whose is it? --> differs? --> migrate --> hand over --> apply
//	                                                                                      |
//	                     typed errors, Result <-- prune <-- every apply succeeded <-------+
//
// # What is promised
//
//  1. An object that [diff.Checker] finds as desired costs no request. What the API server
//     changed by itself after an apply is remembered, and not applied again and again.
//  2. Whether a name is taken, and by whom, is decided by an uncached GET, never by a
//     conflict or by a cache that may be filtered or late. An object that is not
//     controlled by the owner is refused, unless [Set].Adopt is given; one that somebody
//     else controls is always refused. What is written afterwards names the UID that was
//     seen, so that it can hit no other object.
//  3. Fields that were written in other ways than server-side apply (by a create-only
//     operator, by kubectl apply on the client's side) are made ours before the first
//     apply. Without that, nobody would ever remove them.
//  4. A number of replicas that is no longer ours to say stays what it is.
//  5. Nothing is pruned unless everything was applied; and only what has our label, is
//     controlled by the owner's UID, is of a known kind and is not desired.
//  6. Nothing is deleted in order to be made anew, unless [Set].Recreate is given and the
//     API server refused a field that cannot be changed.
//  7. Who keeps changing a field back wins after five times in ten minutes: it is reported
//     and left alone until the spec changes.
//  8. Errors are of type [Error]: what to do about them is in a field, not in the text, and
//     the text holds nothing that changes from one attempt to the next.
//
// # What it never does
//
// It writes no Secret, nothing in another namespace than the owner's and nothing that has
// no namespace. It starts no goroutine and waits for nothing but the API server.
package apply
