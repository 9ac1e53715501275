// Package bench is the program bench-peers: it builds appsvc-render and its peers,
// writes their inputs, has their outputs compared, runs them by turns and reports.
//
// A comparison is a function in scenarios.go. To add a peer, add its module under
// build/, a field to programs and the scenarios that it takes part in.
package bench
