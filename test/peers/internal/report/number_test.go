package report_test

import (
	"testing"

	"kudevops.io/appsvc/test/peers/internal/report"
)

func TestNumbers(t *testing.T) {
	t.Parallel()
	tests := []struct{ name, reason, got, want string }{
		{"nanoseconds", "three digits", report.Seconds(3.9e-7), "390 ns"},
		{"microseconds", "of a function", report.Seconds(3.94e-6), "3.94 us"},
		{"milliseconds", "of a program", report.Seconds(0.1369), "137 ms"},
		{"seconds", "of many", report.Seconds(12.04), "12.0 s"},
		{"mebibytes", "of memory", report.Mebibytes(150 << 20), "150 MiB"},
		{"ratio", "less than one has three digits after the point", report.Ratio(0.1042), "0.104 x"},
		{"zero", "no writes are no 0.000 writes", report.Count(0), "0"},
		{"thousands", "a whole number is written whole", report.Count(2400), "2,400"},
		{"fraction", "writes for each of many", report.Count(8.2), "8.20"},
		{"no thousands", "no comma", report.Thousands(999), "999"},
		{"zeros after the comma", "they are not lost", report.Thousands(10_050), "10,050"},
		{"millions", "a comma before every three digits", report.Thousands(1_234_567), "1,234,567"},
	}
	for _, tt := range tests {
		t.Run(tt.name, func(t *testing.T) {
			t.Parallel()
			if tt.got != tt.want {
				t.Errorf("%q, want %q (%s)", tt.got, tt.want, tt.reason)
			}
		})
	}
}
