package golden_test

import (
	"fmt"
	"os"
	"path/filepath"
	"testing"

	"kudevops.io/appsvc/pkg/golden"
)

// A test of your own repository looks like this, with a flag for update.
func Example() {
	const update = false
	_ = func(t *testing.T) {
		objects, err := golden.Render("apps/web.yaml")
		if err != nil {
			t.Fatal(err)
		}
		golden.Check(t, objects, "testdata/web.yaml", update)
	}
}

func ExampleCompare() {
	dir, err := os.MkdirTemp("", "golden-")
	if err != nil {
		fmt.Println(err)
		return
	}
	defer os.RemoveAll(dir)
	app, reviewed := filepath.Join(dir, "web.yaml"), filepath.Join(dir, "reviewed.yaml")
	write := func(image string) {
		text := "apiVersion: apps.kudevops.io/v1alpha1\nkind: AppService\nmetadata: {name: web}\nspec: {replicas: 3, image: " + image + "}\n"
		if err := os.WriteFile(app, []byte(text), 0o644); err != nil {
			fmt.Println(err)
		}
	}

	write("example/web:1.4.2")
	objects, err := golden.Render(app)
	if err == nil {
		err = golden.Write(reviewed, objects)
	}
	if err != nil {
		fmt.Println(err)
		return
	}
	write("example/web:1.4.3")
	if objects, err = golden.Render(app); err != nil {
		fmt.Println(err)
		return
	}
	report, err := golden.Compare(reviewed, objects)
	if err != nil {
		fmt.Println(err)
		return
	}
	fmt.Print(report)
	// Output:
	// ~ Deployment web: rolls 3 pods
	//   ~ spec.template.spec.containers[name=app].image: example/web:1.4.2 -> example/web:1.4.3
	//
	// 0 to create, 1 to change, 0 to delete, 0 unchanged
}
