package trial

import (
	"fmt"
	"os"
	"runtime"
	"strconv"
	"strings"
)

// addMemory adds what a process takes to the sample. Of several processes the largest
// figures count. Only Linux tells.
func (s Sample) addMemory(pid int) error {
	if runtime.GOOS != "linux" {
		return nil
	}
	status, err := os.ReadFile(fmt.Sprintf("/proc/%d/status", pid))
	if err != nil {
		return err
	}
	for figure, field := range map[string]string{Resident: "VmRSS", Peak: "VmHWM"} {
		bytes, err := memoryField(string(status), field)
		if err != nil {
			return fmt.Errorf("memory of process %d: %w", pid, err)
		}
		s[figure] = max(s[figure], bytes)
	}
	return nil
}

// memoryField is a line of /proc/PID/status (proc_pid_status(5)), which counts in KiB, in
// bytes.
func memoryField(status, field string) (float64, error) {
	for line := range strings.Lines(status) {
		name, value, found := strings.Cut(line, ":")
		if !found || name != field {
			continue
		}
		kibibytes, err := strconv.ParseFloat(strings.TrimSuffix(strings.TrimSpace(value), " kB"), 64)
		return kibibytes * 1024, err
	}
	return 0, fmt.Errorf("no line %s", field)
}
