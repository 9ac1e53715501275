// Package library runs the benchmarks of pkg/diff, of ours and of other libraries for the
// same work, and reads their figures.
package library
