package controlplane

import (
	"context"
	"encoding/json"
	"fmt"
	"net/http"
	"sync/atomic"
	"time"

	admissionv1 "k8s.io/api/admission/v1"
	admissionregistrationv1 "k8s.io/api/admissionregistration/v1"
	corev1 "k8s.io/api/core/v1"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/util/wait"
)

// probeLabel is on the objects, never stored, by which it is found out whether the
// API server calls a webhook already. Its value is the webhook's name.
const probeLabel = "controlplane.kudevops.io/webhook-probe"

// webhookTimeout is how long it may take until the API server calls a webhook, or
// no longer does.
const webhookTimeout = time.Minute

// Webhook is an admission webhook that the test itself serves.
type Webhook struct {
	// Name of the configuration object: a DNS subdomain, different from any other
	// webhook's in the cluster.
	Name string
	// Mutating is whether the webhook may change objects.
	Mutating bool
	// Rules say which requests it is asked about.
	Rules []admissionregistrationv1.RuleWithOperations
	// Namespace, if not empty, is the only one whose objects it is asked about.
	Namespace string
	// FailurePolicy is what a failure of the webhook means. Empty means Fail.
	FailurePolicy admissionregistrationv1.FailurePolicyType
	// Handle answers: see Allow, Deny and Patch. It is called by many at once, and
	// without an answer (nil) the call fails with status 500.
	Handle func(*admissionv1.AdmissionRequest) *admissionv1.AdmissionResponse
}

// Allow is the answer that lets a request pass as it is.
func Allow() *admissionv1.AdmissionResponse {
	return &admissionv1.AdmissionResponse{Allowed: true}
}

// Deny is the answer that refuses a request.
func Deny(message string) *admissionv1.AdmissionResponse {
	return &admissionv1.AdmissionResponse{Result: &metav1.Status{Message: message, Code: http.StatusForbidden}}
}

// Patch is the answer that changes the object by a JSON patch (RFC 6902).
func Patch(patch string) *admissionv1.AdmissionResponse {
	kind := admissionv1.PatchTypeJSONPatch
	return &admissionv1.AdmissionResponse{Allowed: true, Patch: []byte(patch), PatchType: &kind}
}

// ServeWebhook serves and registers a webhook and returns when the API server
// calls it. stop removes it again and returns when it is called no more; the end
// of the cluster ends it too.
func (c *Cluster) ServeWebhook(ctx context.Context, w Webhook) (stop func() error, err error) {
	served := &servedWebhook{Webhook: w, cluster: c}
	mux := http.NewServeMux()
	mux.HandleFunc("/admit", served.answer(w.Handle))
	mux.HandleFunc("/probe", served.answer(func(*admissionv1.AdmissionRequest) *admissionv1.AdmissionResponse {
		served.probed.Store(true)
		return Allow()
	}))
	server := &http.Server{Handler: mux}
	listener, err := c.serve(server)
	if err != nil {
		return nil, fmt.Errorf("serve webhook %q: %w", w.Name, err)
	}
	served.url = "https://" + listener.Addr().String()
	if err := served.register(ctx); err != nil {
		server.Close()
		return nil, fmt.Errorf("register webhook %q: %w", w.Name, err)
	}
	stop = func() error {
		ctx, cancel := context.WithTimeout(context.Background(), webhookTimeout)
		defer cancel()
		defer server.Close()
		if err := served.unregister(ctx); err != nil {
			return fmt.Errorf("remove webhook %q: %w", w.Name, err)
		}
		return nil
	}
	if err := served.waitCalled(ctx, true); err != nil {
		return nil, fmt.Errorf("%w; %w", err, stop())
	}
	return stop, nil
}

// servedWebhook is a webhook that has an address.
type servedWebhook struct {
	Webhook
	cluster *Cluster
	url     string
	probed  atomic.Bool
}

// answer is the HTTP side of a handler.
func (s *servedWebhook) answer(handle func(*admissionv1.AdmissionRequest) *admissionv1.AdmissionResponse) http.HandlerFunc {
	return func(w http.ResponseWriter, r *http.Request) {
		var review admissionv1.AdmissionReview
		if err := json.NewDecoder(r.Body).Decode(&review); err != nil || review.Request == nil {
			http.Error(w, fmt.Sprintf("no admission review: %v", err), http.StatusBadRequest)
			return
		}
		response := handle(review.Request)
		if response == nil {
			http.Error(w, "the webhook has no answer", http.StatusInternalServerError)
			return
		}
		response.UID = review.Request.UID
		review.Request, review.Response = nil, response
		w.Header().Set("Content-Type", "application/json")
		_ = json.NewEncoder(w).Encode(review) // the API server may have given up
	}
}

// register creates the configuration: the webhook itself, and the probe, in one
// object because the API server learns of both at once.
func (s *servedWebhook) register(ctx context.Context) error {
	meta := metav1.ObjectMeta{Name: s.Name}
	registration := s.cluster.client.AdmissionregistrationV1()
	if s.Mutating {
		config := &admissionregistrationv1.MutatingWebhookConfiguration{ObjectMeta: meta}
		for _, w := range s.webhooks() {
			config.Webhooks = append(config.Webhooks, admissionregistrationv1.MutatingWebhook{
				Name: w.Name, ClientConfig: w.ClientConfig, Rules: w.Rules, FailurePolicy: w.FailurePolicy,
				NamespaceSelector: w.NamespaceSelector, ObjectSelector: w.ObjectSelector,
				SideEffects: w.SideEffects, AdmissionReviewVersions: w.AdmissionReviewVersions,
			})
		}
		_, err := registration.MutatingWebhookConfigurations().Create(ctx, config, metav1.CreateOptions{})
		return err
	}
	config := &admissionregistrationv1.ValidatingWebhookConfiguration{ObjectMeta: meta, Webhooks: s.webhooks()}
	_, err := registration.ValidatingWebhookConfigurations().Create(ctx, config, metav1.CreateOptions{})
	return err
}

// webhooks are the webhook and its probe.
func (s *servedWebhook) webhooks() []admissionregistrationv1.ValidatingWebhook {
	webhook := s.webhook("admit", s.Rules, s.FailurePolicy)
	if s.Namespace != "" {
		webhook.NamespaceSelector = &metav1.LabelSelector{MatchLabels: map[string]string{corev1.LabelMetadataName: s.Namespace}}
	}
	probe := s.webhook("probe", []admissionregistrationv1.RuleWithOperations{{
		Operations: []admissionregistrationv1.OperationType{admissionregistrationv1.Create},
		Rule:       admissionregistrationv1.Rule{APIGroups: []string{""}, APIVersions: []string{"v1"}, Resources: []string{"configmaps"}},
	}}, admissionregistrationv1.Ignore)
	probe.ObjectSelector = &metav1.LabelSelector{MatchLabels: map[string]string{probeLabel: s.Name}}
	return []admissionregistrationv1.ValidatingWebhook{webhook, probe}
}

// webhook is what the webhook and its probe share.
func (s *servedWebhook) webhook(path string, rules []admissionregistrationv1.RuleWithOperations, failure admissionregistrationv1.FailurePolicyType) admissionregistrationv1.ValidatingWebhook {
	if failure == "" {
		failure = admissionregistrationv1.Fail
	}
	url, none := s.url+"/"+path, admissionregistrationv1.SideEffectClassNone
	return admissionregistrationv1.ValidatingWebhook{
		// A webhook's name needs three parts.
		Name:                    path + "." + s.Name + ".controlplane.kudevops.io",
		ClientConfig:            admissionregistrationv1.WebhookClientConfig{URL: &url, CABundle: s.cluster.pki.clients.certPEM},
		Rules:                   rules,
		FailurePolicy:           &failure,
		SideEffects:             &none,
		AdmissionReviewVersions: []string{"v1"},
	}
}

// unregister deletes the configuration.
func (s *servedWebhook) unregister(ctx context.Context) error {
	registration := s.cluster.client.AdmissionregistrationV1()
	remove := registration.ValidatingWebhookConfigurations().Delete
	if s.Mutating {
		remove = registration.MutatingWebhookConfigurations().Delete
	}
	if err := remove(ctx, s.Name, metav1.DeleteOptions{}); err != nil {
		return err
	}
	return s.waitCalled(ctx, false)
}

// waitCalled waits until the API server calls the webhook, or no longer does.
func (s *servedWebhook) waitCalled(ctx context.Context, called bool) error {
	ctx, cancel := context.WithTimeout(ctx, webhookTimeout)
	defer cancel()
	maps := s.cluster.client.CoreV1().ConfigMaps(metav1.NamespaceDefault)
	probe := &corev1.ConfigMap{ObjectMeta: metav1.ObjectMeta{
		GenerateName: "webhook-probe-",
		Labels:       map[string]string{probeLabel: s.Name},
	}}
	err := wait.PollUntilContextCancel(ctx, 20*time.Millisecond, true, func(ctx context.Context) (bool, error) {
		s.probed.Store(false)
		_, err := maps.Create(ctx, probe, metav1.CreateOptions{DryRun: []string{metav1.DryRunAll}})
		return s.probed.Load() == called, err
	})
	if err != nil {
		return fmt.Errorf("wait until webhook %q is called (%t): %w", s.Name, called, err)
	}
	return nil
}
