package trial

import (
	"context"
	"fmt"
	"strings"
	"time"

	"k8s.io/apimachinery/pkg/apis/meta/v1/unstructured"
	"k8s.io/apimachinery/pkg/runtime/schema"

	"kudevops.io/appsvc/test/controlplane/internal/shipped"
)

// controller is a process that makes pairs of objects of some kind.
type controller struct {
	// user is whom the API server takes it for.
	user    string
	process *shipped.Controller
	// resource is what it makes pairs of, and object the one for a pair.
	resource schema.GroupVersionResource
	object   func(index int) (*unstructured.Unstructured, error)
	// rested complains until the process has looked at so many objects since its start and
	// has nothing to do. It is nil where that cannot be known.
	rested func(ctx context.Context, apps int) error
}

// race has a controller that is started, and has its caches filled, make the pairs. The
// process has ended when it returns.
func (a *arena) race(ctx context.Context, c controller, apps int) (_ Sample, err error) {
	defer func() {
		if end := c.process.Kill(); err == nil {
			err = end
		}
		if err != nil {
			err = fmt.Errorf("%w; the end of its log:\n%s", err, lastLines(c.process.Logs()))
		}
	}()
	sample := Sample{}
	for _, phase := range []func(context.Context, controller, int, Sample) error{a.fromNothing, a.stay, a.restart} {
		if err := phase(ctx, c, apps, sample); err != nil {
			return nil, err
		}
	}
	return sample, nil
}

// fromNothing creates all objects and waits until they are Ready, and then until the
// controller is done.
func (a *arena) fromNothing(ctx context.Context, c controller, apps int, sample Sample) error {
	client := a.cluster.Dynamic().Resource(c.resource).Namespace(namespace)
	ready, err := watchReadiness(ctx, client)
	if err != nil {
		return err
	}
	start := time.Now()
	created := make(chan error, 1)
	ctx, cancel := context.WithCancelCause(ctx)
	defer cancel(nil)
	go func() {
		err := createAll(ctx, client, apps, c.object)
		sample[CreationSeconds] = time.Since(start).Seconds()
		if err != nil {
			cancel(err) // or it would wait for what is never created
		}
		created <- err
	}()
	err = ready.wait(ctx, apps)
	end := time.Since(start)
	if err != nil {
		cancel(err)
	}
	if failed := <-created; err == nil {
		err = failed
	}
	sample[Seconds] = end.Seconds()
	if err != nil {
		return err
	}
	writes, err := a.idle(ctx, c.user)
	sample[Writes] = float64(writes)
	return err
}

// stay counts what is written when there is nothing to do, and looks at the memory.
func (a *arena) stay(ctx context.Context, c controller, _ int, sample Sample) error {
	before, err := a.writes(ctx, c.user)
	if err != nil {
		return err
	}
	if err := sleep(ctx, a.steady); err != nil {
		return err
	}
	after, err := a.writes(ctx, c.user)
	if err != nil {
		return err
	}
	sample[SteadyWrites] = float64(after - before)
	return sample.addMemory(c.process.PID())
}

// restart has the process die and start anew.
func (a *arena) restart(ctx context.Context, c controller, apps int, sample Sample) error {
	if c.rested == nil {
		return nil
	}
	before, err := a.writes(ctx, c.user)
	if err != nil {
		return err
	}
	if err := c.process.Kill(); err != nil {
		return err
	}
	start := time.Now()
	if err := c.process.Start(); err != nil {
		return err
	}
	if err := poll(ctx, func(ctx context.Context) error { return c.rested(ctx, apps) }); err != nil {
		return err
	}
	sample[RestartSeconds] = time.Since(start).Seconds()
	after, err := a.idle(ctx, c.user)
	if err != nil {
		return err
	}
	sample[RestartWrites] = float64(after - before)
	return sample.addMemory(c.process.PID())
}

// lastLines are the end of a log.
func lastLines(log string) string {
	const kept = 12
	lines := strings.Split(strings.TrimSpace(log), "\n")
	return strings.Join(lines[max(0, len(lines)-kept):], "\n")
}
