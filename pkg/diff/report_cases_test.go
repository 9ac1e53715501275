package diff

import (
	"encoding/base64"
	"fmt"
	"strings"
)

// reportCase is a ChangeSet made by hand, so that a report is tested by what it is given.
type reportCase struct {
	name, reason string
	changes      ChangeSet
	options      ReportOptions
}

// pathOf makes a path of names, and of keys by name after "name=".
func pathOf(steps ...string) Path {
	var p Path
	for _, s := range steps {
		if key, ok := strings.CutPrefix(s, "name="); ok {
			p = append(p, PathElement{Key: []KeyValue{{"name", key}}})
			continue
		}
		p = append(p, PathElement{Field: s})
	}
	return p
}

var podSpec = []string{"spec", "template", "spec"}

func inApp(steps ...string) Path {
	return pathOf(append(append(append([]string{}, podSpec...), "containers", "name=app"), steps...)...)
}

func deploymentObject(name, image string, replicas int64) map[string]any {
	return map[string]any{
		"apiVersion": "apps/v1", "kind": "Deployment",
		"metadata": map[string]any{"name": name, "namespace": "shop", "labels": map[string]any{"app": name}},
		"spec": map[string]any{
			"replicas": replicas,
			"template": map[string]any{"spec": map[string]any{
				"containers": []any{map[string]any{"name": "app", "image": image, "args": []any{"--verbose", "8080"}}},
			}},
		},
	}
}

func refTo(apiVersion, kind, name string) ObjectRef {
	return ObjectRef{APIVersion: apiVersion, Kind: kind, Namespace: "shop", Name: name}
}

func imageChange(name, from, to string, replicas int64) ObjectChange {
	return ObjectChange{
		Object: refTo("apps/v1", "Deployment", name), Action: Update, Effect: EffectRestart,
		Notes:  []string{"rolls " + counted(int(replicas), "pod")},
		Fields: []FieldChange{{Path: inApp("image"), Op: Replace, Before: from, After: to, Effect: EffectRestart}},
		Before: deploymentObject(name, from, replicas), After: deploymentObject(name, to, replicas),
	}
}

func unchangedObject(kind, name string) ObjectChange {
	return ObjectChange{Object: refTo("v1", kind, name), Action: Unchanged, Effect: EffectNone}
}

func configMapObject(name string, data map[string]any) map[string]any {
	return map[string]any{"apiVersion": "v1", "kind": "ConfigMap", "metadata": map[string]any{"name": name, "namespace": "shop"}, "data": data}
}

func configMapChange(name string, before, after any) ObjectChange {
	return ObjectChange{
		Object: refTo("v1", "ConfigMap", name), Action: Update, Effect: EffectInPlace,
		Fields: []FieldChange{{Path: pathOf("data", "app.conf"), Op: Replace, Before: before, After: after, Effect: EffectInPlace}},
		Before: configMapObject(name, map[string]any{"app.conf": before}),
		After:  configMapObject(name, map[string]any{"app.conf": after}),
	}
}

func encoded(s string) string { return base64.StdEncoding.EncodeToString([]byte(s)) }

func numberedLines(n int, changed ...int) string {
	var b strings.Builder
	for i := 1; i <= n; i++ {
		line := fmt.Sprintf("setting.%d = on\n", i)
		for _, c := range changed {
			if c == i {
				line = fmt.Sprintf("setting.%d = off\n", i)
			}
		}
		b.WriteString(line)
	}
	return b.String()
}

func reportCases() []reportCase {
	return []reportCase{
		{name: "nothing", reason: "no change is said in one line", changes: ChangeSet{
			Objects: []ObjectChange{unchangedObject("Service", "web"), unchangedObject("ConfigMap", "web")},
		}},
		{name: "image", reason: "the commonest change of all", changes: ChangeSet{
			Objects: []ObjectChange{unchangedObject("Service", "web"), imageChange("web", "shop/web:1.0", "shop/web:1.1", 3)},
		}},
		mixedCase(),
		secretCase(),
		shownSecretCase(),
		liveCase(),
		renameCase(),
		sameChangeCase(),
		textCase(),
		hostileCase(),
	}
}

// mixedCase has all gravities, the gravest not first.
func mixedCase() reportCase {
	web := imageChange("web", "shop/web:1.0", "shop/web:1.1", 3)
	web.Fields = append([]FieldChange{
		{Path: pathOf("metadata", "labels", "team"), Op: Add, After: "checkout", Effect: EffectMetadata},
		{Path: pathOf("spec", "replicas"), Op: Replace, Before: int64(2), After: int64(3), Effect: EffectScale},
		{Path: inApp("args"), Op: Replace, Before: []any{"--verbose", "8080"}, After: []any{"8080"}, Effect: EffectRestart},
		{Path: inApp("env", "name=LEVEL"), Op: Add, After: map[string]any{"name": "LEVEL", "value": "3"}, Effect: EffectRestart},
	}, web.Fields...)
	web.Notes = append(web.Notes, "scales from 2 to 3 pods")
	web.Before = deploymentObject("web", "shop/web:1.0", 2)
	container := web.After["spec"].(map[string]any)["template"].(map[string]any)["spec"].(map[string]any)["containers"].([]any)[0].(map[string]any)
	container["args"] = []any{"8080"}
	container["env"] = []any{map[string]any{"name": "LEVEL", "value": "3"}}
	web.After["metadata"].(map[string]any)["labels"].(map[string]any)["team"] = "checkout"

	serviceObject := func(name string) map[string]any {
		return map[string]any{"apiVersion": "v1", "kind": "Service", "metadata": map[string]any{"name": name, "namespace": "shop"},
			"spec": map[string]any{"ports": []any{map[string]any{"port": int64(80), "targetPort": "http"}}, "selector": map[string]any{"app": name}}}
	}
	database := ObjectChange{
		Object: refTo("apps/v1", "StatefulSet", "db"), Action: Update, Effect: EffectRecreate,
		Notes:  []string{"must be recreated: spec.serviceName is immutable"},
		Fields: []FieldChange{{Path: pathOf("spec", "serviceName"), Op: Replace, Before: "db", After: "database", Effect: EffectRecreate}},
		Before: map[string]any{"apiVersion": "apps/v1", "kind": "StatefulSet", "metadata": map[string]any{"name": "db"}, "spec": map[string]any{"serviceName": "db"}},
		After:  map[string]any{"apiVersion": "apps/v1", "kind": "StatefulSet", "metadata": map[string]any{"name": "db"}, "spec": map[string]any{"serviceName": "database"}},
	}
	return reportCase{name: "mixed", reason: "deleted, recreated, restarted, created and changed in place", changes: ChangeSet{
		Objects: []ObjectChange{
			{Object: refTo("v1", "Service", "web"), Action: Create, Effect: EffectNone, After: serviceObject("web")},
			configMapChange("web", numberedLines(40), numberedLines(40, 3, 30)),
			web, database, unchangedObject("ServiceAccount", "web"),
			{Object: ObjectRef{APIVersion: "v1", Kind: "Namespace", Name: "old"}, Action: Delete, Effect: EffectNone,
				Before: map[string]any{"apiVersion": "v1", "kind": "Namespace", "metadata": map[string]any{"name": "old"}}},
			{Object: refTo("v1", "Service", "old"), Action: Delete, Effect: EffectNone, Before: serviceObject("old")},
		},
	}}
}

const lastApplied = "kubectl.kubernetes.io/last-applied-configuration"

func secretChanges() ChangeSet {
	secret := func(annotation string, data, text map[string]any) map[string]any {
		out := map[string]any{"apiVersion": "v1", "kind": "Secret", "type": "Opaque",
			"metadata": map[string]any{"name": "db", "namespace": "shop", "annotations": map[string]any{lastApplied: annotation, "team": "checkout"}}}
		if data != nil {
			out["data"] = data
		}
		if text != nil {
			out["stringData"] = text
		}
		return out
	}
	before := secret(`{"data":{"password":"hunter2"}}`, map[string]any{"password": encoded("hunter2"), "user": encoded("admin"), "pem": encoded("line 1\nline 2\n")}, nil)
	after := secret(`{"data":{"password":"correct horse"}}`, map[string]any{"password": encoded("correct horse"), "user": encoded("admin"), "pem": encoded("line 1\n")}, nil)
	values := func(f string) (any, any) {
		return before["data"].(map[string]any)[f], after["data"].(map[string]any)[f]
	}
	password0, password1 := values("password")
	pem0, pem1 := values("pem")
	env := func(value string) map[string]any {
		d := deploymentObject("web", "shop/web:1.0", 3)
		d["spec"].(map[string]any)["template"].(map[string]any)["spec"].(map[string]any)["containers"].([]any)[0].(map[string]any)["env"] =
			[]any{map[string]any{"name": "DB_PASSWORD", "value": value}, map[string]any{"name": "DB_HOST", "value": "db"}}
		return d
	}
	return ChangeSet{Objects: []ObjectChange{
		{
			Object: refTo("v1", "Secret", "db"), Action: Update, Effect: EffectInPlace, Notes: []string{"password becomes correct horse"},
			Fields: []FieldChange{
				{Path: pathOf("data", "password"), Op: Replace, Before: password0, After: password1, Effect: EffectInPlace, Owners: []string{"kubectl-edit"}},
				{Path: pathOf("data", "pem"), Op: Replace, Before: pem0, After: pem1, Effect: EffectInPlace},
			},
			Foreign: []FieldChange{{Path: pathOf("metadata", "annotations", lastApplied), Op: Remove, Before: `{"data":{"password":"hunter2"}}`, Owners: []string{"kubectl-client-side-apply"}}},
			Before:  before, After: after,
		},
		{
			Object: refTo("v1", "Secret", "copy"), Action: Create, Effect: EffectNone,
			After: secret("{}", map[string]any{"same": encoded("correct horse")}, map[string]any{"plain": "correct horse", "other": "battery staple"}),
		},
		{
			Object: refTo("apps/v1", "Deployment", "web"), Action: Update, Effect: EffectRestart, Notes: []string{"rolls 3 pods"},
			Fields: []FieldChange{{Path: inApp("env", "name=DB_PASSWORD", "value"), Op: Replace, Before: "hunter2", After: "correct horse", Effect: EffectRestart}},
			Before: env("hunter2"), After: env("correct horse"),
		},
		{
			Object: refTo("v1", "ConfigMap", "files"), Action: Update, Effect: EffectInPlace,
			Fields: []FieldChange{
				{Path: pathOf("binaryData", "icon"), Op: Replace, Before: encoded("\x00\x01\x02"), After: encoded("\x00\x01\x03"), Effect: EffectInPlace},
				{Path: pathOf("data", "db-password"), Op: Replace, Before: "hunter2", After: "battery staple", Effect: EffectInPlace},
			},
			Before: map[string]any{"apiVersion": "v1", "kind": "ConfigMap", "metadata": map[string]any{"name": "files", "namespace": "shop"},
				"binaryData": map[string]any{"icon": encoded("\x00\x01\x02")}, "data": map[string]any{"db-password": "hunter2"}},
			After: map[string]any{"apiVersion": "v1", "kind": "ConfigMap", "metadata": map[string]any{"name": "files", "namespace": "shop"},
				"binaryData": map[string]any{"icon": encoded("\x00\x01\x03")}, "data": map[string]any{"db-password": "battery staple"}},
		},
	}}
}

func secretCase() reportCase {
	return reportCase{name: "secrets", reason: "equal secrets have equal placeholders, and nothing else of them is seen",
		changes: secretChanges(), options: ReportOptions{MaskKeys: []string{"*password*"}}}
}

func shownSecretCase() reportCase {
	return reportCase{name: "secrets-shown", reason: "the only way out", changes: secretChanges(),
		options: ReportOptions{MaskKeys: []string{"*password*"}, ShowSecrets: true}}
}

// liveCase is a comparison with a cluster.
func liveCase() reportCase {
	web := imageChange("web", "shop/web:1.0", "shop/web:1.1", 3)
	web.Fields[0].Owners = []string{"argocd-image-updater", "kubectl-edit"}
	web.Fields = append(web.Fields, FieldChange{Path: inApp("imagePullPolicy"), Op: Remove, Before: "Always", After: "IfNotPresent", Default: true, Effect: EffectRestart})
	web.Adopted = []FieldChange{{Path: pathOf("spec", "replicas"), Op: Replace, Before: int64(3), After: int64(3), Effect: EffectAdopt, Owners: []string{"kubectl-edit"}}}
	web.Kept = []FieldChange{{Path: pathOf("metadata", "labels", "team"), Op: Remove, Before: "checkout", Effect: EffectKept, Owners: []string{"kubectl-client-side-apply"}}}
	web.Foreign = []FieldChange{
		{Path: pathOf("metadata", "annotations", "deployment.kubernetes.io/revision"), Op: Remove, Before: "7", Owners: []string{"kube-controller-manager"}},
		{Path: pathOf("metadata", "annotations", lastApplied), Op: Remove, Before: `{"kind":"Deployment"}`, Owners: []string{"kubectl-client-side-apply"}},
	}
	web.Notes = append(web.Notes, "metadata.labels.team stays: owned by kubectl-client-side-apply")
	web.Ignored = 2
	// What a rule ignores and other spellings are in the objects all the same.
	web.After["spec"].(map[string]any)["paused"] = false
	web.After["spec"].(map[string]any)["replicas"] = float64(3)
	container := web.Before["spec"].(map[string]any)["template"].(map[string]any)["spec"].(map[string]any)["containers"].([]any)[0].(map[string]any)
	container["imagePullPolicy"] = "Always"
	service := unchangedObject("Service", "web")
	service.Effect = EffectNone
	service.Foreign = []FieldChange{{Path: pathOf("spec", "clusterIPs"), Op: Remove, Before: []any{"10.0.0.1"}}}
	account := unchangedObject("ServiceAccount", "web")
	account.Adopted = []FieldChange{{Path: pathOf("automountServiceAccountToken"), Op: Replace, Before: false, After: false, Effect: EffectAdopt}}
	return reportCase{name: "live", reason: "what stays is apart from what changes, with its owners", changes: ChangeSet{
		Objects: []ObjectChange{web, service, account, unchangedObject("ConfigMap", "web")},
		Unmatched: []IgnoreRule{{Kind: "Deployment", Source: "ignore.yaml:3",
			Paths: []PathPattern{{{Field: "spec"}, {Field: "progressDeadlineSeconds"}}}}},
	}}
}

// renameCase has objects and items that are called otherwise, and items in another order.
func renameCase() reportCase {
	data := configMapChange("web-9c2b7f4d10", "a = 1\n", "a = 2\n")
	data.From = &ObjectRef{APIVersion: "v1", Kind: "ConfigMap", Namespace: "shop", Name: "web-5d8fe0aa31"}
	data.Before["metadata"].(map[string]any)["name"] = "web-5d8fe0aa31"
	budget := ObjectChange{
		Object: refTo("policy/v1", "PodDisruptionBudget", "web"), Action: Update, Effect: EffectNone,
		From:   &ObjectRef{APIVersion: "policy/v1beta1", Kind: "PodDisruptionBudget", Namespace: "shop", Name: "web"},
		Before: map[string]any{"apiVersion": "policy/v1beta1", "kind": "PodDisruptionBudget", "metadata": map[string]any{"name": "web"}},
		After:  map[string]any{"apiVersion": "policy/v1", "kind": "PodDisruptionBudget", "metadata": map[string]any{"name": "web"}},
	}
	env := func(names ...string) []any {
		var out []any
		for _, n := range names {
			out = append(out, map[string]any{"name": n, "value": strings.ToLower(n)})
		}
		return out
	}
	object := func(container string, env []any, ports ...any) map[string]any {
		d := deploymentObject("web", "shop/web:1.0", 3)
		c := d["spec"].(map[string]any)["template"].(map[string]any)["spec"].(map[string]any)["containers"].([]any)[0].(map[string]any)
		c["name"], c["env"], c["ports"] = container, env, ports
		return d
	}
	udp := map[string]any{"containerPort": int64(53), "protocol": "UDP"}
	tcp := map[string]any{"containerPort": int64(53), "protocol": "TCP"}
	web := ObjectChange{
		Object: refTo("apps/v1", "Deployment", "web"), Action: Update, Effect: EffectRestart, Notes: []string{"rolls 3 pods"},
		Fields: []FieldChange{
			{Path: inApp(), Op: Rename, Before: "web", After: "app", Effect: EffectRestart},
			{Path: inApp("env"), Op: Reorder, Before: []any{"A", "B"}, After: []any{"B", "A"}, Effect: EffectRestart},
			{Path: inApp("ports"), Op: Reorder, Before: []any{udp, tcp}, After: []any{tcp, udp}, Effect: EffectRestart},
		},
		Before: object("web", env("A", "B"), udp, tcp), After: object("app", env("B", "A"), tcp, udp),
	}
	return reportCase{name: "renames", reason: "a rename is no delete and create", changes: ChangeSet{Objects: []ObjectChange{data, budget, web}}}
}

func sameChangeCase() reportCase {
	var objects []ObjectChange
	for i := range 12 {
		name := fmt.Sprintf("app-%02d", i)
		o := imageChange(name, "registry/"+name+":1.0", "registry/"+name+":1.1", int64(i))
		objects = append(objects, o)
		if i%4 == 0 {
			objects = append(objects, ObjectChange{Object: refTo("policy/v1", "PodDisruptionBudget", name), Action: Create, Effect: EffectNone,
				After: map[string]any{"apiVersion": "policy/v1", "kind": "PodDisruptionBudget", "metadata": map[string]any{"name": name, "namespace": "shop"}}})
		}
	}
	objects = append(objects, imageChange("other", "registry/other:2.0", "registry/other:3.0", 1))
	return reportCase{name: "same-change", reason: "what is the same in many apps is shown once", changes: ChangeSet{Objects: objects}}
}

func textCase() reportCase {
	long := strings.Repeat("0123456789", 300)
	return reportCase{name: "texts", reason: "what is not seen in a text is made visible, and what is long is cut", changes: ChangeSet{Objects: []ObjectChange{
		configMapChange("crlf", "a = 1\nb = 2\n", "a = 1\r\nb = 2\r\n"),
		configMapChange("end", "a = 1\nb = 2", "a = 1\nb = 2\n"),
		configMapChange("blank", "a = 1\nb = 2\n", "a = 1 \t\n\tb = 2\u00a0\n\u200b\n"),
		configMapChange("line", "one line", "one line "),
		configMapChange("grows", "one line", "one line\nanother\n"),
		configMapChange("long", long+"x", long+"y"),
		configMapChange("longer", "short", long),
		configMapChange("many", "x\n", strings.Repeat("a line of text\n", 400)),
		configMapChange("types", "1", int64(1)),
		configMapChange("nested", "true", map[string]any{"a": []any{"- b", map[string]any{}, nil, true, 1.5, []any{[]any{"x"}}}, "c": "x\ny\n", "": "~"}),
	}}}
}

func hostileCase() reportCase {
	name := "web</code></summary><img src=x onerror=alert(1)>|`*_[x](y)@team #1\x1b[31m\n"
	o := imageChange(name, "a```b", "c````d</details>\u202e", 1)
	o.Notes = []string{"<b>rolls</b> | @team\n\x07"}
	o.Fields[0].Owners = []string{"x\x1b[0m"}
	return reportCase{name: "hostile", reason: "nothing in a name or value steers a terminal or a page", changes: ChangeSet{Objects: []ObjectChange{o,
		configMapChange("fence", "x\n", "```\n````` </details>\n\x1b]0;title\x07\n# heading\n")}}}
}
