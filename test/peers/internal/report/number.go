package report

import (
	"fmt"
	"strconv"
)

// Seconds writes a time.
func Seconds(s float64) string {
	switch {
	case s < 1e-6:
		return digits(s*1e9) + " ns"
	case s < 1e-3:
		return digits(s*1e6) + " us"
	case s < 1:
		return digits(s*1e3) + " ms"
	}
	return digits(s) + " s"
}

// Mebibytes writes a number of bytes.
func Mebibytes(bytes float64) string { return digits(bytes/(1<<20)) + " MiB" }

// Ratio writes how many times something is another.
func Ratio(r float64) string { return digits(r) + " x" }

// Count writes a number of things.
func Count(n float64) string {
	if n == float64(int(n)) {
		return Thousands(int(n))
	}
	return digits(n)
}

// digits writes three of them: more would be noise.
func digits(v float64) string {
	switch {
	case v < 1:
		return fmt.Sprintf("%.3f", v)
	case v < 10:
		return fmt.Sprintf("%.2f", v)
	case v < 100:
		return fmt.Sprintf("%.1f", v)
	}
	return fmt.Sprintf("%.0f", v)
}

// Thousands writes a number with a comma before every three digits.
func Thousands(n int) string {
	if n < 1000 {
		return strconv.Itoa(n)
	}
	return fmt.Sprintf("%s,%03d", Thousands(n/1000), n%1000)
}
