package crd_test

import (
	"encoding/json"
	"slices"
	"strings"
	"testing"

	"kudevops.io/appsvc/internal/crd"
	"kudevops.io/appsvc/internal/manifest"
	"kudevops.io/appsvc/pkg/render"
)

// stricter are the cases that break no rule of the schema, and that the renderer refuses
// all the same, by their names, and why.
var stricter = map[string]string{
	`spec.dnsPolicy: "None", which is in the enumeration`:      "needs name servers",
	"spec.initContainers[].resources.claims: two items apart":  noClaims,
	"spec.initContainers[].resources.claims[]: name is given":  noClaims,
	"spec.resources.claims: two items apart":                   noClaims,
	"spec.resources.claims[]: name is given":                   noClaims,
	"spec.sidecars[].resources.claims: two items apart":        noClaims,
	"spec.sidecars[].resources.claims[]: name is given":        noClaims,
	"spec.patches[].patch: 1, which is the least length":       "no patch is that short",
	"spec.patches[].target.kind: 1, which is the least length": "no kind is called a",
}

const noClaims = "claims are of the pod's resourceClaims, which an AppService has none of"

// TestRendererRefusesWhatTheSchemaRefuses: for each rule below spec, what breaks it
// alone is refused by decoding or by the renderer, at the field that the rule is about,
// and what does not break it is not. That the cases are on the sides that they claim to
// be on is the schema's own verdict.
func TestRendererRefusesWhatTheSchemaRefuses(t *testing.T) {
	t.Parallel()
	cases, err := crd.Cases()
	if err != nil {
		t.Fatal(err)
	}
	validator, err := crd.NewValidator()
	if err != nil {
		t.Fatal(err)
	}
	broken := 0
	for _, c := range cases {
		verdict := validator.Validate(t.Context(), c.Object)
		if verdict.Valid() == c.Broken {
			t.Errorf("%s: the schema says %v %v", c.Name, verdict.Errors, verdict.UnknownFields)
		}
		found := faults(t, c)
		if !c.Broken {
			if _, known := stricter[c.Name]; known != (len(found) > 0) {
				t.Errorf("%s: breaks no rule; found: %s", c.Name, found)
			}
			continue
		}
		broken++
		if !slices.ContainsFunc(found, about(c.Field)) {
			t.Errorf("%s: nothing found at %s: %s", c.Name, c.Field, found)
		}
	}
	if broken < 300 || len(cases)-broken < 300 {
		t.Errorf("%d cases that break a rule and %d that do not are too few to be all", broken, len(cases)-broken)
	}
}

// about says whether a fault is at a field, in it, or forbids what the field is in.
func about(path string) func(string) bool {
	return func(fault string) bool {
		at, message, _ := strings.Cut(fault, ": ")
		return strings.HasPrefix(at, path) || strings.HasPrefix(message, "Forbidden") && strings.HasPrefix(path, at)
	}
}

// faults are what decoding and rendering find, the field first.
func faults(t *testing.T, c crd.Case) []string {
	t.Helper()
	text, err := json.Marshal(c.Object)
	if err != nil {
		t.Fatal(err)
	}
	doc, err := manifest.NewReader("case", strings.NewReader(string(text))).Next()
	if err != nil {
		t.Fatalf("%s: %v", c.Name, err)
	}
	objects, _, found := manifest.Objects(doc)
	if len(found) > 0 || len(objects) != 1 {
		t.Fatalf("%s: %d objects, %v", c.Name, len(objects), found)
	}
	var list []string
	app, decoding := objects[0].AppService()
	for _, f := range decoding {
		list = append(list, f.Path+": "+f.Message)
	}
	if app == nil {
		return list
	}
	errs, _ := render.Validate(app, render.Options{})
	for _, e := range errs {
		list = append(list, e.Error())
	}
	return list
}
