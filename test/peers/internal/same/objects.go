package same

import (
	"bytes"
	"errors"
	"fmt"

	"sigs.k8s.io/yaml"
)

// Objects are manifests as plain JSON values, by "Kind namespace/name".
type Objects map[string]map[string]any

// Read decodes the documents of a stream. A document that holds nothing is
// skipped; one that is no object, and a second one of the same kind, namespace
// and name, is an error.
func Read(stream []byte) (Objects, error) {
	objects := Objects{}
	for i, document := range documents(stream) {
		var object map[string]any
		if err := yaml.UnmarshalStrict(document, &object); err != nil {
			return nil, fmt.Errorf("document %d: %w", i+1, err)
		}
		if len(object) == 0 {
			continue
		}
		id, err := identity(object)
		if err != nil {
			return nil, fmt.Errorf("document %d: %w", i+1, err)
		}
		if _, twice := objects[id]; twice {
			return nil, fmt.Errorf("document %d: %s is there twice", i+1, id)
		}
		objects[id] = object
	}
	return objects, nil
}

// documents splits a stream before each line that begins a document. Such a line
// does so wherever it stands, in a block scalar too.
func documents(stream []byte) [][]byte {
	var all [][]byte
	start, at := 0, 0
	for line := range bytes.Lines(stream) {
		if at > start && separates(line) {
			all = append(all, stream[start:at])
			start = at
		}
		at += len(line)
	}
	return append(all, stream[start:])
}

func separates(line []byte) bool {
	rest, found := bytes.CutPrefix(line, []byte("---"))
	return found && (len(rest) == 0 || bytes.ContainsAny(rest[:1], " \t\r\n"))
}

func identity(object map[string]any) (string, error) {
	kind, _ := object["kind"].(string)
	meta, _ := object["metadata"].(map[string]any)
	name, _ := meta["name"].(string)
	namespace, _ := meta["namespace"].(string)
	if kind == "" || name == "" {
		return "", errors.New("an object without kind or name")
	}
	if namespace == "" {
		return kind + " " + name, nil
	}
	return kind + " " + namespace + "/" + name, nil
}
