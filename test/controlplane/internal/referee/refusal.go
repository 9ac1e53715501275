package referee

import (
	"errors"
	"regexp"
	"slices"
	"strings"

	apierrors "k8s.io/apimachinery/pkg/api/errors"

	"kudevops.io/appsvc/pkg/diff"
)

// refusal looks at what the API server refuses.
func (j *judgement) refusal(err error) error {
	j.tally.Count("refused: "+reason(err), 1)
	switch {
	case j.said == nil:
		j.tally.Count("refused, and Diff finds faults", 1)
		return nil
	case !j.changed:
		j.tally.Count("refused, and nothing would change", 1)
		return nil
	case immutable(err) && j.live.GetKind() == "PersistentVolumeClaim" && at(j.live.Object, "status")["phase"] != "Bound" && j.said.Effect == diff.EffectInPlace:
		// A claim may grow as soon as it is bound, which no claim is here.
		j.tally.Count("refused: the size of a claim that is not bound", 1)
	case immutable(err) && j.said.Effect != diff.EffectRecreate:
		return j.wrong("the API server refuses to change what is immutable, and Diff says %q: %v", j.said.Effect, err)
	case !immutable(err) && j.said.Effect == diff.EffectRecreate:
		// Refused for other reasons before it comes to that.
		j.tally.Count("refused for another reason than being immutable", 1)
	}
	return nil
}

// causes gives what the API server says, field by field.
func causes(err error) []string {
	var status *apierrors.StatusError
	var out []string
	if errors.As(err, &status) && status.ErrStatus.Details != nil {
		for _, c := range status.ErrStatus.Details.Causes {
			out = append(out, c.Field+": "+c.Message)
		}
	}
	return out
}

var immutableMessage = regexp.MustCompile(`immutable|updates to \w+ spec for fields other than|cannot change roleRef|may not change once set`)

func immutable(err error) bool {
	return slices.ContainsFunc(causes(err), immutableMessage.MatchString)
}

var (
	indexes = regexp.MustCompile(`\[[^]]*\]`)
	values  = regexp.MustCompile(`Invalid value: .*?: |Unsupported value: .*|Duplicate value: .*|".*?"`)
)

// reason sums up an error, without values.
func reason(err error) string {
	list := causes(err)
	if len(list) == 0 {
		text := err.Error()
		for _, known := range []string{"failed to create typed patch object", "cannot be handled as", "failed to create typed live object", "unable to convert", "json: cannot unmarshal", "quantities must match"} {
			if strings.Contains(text, known) {
				return known
			}
		}
		return values.ReplaceAllString(text, "_")
	}
	if immutable(err) {
		return "immutable"
	}
	return values.ReplaceAllString(indexes.ReplaceAllString(list[0], ""), "")
}
