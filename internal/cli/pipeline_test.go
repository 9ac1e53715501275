package cli

import (
	"context"
	"errors"
	"testing"
	"testing/synctest"
	"time"
)

// numbers yields the numbers up to n.
func numbers(n int) func(yield func(int) bool) {
	return func(yield func(int) bool) {
		for i := range n {
			if !yield(i) {
				return
			}
		}
	}
}

// TestInOrder: results come in the order of the source, however long each takes.
func TestInOrder(t *testing.T) {
	t.Parallel()
	synctest.Test(t, func(t *testing.T) {
		next := 0
		err := inOrder(t.Context(), numbers(200),
			func(i int) int {
				time.Sleep(time.Duration((i*7919)%13) * time.Millisecond)
				return i
			},
			func(i int) error {
				if i != next {
					t.Errorf("got %d, want %d", i, next)
				}
				next++
				return nil
			})
		if err != nil || next != 200 {
			t.Errorf("collected %d, %v", next, err)
		}
	})
}

// TestInOrderStops: an error, and the end of the context, stop the source, and no
// goroutine is left. synctest fails the test when one is.
func TestInOrderStops(t *testing.T) {
	t.Parallel()
	broken := errors.New("broken")
	tests := map[string]struct {
		collect func(i int, cancel context.CancelFunc) error
		want    error
	}{
		"error": {func(i int, _ context.CancelFunc) error {
			if i == 5 {
				return broken
			}
			return nil
		}, broken},
		"cancelled": {func(i int, cancel context.CancelFunc) error {
			if i == 5 {
				cancel()
			}
			return nil
		}, context.Canceled},
	}
	for name, tc := range tests {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			synctest.Test(t, func(t *testing.T) {
				ctx, cancel := context.WithCancel(t.Context())
				defer cancel()
				yielded := 0
				err := inOrder(ctx,
					func(yield func(int) bool) {
						for yielded = 0; yield(yielded); yielded++ {
						}
					},
					func(i int) int { return i },
					func(i int) error {
						if i > 5 {
							t.Errorf("collected %d after the end", i)
						}
						return tc.collect(i, cancel)
					})
				if !errors.Is(err, tc.want) {
					t.Errorf("got %v, want %v", err, tc.want)
				}
				if yielded > 100 {
					t.Errorf("the source went on to %d", yielded)
				}
			})
		})
	}
}
