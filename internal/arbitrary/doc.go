// Package arbitrary draws AppServices for property tests: of the renderer, and, in
// test/controlplane, of what a real API server says to what is rendered.
package arbitrary
