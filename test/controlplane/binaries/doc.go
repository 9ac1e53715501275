// Package binaries builds the programs that make up a Kubernetes control plane
// from their Go modules, once, and says where they are.
//
//	KUBEBUILDER_ASSETS --has it--> used as it is
//	cache folder       --has it--> used as it is
//	otherwise: lock, look again, check the disk, go build in a temporary folder, rename
//
// Each group of programs has a module of its own below this folder (etcd,
// kubernetes, kwok), because their requirements exclude each other; a version is
// changed there and nowhere else. A program's place in the cache has its version
// and a hash of all that it is built from in its name, so that different checkouts
// share what is the same and nothing else.
//
// Any number of processes may call Ensure at once. A process that is killed leaves
// no build running and no half-written program.
package binaries
