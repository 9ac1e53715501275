package controlplane

import (
	"context"
	"crypto/tls"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"log"
	"math/rand/v2"
	"net"
	"net/http"
	"net/http/httputil"
	"net/url"
	"slices"
	"strconv"
	"strings"
	"sync"
	"time"

	apierrors "k8s.io/apimachinery/pkg/api/errors"
	"k8s.io/apimachinery/pkg/runtime/schema"
	"k8s.io/apimachinery/pkg/util/sets"
	"k8s.io/apiserver/pkg/endpoints/request"
	"k8s.io/client-go/rest"
)

// Headers in which the fault proxy says on whose behalf it asks.
const (
	userHeader        = "X-Remote-User"
	groupHeader       = "X-Remote-Group"
	extraHeaderPrefix = "X-Remote-Extra-"
)

// Cut says when a connection is cut.
type Cut string

const (
	// CutRequest cuts the connection instead of asking the API server.
	CutRequest Cut = "request"
	// CutReply cuts the connection when the API server has done what it was asked,
	// so that the client cannot know.
	CutReply Cut = "reply"
)

// Fault is what goes wrong with some requests. It first waits for Delay, then does
// Cut or answers with Status; without either the request goes its way.
//
// client-go repeats some requests by itself, up to ten times: any that is answered
// with a header Retry-After (see RetryAfter), and a GET whose connection was cut,
// a second later. net/http repeats a GET once on a connection that it had used.
type Fault struct {
	// Percent of the matching requests that it happens to, from 1 to 100.
	Percent int
	// Verbs are Kubernetes' verbs, as in Request. None means all.
	Verbs []string
	// Resources are named as in Request. None means all requests, those for no
	// resource too.
	Resources []string

	// Delay is how long the request is held up.
	Delay time.Duration
	// Cut says that the connection is cut, and when.
	Cut Cut
	// Status is the HTTP status of the answer, such as 409, 429 or 500, as the API
	// server would word it.
	Status int
	// RetryAfter, if not zero, comes with Status, in full seconds.
	RetryAfter time.Duration
}

// validate says what is wrong with a fault.
func (f Fault) validate() error {
	switch {
	case f.Percent < 1 || f.Percent > 100:
		return fmt.Errorf("percent %d is not from 1 to 100", f.Percent)
	case f.Cut != "" && f.Cut != CutRequest && f.Cut != CutReply:
		return fmt.Errorf("no way to cut a connection is called %q", f.Cut)
	case f.Cut != "" && f.Status != 0:
		return errors.New("a connection that is cut has no status")
	case f.Cut == "" && f.Status == 0 && f.Delay == 0:
		return errors.New("nothing is to happen")
	}
	return nil
}

// matches says whether a request is one of those that the fault can happen to.
func (f Fault) matches(info *request.RequestInfo) bool {
	resource := resourceName(info.APIGroup, info.Resource, info.Subresource)
	return (len(f.Verbs) == 0 || slices.Contains(f.Verbs, info.Verb)) &&
		(len(f.Resources) == 0 || info.IsResourceRequest && slices.Contains(f.Resources, resource))
}

// FaultProxy stands in front of the API server. To the API server requests come
// from whoever sent them to the proxy, by token or by certificate.
type FaultProxy struct {
	url      string
	server   *http.Server
	requests request.RequestInfoResolver
	seed     uint64

	mu     sync.Mutex
	faults []fault
}

// fault is a Fault together with its dice.
type fault struct {
	Fault
	dice *rand.Rand
	hits int
}

// FaultProxy starts a proxy without faults. It ends with the cluster, or by Close.
// With one seed and one order of matching requests, the same ones are hit.
func (c *Cluster) FaultProxy(seed uint64) (*FaultProxy, error) {
	p := &FaultProxy{seed: seed, requests: &request.RequestInfoFactory{
		APIPrefixes:          sets.NewString("api", "apis"),
		GrouplessAPIPrefixes: sets.NewString("api"),
	}}
	forward, err := c.forwarder()
	if err != nil {
		return nil, fmt.Errorf("start a fault proxy: %w", err)
	}
	p.server = &http.Server{Handler: p.handler(forward), Protocols: new(http.Protocols)}
	// A connection per request under way, so that cutting one hits one.
	p.server.Protocols.SetHTTP1(true)
	listener, err := c.serve(p.server)
	if err != nil {
		return nil, fmt.Errorf("start a fault proxy: %w", err)
	}
	p.url = "https://" + listener.Addr().String()
	return p, nil
}

// Config is the access of config by way of the proxy.
func (p *FaultProxy) Config(config *rest.Config) *rest.Config {
	config = rest.CopyConfig(config)
	config.Host = p.url
	return config
}

// Set replaces the faults. The first one that hits a request happens to it.
func (p *FaultProxy) Set(faults ...Fault) error {
	next := make([]fault, len(faults))
	for i, f := range faults {
		if err := f.validate(); err != nil {
			return fmt.Errorf("fault %d: %w", i+1, err)
		}
		next[i] = fault{Fault: f, dice: rand.New(rand.NewPCG(p.seed, uint64(i)))}
	}
	p.mu.Lock()
	defer p.mu.Unlock()
	p.faults = next
	return nil
}

// Hits are the numbers of requests that each fault happened to since it was set.
func (p *FaultProxy) Hits() []int {
	p.mu.Lock()
	defer p.mu.Unlock()
	hits := make([]int, len(p.faults))
	for i, f := range p.faults {
		hits[i] = f.hits
	}
	return hits
}

// Close ends the proxy and all connections to it.
func (p *FaultProxy) Close() error { return p.server.Close() }

// choose throws the dice for a request.
func (p *FaultProxy) choose(info *request.RequestInfo) (Fault, bool) {
	p.mu.Lock()
	defer p.mu.Unlock()
	chosen := -1
	for i := range p.faults {
		f := &p.faults[i]
		// All that match throw, so that no fault's luck depends on another's.
		if f.matches(info) && f.dice.IntN(100) < f.Percent && chosen < 0 {
			chosen = i
		}
	}
	if chosen < 0 {
		return Fault{}, false
	}
	p.faults[chosen].hits++
	return p.faults[chosen].Fault, true
}

func (p *FaultProxy) handler(forward *httputil.ReverseProxy) http.Handler {
	return http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		info, err := p.requests.NewRequestInfo(r)
		if err != nil {
			http.Error(w, err.Error(), http.StatusBadRequest)
			return
		}
		f, hit := p.choose(info)
		if !hit {
			forward.ServeHTTP(w, r)
			return
		}
		select {
		case <-time.After(f.Delay):
		case <-r.Context().Done():
			return
		}
		switch {
		case f.Cut == CutRequest:
			cut(w)
		case f.Cut == CutReply:
			forward.ServeHTTP(w, r.WithContext(context.WithValue(r.Context(), cutReplyKey{}, true)))
		case f.Status != 0:
			respond(w, r, info, f)
		default:
			forward.ServeHTTP(w, r)
		}
	})
}

// cutReplyKey marks, in its context, a request whose reply is not to arrive.
type cutReplyKey struct{}

// forwarder hands requests on to the API server. A request with a certificate is
// handed on in its owner's name, which is what API servers call a front proxy.
func (c *Cluster) forwarder() (*httputil.ReverseProxy, error) {
	target, err := url.Parse(c.admin.Host)
	if err != nil {
		return nil, err
	}
	pair, err := c.pki.frontProxies.issue(frontProxyName)
	if err != nil {
		return nil, err
	}
	cert, err := pair.tls()
	if err != nil {
		return nil, err
	}
	roots := c.pki.clients.pool()
	return &httputil.ReverseProxy{
		Transport: byIdentity{
			certificate: &http.Transport{TLSClientConfig: &tls.Config{RootCAs: roots, Certificates: []tls.Certificate{cert}}},
			other:       &http.Transport{TLSClientConfig: &tls.Config{RootCAs: roots}},
		},
		FlushInterval: -1, // watches
		Rewrite: func(r *httputil.ProxyRequest) {
			r.SetURL(target)
			setIdentity(r.Out.Header, r.In.TLS)
		},
		ModifyResponse: func(response *http.Response) error {
			if response.Request.Context().Value(cutReplyKey{}) != nil {
				return errors.New("the reply is cut")
			}
			return nil
		},
		// When the API server is away, the client is to see just that.
		ErrorHandler: func(w http.ResponseWriter, _ *http.Request, _ error) { cut(w) },
	}, nil
}

// byIdentity takes one of two ways to the API server: as a front proxy, or as
// nobody, with the request's own token.
type byIdentity struct{ certificate, other http.RoundTripper }

// RoundTrip is http.RoundTripper's.
func (b byIdentity) RoundTrip(r *http.Request) (*http.Response, error) {
	if r.Header.Get(userHeader) != "" {
		return b.certificate.RoundTrip(r)
	}
	return b.other.RoundTrip(r)
}

// setIdentity says whose certificate a request came with, and believes no request
// that says so itself.
func setIdentity(header http.Header, connection *tls.ConnectionState) {
	for name := range header {
		if name == userHeader || name == groupHeader || strings.HasPrefix(name, extraHeaderPrefix) {
			header.Del(name)
		}
	}
	if len(connection.PeerCertificates) == 0 {
		return
	}
	subject := connection.PeerCertificates[0].Subject
	header.Set(userHeader, subject.CommonName)
	for _, group := range subject.Organization {
		header.Add(groupHeader, group)
	}
}

// cut resets the connection of a request.
func cut(w http.ResponseWriter) {
	conn, _, err := http.NewResponseController(w).Hijack()
	if err != nil {
		return // the client has gone already
	}
	if tlsConn, ok := conn.(*tls.Conn); ok {
		conn = tlsConn.NetConn() // no orderly end of TLS
	}
	if tcp, ok := conn.(*net.TCPConn); ok {
		_ = tcp.SetLinger(0) // a reset rather than an end of the stream
	}
	conn.Close()
}

// respond answers as the API server would.
func respond(w http.ResponseWriter, r *http.Request, info *request.RequestInfo, f Fault) {
	seconds := int(f.RetryAfter / time.Second)
	resource := schema.GroupResource{Group: info.APIGroup, Resource: info.Resource}
	status := apierrors.NewGenericServerResponse(f.Status, r.Method, resource, info.Name, "injected by the fault proxy", seconds, true).Status()
	status.APIVersion, status.Kind = "v1", "Status"
	w.Header().Set("Content-Type", "application/json")
	if seconds > 0 {
		w.Header().Set("Retry-After", strconv.Itoa(seconds))
	}
	w.WriteHeader(f.Status)
	_ = json.NewEncoder(w).Encode(status) // the client may have gone
}

// serve runs server on a port of its own until it is closed, or the cluster
// stopped. Clients may show a certificate of the cluster.
func (c *Cluster) serve(server *http.Server) (net.Listener, error) {
	pair, err := c.pki.clients.issue("server")
	if err != nil {
		return nil, err
	}
	cert, err := pair.tls()
	if err != nil {
		return nil, err
	}
	server.TLSConfig = &tls.Config{
		Certificates: []tls.Certificate{cert},
		ClientAuth:   tls.VerifyClientCertIfGiven,
		ClientCAs:    c.pki.clients.pool(),
	}
	// A client that goes away in the middle is no news.
	server.ErrorLog = log.New(io.Discard, "", 0)
	listener, err := net.Listen("tcp", address(0))
	if err != nil {
		return nil, err
	}
	go server.ServeTLS(listener, "", "") //nolint:errcheck // it always ends with an error: that it was closed
	c.onStop(func() { server.Close() })
	return listener, nil
}
