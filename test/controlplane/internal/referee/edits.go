package referee

import (
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"maps"
	"math/rand/v2"
	"os"
	"os/exec"
	"path/filepath"
	"slices"

	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/apis/meta/v1/unstructured"
	"k8s.io/apimachinery/pkg/types"

	"kudevops.io/appsvc/api/v1alpha1"
)

// edit is something that others do to a live object. Its name says who and what, for
// people. It sends what the API server may refuse; then nothing was done.
type edit struct {
	name string
	do   func(ctx context.Context, r *rand.Rand, s *subject) (*unstructured.Unstructured, error)
}

// Edits names what others do to the objects.
func Edits() []string {
	names := []string{kubectlItself}
	for _, e := range edits {
		names = append(names, e.name)
	}
	return names
}

// kubectlItself takes as long as fifty other edits, and so is drawn seldom.
const kubectlItself = "kubectl itself"

// edits are drawn from with equal chances.
var edits = []edit{
	{"kubectl edit: anything", byUpdate("kubectl-edit", alter)},
	{"kubectl edit: anything", byUpdate("kubectl-edit", alter)},
	{"kubectl edit: several things", byUpdate("kubectl-edit", several)},
	{"kubectl edit: labels", byUpdate("kubectl-edit", alterLabels)},
	{"kubectl edit: a container", byUpdate("kubectl-edit", alterContainer)},
	{"kubectl edit: a container", byUpdate("kubectl-edit", alterContainer)},
	{"kubectl edit: the pod", byUpdate("kubectl-edit", alterPod)},
	{"kubectl edit: the order of a list", byUpdate("kubectl-edit", reorder)},
	{"kubectl edit: the strategy", byUpdate("kubectl-edit", alterStrategy)},
	{"kubectl edit: finalizers and owners", byUpdate("kubectl-edit", alterOwners)},
	{"somebody in our name", byUpdate(v1alpha1.FieldManager, alter)},
	{"kubectl apply: what is wanted", applyClientSide(func(*rand.Rand, map[string]any) {})},
	{"kubectl apply: what is wanted, altered", applyClientSide(alter)},
	{"kubectl scale", scale("kubectl")},
	{"autoscaler", scale("kube-controller-manager")},
	{"kubectl rollout restart", restart},
	{"applier: same values", applyServerSide("applier-a", func(*rand.Rand, map[string]any) {})},
	{"applier: same values", applyServerSide("applier-b", func(*rand.Rand, map[string]any) {})},
	{"applier: other values", applyServerSide("applier-a", alter)},
	{"applier: other values", applyServerSide("applier-b", several)},
	{"somebody: no managedFields", forget},
	{"kubelet: status", status},
}

// byUpdate reads, changes and writes back, as kubectl edit does.
func byUpdate(manager string, change func(*rand.Rand, map[string]any)) func(context.Context, *rand.Rand, *subject) (*unstructured.Unstructured, error) {
	return func(ctx context.Context, r *rand.Rand, s *subject) (*unstructured.Unstructured, error) {
		object := s.live.DeepCopy()
		change(r, object.Object)
		return s.client.Update(ctx, object, metav1.UpdateOptions{FieldManager: manager})
	}
}

func several(r *rand.Rand, object map[string]any) {
	for range 2 + r.IntN(3) {
		alter(r, object)
	}
}

func alterLabels(r *rand.Rand, object map[string]any) {
	m := made(object, "metadata", pick(r, "labels", "annotations"))
	for range 1 + r.IntN(2) {
		alterWords(r, m)
	}
}

// podTemplates is where kinds have theirs.
var podTemplates = map[string][]string{
	"Deployment":  {"spec", "template"},
	"StatefulSet": {"spec", "template"},
	"DaemonSet":   {"spec", "template"},
	"Job":         {"spec", "template"},
	"CronJob":     {"spec", "jobTemplate", "spec", "template"},
}

// podTemplate is the one of an object, nil when it has none.
func podTemplate(object map[string]any) map[string]any {
	kind, _ := object["kind"].(string)
	path, ok := podTemplates[kind]
	if !ok {
		return nil
	}
	return at(object, path...)
}

func alterContainer(r *rand.Rand, object map[string]any) {
	containers, _ := at(podTemplate(object), "spec")["containers"].([]any)
	if len(containers) == 0 {
		alter(r, object)
		return
	}
	c, _ := containers[r.IntN(len(containers))].(map[string]any)
	switch r.IntN(7) {
	case 0, 1:
		c["env"] = alterItems(r, c["env"], map[string]any{"name": pick(r, "A", "B", "NEW"), "value": pick(r, "1", "$(A)")})
	case 2:
		c["ports"] = alterItems(r, c["ports"], map[string]any{"containerPort": int64(80 + r.IntN(3)), "protocol": pick(r, "TCP", "UDP")})
	case 3:
		c["image"] = pick(r, "nginx", "nginx:latest", "nginx:2")
	case 4:
		made(c, "resources", pick(r, "limits", "requests"))[pick(r, "cpu", "memory")] = pick(r, "2", "2000m", "1Gi", "1024Mi")
	case 5:
		c[pick(r, "livenessProbe", "readinessProbe")] = pickAny(r, nil,
			map[string]any{"httpGet": map[string]any{"port": int64(80)}}, map[string]any{"tcpSocket": map[string]any{"port": int64(81)}, "periodSeconds": int64(5)})
	case 6:
		c[pick(r, "args", "command")] = pickAny(r, nil, []any{"a", "b"}, []any{"b", "a"}, []any{})
	}
}

// alterItems removes, changes, moves or adds an item of a list.
func alterItems(r *rand.Rand, v any, added map[string]any) any {
	items, _ := v.([]any)
	items = slices.Clone(items)
	n := len(items)
	switch what := r.IntN(4); {
	case n > 0 && what == 0:
		i := r.IntN(n)
		return slices.Delete(items, i, i+1)
	case n > 1 && what == 1:
		r.Shuffle(n, func(i, j int) { items[i], items[j] = items[j], items[i] })
		return items
	case n > 0 && what == 2:
		i := r.IntN(n)
		if m, ok := items[i].(map[string]any); ok {
			m = deepCopy(m)
			found := slots(m, func(name string) bool { return name == "name" || name == "containerPort" })
			if len(found) > 0 {
				s := found[r.IntN(len(found))]
				s.set(alterScalar(r, s.value))
			}
			items[i] = m
		}
		return items
	}
	return slices.Insert(items, r.IntN(n+1), any(added))
}

func alterPod(r *rand.Rand, object map[string]any) {
	template := podTemplate(object)
	if template == nil {
		alter(r, object)
		return
	}
	spec := made(template, "spec")
	switch r.IntN(6) {
	case 0:
		spec["volumes"] = alterItems(r, spec["volumes"], map[string]any{"name": pick(r, "extra", "tmp"), "emptyDir": map[string]any{}})
	case 1:
		spec["tolerations"] = alterItems(r, spec["tolerations"], map[string]any{"key": pick(r, "a", "b"), "operator": "Exists"})
	case 2:
		alterWords(r, made(spec, "nodeSelector"))
	case 3:
		alterWords(r, made(template, "metadata", pick(r, "labels", "annotations")))
	case 4:
		spec["containers"] = alterItems(r, spec["containers"], map[string]any{"name": "injected", "image": "proxy:1"})
	case 5:
		spec[pick(r, "terminationGracePeriodSeconds", "priority")] = int64(r.IntN(60))
	}
}

// reorder shuffles a list.
func reorder(r *rand.Rand, object map[string]any) {
	var lists []slot
	for _, s := range slots(object, identity) {
		if list, ok := s.value.([]any); ok && len(list) > 1 {
			lists = append(lists, s)
		}
	}
	if len(lists) == 0 {
		alterLabels(r, object)
		return
	}
	s := lists[r.IntN(len(lists))]
	list, _ := s.value.([]any)
	list = slices.Clone(list)
	r.Shuffle(len(list), func(i, j int) { list[i], list[j] = list[j], list[i] })
	s.set(list)
}

func alterStrategy(r *rand.Rand, object map[string]any) {
	if object["kind"] != "Deployment" {
		alter(r, object)
		return
	}
	made(object, "spec")["strategy"] = pickAny(r, map[string]any{"type": "Recreate"},
		map[string]any{"type": "RollingUpdate", "rollingUpdate": map[string]any{"maxSurge": int64(1)}}, map[string]any{})
}

func alterOwners(r *rand.Rand, object map[string]any) {
	metadata := made(object, "metadata")
	if r.IntN(2) == 0 {
		metadata["finalizers"] = pickAny(r, []any{"example.com/a"}, []any{"example.com/b", "example.com/a"}, nil)
		return
	}
	owners, _ := metadata["ownerReferences"].([]any)
	other := map[string]any{"apiVersion": "v1", "kind": "ConfigMap", "name": "other", "uid": "0b7a41c4-3f1e-4a35-8f2e-6a8f7d0f9d11"}
	metadata["ownerReferences"] = pickAny(r, nil, append([]any{any(other)}, owners...), append(slices.Clone(owners), any(other)))
}

// applyClientSide does what kubectl apply does: a strategic merge patch, or a merge patch
// for kinds that Kubernetes does not ship, with what was applied in an annotation.
func applyClientSide(change func(*rand.Rand, map[string]any)) func(context.Context, *rand.Rand, *subject) (*unstructured.Unstructured, error) {
	return func(ctx context.Context, r *rand.Rand, s *subject) (*unstructured.Unstructured, error) {
		object := s.desired.DeepCopy()
		change(r, object.Object)
		text, err := annotated(object)
		if err != nil {
			return nil, err
		}
		kind := types.StrategicMergePatchType
		if !s.shipped {
			kind = types.MergePatchType
		}
		return s.client.Patch(ctx, s.desired.GetName(), kind, text, metav1.PatchOptions{FieldManager: "kubectl-client-side-apply"})
	}
}

// annotated gives an object as kubectl apply sends it.
func annotated(object *unstructured.Unstructured) ([]byte, error) {
	text, err := json.Marshal(object.Object)
	if err != nil {
		return nil, err
	}
	annotations := maps.Clone(object.GetAnnotations())
	if annotations == nil {
		annotations = map[string]string{}
	}
	annotations["kubectl.kubernetes.io/last-applied-configuration"] = string(text)
	object.SetAnnotations(annotations)
	return json.Marshal(object.Object)
}

// scale sets the replicas through the subresource. Half of the times it sets what is
// there: then the scaler does not become an owner.
func scale(manager string) func(context.Context, *rand.Rand, *subject) (*unstructured.Unstructured, error) {
	return func(ctx context.Context, r *rand.Rand, s *subject) (*unstructured.Unstructured, error) {
		replicas, ok := at(s.live.Object, "spec")["replicas"].(int64)
		if !ok {
			return nil, errNothing
		}
		if r.IntN(3) > 0 {
			replicas = int64(r.IntN(9))
		}
		text := fmt.Sprintf(`{"spec":{"replicas":%d}}`, replicas)
		if _, err := s.client.Patch(ctx, s.live.GetName(), types.MergePatchType, []byte(text), metav1.PatchOptions{FieldManager: manager}, "scale"); err != nil {
			return nil, err
		}
		return s.client.Get(ctx, s.live.GetName(), metav1.GetOptions{})
	}
}

func restart(ctx context.Context, r *rand.Rand, s *subject) (*unstructured.Unstructured, error) {
	if podTemplate(s.live.Object) == nil || s.live.GetKind() == "Job" || s.live.GetKind() == "CronJob" {
		return nil, errNothing
	}
	text := fmt.Sprintf(`{"spec":{"template":{"metadata":{"annotations":{"kubectl.kubernetes.io/restartedAt":"2026-01-01T00:00:%02dZ"}}}}}`, r.IntN(60))
	return s.client.Patch(ctx, s.live.GetName(), types.StrategicMergePatchType, []byte(text), metav1.PatchOptions{FieldManager: "kubectl-rollout"})
}

// applyServerSide applies some of the fields of what is live or wanted.
func applyServerSide(manager string, change func(*rand.Rand, map[string]any)) func(context.Context, *rand.Rand, *subject) (*unstructured.Unstructured, error) {
	return func(ctx context.Context, r *rand.Rand, s *subject) (*unstructured.Unstructured, error) {
		from := s.desired.DeepCopy()
		if r.IntN(2) == 0 {
			from = s.live.DeepCopy()
		}
		part := some(r, from.Object, 1+r.IntN(5))
		metadata := at(from.Object, "metadata")
		kept := map[string]any{"name": s.desired.GetName(), "namespace": s.desired.GetNamespace()}
		for _, field := range []string{"labels", "annotations", "ownerReferences", "finalizers"} {
			if v, ok := metadata[field]; ok && r.IntN(3) == 0 {
				kept[field] = v
			}
		}
		part["metadata"] = kept
		part["apiVersion"], part["kind"] = s.desired.GetAPIVersion(), s.desired.GetKind()
		delete(part, "status")
		change(r, part)
		return s.client.Apply(ctx, s.desired.GetName(), &unstructured.Unstructured{Object: part}, metav1.ApplyOptions{FieldManager: manager, Force: true})
	}
}

// some gives some of the fields of a mapping: one in keep is left out. What tells items of
// lists apart stays.
func some(r *rand.Rand, m map[string]any, keep int) map[string]any {
	out := make(map[string]any, len(m))
	for _, name := range slices.Sorted(maps.Keys(m)) {
		if slices.Contains(keyNames, name) || name == "protocol" || name == "whenUnsatisfiable" {
			out[name] = m[name]
			continue
		}
		if r.IntN(keep+1) == 0 {
			continue
		}
		switch v := m[name].(type) {
		case map[string]any:
			out[name] = some(r, v, keep)
		case []any:
			if r.IntN(2) == 0 {
				out[name] = v
				continue
			}
			var items []any
			for _, item := range v {
				if item, ok := item.(map[string]any); ok && r.IntN(3) > 0 {
					items = append(items, some(r, item, keep))
				}
			}
			if len(items) > 0 {
				out[name] = items
			}
		default:
			out[name] = v
		}
	}
	return out
}

// kubectl has kubectl itself change the object.
func (r *Referee) kubectl(ctx context.Context, random *rand.Rand, s *subject) (*unstructured.Unstructured, error) {
	text, err := json.Marshal(s.desired.Object)
	if err != nil {
		return nil, err
	}
	manifest := filepath.Join(r.Dir, s.desired.GetName()+".json")
	if err := os.WriteFile(manifest, text, 0o600); err != nil {
		return nil, err
	}
	defer os.Remove(manifest)
	object := s.resource + "/" + s.desired.GetName()
	args := [][]string{
		{"apply", "-f", manifest},
		{"apply", "-f", manifest, "--server-side", "--force-conflicts"},
		{"label", object, "team=kubectl", "--overwrite"},
		{"annotate", object, "example.com/note=kubectl", "--overwrite"},
	}
	if s.desired.GetKind() == "Deployment" {
		args = append(args, []string{"rollout", "restart", object}, []string{"scale", object, "--replicas=4"}, []string{"set", "env", object, "A=kubectl"})
	}
	cmd := r.Kubectl(ctx, append(args[random.IntN(len(args))], "-n", r.Namespace)...)
	var refusal *exec.ExitError
	if err := cmd.Run(); errors.As(err, &refusal) {
		r.Tally.Count("kubectl refused", 1)
		return nil, errNothing
	} else if err != nil {
		return nil, err
	}
	return s.client.Get(ctx, s.live.GetName(), metav1.GetOptions{})
}

// forget takes managedFields away, as what restores backups does.
func forget(ctx context.Context, _ *rand.Rand, s *subject) (*unstructured.Unstructured, error) {
	return s.client.Patch(ctx, s.live.GetName(), types.MergePatchType, []byte(`{"metadata":{"managedFields":[{}]}}`), metav1.PatchOptions{FieldManager: "backup"})
}

// status writes one, as the controllers of Kubernetes do.
func status(ctx context.Context, r *rand.Rand, s *subject) (*unstructured.Unstructured, error) {
	var written map[string]any
	switch s.live.GetKind() {
	case "Deployment", "StatefulSet":
		written = map[string]any{"observedGeneration": int64(1), "replicas": int64(r.IntN(3))}
	case "Service":
		written = map[string]any{"loadBalancer": map[string]any{"ingress": []any{map[string]any{"ip": "192.0.2.1"}}}}
	case "HorizontalPodAutoscaler":
		written = map[string]any{"desiredReplicas": int64(3), "currentReplicas": int64(2)}
	default:
		return nil, errNothing
	}
	text, err := json.Marshal(map[string]any{"status": written})
	if err != nil {
		return nil, err
	}
	return s.client.Patch(ctx, s.live.GetName(), types.MergePatchType, text, metav1.PatchOptions{FieldManager: "kube-controller-manager"}, "status")
}
