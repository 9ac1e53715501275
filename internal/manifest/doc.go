// Package manifest reads and writes Kubernetes manifests, and knows where in a
// file each thing stands.
//
//	bytes -> Reader (documents) -> Parse (node tree) -> Objects -> AppService or plain values
//	plain values -> AppendYAML
//
// Reading is strict: a key that occurs twice, a document that expands without
// bounds, a tag that nobody knows are faults with file and line. It never holds
// more than one document of at most MaxDocument bytes of a stream, however large
// the stream is.
//
// YAML is read as kubectl reads it, which is YAML 1.1 for booleans: an unquoted
// yes, no, on, off, y or n is one. Writing quotes every string that YAML 1.1 or
// 1.2 would read as something else, so that what is written means the same to
// every reader.
package manifest
