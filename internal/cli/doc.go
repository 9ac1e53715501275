// Package cli is the command line of appsvc-render: one file a verb.
//
//	paths -> inputs (files, folders, kustomize) -> documents, in batches
//	      -> several goroutines: parse, decode, render, encode
//	      -> in the order of the input again -> spool -> stdout or files
//
// What every verb promises: stdout holds the result and nothing else, and nothing
// at all when anything failed; faults and warnings go to stderr, one line each,
// all of them, with file, line, object and field; the exit code is 0 when all is
// well and 1 when the input is not. Memory does not grow with the input beyond
// what is needed to tell that an object occurs twice.
package cli
