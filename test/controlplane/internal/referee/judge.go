package referee

import (
	"context"
	"errors"
	"fmt"
	"reflect"
	"strings"

	"github.com/google/go-cmp/cmp"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/apis/meta/v1/unstructured"
	"sigs.k8s.io/yaml"

	"kudevops.io/appsvc/pkg/diff"
)

// judgement is one comparison of pkg/diff with the API server.
type judgement struct {
	subject *subject
	tally   *Tally
	desired *unstructured.Unstructured
	live    *unstructured.Unstructured // before
	changed bool                       // what Checker says
	said    *diff.ObjectChange         // what Diff says; nil when it finds faults
	faults  error
	answer  *unstructured.Unstructured // the API server's, to a dry-run
}

// judge compares what pkg/diff says of an apply with what the API server does.
func (r *Referee) judge(ctx context.Context, s *subject, desired *unstructured.Unstructured) error {
	j := &judgement{subject: s, tally: r.Tally, desired: desired, live: s.live}
	r.Tally.Count("judged", 1)
	opts, managers := s.migration()
	if err := j.say(opts); err != nil {
		return err
	}
	migrated := leftover(s.live, managers)
	if migrated {
		// pkg/apply makes this ours first, and so Diff tells what comes of both.
		if err := s.migrate(ctx, managers); err != nil {
			return fmt.Errorf("%s: %w", s, err)
		}
		r.Tally.Count("judged after migration", 1)
		if !j.changed {
			return j.wrong("unchanged, but there are leftovers to migrate")
		}
	}
	var err error
	j.answer, err = s.apply(ctx, desired, metav1.DryRunAll)
	switch {
	case refused(err):
		return j.refusal(err)
	case err != nil:
		return fmt.Errorf("%s: %w", s, err)
	case j.said == nil:
		return j.wrong("Diff finds faults in what the API server takes: %v", j.faults)
	}
	if !migrated {
		if err := j.verdict(); err != nil {
			return err
		}
	}
	return j.content(ctx)
}

// say has pkg/diff say what it says.
func (j *judgement) say(opts diff.Options) error {
	before, wanted := j.live.DeepCopy(), j.desired.DeepCopy()
	j.changed = diff.NewChecker(opts.Manager).Changed(j.desired, j.live)
	set, err := diff.Diff([]*unstructured.Unstructured{j.live}, []*unstructured.Unstructured{j.desired}, opts)
	switch {
	case !reflect.DeepEqual(before, j.live) || !reflect.DeepEqual(wanted, j.desired):
		return j.wrong("what was given to pkg/diff has changed")
	case err != nil:
		j.faults = err
	case len(set.Objects) != 1:
		return j.wrong("Diff speaks of %d objects", len(set.Objects))
	default:
		j.said = &set.Objects[0]
	}
	return nil
}

// verdict compares Changed with whether the API server would write.
func (j *judgement) verdict() error {
	writes := !reflect.DeepEqual(written(j.live), written(j.answer))
	told := j.said.Changed() || len(j.said.Adopted) > 0 || len(j.said.Kept) > 0
	if writes && !told {
		j.tally.Count("verdict: writes nothing but who owns what, of which Diff does not tell", 1)
	}
	switch {
	case !writes && len(j.said.Adopted) > 0:
		return j.wrong("Diff says that fields become ours, and nothing is written: %v", j.said.Adopted)
	case !writes && len(j.said.Kept) > 0:
		return j.wrong("Diff says that fields cease to be ours, and nothing is written: %v", j.said.Kept)
	case writes && !j.changed:
		return j.wrong("FALSE UNCHANGED: Changed says no, and the API server would write")
	case writes:
		j.tally.Count("verdict: writes, as said", 1)
	case !j.changed:
		j.tally.Count("verdict: does not write, as said", 1)
	default:
		class := j.explain()
		if class == "" {
			return j.wrong("FALSE CHANGED: Changed says yes, and the API server would not write")
		}
		j.tally.Count("verdict: changed, but nothing is written: "+class, 1)
	}
	return nil
}

// content compares what Diff says of the content with the dry-run, and has the prediction
// confirmed.
func (j *judgement) content(ctx context.Context) error {
	err := j.stored(ctx)
	if err == nil || j.subject.shipped {
		return err
	}
	class := j.explainStored()
	if class == "" {
		return err
	}
	j.tally.Count("content: of a kind without a type, predicted otherwise: "+class, 1)
	return nil
}

// stored compares what Diff says with what would be stored.
func (j *judgement) stored(ctx context.Context) error {
	differs := !reflect.DeepEqual(content(j.live), content(j.answer))
	if said := j.said.Action == diff.Update; said != differs {
		return j.wrong("the content: Diff says %s, and the API server changes it: %t", j.said.Action, differs)
	}
	if j.said.Effect == diff.EffectRecreate {
		return j.wrong("Diff says that the object has to be recreated, and the API server takes the change")
	}
	if err := j.predicted(); err != nil {
		return err
	}
	if !differs {
		if reflect.DeepEqual(content(&unstructured.Unstructured{Object: j.said.After}), content(j.answer)) {
			j.tally.Count("content: unchanged, as said", 1)
			return nil
		}
		j.tally.Count("content: unchanged, as said, by defaults that come back", 1)
		return j.confirm(ctx)
	}
	j.tally.Count("content: changed, as said", 1)
	return j.confirm(ctx)
}

// predicted compares the content that Diff predicts with the dry-run's, as Diff compares
// two trees.
func (j *judgement) predicted() error {
	after := &unstructured.Unstructured{Object: j.said.After}
	set, err := diff.Diff([]*unstructured.Unstructured{{Object: content(after)}}, []*unstructured.Unstructured{{Object: content(withoutAllocated(j.answer, after))}}, diff.Options{})
	if err != nil {
		// Others have written the same item twice. The update decides.
		j.tally.Count("content: predicted, and no tree that can be compared", 1)
		return nil
	}
	if set.Changed() {
		var lines []string
		for _, f := range set.Objects[0].Fields {
			lines = append(lines, fmt.Sprintf("%s %s: %v -> %v", f.Op, f.Path, f.Before, f.After))
		}
		return j.wrong("what is stored is not what was predicted:\n%s", strings.Join(lines, "\n"))
	}
	return nil
}

// confirm has the API server fill in its defaults: a dry-run update with the content that
// Diff predicts has to give what the dry-run apply gives, to the letter.
func (j *judgement) confirm(ctx context.Context) error {
	object := (&unstructured.Unstructured{Object: j.said.After}).DeepCopy()
	metadata, from := made(object.Object, "metadata"), at(j.live.Object, "metadata")
	for _, field := range []string{"uid", "creationTimestamp", "generation", "managedFields"} {
		if v, ok := from[field]; ok {
			metadata[field] = v
		}
	}
	object.SetResourceVersion(j.subject.live.GetResourceVersion())
	if v, ok := j.live.Object["status"]; ok {
		object.Object["status"] = v
	}
	got, err := j.subject.client.Update(ctx, object, metav1.UpdateOptions{FieldManager: "referee", DryRun: []string{metav1.DryRunAll}})
	if err != nil {
		return j.wrong("what was predicted is refused as an update: %v", err)
	}
	after := &unstructured.Unstructured{Object: j.said.After}
	if d := cmp.Diff(content(withoutAllocated(j.answer, after)), content(withoutAllocated(got, after))); d != "" {
		return j.wrong("an update with what was predicted stores something else (-apply +update):\n%s", d)
	}
	j.tally.Count("content: confirmed by an update", 1)
	return nil
}

// wrong reports what pkg/diff got wrong, with all that is needed to see why.
func (j *judgement) wrong(format string, args ...any) error {
	var b strings.Builder
	fmt.Fprintf(&b, "%s\n%s\n", fmt.Sprintf(format, args...), j.subject)
	section := func(name string, value any) {
		text, err := yaml.Marshal(value)
		if err != nil {
			text = fmt.Append(nil, err)
		}
		fmt.Fprintf(&b, "--- %s\n%s", name, text)
	}
	section("desired", j.desired.Object)
	section("live", j.live.Object)
	if j.said != nil {
		section("predicted", j.said.After)
		fmt.Fprintf(&b, "--- said: %s %s\n", j.said.Action, j.said.Effect)
		for _, f := range j.said.Fields {
			fmt.Fprintf(&b, "%s %s: %v -> %v\n", f.Op, f.Path, f.Before, f.After)
		}
	}
	if j.answer != nil {
		fmt.Fprintf(&b, "--- the dry-run (-live +answer)\n%s", cmp.Diff(written(j.live), written(j.answer)))
	}
	return errors.New(b.String())
}
