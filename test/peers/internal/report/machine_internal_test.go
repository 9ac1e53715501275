package report

import (
	"strings"
	"testing"
)

func TestField(t *testing.T) {
	t.Parallel()
	const cpuinfo = "processor\t: 0\nmodel name\t: Fast: Processor\nmodel name\t: Second\n"
	tests := []struct{ name, reason, text, key, separator, want string }{
		{name: "first of several", reason: "one for each core", text: cpuinfo, key: "model name", separator: ":", want: "Fast: Processor"},
		{name: "without spaces", reason: "as in os-release", text: "ID=x\nPRETTY_NAME=\"Some OS\"\n", key: "PRETTY_NAME", separator: "=", want: `"Some OS"`},
		{name: "not there", reason: "as on processors that name no model", text: cpuinfo, key: "model", separator: ":", want: "unknown"},
		{name: "no text", reason: "the file is not there", text: "", key: "model name", separator: ":", want: "unknown"},
	}
	for _, tt := range tests {
		t.Run(tt.name, func(t *testing.T) {
			t.Parallel()
			if got := field(tt.text, tt.key, tt.separator); got != tt.want {
				t.Errorf("%q, want %q (%s)", got, tt.want, tt.reason)
			}
		})
	}
}

func TestGibibytes(t *testing.T) {
	t.Parallel()
	tests := []struct {
		name, reason, number string
		unit                 float64
		want                 string
	}{
		{name: "KiB", reason: "as /proc/meminfo counts", number: "16393472", unit: 1024, want: "15.6 GiB"},
		{name: "bytes", reason: "as sysctl counts", number: " 17179869184\n", unit: 1, want: "16.0 GiB"},
		{name: "no number", reason: "the system does not tell", number: "unknown", unit: 1, want: "unknown"},
	}
	for _, tt := range tests {
		t.Run(tt.name, func(t *testing.T) {
			t.Parallel()
			if got := gibibytes(tt.number, tt.unit); got != tt.want {
				t.Errorf("%q, want %q (%s)", got, tt.want, tt.reason)
			}
		})
	}
}

func TestThisMachine(t *testing.T) {
	t.Parallel()
	m := ThisMachine(t.Context())
	if m.Cores < 1 || m.CPU == "" || m.Memory == "" {
		t.Errorf("%+v, want every fact, if only as unknown", m)
	}
	if !strings.Contains(m.OS, ", kernel ") {
		t.Errorf("system %q, want its kernel too", m.OS)
	}
}
