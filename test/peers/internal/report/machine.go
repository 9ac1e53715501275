package report

import (
	"context"
	"fmt"
	"os"
	"os/exec"
	"runtime"
	"strconv"
	"strings"
)

// unknown stands for a fact that this system does not tell.
const unknown = "unknown"

// Machine is what figures depend on besides the programs.
type Machine struct {
	// CPU is the model of the processor, and Cores how many of them there are.
	CPU   string
	Cores int
	// Memory is how much there is, such as "15.6 GiB".
	Memory string
	// OS is the system's name and version, with that of the kernel.
	OS string
}

// ThisMachine asks the system. What it does not tell is "unknown".
func ThisMachine(ctx context.Context) Machine {
	m := Machine{CPU: unknown, Cores: runtime.NumCPU(), Memory: unknown, OS: runtime.GOOS}
	switch runtime.GOOS {
	case "linux":
		m.CPU = field(read("/proc/cpuinfo"), "model name", ":")
		m.Memory = gibibytes(strings.TrimSuffix(field(read("/proc/meminfo"), "MemTotal", ":"), " kB"), 1<<10)
		m.OS = strings.Trim(field(read("/etc/os-release"), "PRETTY_NAME", "="), `"`)
	case "darwin":
		m.CPU = output(ctx, "sysctl", "-n", "machdep.cpu.brand_string")
		m.Memory = gibibytes(output(ctx, "sysctl", "-n", "hw.memsize"), 1)
		m.OS = "macOS " + output(ctx, "sw_vers", "-productVersion")
	}
	m.OS += ", kernel " + output(ctx, "uname", "-sr") + ", " + runtime.GOARCH
	return m
}

// field is the value of the first line "key <separator> value" of a text.
func field(text, key, separator string) string {
	for line := range strings.Lines(text) {
		name, value, found := strings.Cut(line, separator)
		if found && strings.TrimSpace(name) == key {
			return strings.TrimSpace(value)
		}
	}
	return unknown
}

// gibibytes of a number that counts units of so many bytes.
func gibibytes(number string, unit float64) string {
	n, err := strconv.ParseFloat(strings.TrimSpace(number), 64)
	if err != nil {
		return unknown
	}
	return fmt.Sprintf("%.1f GiB", n*unit/(1<<30))
}

func read(path string) string {
	data, err := os.ReadFile(path)
	if err != nil {
		return ""
	}
	return string(data)
}

func output(ctx context.Context, program string, args ...string) string {
	out, err := exec.CommandContext(ctx, program, args...).Output()
	if err != nil {
		return unknown
	}
	return strings.TrimSpace(string(out))
}
