// Package diffcases holds the pairs of objects by which pkg/diff is judged: what people
// have reported as a difference that is none, or as one that was missed. They are data,
// so that the same pair is compared as two trees (in pkg/diff) and put to a real API
// server (in test/controlplane).
package diffcases
