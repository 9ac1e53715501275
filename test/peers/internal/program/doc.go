// Package program builds the programs that are compared: appsvc-render from this
// repository and each peer from a module of its own.
//
// The modules of peers require versions of the same libraries that differ, so
// each stands in build/<name> with one tool directive; go.mod there says which
// version of which program it is. A peer is built once and kept in a folder of
// the user's cache.
package program
