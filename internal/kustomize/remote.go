package kustomize

import (
	"net/url"
	"regexp"
	"strings"

	"sigs.k8s.io/kustomize/api/resource"
)

var scheme = regexp.MustCompile(`^[A-Za-z][A-Za-z0-9+.-]*://`)

// isURL says whether kustomize would fetch path by HTTP instead of reading a file.
// It does for whatever net/url finds the scheme http or https in (api
// internal/loader/fileloader.go), "http:x" included. Other schemes are counted too:
// kustomize takes them for the name of a file, which nobody meant.
func isURL(path string) bool {
	if scheme.MatchString(path) {
		return true
	}
	u, err := url.Parse(path)
	return err == nil && (u.Scheme == "http" || u.Scheme == "https")
}

// isRepository says whether kustomize would clone path with git instead of opening
// a folder. What it takes for a repository is its own business and hardly anybody's
// guess ("me@dir/a/b" is one, and so is a local folder github.com/a/b), so it is
// asked: an Origin is the one public thing that tells.
func isRepository(path string) bool {
	if strings.HasPrefix(strings.ToLower(path), "git::") {
		return true // and asking would print a warning
	}
	return (&resource.Origin{}).Append(path).Repo != ""
}

var userinfo = regexp.MustCompile(`//[^/@]*@`)

// redact takes the credentials out of a URL: messages end up in logs.
func redact(path string) string {
	return userinfo.ReplaceAllString(path, "//***@")
}
