package controlplane

import (
	"bufio"
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"io/fs"
	"maps"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"sync"
	"time"

	auditv1 "k8s.io/apiserver/pkg/apis/audit/v1"

	"kudevops.io/appsvc/test/controlplane/binaries"
)

// auditPolicyFile is the audit policy's file in the cluster's folder.
const auditPolicyFile = "audit-policy.yaml"

// auditPolicy logs who asked what of which resource. Requests for what is no
// resource (health, discovery, schemas) are many and say nothing of a controller.
const auditPolicy = `apiVersion: audit.k8s.io/v1
kind: Policy
rules:
- level: None
  nonResourceURLs: ["*"]
- level: Metadata
`

// Request is what requests are counted by.
type Request struct {
	// User is who the request was made as: the impersonated user, if there is one.
	User string
	// Verb is Kubernetes' verb: get, list, watch, create, update, patch, delete or
	// deletecollection. A server-side apply is a patch.
	Verb string
	// Resource as kubectl takes it, with the subresource: "pods",
	// "deployments.apps", "deployments.apps/status".
	Resource string
	// Namespace is empty for what belongs to none.
	Namespace string
	// Code is the HTTP status of the answer; 0 when the API server ended before it.
	Code int32
	// DryRun is whether nothing was to be stored.
	DryRun bool
}

// Requests are numbers of requests.
type Requests map[Request]int

// Requests counts all requests for resources since the cluster was started. It
// has every request whose answer a client of this process has seen: to be sure of
// that, it waits until those that are under way when it is called are answered
// (watches: until they begin). It fails when ctx is done before that, as when the
// API server is paused.
func (c *Cluster) Requests(ctx context.Context) (Requests, error) {
	_, awaited, err := c.readAudit()
	for err == nil {
		var requests Requests
		var pending map[string]Request
		if requests, pending, err = c.readAudit(); err != nil {
			break
		}
		maps.DeleteFunc(awaited, func(id string, _ Request) bool {
			_, waits := pending[id]
			return !waits
		})
		if len(awaited) == 0 {
			return requests, nil
		}
		select {
		case <-ctx.Done():
			err = fmt.Errorf("%w; not answered yet: %v", context.Cause(ctx), slices.Collect(maps.Values(awaited)))
		case <-time.After(10 * time.Millisecond):
		}
	}
	return nil, fmt.Errorf("count requests: %w", err)
}

// readAudit reads what is new in the audit log.
func (c *Cluster) readAudit() (Requests, map[string]Request, error) {
	return c.audit.read(c.Process(binaries.APIServer).Running())
}

// Since is what has come since an earlier count.
func (r Requests) Since(earlier Requests) Requests {
	since := Requests{}
	for request, count := range r {
		if added := count - earlier[request]; added > 0 {
			since[request] = added
		}
	}
	return since
}

// Where are the requests for which keep is true.
func (r Requests) Where(keep func(Request) bool) Requests {
	kept := maps.Clone(r)
	maps.DeleteFunc(kept, func(request Request, _ int) bool { return !keep(request) })
	return kept
}

// By are the requests of a user. That of a ServiceAccount is called
// system:serviceaccount:NAMESPACE:NAME.
func (r Requests) By(user string) Requests {
	return r.Where(func(request Request) bool { return request.User == user })
}

// In are the requests for objects in a namespace.
func (r Requests) In(namespace string) Requests {
	return r.Where(func(request Request) bool { return request.Namespace == namespace })
}

// Writes are the requests that change something, whatever the answer: no dry runs,
// and neither leases, events, tokens nor access reviews.
func (r Requests) Writes() Requests {
	return r.Where(func(request Request) bool {
		switch request.Verb {
		case "create", "update", "patch", "delete", "deletecollection":
		default:
			return false
		}
		resource, subresource, _ := strings.Cut(request.Resource, "/")
		_, group, _ := strings.Cut(resource, ".")
		noise := resource == "events" || group == "events.k8s.io" || group == "coordination.k8s.io" ||
			group == "authorization.k8s.io" || group == "authentication.k8s.io" || subresource == "token"
		return !request.DryRun && !noise
	})
}

// Total is the number of all of them.
func (r Requests) Total() int {
	total := 0
	for _, count := range r {
		total += count
	}
	return total
}

// String has a line for each kind of request, sorted, for messages.
func (r Requests) String() string {
	var lines []string
	for request, count := range r {
		dryRun := ""
		if request.DryRun {
			dryRun = " (dry run)"
		}
		lines = append(lines, fmt.Sprintf("%s %s %s in %q: %d%s: %d times\n",
			request.User, request.Verb, request.Resource, request.Namespace, request.Code, dryRun, count))
	}
	slices.Sort(lines)
	return strings.Join(lines, "")
}

// auditLog reads the audit log, of which each start of the API server writes a
// file of its own.
type auditLog struct {
	dir string

	mu       sync.Mutex
	offsets  map[string]int64
	requests Requests
	pending  map[string]pendingRequest
}

// pendingRequest is a request that was received and not answered yet.
type pendingRequest struct {
	Request
	file string
}

// file is the log of the API server's nth start.
func (l *auditLog) file(n int) string { return filepath.Join(l.dir, fmt.Sprintf("audit-%d.log", n)) }

// read reads what is new and returns the count and, by their identifiers, the
// requests that are still to be answered. What an API server that has ended did
// not answer never will be, and is counted.
func (l *auditLog) read(running bool) (Requests, map[string]Request, error) {
	l.mu.Lock()
	defer l.mu.Unlock()
	if l.requests == nil {
		l.offsets, l.requests, l.pending = map[string]int64{}, Requests{}, map[string]pendingRequest{}
	}
	last := ""
	for n := 1; ; n++ {
		err := l.readFile(l.file(n))
		if errors.Is(err, fs.ErrNotExist) {
			break
		}
		if err != nil {
			return nil, nil, err
		}
		last = l.file(n)
	}
	waiting := map[string]Request{}
	for id, request := range l.pending {
		if running && request.file == last {
			waiting[id] = request.Request
			continue
		}
		l.requests[request.Request]++
		delete(l.pending, id)
	}
	return maps.Clone(l.requests), waiting, nil
}

// readFile reads the new lines of one file, up to the last one that is complete.
func (l *auditLog) readFile(path string) error {
	file, err := os.Open(path)
	if err != nil {
		return err
	}
	defer file.Close()
	if _, err := file.Seek(l.offsets[path], io.SeekStart); err != nil {
		return err
	}
	reader := bufio.NewReaderSize(file, 1<<16)
	for {
		line, err := reader.ReadBytes('\n')
		if errors.Is(err, io.EOF) {
			return nil
		}
		if err != nil {
			return err
		}
		l.offsets[path] += int64(len(line))
		var event auditv1.Event
		if err := json.Unmarshal(line, &event); err != nil {
			return fmt.Errorf("%s: %w", path, err)
		}
		l.add(event, path)
	}
}

// add counts a request when it is answered; a watch, when it begins.
func (l *auditLog) add(event auditv1.Event, file string) {
	id, request := string(event.AuditID), requestOf(event)
	if event.Stage == auditv1.StageRequestReceived {
		l.pending[id] = pendingRequest{request, file}
		return
	}
	if _, ok := l.pending[id]; !ok {
		return // a watch that was counted when it began
	}
	delete(l.pending, id)
	l.requests[request]++
}

// requestOf is what an event is counted as.
func requestOf(event auditv1.Event) Request {
	request := Request{User: event.User.Username, Verb: event.Verb, DryRun: strings.Contains(event.RequestURI, "dryRun=All")}
	if event.ImpersonatedUser != nil {
		request.User = event.ImpersonatedUser.Username
	}
	if ref := event.ObjectRef; ref != nil {
		request.Resource, request.Namespace = resourceName(ref.APIGroup, ref.Resource, ref.Subresource), ref.Namespace
	}
	if event.ResponseStatus != nil {
		request.Code = event.ResponseStatus.Code
	}
	return request
}

// resourceName is the name that Request and Fault have for a resource.
func resourceName(group, resource, subresource string) string {
	name := resource
	if group != "" {
		name += "." + group
	}
	if subresource != "" {
		name += "/" + subresource
	}
	return name
}
