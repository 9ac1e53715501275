package diff

import (
	"fmt"
	"slices"
	"strings"
)

// severity orders effects: the gravest last.
var severity = [...]Effect{
	EffectNone, EffectAdopt, EffectKept, EffectOrder, EffectMetadata, EffectInPlace, EffectScale, EffectRestart, EffectRecreate,
}

// graver gives the graver one of two effects.
func graver(a, b Effect) Effect {
	if slices.Index(severity[:], a) >= slices.Index(severity[:], b) {
		return a
	}
	return b
}

// kindEffects say what changes of a kind do, for fields of its spec or, where the path
// says so, elsewhere. What is not named takes effect in place.
type kindEffects struct {
	group, kind string
	// immutable fields are refused by the API server once they are set.
	immutable []string
	// template is where its pods are described: a change replaces them. What else does so
	// is named by restarts.
	template, restarts string
	// scale is what says how many pods there are.
	scale string
}

// Source: the Validate...Update functions of k8s.io/kubernetes/pkg/apis, v1.37; tested
// against a real API server.
var effects = [...]kindEffects{
	{group: "apps", kind: "Deployment", immutable: []string{"spec.selector"}, template: "spec.template", scale: "spec.replicas"},
	{group: "apps", kind: "StatefulSet", immutable: []string{
		"spec.selector", "spec.serviceName", "spec.volumeClaimTemplates", "spec.podManagementPolicy",
	}, template: "spec.template", restarts: "spec.ordinals", scale: "spec.replicas"},
	{group: "apps", kind: "ControllerRevision", immutable: []string{"data"}},
	{group: "apps", kind: "DaemonSet", immutable: []string{"spec.selector"}, template: "spec.template"},
	{group: "apps", kind: "ReplicaSet", immutable: []string{"spec.selector"}, scale: "spec.replicas"},
	{group: "", kind: "ReplicationController", scale: "spec.replicas"},
	{group: "batch", kind: "Job", immutable: []string{
		"spec.selector", "spec.template", "spec.completions", "spec.completionMode", "spec.podFailurePolicy",
		"spec.backoffLimitPerIndex", "spec.managedBy", "spec.successPolicy",
	}, scale: "spec.parallelism"},
	{group: "", kind: "PersistentVolumeClaim", immutable: []string{
		"spec.accessModes", "spec.selector", "spec.storageClassName", "spec.volumeMode", "spec.volumeName", "spec.dataSource", "spec.dataSourceRef",
		"spec.resources",
	}},
	{group: "", kind: "PersistentVolume", immutable: []string{
		"spec.volumeMode", "spec.awsElasticBlockStore", "spec.azureDisk", "spec.azureFile", "spec.cephfs", "spec.cinder", "spec.csi", "spec.fc",
		"spec.flexVolume", "spec.flocker", "spec.gcePersistentDisk", "spec.glusterfs", "spec.hostPath", "spec.iscsi", "spec.local", "spec.nfs",
		"spec.photonPersistentDisk", "spec.portworxVolume", "spec.quobyte", "spec.rbd", "spec.scaleIO", "spec.storageos", "spec.vsphereVolume",
	}},
	{group: "", kind: "ConfigMap"},
	{group: "", kind: "Secret", immutable: []string{"type"}},
	{group: "", kind: "Service"},
	{group: "discovery.k8s.io", kind: "EndpointSlice", immutable: []string{"addressType"}},
	{group: "rbac.authorization.k8s.io", kind: "RoleBinding", immutable: []string{"roleRef"}},
	{group: "rbac.authorization.k8s.io", kind: "ClusterRoleBinding", immutable: []string{"roleRef"}},
	{group: "storage.k8s.io", kind: "StorageClass", immutable: []string{
		"provisioner", "parameters", "reclaimPolicy", "volumeBindingMode",
	}},
	{group: "storage.k8s.io", kind: "VolumeAttributesClass", immutable: []string{"driverName", "parameters"}},
	{group: "storage.k8s.io", kind: "CSIDriver", immutable: []string{"spec.attachRequired", "spec.volumeLifecycleModes"}},
	{group: "resource.k8s.io", kind: "ResourceClaim", immutable: []string{"spec"}},
	{group: "scheduling.k8s.io", kind: "PriorityClass", immutable: []string{"value", "preemptionPolicy"}},
	{group: "networking.k8s.io", kind: "IngressClass", immutable: []string{"spec.controller"}},
	{group: "node.k8s.io", kind: "RuntimeClass", immutable: []string{"handler"}},
}

// judge sets the effect of each change of an object, and says in words what will happen.
func judge(c *ObjectChange) {
	group, kind := currentGroup(c.Object.Group(), c.Object.Kind), c.Object.Kind
	var known kindEffects
	for _, e := range effects {
		if e.group == group && e.kind == kind {
			known = e
		}
	}
	for i := range c.Fields {
		f := &c.Fields[i]
		f.Effect = known.of(f, c)
		c.Effect = graver(c.Effect, f.Effect)
	}
	c.Notes = notes(c, &known)
}

// of gives the effect of one change.
func (e *kindEffects) of(f *FieldChange, c *ObjectChange) Effect {
	path := f.Path
	switch {
	case path.hasFields("apiVersion"):
		return EffectNone
	case path.hasFields("metadata"):
		return EffectMetadata
	case e.refuses(f, c):
		return EffectRecreate
	case e.template != "" && within(path, e.template), e.restarts != "" && within(path, e.restarts):
		return EffectRestart
	case e.scale != "" && within(path, e.scale):
		return EffectScale
	case c.Object.Kind == "Pod" && c.Object.Group() == "":
		return podEffect(f)
	case f.Op == Reorder:
		return EffectOrder
	}
	return EffectInPlace
}

// refuses reports whether the API server refuses the change.
func (e *kindEffects) refuses(f *FieldChange, c *ObjectChange) bool {
	if slices.ContainsFunc(e.immutable, func(field string) bool { return within(f.Path, field) }) {
		return !settable(f, c)
	}
	switch {
	case e.kind == "Service":
		return serviceRefuses(f, c)
	case e.group == "" && (e.kind == "ConfigMap" || e.kind == "Secret"):
		was, _ := c.Before["immutable"].(bool)
		return was && (f.Path.hasFields("data") || f.Path.hasFields("binaryData") || f.Path.hasFields("stringData") || f.Path.hasFields("immutable"))
	}
	return false
}

// settable knows the immutable fields that may be set once, or changed under conditions.
func settable(f *FieldChange, c *ObjectChange) bool {
	switch c.Object.Kind {
	case "PersistentVolumeClaim":
		// The controllers bind a claim that has none yet, and one that is bound may grow.
		return f.Op == Add && (within(f.Path, "spec.volumeName") || within(f.Path, "spec.storageClassName")) ||
			within(f.Path, "spec.resources.requests") && grows(f)
	case "Job":
		before, _ := c.Before["spec"].(map[string]any)
		after, _ := c.After["spec"].(map[string]any)
		if within(f.Path, "spec.completions") {
			// An indexed Job is elastic: completions go together with parallelism.
			return textAt(before, "completionMode") == "Indexed" && equalNumbers(after["completions"], after["parallelism"])
		}
		// The template of a Job that never started may be steered elsewhere.
		suspended, _ := before["suspend"].(bool)
		return suspended && steers(f.Path)
	}
	return false
}

// grows reports whether an amount becomes a greater one.
func grows(f *FieldChange) bool {
	before, ok := asQuantity(f.Before)
	after, okAfter := asQuantity(f.After)
	return ok && okAfter && after.Cmp(before) >= 0
}

// steers reports whether a field says where the pods of a Job run and how much they get.
func steers(path Path) bool {
	for _, field := range []string{"metadata", "spec.nodeSelector", "spec.tolerations", "spec.affinity", "spec.schedulingGates"} {
		if within(path, "spec.template."+field) {
			return true
		}
	}
	inContainer := within(path, "spec.template.spec.containers") || within(path, "spec.template.spec.initContainers")
	return inContainer && len(path) > 5 && path[5].Field == "resources"
}

// serviceRefuses knows what of a Service is fixed while it has a cluster IP: becoming or
// ceasing to be an ExternalName is how one is given up.
func serviceRefuses(f *FieldChange, c *ObjectChange) bool {
	before, _ := c.Before["spec"].(map[string]any)
	after, _ := c.After["spec"].(map[string]any)
	if textAt(before, "type") == "ExternalName" || textAt(after, "type") == "ExternalName" {
		return false
	}
	switch {
	case within(f.Path, "spec.clusterIP"), within(f.Path, "spec.clusterIPs"):
		// Giving a headless Service an address, or taking a Service its own; a cluster IP that
		// is no longer written is kept.
		return f.Op != Remove && (f.Op == Replace || headless(f.After)) || f.Op == Remove && headless(f.Before)
	case within(f.Path, "spec.ipFamilies"):
		// A second family may come and go; the first one is that of the address.
		return firstOf(before["ipFamilies"]) != firstOf(after["ipFamilies"]) && firstOf(after["ipFamilies"]) != nil
	case within(f.Path, "spec.healthCheckNodePort"):
		return f.Op == Replace
	case within(f.Path, "spec.loadBalancerClass"):
		return textAt(before, "type") == "LoadBalancer" && textAt(after, "type") == "LoadBalancer"
	}
	return false
}

func headless(v any) bool {
	if list, ok := v.([]any); ok {
		return len(list) == 1 && list[0] == "None"
	}
	return v == "None"
}

func firstOf(v any) any {
	if list, ok := v.([]any); ok && len(list) > 0 {
		return list[0]
	}
	return nil
}

// podEffect: of a Pod little may be changed.
func podEffect(f *FieldChange) Effect {
	path := f.Path
	switch {
	case !path.hasFields("spec"):
		return EffectInPlace
	case within(path, "spec.activeDeadlineSeconds") && f.Op != Remove:
		return EffectInPlace
	case path.String() == "spec.tolerations" && adds(f):
		return EffectInPlace
	case path[len(path)-1].Field == "image":
		return EffectRestart
	}
	return EffectRecreate
}

// adds reports whether a list only gets more items.
func adds(f *FieldChange) bool {
	before, _ := f.Before.([]any)
	after, _ := f.After.([]any)
	return !slices.ContainsFunc(before, func(b any) bool {
		return !slices.ContainsFunc(after, func(a any) bool { return equal(a, b, unknown) })
	})
}

// within reports whether a path is at or below a field, written with dots.
func within(path Path, field string) bool { return path.hasFields(strings.Split(field, ".")...) }

// notes say in words what will happen, the gravest first.
func notes(c *ObjectChange, known *kindEffects) []string {
	var out []string
	if beingDeleted(c.Before) {
		out = append(out, "is being deleted")
	}
	byEffect := make(map[Effect][]FieldChange)
	for _, f := range c.Fields {
		byEffect[f.Effect] = append(byEffect[f.Effect], f)
	}
	if fixed := byEffect[EffectRecreate]; len(fixed) > 0 {
		out = append(out, "must be recreated: "+immutableField(fixed[0].Path, known)+" is immutable")
	}
	if len(byEffect[EffectRestart]) > 0 {
		out = append(out, restartNote(c))
	}
	for _, f := range byEffect[EffectScale] {
		out = append(out, scaleNote(f))
	}
	for _, f := range c.Kept {
		out = append(out, f.Path.String()+" stays: "+keptBy(f.Owners))
	}
	return out
}

// keptBy says why a field stays.
func keptBy(owners []string) string {
	if len(owners) == 0 {
		return "the API server fills it in from its alias"
	}
	return "owned by " + strings.Join(owners, ", ")
}

func beingDeleted(object map[string]any) bool {
	metadata, _ := object["metadata"].(map[string]any)
	return metadata["deletionTimestamp"] != nil
}

// immutableField names the field that is refused: not what is below it.
func immutableField(path Path, known *kindEffects) string {
	for _, field := range known.immutable {
		if within(path, field) {
			return field
		}
	}
	return path.String()
}

func restartNote(c *ObjectChange) string {
	spec, _ := c.After["spec"].(map[string]any)
	if strategy, _ := spec["updateStrategy"].(map[string]any); strategy["type"] == "OnDelete" {
		return "replaces each pod when it is deleted (updateStrategy OnDelete)"
	}
	if paused, _ := spec["paused"].(bool); paused {
		return "replaces no pod until it is resumed (spec.paused)"
	}
	if c.Object.Kind == "Pod" {
		return "restarts its containers"
	}
	if c.Object.Kind == "DaemonSet" {
		return "rolls a pod on each node"
	}
	replicas, ok := asInt(spec["replicas"])
	switch strategy, _ := spec["strategy"].(map[string]any); {
	case ok && replicas == 0:
		return "has no pods to roll"
	case strategy["type"] == "Recreate" && ok:
		return "stops and starts " + plural(replicas, "pod")
	case strategy["type"] == "Recreate":
		return "stops and starts the pods"
	case ok:
		return "rolls " + plural(replicas, "pod")
	}
	return "rolls the pods"
}

func scaleNote(f FieldChange) string {
	before, hadCount := asInt(f.Before)
	after, hasCount := asInt(f.After)
	switch {
	case !hasCount:
		return "leaves the number of pods to others"
	case after == 0:
		return "scales to zero"
	case hadCount:
		return fmt.Sprintf("scales from %d to %s", before, plural(after, "pod"))
	}
	return "scales to " + plural(after, "pod")
}

func plural(n int64, noun string) string {
	if n == 1 {
		return "1 " + noun
	}
	return fmt.Sprintf("%d %ss", n, noun)
}
