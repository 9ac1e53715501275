// Package same tells whether two streams of manifests hold the same objects,
// whatever their order and however they are written.
package same
