package referee

import (
	"context"
	"encoding/base64"
	"errors"
	"fmt"
	"math/rand/v2"
	"os/exec"
	"strings"

	apierrors "k8s.io/apimachinery/pkg/api/errors"
	"k8s.io/apimachinery/pkg/api/meta"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/apis/meta/v1/unstructured"
	"k8s.io/client-go/dynamic"
	"k8s.io/client-go/kubernetes/scheme"

	"kudevops.io/appsvc/api/v1alpha1"
)

// Referee judges cases. It may judge several at once.
type Referee struct {
	// Client and Mapper lead to the API server.
	Client dynamic.Interface
	Mapper meta.RESTMapper
	// Kubectl is a command that runs kubectl.
	Kubectl func(ctx context.Context, args ...string) *exec.Cmd
	// Dir is a folder for what kubectl reads.
	Dir string
	// Namespace is where objects go.
	Namespace string
	// Pool are AppServices that fields are taken from.
	Pool []*v1alpha1.AppService
	// Samples are objects of kinds that no AppService renders to.
	Samples []*unstructured.Unstructured
	// Tally counts.
	Tally *Tally
}

// subject is one object of a case.
type subject struct {
	client   dynamic.ResourceInterface
	resource string                     // as kubectl takes it
	shipped  bool                       // by Kubernetes, so that client and server know its type
	desired  *unstructured.Unstructured // what is wanted now
	live     *unstructured.Unstructured // what the API server answered last
	adopt    bool                       // what others have made becomes ours
	history  []string                   // what was done
}

func (s *subject) String() string {
	return fmt.Sprintf("%s %s after: %s", s.desired.GetKind(), s.desired.GetName(), strings.Join(s.history, "; "))
}

// errNothing says that an edit has nothing to do.
var errNothing = errors.New("nothing to do")

// Case plays the case of a seed. The error says what pkg/diff got wrong.
func (r *Referee) Case(ctx context.Context, seed uint64) error {
	random := rand.New(rand.NewPCG(seed, 0))
	r.Tally.Count("cases", 1)
	if random.IntN(4) == 0 {
		object := sample(random, seed, r.Samples)
		return r.play(ctx, random, object, func() *unstructured.Unstructured { return altered(random, object) })
	}
	d := &appServices{rand: random, seed: seed, pool: r.Pool}
	app, objects := d.draw()
	var errs []error
	for _, object := range objects {
		errs = append(errs, r.play(ctx, random, object, func() *unstructured.Unstructured {
			if random.IntN(3) == 0 {
				return altered(random, object)
			}
			for _, other := range d.vary(app) {
				if other.GetKind() == object.GetKind() && other.GetName() == object.GetName() {
					return other
				}
			}
			return object
		}))
	}
	return errors.Join(errs...)
}

// altered gives an object with some things of it changed, which nobody renders like that.
func altered(r *rand.Rand, object *unstructured.Unstructured) *unstructured.Unstructured {
	object = object.DeepCopy()
	for range 1 + r.IntN(2) {
		alter(r, object.Object)
	}
	return object
}

// play has an object applied, edited and judged, twice. vary gives what else may be wanted
// of it.
func (r *Referee) play(ctx context.Context, random *rand.Rand, desired *unstructured.Unstructured, vary func() *unstructured.Unstructured) error {
	s, err := r.subject(desired)
	if err != nil {
		return err
	}
	if err := s.begin(ctx, random); err != nil {
		if refused(err) {
			r.Tally.Count("objects not accepted at first", 1)
			r.Tally.Count("not accepted: "+reason(err), 1)
			return nil
		}
		return fmt.Errorf("%s: %w", s, err)
	}
	r.Tally.Count("objects", 1)
	defer s.remove(context.WithoutCancel(ctx))
	for range 2 {
		for range random.IntN(4) {
			if err := r.edit(ctx, random, s); err != nil {
				return err
			}
		}
		same, other := s.desired, vary()
		other.SetNamespace(same.GetNamespace())
		if err := errors.Join(r.judge(ctx, s, same), r.judge(ctx, s, other)); err != nil {
			return err
		}
		if random.IntN(2) == 0 {
			if live, err := s.apply(ctx, other); err == nil {
				s.desired, s.live = other, live
				s.history = append(s.history, "applied something else")
			}
		}
	}
	return nil
}

func (r *Referee) subject(desired *unstructured.Unstructured) (*subject, error) {
	kind := desired.GroupVersionKind()
	mapping, err := r.Mapper.RESTMapping(kind.GroupKind(), kind.Version)
	if err != nil {
		return nil, err
	}
	desired.SetNamespace(r.Namespace)
	return &subject{
		client:   r.Client.Resource(mapping.Resource).Namespace(r.Namespace),
		resource: mapping.Resource.GroupResource().String(),
		shipped:  scheme.Scheme.Recognizes(kind),
		desired:  desired,
	}, nil
}

// begin makes the object: most often by our own apply, else by somebody else.
func (s *subject) begin(ctx context.Context, r *rand.Rand) (err error) {
	create := func(object *unstructured.Unstructured, manager string) error {
		s.live, err = s.client.Create(ctx, object, metav1.CreateOptions{FieldManager: manager})
		s.history = append(s.history, "created by "+manager)
		return err
	}
	s.adopt = r.IntN(2) == 0
	switch r.IntN(12) {
	case 0:
		return create(s.desired, "before")
	case 1:
		object := s.desired.DeepCopy()
		text, err := annotated(object)
		if err != nil {
			return err
		}
		if err := object.UnmarshalJSON(text); err != nil {
			return err
		}
		return create(object, "kubectl-client-side-apply")
	case 2:
		if err := create(s.desired, v1alpha1.FieldManager); err != nil {
			return err
		}
	}
	s.history = append(s.history, "applied")
	s.live, err = s.apply(ctx, s.desired)
	return err
}

// apply applies as the controller does: a Secret is sent as it is stored.
func (s *subject) apply(ctx context.Context, desired *unstructured.Unstructured, dryRun ...string) (*unstructured.Unstructured, error) {
	desired = desired.DeepCopy()
	if plain := at(desired.Object, "stringData"); desired.GetKind() == "Secret" {
		for name, v := range plain {
			text, ok := v.(string)
			if !ok {
				break
			}
			made(desired.Object, "data")[name] = base64.StdEncoding.EncodeToString([]byte(text))
		}
		delete(desired.Object, "stringData")
	}
	return s.client.Apply(ctx, desired.GetName(), desired, metav1.ApplyOptions{FieldManager: v1alpha1.FieldManager, Force: true, DryRun: dryRun})
}

// edit has somebody change the object.
func (r *Referee) edit(ctx context.Context, random *rand.Rand, s *subject) error {
	e := edits[random.IntN(len(edits))]
	if random.IntN(60) == 0 {
		e = edit{kubectlItself, r.kubectl}
	}
	live, err := e.do(ctx, random, s)
	switch {
	case errors.Is(err, errNothing):
		return nil
	case refused(err):
		r.Tally.Count("edits refused", 1)
		return nil
	case err != nil:
		return fmt.Errorf("%s: %s: %w", s, e.name, err)
	}
	r.Tally.Count("edits", 1)
	r.Tally.Count("edit: "+e.name, 1)
	s.live = live
	s.history = append(s.history, e.name)
	return nil
}

// remove deletes the object. What others keep by a finalizer stays: nothing comes of it.
func (s *subject) remove(ctx context.Context) {
	_ = s.client.Delete(ctx, s.desired.GetName(), metav1.DeleteOptions{})
}

// refused reports whether the API server has refused what was sent. What it cannot convert
// is an internal error to it.
func refused(err error) bool {
	var status *apierrors.StatusError
	return errors.As(err, &status) && !apierrors.IsConflict(err) && !apierrors.IsNotFound(err)
}
