package trial

import (
	"os"
	"runtime"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"
)

func TestMemoryField(t *testing.T) {
	t.Parallel()
	const status = "Name:\tappsvc\nVmPeak:\t 9999 kB\nVmHWM:\t    2048 kB\nVmRSS:\t    1024 kB\n"
	tests := []struct {
		name   string
		reason string
		field  string
		want   float64
		err    string
	}{
		{name: "resident", reason: "the kernel counts in KiB", field: "VmRSS", want: 1 << 20},
		{name: "peak", reason: "of the resident memory, not of the address space", field: "VmHWM", want: 2 << 20},
		{name: "not there", reason: "a process that has ended has none", field: "VmSwap", err: "no line VmSwap"},
		{name: "no number", reason: "it must not become a zero", field: "Name", err: "appsvc"},
	}
	for _, tt := range tests {
		t.Run(tt.name, func(t *testing.T) {
			t.Parallel()
			got, err := memoryField(status, tt.field)
			if tt.err != "" {
				if err == nil || !strings.Contains(err.Error(), tt.err) {
					t.Fatalf("error %v, want %q (%s)", err, tt.err, tt.reason)
				}
				return
			}
			if err != nil || got != tt.want {
				t.Errorf("%v, %v, want %v (%s)", got, err, tt.want, tt.reason)
			}
		})
	}
}

func TestAddMemory(t *testing.T) {
	t.Parallel()
	sample := Sample{Peak: 1 << 60}
	if err := sample.addMemory(os.Getpid()); err != nil {
		t.Fatal(err)
	}
	if sample[Peak] != 1<<60 {
		t.Errorf("peak %v, want the larger one of two processes", sample[Peak])
	}
	if runtime.GOOS == "linux" && sample[Resident] < 1<<20 {
		t.Errorf("%v bytes are resident, want those of this process", sample[Resident])
	}
}

func TestSums(t *testing.T) {
	t.Parallel()
	const text = "# HELP x what it is\n# TYPE x counter\nx{a=\"b\"} 1\nx{a=\"c d\"} 2.5\n\nprocess_start_time_seconds 1.7e+09\n"
	got, err := sums(text)
	if err != nil {
		t.Fatal(err)
	}
	if diff := cmp.Diff(map[string]float64{"x": 3.5, "process_start_time_seconds": 1.7e9}, got); diff != "" {
		t.Errorf("(-want +got):\n%s", diff)
	}
	if _, err := sums("x many\n"); err == nil {
		t.Error("no error for a metric that is no number")
	}
}
