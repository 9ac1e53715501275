package kustomize

import "testing"

func TestRemote(t *testing.T) {
	t.Parallel()
	for _, tt := range []struct {
		path, reason        string
		isURL, isRepository bool
	}{
		{"https://example.com/a.yaml", "fetched", true, false},
		{"https://example.com/a/b", "fetched, then cloned", true, true},
		{"HTTPS://EXAMPLE.COM/a/b", "a scheme has no case", true, true},
		{"http:a", "net/url finds a scheme, so it would be fetched", true, false},
		{"ssh://git@example.com/a/b.git", "cloned", true, true},
		{"s3://bucket/key", "nothing that kustomize knows, and no path that anybody means", true, false},
		{"git@example.com:a/b.git", "cloned", false, true},
		{"me@dir/a/b", "cloned, whatever it looks like", false, true},
		{"GitHub.com/a/b", "cloned", false, true},
		{"github.com/a", "too short for a repository", false, false},
		{"git::anything", "cloned", false, true},
		{"gitlab.com/a/b", "no host that kustomize knows by name", false, false},
		{"../base", "local", false, false},
		{"./github.com/a/b", "local", false, false},
		{"/abs/github.com/a/b", "local", false, false},
		{"a:b.yaml", "local", false, false},
		{"me@home.yaml", "local", false, false},
		{"http.yaml", "local", false, false},
		{"a//b", "local", false, false},
		{"", "nothing", false, false},
	} {
		if got := isURL(tt.path); got != tt.isURL {
			t.Errorf("isURL(%q) = %v: %s", tt.path, got, tt.reason)
		}
		if got := isRepository(tt.path); got != tt.isRepository {
			t.Errorf("isRepository(%q) = %v: %s", tt.path, got, tt.reason)
		}
	}
}
