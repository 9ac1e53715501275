package render

func (r *renderer) serviceAccount() map[string]any {
	return map[string]any{
		"apiVersion": "v1",
		"kind":       "ServiceAccount",
		"metadata":   r.metadata(nil, r.app.Spec.ServiceAccount.Annotations),
	}
}

// serviceAccountName is always written: once it was, leaving it out changes
// nothing, because its deprecated alias brings it back
// (kubernetes/kubernetes#108208).
func (r *renderer) serviceAccountName() string {
	s := &r.app.Spec
	switch {
	case s.ServiceAccountName != "":
		return s.ServiceAccountName
	case s.ServiceAccount != nil && s.ServiceAccount.Create:
		return r.name()
	}
	return r.defaults.serviceAccountName
}
