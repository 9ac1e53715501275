package diff

import (
	"encoding/json"
	"fmt"
	"io"
)

// ReportAPIVersion and ReportKind are what a report as JSON calls itself.
const (
	ReportAPIVersion = "diff.kudevops.io/v1alpha1"
	ReportKind       = "DiffReport"
)

// WriteJSON writes a report for programs: a DiffReport, whose schema is that of
// JSONSchema. It holds what WriteText holds and cuts nothing. Objects that are the same,
// need no write and have no field of others are only counted.
func (r *Report) WriteJSON(w io.Writer) error {
	report := jsonReport{
		APIVersion: ReportAPIVersion,
		Kind:       ReportKind,
		Summary:    jsonSummary{Counts: r.Counts(), Effects: make(map[Effect]int)},
		Objects:    []jsonObject{},
	}
	for i := range r.changes.Objects {
		o := &r.changes.Objects[i]
		if o.Action == Update {
			report.Summary.Effects[o.Effect]++
		}
		if o.shown() || o.Ignored > 0 {
			report.Objects = append(report.Objects, toJSONObject(o))
		}
	}
	for i := range r.changes.Unmatched {
		report.Unmatched = append(report.Unmatched, toJSONRule(&r.changes.Unmatched[i]))
	}
	enc := json.NewEncoder(w)
	enc.SetEscapeHTML(false)
	enc.SetIndent("", "  ")
	if err := enc.Encode(report); err != nil {
		return fmt.Errorf("writing the report as JSON: %w", err)
	}
	return nil
}

// The types below are what JSONSchema describes; a test holds them to it.

type jsonReport struct {
	APIVersion string       `json:"apiVersion"`
	Kind       string       `json:"kind"`
	Summary    jsonSummary  `json:"summary"`
	Objects    []jsonObject `json:"objects"`
	Unmatched  []jsonRule   `json:"unmatchedIgnoreRules,omitempty"`
}

type jsonSummary struct {
	Counts
	Effects map[Effect]int `json:"effects,omitempty"`
}

type jsonObject struct {
	Object  ObjectRef      `json:"object"`
	From    *ObjectRef     `json:"from,omitempty"`
	Action  Action         `json:"action"`
	Effect  Effect         `json:"effect"`
	Notes   []string       `json:"notes,omitempty"`
	Fields  []jsonField    `json:"fields,omitempty"`
	Adopted []jsonField    `json:"adopted,omitempty"`
	Kept    []jsonField    `json:"kept,omitempty"`
	Foreign []jsonField    `json:"foreign,omitempty"`
	Ignored int            `json:"ignored,omitempty"`
	Before  map[string]any `json:"before,omitempty"`
	After   map[string]any `json:"after,omitempty"`
}

type jsonField struct {
	Path    string     `json:"path"`
	Steps   []jsonStep `json:"steps"`
	Op      Op         `json:"op"`
	Before  any        `json:"before,omitempty"`
	After   any        `json:"after,omitempty"`
	Default bool       `json:"default,omitempty"`
	Effect  Effect     `json:"effect,omitempty"`
	Owners  []string   `json:"owners,omitempty"`
}

// jsonStep has exactly one of its fields.
type jsonStep struct {
	Field string         `json:"field,omitempty"`
	Key   map[string]any `json:"key,omitempty"`
	Value any            `json:"value,omitempty"`
	Index *int           `json:"index,omitempty"`
}

type jsonRule struct {
	Source      string      `json:"source,omitempty"`
	Group       string      `json:"group,omitempty"`
	Version     string      `json:"version,omitempty"`
	Kind        string      `json:"kind,omitempty"`
	Namespace   string      `json:"namespace,omitempty"`
	Name        string      `json:"name,omitempty"`
	Labels      string      `json:"labels,omitempty"`
	Annotations string      `json:"annotations,omitempty"`
	Objects     []ObjectRef `json:"objects,omitempty"`
	Paths       []string    `json:"paths,omitempty"`
	Managers    []string    `json:"managers,omitempty"`
}

func toJSONRule(r *IgnoreRule) jsonRule {
	out := jsonRule{
		Source: r.Source, Group: r.Group, Version: r.Version, Kind: r.Kind, Namespace: r.Namespace, Name: r.Name,
		Labels: r.Labels, Annotations: r.Annotations, Objects: r.Objects, Managers: r.Managers,
	}
	for _, p := range r.Paths {
		out.Paths = append(out.Paths, p.String())
	}
	return out
}

func toJSONObject(o *ObjectChange) jsonObject {
	out := jsonObject{
		Object: o.Object, From: o.From, Action: o.Action, Effect: o.Effect, Notes: o.Notes,
		Fields: toJSONFields(o.Fields), Adopted: toJSONFields(o.Adopted), Kept: toJSONFields(o.Kept), Foreign: toJSONFields(o.Foreign),
		Ignored: o.Ignored,
	}
	// Of an update, the fields say all.
	switch o.Action {
	case Create:
		out.After = o.After
	case Delete:
		out.Before = o.Before
	case Update, Unchanged:
	}
	return out
}

func toJSONFields(fields []FieldChange) []jsonField {
	var out []jsonField
	for _, f := range fields {
		steps := make([]jsonStep, len(f.Path))
		for i, e := range f.Path {
			steps[i] = toJSONStep(e)
		}
		out = append(out, jsonField{
			Path: f.Path.String(), Steps: steps, Op: f.Op, Before: f.Before, After: f.After,
			Default: f.Default, Effect: f.Effect, Owners: f.Owners,
		})
	}
	return out
}

func toJSONStep(e PathElement) jsonStep {
	switch {
	case e.Field != "":
		return jsonStep{Field: e.Field}
	case len(e.Key) > 0:
		key := make(map[string]any, len(e.Key))
		for _, k := range e.Key {
			key[k.Name] = k.Value
		}
		return jsonStep{Key: key}
	case e.Value != nil:
		return jsonStep{Value: e.Value}
	}
	return jsonStep{Index: &e.Index}
}
