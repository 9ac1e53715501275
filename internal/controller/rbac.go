package controller

// What the controller may do in the cluster: `make generate` writes
// config/rbac/role.yaml from the markers below. Each rule is needed, and has its
// reason here; test/packaging holds the rules to the kinds that pkg/render knows.
//
// There is no rule for Secrets, and no wildcard. What the controller may do in its own
// namespace only (leases, and the events of leader election) is in
// config/rbac/leader_election_role.yaml; what protects /metrics is in
// config/rbac/metrics_auth_role.yaml, since an installation for one namespace goes
// without it.
//
// AppServices are read, and never written but for their status, by server-side apply.
//
// +kubebuilder:rbac:groups=apps.kudevops.io,resources=appservices,verbs=get;list;watch
// +kubebuilder:rbac:groups=apps.kudevops.io,resources=appservices/status,verbs=get;patch
//
// The children's owner references have blockOwnerDeletion. The admission plugin
// OwnerReferencesPermissionEnforcement, which OpenShift turns on, asks for this right
// (kubernetes/kubernetes, plugin/pkg/admission/gc/gc_admission.go); there is no
// finalizer.
//
// +kubebuilder:rbac:groups=apps.kudevops.io,resources=appservices/finalizers,verbs=update
//
// The children: read and watched, created and patched by server-side apply, deleted
// when they are no longer wanted. Never updated, and never deleted by collection.
//
// +kubebuilder:rbac:groups="",resources=configmaps;serviceaccounts;services,verbs=get;list;watch;create;patch;delete
// +kubebuilder:rbac:groups=apps,resources=deployments,verbs=get;list;watch;create;patch;delete
// +kubebuilder:rbac:groups=autoscaling,resources=horizontalpodautoscalers,verbs=get;list;watch;create;patch;delete
// +kubebuilder:rbac:groups=gateway.networking.k8s.io,resources=httproutes,verbs=get;list;watch;create;patch;delete
// +kubebuilder:rbac:groups=monitoring.coreos.com,resources=servicemonitors,verbs=get;list;watch;create;patch;delete
// +kubebuilder:rbac:groups=networking.k8s.io,resources=ingresses;networkpolicies,verbs=get;list;watch;create;patch;delete
// +kubebuilder:rbac:groups=policy,resources=poddisruptionbudgets,verbs=get;list;watch;create;patch;delete
//
// A ConfigMap whose name has a hash stays while a ReplicaSet refers to it: listed
// when one would be pruned, never cached.
//
// +kubebuilder:rbac:groups=apps,resources=replicasets,verbs=list
//
// The recorder writes events.k8s.io; a repeated event is patched into a series
// (client-go, tools/events/event_broadcaster.go).
//
// +kubebuilder:rbac:groups=events.k8s.io,resources=events,verbs=create;patch
