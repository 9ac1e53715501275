// Package golden is for tests of repositories that hold AppServices: it renders them, or
// takes any objects, and compares them with files that were reviewed.
//
//	func TestRendered(t *testing.T) {
//		objects, err := golden.Render("apps/web.yaml")
//		if err != nil {
//			t.Fatal(err)
//		}
//		golden.Check(t, objects, "testdata/web.yaml", *update)
//	}
//
// The comparison is that of pkg/diff: it is about what the API server would make of the
// objects, so that another spelling of a quantity or a default that is written out makes no
// difference. What is reported is what would happen: "rolls 3 pods". Values of Secrets are
// masked.
package golden
