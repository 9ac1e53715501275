// Package bench is the program bench-peers: it builds appsvc-render and its peers,
// writes their inputs, has their outputs compared, runs them by turns and reports.
//
// A comparison of processes is a function in scenarios.go. To add a peer, add its
// module under build/, a field to programs and the scenarios that it takes part in.
// What is no process to run to its end is measured by others and put into tables here:
// library.go has the benchmarks of pkg/diff, controller.go what bench-controller of
// test/controlplane saw.
package bench
