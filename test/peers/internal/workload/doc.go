// Package workload writes the inputs of the benchmarks: AppServices, as they are and
// changed, and a helm chart with values that renders the same objects.
//
// Inputs depend on nothing but their number, so that figures of different days
// are about the same work.
package workload
