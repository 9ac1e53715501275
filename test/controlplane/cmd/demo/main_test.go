package main

import (
	"bytes"
	"os"
	"strings"
	"testing"
)

// TestDemo runs all of it.
func TestDemo(t *testing.T) {
	t.Parallel()
	var out bytes.Buffer
	if err := run(t.Context(), false, &out, os.Stderr); err != nil {
		t.Fatalf("%v\n%s", err, out.String())
	}
	for _, want := range []string{
		"appservice.apps.kudevops.io/appservice-sample condition met",
		"spec.template.spec.containers[name=app].image",
		"Applied",
		"No resources found",
	} {
		if !strings.Contains(out.String(), want) {
			t.Errorf("it does not show %q:\n%s", want, out.String())
		}
	}
}
