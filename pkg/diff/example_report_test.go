package diff_test

import (
	"fmt"
	"os"

	"k8s.io/apimachinery/pkg/apis/meta/v1/unstructured"
	"sigs.k8s.io/yaml"

	"kudevops.io/appsvc/pkg/diff"
)

const webBefore = `
apiVersion: apps/v1
kind: Deployment
metadata: {name: web, namespace: shop}
spec:
  replicas: 3
  selector: {matchLabels: {app: web}}
  template:
    metadata: {labels: {app: web}}
    spec:
      containers:
      - name: app
        image: shop/web:1.0
        env:
        - {name: DB_PASSWORD, value: hunter2}
`

const webAfter = `
apiVersion: apps/v1
kind: Deployment
metadata: {name: web, namespace: shop}
spec:
  replicas: 3
  selector: {matchLabels: {app: web}}
  template:
    metadata: {labels: {app: web}}
    spec:
      containers:
      - name: app
        image: shop/web:1.1
        env:
        - {name: DB_PASSWORD, value: correct horse}
`

func object(text string) *unstructured.Unstructured {
	u := &unstructured.Unstructured{}
	if err := yaml.Unmarshal([]byte(text), &u.Object); err != nil {
		panic(err)
	}
	return u
}

// A report is what may be shown of a ChangeSet: secrets are masked before any format is
// written.
func ExampleReport() {
	changes, err := diff.Diff(
		[]*unstructured.Unstructured{object(webBefore)},
		[]*unstructured.Unstructured{object(webAfter)},
		diff.Options{},
	)
	if err != nil {
		fmt.Println(err)
		return
	}
	report := diff.NewReport(changes, diff.ReportOptions{MaskKeys: []string{"*PASSWORD*"}})
	if err := report.WriteText(os.Stdout, diff.TextOptions{}); err != nil {
		fmt.Println(err)
	}
	// Output:
	// ~ Deployment shop/web: rolls 3 pods
	//   ~ spec.template.spec.containers[name=app].env[name=DB_PASSWORD].value: (masked 1) -> (masked 2)
	//   ~ spec.template.spec.containers[name=app].image: shop/web:1.0 -> shop/web:1.1
	//
	// 0 to create, 1 to change, 0 to delete, 0 unchanged
}
