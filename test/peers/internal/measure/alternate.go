package measure

import "context"

// Entry is one of several processes that take turns.
type Entry struct {
	// Name stands in the table.
	Name string
	// Command is what runs.
	Command Command
	// Missing says why there is nothing to run; empty when there is.
	Missing string
}

// Result is what an entry took.
type Result struct {
	// Name of the entry.
	Name string
	// Samples are in the order of the rounds.
	Samples []Sample
	// Missing says why there are no samples; empty when there are.
	Missing string
}

// Alternate runs the entries by turns: once each to warm up, which is not
// counted, and then once each for every round. An entry that fails in any of them
// is missing from there on, and the others go on. The error is that of ctx.
func Alternate(ctx context.Context, run func(context.Context, Command) (Sample, error), entries []Entry, rounds int) ([]Result, error) {
	results := make([]Result, len(entries))
	for i, e := range entries {
		results[i] = Result{Name: e.Name, Missing: e.Missing}
	}
	const warmUp = 1
	for round := range warmUp + rounds {
		for i, e := range entries {
			if results[i].Missing != "" {
				continue
			}
			sample, err := run(ctx, e.Command)
			switch {
			case ctx.Err() != nil:
				return nil, ctx.Err()
			case err != nil:
				results[i] = Result{Name: e.Name, Missing: err.Error()}
			case round >= warmUp:
				results[i].Samples = append(results[i].Samples, sample)
			}
		}
	}
	return results, nil
}
