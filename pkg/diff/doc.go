// Package diff says exactly what differs between Kubernetes objects, who owns it and
// what it will do.
//
//	desired ---\                                   /--> text, unified, JSON, Markdown
//	            > Checker.Changed: write or not   /
//	live ------/                                 /
//	            > Diff: ChangeSet --> Report ---<
//	tree A ----/                                 \
//	tree B ---/                                   \--> exit code, golden tests
//
// It answers two questions. One is a controller's: would the API server write anything
// if desired were applied over live? [Checker] answers it from a cached object, in
// microseconds and without a request. The other is a person's: what differs, who owns it,
// what restarts? [Diff] answers it for two trees of rendered objects and for desired
// objects beside a cluster's.
//
// # What is promised
//
//  1. It works on plain JSON values (map[string]any, []any, string, int64, float64, bool)
//     of any kind. Of the kinds that Kubernetes ships it knows how lists are keyed, what
//     is replaced as a whole, where quantities are and which empty values are stored; of
//     others it believes what managedFields say, compares mappings key by key, and lists
//     as a whole.
//  2. It never fails on a live field that it does not know.
//  3. The order of a list is part of its content, as it is for the API server: a new order
//     of env rolls the pods. Items of others are skipped when the order is compared.
//  4. diff(x, x) is empty; diff(a, b) is empty when diff(b, a) is; and applying the changes
//     of diff(a, b) to a, as a cluster holds it, gives b. A default that was filled in and
//     that nobody writes stays, as it does in a cluster.
//  5. It is pure: no I/O, no clock, no state, the same answer for the same input. Input is
//     never changed.
//
// # What it never does
//
// It never sends anything, knows nothing of AppService, and never shows the value of a
// Secret: a [Report], from which all writers write, is masked when it is made.
package diff
