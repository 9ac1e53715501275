package controlplane_test

import (
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"

	"kudevops.io/appsvc/internal/diffcases"
)

// testDiffPairs applies the first object of each reported pair and then compares it
// with the second one: what pkg/diff says of it beforehand is what the API server does.
// Afterwards there is nothing left to do.
func testDiffPairs(t *testing.T, s *diffServer) {
	cases, err := diffcases.All()
	if err != nil {
		t.Fatal(err)
	}
	for _, c := range cases {
		if c.Cluster == nil {
			continue
		}
		want := c.Want
		if c.Cluster.Want != nil {
			want = c.Cluster.Want
		}
		t.Run(strings.TrimSpace(c.ID+" "+c.Name), func(t *testing.T) {
			t.Parallel()
			from, to, err := c.Objects(s.cluster.Namespace(t))
			if err != nil {
				t.Fatal(err)
			}
			s.apply(t, ours.Manager, from)
			if c.Refused != "" {
				v := s.verdict(t, to, ours)
				if v.refused == nil || !strings.Contains(v.refused.Error(), c.Refused) {
					t.Errorf("the server says %v, want %q: %s", v.refused, c.Refused, c.Reason)
				}
				if d := cmp.Diff(want, changesIn(v.change.Fields)); d != "" || !v.changed {
					t.Errorf("changes (-want +got), Changed %t:\n%s%s", v.changed, d, c.Reason)
				}
				return
			}
			if c.Cluster.Respelled {
				if v := s.verdict(t, to, ours); v.changed || !v.writes || len(v.change.Fields) > 0 {
					t.Errorf("Changed %t, %q, the server writes: %t; want that only it would: %s", v.changed, changesIn(v.change.Fields), v.writes, c.Reason)
				}
			} else if d := cmp.Diff(want, changesIn(s.agree(t, to, ours).change.Fields)); d != "" {
				t.Errorf("changes (-want +got):\n%s%s", d, c.Reason)
			}
			s.apply(t, ours.Manager, sendable(to))
			if v := s.agree(t, to, ours); v.changed || len(v.change.Adopted)+len(v.change.Kept)+len(v.change.Fields) > 0 {
				t.Errorf("after it was applied: Changed %t, %q, adopted %q, kept %q: %s",
					v.changed, changesIn(v.change.Fields), pathsIn(v.change.Adopted), pathsIn(v.change.Kept), c.Reason)
			}
		})
		if !c.Cluster.Filled {
			continue
		}
		t.Run(strings.TrimSpace(c.ID+" "+c.Name)+" filled in", func(t *testing.T) {
			t.Parallel()
			full, to, err := c.Objects(s.cluster.Namespace(t))
			if err != nil {
				t.Fatal(err)
			}
			live := s.apply(t, ours.Manager, to)
			answer, err := s.tryApply(t, "somebody", full)
			if err != nil {
				t.Fatal(err)
			}
			if d := cmp.Diff(contentOf(live), contentOf(answer)); d != "" {
				t.Errorf("the server does not fill in what the case says (-filled in +case):\n%s", d)
			}
			if v := s.agree(t, to, ours); v.changed || len(v.change.Fields) > 0 {
				t.Errorf("Changed %t, %q: %s", v.changed, changesIn(v.change.Fields), c.Reason)
			}
		})
	}
}
