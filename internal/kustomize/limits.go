package kustomize

import (
	"bytes"
	"errors"
	"fmt"
	"io"
	"os"

	"go.yaml.in/yaml/v3"
	"sigs.k8s.io/kustomize/kyaml/kio"

	"kudevops.io/appsvc/internal/manifest"
)

// maxFile is the size, in bytes, over which a file is refused.
const maxFile = manifest.MaxDocument

// maxValues is how many values a file may hold once its aliases are replaced by
// what they stand for.
const maxValues = 1 << 20

var (
	errTooLarge   = fmt.Errorf("is larger than %d MiB", maxFile>>20)
	errNotRegular = errors.New("is no regular file")
	errAliases    = fmt.Errorf("expands to more than %d values", maxValues)
)

// readFile reads a file within the limits.
func readFile(path string) ([]byte, error) {
	// Opening a named pipe would wait for somebody to write to it.
	info, err := os.Stat(path)
	if err != nil {
		return nil, err
	}
	if !info.Mode().IsRegular() {
		return nil, errNotRegular
	}
	file, err := os.Open(path)
	if err != nil {
		return nil, err
	}
	defer file.Close()
	text, err := io.ReadAll(io.LimitReader(file, maxFile+1))
	if err != nil {
		return nil, err
	}
	if len(text) > maxFile {
		return nil, errTooLarge
	}
	return text, checkAliases(text)
}

// checkAliases refuses a text whose aliases expand without bounds. kyaml replaces
// aliases right after reading (RNode.DeAnchor) with no limit and no eye for an
// alias inside what it stands for: the first eats all memory, the second ends the
// process by a stack overflow. A text that is not YAML passes.
func checkAliases(text []byte) error {
	if bytes.IndexByte(text, '&') < 0 || bytes.IndexByte(text, '*') < 0 {
		return nil
	}
	reader := kio.ByteReader{
		Reader:                bytes.NewReader(text),
		OmitReaderAnnotations: true,
		DisableUnwrapping:     true,
	}
	nodes, err := reader.Read()
	if err != nil {
		return nil // kustomize fails to read it just so, before it replaces aliases
	}
	count := counter{}
	total := 0
	for _, node := range nodes {
		if total += count.values(node.YNode()); total > maxValues {
			return errAliases
		}
	}
	return nil
}

// counter holds the number of values that each node seen so far expands to.
type counter map[*yaml.Node]int

// values counts up to a little more than maxValues. A node that contains itself
// has more than any number.
func (c counter) values(node *yaml.Node) int {
	if n, ok := c[node]; ok {
		return n
	}
	c[node] = maxValues + 1 // until the count is done: meeting it again is a cycle
	n := 1
	if node.Kind == yaml.AliasNode {
		n += c.values(node.Alias)
	}
	for _, child := range node.Content {
		if n > maxValues {
			break
		}
		n += c.values(child)
	}
	c[node] = n
	return n
}
