package layout

import (
	"encoding/json"
	"go/ast"
	"go/parser"
	"go/token"
	"os/exec"
	"path/filepath"
	"slices"
	"strconv"
	"strings"
	"testing"
)

const module = "kudevops.io/appsvc"

// directions lists, for each package of this module, the packages of this module
// that it may import. A package that is not listed fails the test: add it, with
// what it needs and no more.
var directions = map[string][]string{
	"api/v1alpha1":                    {},
	"api/v1alpha1/applyconfiguration": {"api/v1alpha1", "api/v1alpha1/applyconfiguration/..."},
	"pkg/render":                      {"api/v1alpha1"},
	"pkg/diff":                        {},
	"pkg/apply":                       {"api/v1alpha1", "pkg/diff"},
	"pkg/golden":                      {"pkg/diff", "pkg/render", "internal/manifest"},
	"internal/archive":                {},
	"internal/bundle":                 {},
	"internal/arbitrary":              {"api/v1alpha1", "internal/manifest"},
	"internal/manifest":               {"api/v1alpha1"},
	"internal/kustomize":              {"api/v1alpha1", "internal/manifest"},
	"internal/crd":                    {"api/v1alpha1"},
	"internal/crd/gen":                {"api/v1alpha1"},
	"internal/krm":                    {"api/v1alpha1", "pkg/render", "internal/manifest"},
	"internal/cli":                    {"api/v1alpha1", "pkg/...", "internal/..."},
	"internal/controller":             {"api/v1alpha1/...", "pkg/..."},
	"internal/layout":                 {},
	"internal/schemagen":              {},
	"internal/diffcases":              {},
	"internal/specdoc":                {},
	"test/gitops":                     {},
	"test/packaging":                  {},
	"cmd/appsvc-render":               {"internal/cli"},
	"cmd/appsvc-controller":           {"api/v1alpha1", "internal/controller"},
}

// pure packages take all they need as arguments.
var pure = []string{"pkg/render", "pkg/diff"}

type goPackage struct {
	ImportPath string
	Dir        string
	GoFiles    []string
	Imports    []string
	Deps       []string
}

// local is the path within this module, and whether it is within it.
func local(importPath string) (string, bool) {
	return strings.CutPrefix(importPath, module+"/")
}

func packages(t *testing.T) []goPackage {
	t.Helper()
	cmd := exec.CommandContext(t.Context(), "go", "list", "-json=ImportPath,Dir,GoFiles,Imports,Deps", "./...")
	cmd.Dir = filepath.Join("..", "..")
	out, err := cmd.Output()
	if err != nil {
		t.Fatalf("go list: %v", err)
	}
	var list []goPackage
	dec := json.NewDecoder(strings.NewReader(string(out)))
	for dec.More() {
		var p goPackage
		if err := dec.Decode(&p); err != nil {
			t.Fatal(err)
		}
		list = append(list, p)
	}
	return list
}

func TestImportDirections(t *testing.T) {
	t.Parallel()
	for _, p := range packages(t) {
		name, _ := local(p.ImportPath)
		if strings.HasPrefix(name, "api/v1alpha1/applyconfiguration/") {
			name = "api/v1alpha1/applyconfiguration"
		}
		allowed, known := directions[name]
		if !known {
			t.Errorf("%s is not in the table of directions", name)
			continue
		}
		for _, imported := range p.Imports {
			target, ours := local(imported)
			if ours && !slices.ContainsFunc(allowed, func(a string) bool { return matches(a, target) }) {
				t.Errorf("%s must not import %s", name, target)
			}
		}
	}
}

// matches knows patterns of the go command: "internal/..." is all below internal.
func matches(pattern, name string) bool {
	if prefix, ok := strings.CutSuffix(pattern, "/..."); ok {
		return name == prefix || strings.HasPrefix(name, prefix+"/")
	}
	return pattern == name
}

// TestPurity: no I/O, clock, environment or chance in the libraries, by what they
// import and by what they call. What lies below is another matter: k8s.io/api
// itself pulls in os and net; of that only clients and managers are refused.
func TestPurity(t *testing.T) {
	t.Parallel()
	forbiddenImports := []string{
		"os", "os/exec", "os/signal", "io/fs", "io/ioutil", "net", "net/http", "syscall", "unsafe", "embed", "log", "log/slog",
		"math/rand", "math/rand/v2", "crypto/rand", "runtime/debug", "path/filepath",
	}
	forbiddenCalls := map[string][]string{
		"time": {"Now", "Since", "Until", "Sleep", "After", "Tick", "NewTimer", "NewTicker", "AfterFunc"},
	}
	forbiddenDeps := []string{"sigs.k8s.io/controller-runtime/pkg/manager", "k8s.io/client-go/kubernetes", "k8s.io/client-go/rest", module + "/internal"}

	for _, p := range packages(t) {
		name, _ := local(p.ImportPath)
		if !slices.Contains(pure, name) {
			continue
		}
		for _, imported := range p.Imports {
			if slices.Contains(forbiddenImports, imported) {
				t.Errorf("%s is pure and must not import %q", name, imported)
			}
		}
		for _, dep := range p.Deps {
			for _, bad := range forbiddenDeps {
				if dep == bad || strings.HasPrefix(dep, bad+"/") {
					t.Errorf("%s is pure and must not depend on %q", name, dep)
				}
			}
		}
		for _, file := range p.GoFiles {
			syntax(t, filepath.Join(p.Dir, file), forbiddenCalls)
		}
	}
}

// syntax refuses calls and go statements.
func syntax(t *testing.T, file string, forbidden map[string][]string) {
	t.Helper()
	fset := token.NewFileSet()
	tree, err := parser.ParseFile(fset, file, nil, parser.SkipObjectResolution)
	if err != nil {
		t.Fatal(err)
	}
	imported := make(map[string]string) // local name to path
	for _, spec := range tree.Imports {
		path, err := strconv.Unquote(spec.Path.Value)
		if err != nil {
			t.Fatal(err)
		}
		name := path[strings.LastIndexByte(path, '/')+1:]
		if spec.Name != nil {
			name = spec.Name.Name
		}
		imported[name] = path
	}
	ast.Inspect(tree, func(n ast.Node) bool {
		switch n := n.(type) {
		case *ast.GoStmt:
			t.Errorf("%s: a pure package starts no goroutine", fset.Position(n.Pos()))
		case *ast.SelectorExpr:
			pkg, ok := n.X.(*ast.Ident)
			if ok && slices.Contains(forbidden[imported[pkg.Name]], n.Sel.Name) {
				t.Errorf("%s: a pure package must not use %s.%s", fset.Position(n.Pos()), pkg.Name, n.Sel.Name)
			}
		}
		return true
	})
}
