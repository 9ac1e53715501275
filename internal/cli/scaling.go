package cli

import (
	"maps"

	"kudevops.io/appsvc/api/v1alpha1"
	"kudevops.io/appsvc/internal/manifest"
)

// scaling finds autoscalers of AppServices whose spec has no replicas: the API
// server answers GET /scale of such a one with an error ("the spec replicas field
// does not exist"), and the autoscaler does nothing. Both may stand anywhere in the
// input.
type scaling struct {
	autoscalers []*manifest.Object
	unset       map[manifest.ID]bool
}

// scalesAppService says whether an object is an autoscaler of an AppService.
func scalesAppService(o *manifest.Object) bool {
	return o.Kind == "HorizontalPodAutoscaler" && o.StringAt("spec", "scaleTargetRef", "kind") == v1alpha1.Kind
}

func (s *scaling) add(o *manifest.Object, app *v1alpha1.AppService) {
	switch {
	case app == nil:
		s.autoscalers = append(s.autoscalers, o)
	case app.Spec.Replicas == nil:
		if s.unset == nil {
			s.unset = make(map[manifest.ID]bool)
		}
		s.unset[o.ID] = true
	}
}

func (s *scaling) merge(other scaling) {
	s.autoscalers = append(s.autoscalers, other.autoscalers...)
	if s.unset == nil {
		s.unset = make(map[manifest.ID]bool)
	}
	maps.Copy(s.unset, other.unset)
}

func (s *scaling) warnings() []*manifest.Fault {
	var faults []*manifest.Fault
	for _, o := range s.autoscalers {
		target := manifest.ID{Group: v1alpha1.Group, Kind: v1alpha1.Kind, Namespace: o.Namespace, Name: o.StringAt("spec", "scaleTargetRef", "name")}
		if s.unset[target] {
			fault := o.Fault("spec.scaleTargetRef", target.String()+" has no replicas, so the API server has no scale to give and the autoscaler does nothing; set them, or use spec.autoscaling")
			fault.Warning = true
			faults = append(faults, fault)
		}
	}
	return faults
}
