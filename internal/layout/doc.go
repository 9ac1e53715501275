// Package layout holds the test that keeps the direction of imports: what each
// package may build on, and that the libraries are pure.
package layout
