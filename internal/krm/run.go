package krm

import (
	"bytes"
	"encoding/json"
	"errors"
	"fmt"
	"io"

	"go.yaml.in/yaml/v3"

	"kudevops.io/appsvc/internal/manifest"
)

// maxInput is the size, in bytes, over which a ResourceList is refused. It holds a
// whole build, so it may be larger than a document of a file.
const maxInput = 256 << 20

// Run reads a ResourceList from in and writes it, rendered, to out. ok is false
// when there were faults; they are written to errOut, one line each, and to the
// results. An error means that no ResourceList could be read or written; out then
// has had nothing, or could not be written to.
func Run(in io.Reader, out, errOut io.Writer) (ok bool, err error) {
	text, err := io.ReadAll(io.LimitReader(in, maxInput+1))
	if err != nil {
		return false, fmt.Errorf("reading standard input: %w", err)
	}
	if len(text) > maxInput {
		return false, stdinFault(fmt.Sprintf("is larger than %d MiB", maxInput>>20))
	}
	list, err := parseList(text)
	if err != nil {
		return false, err
	}
	results := list.process()

	output, err := list.encode()
	if err != nil {
		return false, fmt.Errorf("writing the ResourceList: %w", err)
	}
	for _, r := range results {
		if line := r.line(); line != "" {
			fmt.Fprintln(errOut, line)
		}
	}
	if _, err := out.Write(output); err != nil {
		return false, fmt.Errorf("writing the ResourceList: %w", err)
	}
	return !results.failed(), nil
}

// encode writes the list in the format that it was read in.
func (l *resourceList) encode() ([]byte, error) {
	var buf bytes.Buffer
	if l.isJSON {
		o, fault := manifest.FromNode(l.root, "stdin", 1)
		if fault != nil {
			return nil, fault
		}
		text, faults := o.JSON()
		if len(faults) > 0 {
			return nil, faults[0]
		}
		if err := json.Indent(&buf, text, "", "  "); err != nil {
			return nil, err
		}
		buf.WriteByte('\n')
		return buf.Bytes(), nil
	}
	manifest.Settle(l.root)
	enc := yaml.NewEncoder(&buf)
	enc.SetIndent(2)
	err := enc.Encode(l.root)
	return buf.Bytes(), err
}

// resourceList is the input, as the tree that is written back.
type resourceList struct {
	isJSON bool
	root   *yaml.Node
	items  *yaml.Node         // nil when there are none
	config *manifest.Object   // functionConfig, or nil
	list   []*manifest.Object // one an item; nil for an item without kind or apiVersion
}

func stdinFault(message string) *manifest.Fault {
	return &manifest.Fault{File: "stdin", Line: 1, Message: message}
}

func notList() *manifest.Fault {
	return stdinFault("is no ResourceList; to render manifests, use: appsvc-render build -")
}

func parseList(text []byte) (*resourceList, error) {
	if len(bytes.TrimSpace(text)) == 0 {
		return nil, stdinFault("is empty; a KRM function reads a ResourceList")
	}
	doc := manifest.Document{File: "stdin", Line: 1, Text: text}
	root, fault := manifest.Parse(doc)
	if fault != nil {
		return nil, fault
	}
	if root == nil {
		return nil, notList()
	}
	list, fault := manifest.FromNode(root, "stdin", 1)
	if fault != nil || !list.IsResourceList() {
		return nil, notList()
	}
	if list.Version != "v1" && list.Version != "v1beta1" {
		return nil, list.Fault("apiVersion", fmt.Sprintf("is %q; this program knows config.kubernetes.io/v1", list.APIVersion()))
	}
	// A fault of the tree itself (a key given twice, an alias without bounds) would
	// be written out again.
	if _, faults := list.JSON(); len(faults) > 0 {
		errs := make([]error, len(faults))
		for i, f := range faults {
			errs[i] = f
		}
		return nil, errors.Join(errs...)
	}

	// The items are about to change; no two of them may share a part.
	root = manifest.Expand(root)
	if list, fault = manifest.FromNode(root, "stdin", 1); fault != nil {
		return nil, fault
	}
	l := &resourceList{root: root, isJSON: json.Valid(text)}
	if config := list.Child("functionConfig"); config != nil {
		if l.config, fault = manifest.FromNode(config, "stdin", 1); fault != nil {
			return nil, fault
		}
	}
	if l.items = list.Child("items"); l.items == nil {
		return l, nil
	}
	if l.items.Kind != yaml.SequenceNode {
		return nil, list.Fault("items", "must be a list")
	}
	for _, node := range l.items.Content {
		var item *manifest.Object
		if node.Kind == yaml.MappingNode {
			item, _ = manifest.FromNode(node, "stdin", 1) // a fault means: no Kubernetes object
		}
		l.list = append(l.list, item)
	}
	return l, nil
}
