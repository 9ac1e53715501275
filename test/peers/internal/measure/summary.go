package measure

import "slices"

// Summary is the middle of some values and how far they spread: half of them lie
// between the quartiles.
type Summary struct {
	// Median, and the lower and the upper quartile.
	Median, Lower, Upper float64
}

// Summarize gives the summary of values, of which there has to be at least one.
func Summarize(values []float64) Summary {
	sorted := slices.Sorted(slices.Values(values))
	return Summary{
		Median: quantile(sorted, 0.5),
		Lower:  quantile(sorted, 0.25),
		Upper:  quantile(sorted, 0.75),
	}
}

// quantile interpolates between the two values on either side, as R and NumPy do
// unless told otherwise (type 7 of Hyndman and Fan).
func quantile(sorted []float64, q float64) float64 {
	position := q * float64(len(sorted)-1)
	below := int(position)
	if below+1 >= len(sorted) {
		return sorted[len(sorted)-1]
	}
	return sorted[below] + (position-float64(below))*(sorted[below+1]-sorted[below])
}

// Wall is the summary of the wall times of samples, in seconds.
func Wall(samples []Sample) Summary {
	return of(samples, func(s Sample) float64 { return s.Wall.Seconds() })
}

// CPU is the summary of the processor times of samples, in seconds.
func CPU(samples []Sample) Summary {
	return of(samples, func(s Sample) float64 { return s.CPU.Seconds() })
}

// PeakMemory is the summary of the peaks of samples, in bytes.
func PeakMemory(samples []Sample) Summary {
	return of(samples, func(s Sample) float64 { return float64(s.PeakMemory) })
}

func of(samples []Sample, value func(Sample) float64) Summary {
	values := make([]float64, len(samples))
	for i, s := range samples {
		values[i] = value(s)
	}
	return Summarize(values)
}
