package packaging

import (
	"encoding/json"
	"os/exec"
	"path/filepath"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"
)

// stage is one of a Dockerfile's.
type stage struct {
	base   string
	copies [][]string
	run    []string
	// The rest is as in an image's configuration.
	user, workdir string
	entrypoint    []string
	env           []string
	labels        map[string]string
}

// TestDockerfile: the images of the Dockerfile are those of make image. The Dockerfile's
// form is simple enough to be read without Docker.
func TestDockerfile(t *testing.T) {
	t.Parallel()
	stages := readDockerfile(t)
	builder := stages["build"]
	if len(stages) != 3 {
		t.Fatalf("%d stages", len(stages))
	}
	for name, description := range descriptions() {
		want := stage{
			base:    "scratch",
			copies:  [][]string{{"--from=build", "/out/" + name, "/usr/local/bin/" + name}},
			user:    "65532:65532",
			workdir: "/", entrypoint: []string{"/usr/local/bin/" + name}, env: []string{"PATH=/usr/local/bin"},
			labels: map[string]string{
				"org.opencontainers.image.title":       name,
				"org.opencontainers.image.description": description,
				"org.opencontainers.image.version":     "$VERSION",
				"org.opencontainers.image.revision":    "$REVISION",
				"org.opencontainers.image.licenses":    "Apache-2.0",
				"org.opencontainers.image.source":      "https://kudevops.io/appsvc",
			},
		}
		if diff := cmp.Diff(want, stages[name], cmp.AllowUnexported(stage{})); diff != "" {
			t.Errorf("%s, -want +got:\n%s", name, diff)
		}
	}

	// The programs are built as make builds them.
	makefile := string(readFile(t, filepath.Join(root, "Makefile")))
	_, flags, _ := strings.Cut(makefile, "GO_BUILD := CGO_ENABLED=0 ")
	flags, _, _ = strings.Cut(flags, "\n")
	command := builder.run[len(builder.run)-1]
	if !strings.Contains(command, flags) || !strings.Contains(command, "CGO_ENABLED=0") {
		t.Errorf("the Dockerfile builds by %q, and the Makefile by %q", command, flags)
	}

	// What is copied is all that the programs are made from.
	out, err := exec.CommandContext(t.Context(), "go", "list", "-deps", "-f", `{{if and .Module .Module.Main}}{{.ImportPath}}{{end}}`, "kudevops.io/appsvc/cmd/...").Output()
	if err != nil {
		t.Fatal(err)
	}
	copied := map[string]bool{}
	for _, c := range builder.copies {
		for _, source := range c[:len(c)-1] {
			copied[source] = true
		}
	}
	for _, pkg := range strings.Fields(string(out)) {
		folder, _, _ := strings.Cut(strings.TrimPrefix(pkg, "kudevops.io/appsvc/"), "/")
		if !copied[folder] {
			t.Errorf("the Dockerfile does not copy %s, which the programs need", folder)
		}
	}
}

// readDockerfile gives the stages by name.
func readDockerfile(t *testing.T) map[string]stage {
	t.Helper()
	text := strings.ReplaceAll(string(readFile(t, filepath.Join(root, "Dockerfile"))), "\\\n", " ")
	stages := map[string]stage{}
	name := ""
	for line := range strings.Lines(text) {
		word, rest, _ := strings.Cut(strings.TrimSpace(line), " ")
		args := strings.Fields(rest)
		s := stages[name]
		switch word {
		case "", "#", "ARG":
			continue
		case "FROM":
			name = args[len(args)-1]
			s = stage{base: args[len(args)-3]}
		case "COPY":
			s.copies = append(s.copies, args)
		case "RUN":
			s.run = append(s.run, strings.Join(args, " "))
		case "USER":
			s.user = rest
		case "WORKDIR":
			s.workdir = rest
		case "ENV":
			s.env = append(s.env, rest)
		case "ENTRYPOINT":
			if err := json.Unmarshal([]byte(rest), &s.entrypoint); err != nil {
				t.Fatal(err)
			}
		case "LABEL":
			s.labels = map[string]string{}
			for rest = strings.TrimSpace(rest); rest != ""; rest = strings.TrimSpace(rest) {
				key, quoted, _ := strings.Cut(rest, `="`)
				value, after, _ := strings.Cut(quoted, `"`)
				s.labels[key], rest = value, after
			}
		default:
			t.Fatalf("the test does not know %s", word)
		}
		stages[name] = s
	}
	return stages
}
