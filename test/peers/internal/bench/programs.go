package bench

import (
	"context"
	"errors"
	"fmt"
	"io"
	"os"
	"os/exec"
	"path/filepath"
	"strings"

	"golang.org/x/mod/modfile"

	"kudevops.io/appsvc/test/peers/internal/measure"
	"kudevops.io/appsvc/test/peers/internal/program"
)

const (
	modulePath = "kudevops.io/appsvc/test/peers"
	// cacheVariable moves the folder that peers are kept in.
	cacheVariable = "APPSVC_PEERS_CACHE"
)

// binary is a program to measure, or the reason why there is none.
type binary struct {
	name    string
	path    string
	env     []string
	missing string
	source  string // the folder of its module, of peers alone
}

// entry runs the binary. What stands in the table is its name and shown.
func (b binary) entry(stdout, shown string, args ...string) measure.Entry {
	return measure.Entry{
		Name:    b.name + " " + shown,
		Command: measure.Command{Path: b.path, Args: args, Env: b.env, Stdout: stdout},
		Missing: b.missing,
	}
}

// programs are all that is measured.
type programs struct {
	ours      binary
	helm      binary
	dyff      binary
	kustomize binary
	kro       binary
}

// buildPrograms builds what is not there yet. A program that does not build is
// missing; the error is that of ctx.
func buildPrograms(ctx context.Context, dir, temp string, o options, stderr io.Writer) (programs, error) {
	p := buildPeers(ctx, dir, stderr)
	p.ours = buildOurs(ctx, dir, temp, o.appsvcRender, stderr)
	// Nothing of this user's helm takes part: no plugin, no repository list.
	for _, kind := range []string{"CACHE", "CONFIG", "DATA"} {
		p.helm.env = append(p.helm.env, "HELM_"+kind+"_HOME="+filepath.Join(temp, "helm"))
	}
	return p, ctx.Err()
}

// buildPeers builds all but ours.
func buildPeers(ctx context.Context, dir string, stderr io.Writer) programs {
	peer := func(name string) binary { return buildPeer(ctx, filepath.Join(dir, "build", name), stderr) }
	return programs{helm: peer("helm"), dyff: peer("dyff"), kustomize: peer("kustomize"), kro: peer("kro")}
}

// peers are all but ours.
func (p programs) peers() []binary { return []binary{p.helm, p.dyff, p.kustomize, p.kro} }

func buildOurs(ctx context.Context, dir, temp, given string, stderr io.Writer) binary {
	ours := binary{name: "appsvc-render", path: filepath.Join(temp, "appsvc-render")}
	if given != "" {
		path, err := filepath.Abs(given)
		if err == nil {
			_, err = os.Stat(path)
		}
		if err != nil {
			ours.missing = err.Error()
		}
		ours.path = path
		return ours
	}
	fmt.Fprintln(stderr, "building appsvc-render")
	if err := program.Build(ctx, repository(dir), "./cmd/appsvc-render", ours.path, stderr); err != nil {
		ours.missing = err.Error()
	}
	return ours
}

func buildPeer(ctx context.Context, dir string, stderr io.Writer) binary {
	peer, err := program.LoadPeer(dir)
	if err != nil {
		return binary{name: filepath.Base(dir), missing: err.Error()}
	}
	b := binary{name: peer.Name + " " + peer.Version}
	cache, err := cacheFolder()
	if err == nil {
		b.path, err = peer.Build(ctx, cache, stderr)
	}
	if err == nil {
		b.source, err = peer.Source(ctx)
	}
	if err != nil {
		b.missing = err.Error()
	}
	return b
}

func cacheFolder() (string, error) {
	if dir := os.Getenv(cacheVariable); dir != "" {
		return filepath.Abs(dir)
	}
	dir, err := os.UserCacheDir()
	if err != nil {
		return "", fmt.Errorf("no folder to keep peers in (%s names one): %w", cacheVariable, err)
	}
	return filepath.Join(dir, "appsvc", "peers"), nil
}

// versions of all that takes part, for the report.
func (p programs) versions(ctx context.Context, dir string, o options) ([]string, error) {
	toolchain, err := program.Toolchain(ctx, dir)
	if err != nil {
		return nil, err
	}
	goVersion, _, _ := strings.Cut(toolchain, "\n")
	ours := "appsvc-render at commit " + commit(ctx, repository(dir))
	if o.appsvcRender != "" {
		ours = "appsvc-render as given"
	}
	kubernetes, err := kubernetesVersion(dir)
	if err != nil {
		return nil, err
	}
	names := []string{ours}
	for _, peer := range p.peers() {
		names = append(names, peer.name)
	}
	return append(names, "Kubernetes "+kubernetes, "all built with "+goVersion), nil
}

func commit(ctx context.Context, root string) string {
	// Without optional locks: this only reads, beside whatever else uses the
	// repository.
	cmd := exec.CommandContext(ctx, "git", "--no-optional-locks", "describe", "--always", "--dirty")
	cmd.Dir = root
	out, err := cmd.Output()
	if err != nil {
		return "unknown"
	}
	return strings.TrimSpace(string(out))
}

// moduleFolder is the folder of this module, which the working folder has to be
// in.
func moduleFolder() (string, error) {
	dir, err := os.Getwd()
	if err != nil {
		return "", err
	}
	for {
		data, err := os.ReadFile(filepath.Join(dir, "go.mod"))
		if err == nil && modfile.ModulePath(data) == modulePath {
			return dir, nil
		}
		parent := filepath.Dir(dir)
		if parent == dir {
			return "", errors.New("the working folder is not in test/peers; use go -C test/peers run ./cmd/bench-peers")
		}
		dir = parent
	}
}

// repository is the root of the repository that this module's folder stands in.
func repository(dir string) string { return filepath.Dir(filepath.Dir(dir)) }
