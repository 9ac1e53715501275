package controlplane_test

import (
	"strings"
	"sync/atomic"
	"testing"

	admissionv1 "k8s.io/api/admission/v1"
	admissionregistrationv1 "k8s.io/api/admissionregistration/v1"
	apierrors "k8s.io/apimachinery/pkg/api/errors"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"

	"kudevops.io/appsvc/test/controlplane"
)

// configMapsCreated is the rule of a webhook that is asked about new ConfigMaps.
func configMapsCreated() []admissionregistrationv1.RuleWithOperations {
	return []admissionregistrationv1.RuleWithOperations{{
		Operations: []admissionregistrationv1.OperationType{admissionregistrationv1.Create},
		Rule:       admissionregistrationv1.Rule{APIGroups: []string{""}, APIVersions: []string{"v1"}, Resources: []string{"configmaps"}},
	}}
}

func TestWebhookMutatesAndRefuses(t *testing.T) {
	t.Parallel()
	cluster := shared.Cluster(t)
	namespace, elsewhere := cluster.Namespace(t), cluster.Namespace(t)
	stopMutating, err := cluster.ServeWebhook(t.Context(), controlplane.Webhook{
		Name: "mutates." + namespace, Namespace: namespace, Rules: configMapsCreated(), Mutating: true,
		Handle: func(*admissionv1.AdmissionRequest) *admissionv1.AdmissionResponse {
			return controlplane.Patch(`[{"op":"add","path":"/data/added","value":"by webhook"}]`)
		},
	})
	if err != nil {
		t.Fatal(err)
	}
	stopValidating, err := cluster.ServeWebhook(t.Context(), controlplane.Webhook{
		Name: "refuses." + namespace, Namespace: namespace, Rules: configMapsCreated(),
		Handle: func(r *admissionv1.AdmissionRequest) *admissionv1.AdmissionResponse {
			if r.Name == "bad" {
				return controlplane.Deny("no bad names")
			}
			return controlplane.Allow()
		},
	})
	if err != nil {
		t.Fatal(err)
	}

	maps := cluster.Client().CoreV1().ConfigMaps(namespace)
	created, err := maps.Create(t.Context(), configMap("good"), metav1.CreateOptions{})
	if err != nil || created.Data["added"] != "by webhook" {
		t.Errorf("the object is %+v, %v, want it to have what the webhook added", created, err)
	}
	if _, err := maps.Create(t.Context(), configMap("bad"), metav1.CreateOptions{}); !apierrors.IsForbidden(err) || !strings.Contains(err.Error(), "no bad names") {
		t.Errorf("the webhook refuses this: %v, want Forbidden, with its message", err)
	}
	created, err = cluster.Client().CoreV1().ConfigMaps(elsewhere).Create(t.Context(), configMap("bad"), metav1.CreateOptions{})
	if err != nil || created.Data["added"] != "" {
		t.Errorf("in another namespace: %+v, %v, want no webhook", created, err)
	}

	if err := stopMutating(); err != nil {
		t.Error(err)
	}
	if err := stopValidating(); err != nil {
		t.Error(err)
	}
	created, err = maps.Create(t.Context(), configMap("bad"), metav1.CreateOptions{})
	if err != nil || created.Data["added"] != "" {
		t.Errorf("after the webhooks: %+v, %v, want none of them", created, err)
	}
}

func TestWebhookThatFails(t *testing.T) {
	t.Parallel()
	cluster := shared.Cluster(t)
	for _, test := range []struct {
		name, reason string
		policy       admissionregistrationv1.FailurePolicyType
		stored       bool
	}{
		{"default", "the default is Fail", "", false},
		{"ignored", "as if there was no webhook", admissionregistrationv1.Ignore, true},
	} {
		t.Run(test.name, func(t *testing.T) {
			t.Parallel()
			namespace := cluster.Namespace(t)
			var calls atomic.Int32
			stop, err := cluster.ServeWebhook(t.Context(), controlplane.Webhook{
				Name: "fails." + namespace, Namespace: namespace, Rules: configMapsCreated(), FailurePolicy: test.policy,
				Handle: func(*admissionv1.AdmissionRequest) *admissionv1.AdmissionResponse {
					calls.Add(1)
					return nil
				},
			})
			if err != nil {
				t.Fatal(err)
			}
			_, err = cluster.Client().CoreV1().ConfigMaps(namespace).Create(t.Context(), configMap("a"), metav1.CreateOptions{})
			if stored := err == nil; stored != test.stored {
				t.Errorf("stored: %t, want %t: %s: %v", stored, test.stored, test.reason, err)
			}
			if calls.Load() == 0 {
				t.Error("the webhook was not called")
			}
			if err := stop(); err != nil {
				t.Error(err)
			}
		})
	}
}
