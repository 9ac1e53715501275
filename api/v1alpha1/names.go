package v1alpha1

// Labels and annotations that appsvc writes or reads. All of them are frozen:
// a changed name would orphan what an earlier release made.
const (
	// SelectorLabel is the one label that a Deployment and a Service select pods
	// by, unless spec.selector says otherwise. Its value is the AppService's name.
	// A Deployment's selector is immutable, so neither key nor value ever changes.
	SelectorLabel = Group + "/appservice"

	// AdoptAnnotation, "true" on an AppService, lets appsvc take over objects that
	// have a child's name and were made by somebody else.
	AdoptAnnotation = Group + "/adopt"
	// RecreateAnnotation names the generation of the AppService for which children
	// may be deleted and made again when an immutable field changed.
	RecreateAnnotation = Group + "/recreate"
	// IgnoreDifferencesAnnotation holds rules for differences that do not count.
	IgnoreDifferencesAnnotation = Group + "/ignore-differences"
	// ReconcileAnnotation asks the controller to look again when its value changes.
	ReconcileAnnotation = Group + "/reconcile"
	// PruneAnnotation, "disabled" on a child, keeps it when it is no longer desired.
	PruneAnnotation = Group + "/prune"

	// NameLabel, InstanceLabel, ManagedByLabel, PartOfLabel and VersionLabel are
	// the labels that Kubernetes recommends for every application
	// (kubernetes.io/docs/concepts/overview/working-with-objects/common-labels).
	NameLabel      = "app.kubernetes.io/name"
	InstanceLabel  = "app.kubernetes.io/instance"
	ManagedByLabel = "app.kubernetes.io/managed-by"
	PartOfLabel    = "app.kubernetes.io/part-of"
	VersionLabel   = "app.kubernetes.io/version"

	// ManagedBy is the value of ManagedByLabel on every child.
	ManagedBy = "appsvc"

	// FieldManager is the name under which the controller applies, and as which
	// the command line diffs. It is frozen: fields of an older name would stay
	// behind for ever.
	FieldManager = "appsvc-controller"
)

// Types of the conditions in an AppService's status.
const (
	// ConditionReady says whether the service runs as its spec says.
	ConditionReady = "Ready"
	// ConditionReconciling is present, and True, while work goes on.
	ConditionReconciling = "Reconciling"
	// ConditionStalled is present, and True, when a person has to act.
	ConditionStalled = "Stalled"
	// ConditionDrifted is present, and True, when a child differs from what was
	// rendered and spec.driftPolicy is Warn.
	ConditionDrifted = "Drifted"
	// ConditionContested is present, and True, when another field manager keeps
	// changing a field back.
	ConditionContested = "Contested"
)

// Reasons that the conditions give.
const (
	// ReasonAvailable: every replica is up to date and available.
	ReasonAvailable = "Available"
	// ReasonScaledToZero: no replica is wanted and none is left.
	ReasonScaledToZero = "ScaledToZero"
	// ReasonProgressing: a rollout is under way.
	ReasonProgressing = "Progressing"
	// ReasonProgressDeadlineExceeded: the rollout made no progress in time.
	ReasonProgressDeadlineExceeded = "ProgressDeadlineExceeded"
	// ReasonInvalidSpec: the spec cannot be rendered; the message has the field.
	ReasonInvalidSpec = "InvalidSpec"
	// ReasonForeignOwner: an object of a child's name belongs to somebody else.
	ReasonForeignOwner = "ForeignOwner"
	// ReasonApplyFailed: the API server refused an object.
	ReasonApplyFailed = "ApplyFailed"
	// ReasonImmutableField: a change needs a child to be made anew.
	ReasonImmutableField = "ImmutableField"
	// ReasonKindNotServed: the cluster does not know the kind of a child.
	ReasonKindNotServed = "KindNotServed"
	// ReasonSuspended: spec.suspend is set.
	ReasonSuspended = "Suspended"
	// ReasonDriftDetected: children differ and spec.driftPolicy is Warn.
	ReasonDriftDetected = "DriftDetected"
	// ReasonFieldContested: another field manager keeps changing a field back.
	ReasonFieldContested = "FieldContested"
)
