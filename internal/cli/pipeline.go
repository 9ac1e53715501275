package cli

import (
	"context"
	"runtime"
	"sync"
)

// inOrder hands each item that source yields to work, in several goroutines, and
// what comes of it to collect, in the order of the source and one at a time. It
// holds a few items for each goroutine, never all of them. An error of collect, or
// the end of ctx, stops it.
func inOrder[In, Out any](
	ctx context.Context,
	source func(yield func(In) bool),
	work func(In) Out,
	collect func(Out) error,
) error {
	ctx, cancel := context.WithCancel(ctx)
	defer cancel()

	type job struct {
		in  In
		out chan<- Out
	}
	workers := runtime.GOMAXPROCS(0)
	jobs := make(chan job)
	order := make(chan (<-chan Out), 4*workers)

	var running sync.WaitGroup
	for range workers {
		running.Go(func() {
			for j := range jobs {
				j.out <- work(j.in)
			}
		})
	}
	running.Go(func() {
		defer close(order)
		defer close(jobs)
		source(func(in In) bool {
			out := make(chan Out, 1)
			select {
			case order <- out:
			case <-ctx.Done():
				return false
			}
			// The place in the order is taken: the job has to follow.
			jobs <- job{in, out}
			return true
		})
	})

	var err error
	for out := range order {
		result := <-out
		if err == nil {
			if err = ctx.Err(); err == nil {
				err = collect(result)
			}
			if err != nil {
				cancel() // and drain what is under way
			}
		}
	}
	running.Wait()
	if err == nil {
		err = context.Cause(ctx)
	}
	return err
}
