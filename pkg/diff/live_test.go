package diff

import (
	"testing"

	"k8s.io/apimachinery/pkg/apis/meta/v1/unstructured"
	utiljson "k8s.io/apimachinery/pkg/util/json"
	"k8s.io/apimachinery/pkg/util/managedfields/managedfieldstest"
	"k8s.io/client-go/applyconfigurations"
	"k8s.io/client-go/kubernetes/scheme"
	"sigs.k8s.io/yaml"
)

// parse reads an object from YAML, with whole numbers as int64.
func parse(t testing.TB, text string) *unstructured.Unstructured {
	t.Helper()
	written, err := yaml.YAMLToJSON([]byte(text))
	if err != nil {
		t.Fatal(err)
	}
	var u unstructured.Unstructured
	if err := utiljson.Unmarshal(written, &u.Object); err != nil {
		t.Fatal(err)
	}
	return &u
}

// applied gives an object as it is after manager applied desired to it, by the code with
// which the API server keeps managedFields. Defaults are not filled in.
func applied(t testing.TB, manager string, desired *unstructured.Unstructured) *unstructured.Unstructured {
	t.Helper()
	fields := managedfieldstest.NewTestFieldManager(applyconfigurations.NewTypeConverter(scheme.Scheme), desired.GroupVersionKind())
	if err := fields.Apply(desired.DeepCopy(), manager, true); err != nil {
		t.Fatal(err)
	}
	written, err := utiljson.Marshal(fields.Live())
	if err != nil {
		t.Fatal(err)
	}
	var live unstructured.Unstructured
	if err := utiljson.Unmarshal(written, &live.Object); err != nil {
		t.Fatal(err)
	}
	live.SetGroupVersionKind(desired.GroupVersionKind())
	return &live
}

const typicalDeployment = `
apiVersion: apps/v1
kind: Deployment
metadata:
  name: web
  namespace: shop
  labels: {app.kubernetes.io/name: web, app.kubernetes.io/instance: web, app.kubernetes.io/managed-by: appsvc, team: shop}
  annotations: {example.com/contact: shop@example.com}
spec:
  replicas: 3
  strategy: {type: RollingUpdate, rollingUpdate: {maxSurge: 25%, maxUnavailable: 25%}}
  selector: {matchLabels: {apps.kudevops.io/appservice: web}}
  template:
    metadata:
      labels: {apps.kudevops.io/appservice: web, app.kubernetes.io/name: web, app.kubernetes.io/instance: web, app.kubernetes.io/managed-by: appsvc}
    spec:
      serviceAccountName: default
      terminationGracePeriodSeconds: 45
      containers:
      - name: app
        image: registry.example.com/shop/web:1.4.2
        imagePullPolicy: IfNotPresent
        args: [serve, --port=8080]
        ports:
        - {containerPort: 8080, name: http, protocol: TCP}
        - {containerPort: 9090, name: metrics, protocol: TCP}
        env:
        - {name: LOG_LEVEL, value: info}
        - {name: DATABASE_HOST, value: db.shop.svc}
        - {name: POD_NAME, valueFrom: {fieldRef: {apiVersion: v1, fieldPath: metadata.name}}}
        - {name: PASSWORD, valueFrom: {secretKeyRef: {name: db, key: password}}}
        resources: {requests: {cpu: 100m, memory: 128Mi}, limits: {memory: 256Mi}}
        readinessProbe: {httpGet: {path: /ready, port: http}, periodSeconds: 5}
        livenessProbe: {httpGet: {path: /live, port: http}, failureThreshold: 5}
        securityContext: {allowPrivilegeEscalation: false, capabilities: {drop: [ALL]}, readOnlyRootFilesystem: true}
        volumeMounts: [{name: tmp, mountPath: /tmp}]
      volumes: [{name: tmp, emptyDir: {}}]
`
