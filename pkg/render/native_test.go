package render

import (
	"testing"

	"github.com/google/go-cmp/cmp"
	corev1 "k8s.io/api/core/v1"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
)

// TestNoise: what native types write although nobody asked for it is left out, each
// entry of noise for one, and emptiness that means something stays.
func TestNoise(t *testing.T) {
	t.Parallel()
	got := plain(&corev1.PodSpec{
		Containers: []corev1.Container{{Name: "a", SecurityContext: &corev1.SecurityContext{}}},
		Volumes: []corev1.Volume{
			{Name: "v", VolumeSource: corev1.VolumeSource{EmptyDir: &corev1.EmptyDirVolumeSource{}}},
			{Name: "w", VolumeSource: corev1.VolumeSource{Ephemeral: &corev1.EphemeralVolumeSource{
				VolumeClaimTemplate: &corev1.PersistentVolumeClaimTemplate{Spec: corev1.PersistentVolumeClaimSpec{VolumeName: "x"}},
			}}},
		},
		Affinity:                  &corev1.Affinity{NodeAffinity: &corev1.NodeAffinity{RequiredDuringSchedulingIgnoredDuringExecution: &corev1.NodeSelector{}}},
		TopologySpreadConstraints: []corev1.TopologySpreadConstraint{{LabelSelector: &metav1.LabelSelector{}}},
	})
	want := map[string]any{
		"containers": []any{map[string]any{"name": "a"}},
		"volumes": []any{
			map[string]any{"name": "v", "emptyDir": map[string]any{}},
			map[string]any{"name": "w", "ephemeral": map[string]any{"volumeClaimTemplate": map[string]any{"spec": map[string]any{"volumeName": "x"}}}},
		},
		"affinity": map[string]any{"nodeAffinity": map[string]any{"requiredDuringSchedulingIgnoredDuringExecution": map[string]any{}}},
		"topologySpreadConstraints": []any{
			map[string]any{"maxSkew": int64(0), "topologyKey": "", "whenUnsatisfiable": "", "labelSelector": map[string]any{}},
		},
	}
	if diff := cmp.Diff(want, got); diff != "" {
		t.Errorf("-want +got:\n%s", diff)
	}
}
