package binaries

import (
	"bytes"
	"fmt"
	"os"
	"strings"
	"sync"
	"time"
)

// tailLines is how many lines of the go command come with an error.
const tailLines = 15

// buildLog is what `go build -v` prints: a line per package compiled, and others.
type buildLog struct {
	mu       sync.Mutex
	partial  []byte
	packages int
	modules  int
	lines    []string
}

// Write is io.Writer's.
func (l *buildLog) Write(p []byte) (int, error) {
	l.mu.Lock()
	defer l.mu.Unlock()
	l.partial = append(l.partial, p...)
	for {
		line, rest, ok := bytes.Cut(l.partial, []byte("\n"))
		if !ok {
			return len(p), nil
		}
		l.add(string(line))
		l.partial = rest
	}
}

func (l *buildLog) add(line string) {
	switch {
	case strings.HasPrefix(line, "go: downloading "):
		l.modules++
	case !strings.Contains(line, " "): // a package's path
		l.packages++
	default:
		l.lines = append(l.lines, line)
	}
}

// tail is the last lines that are neither of a package nor of a download.
func (l *buildLog) tail() string {
	l.mu.Lock()
	defer l.mu.Unlock()
	lines := append(l.lines, string(l.partial))
	lines = lines[max(0, len(lines)-tailLines):]
	return strings.TrimSpace(strings.Join(lines, "\n"))
}

// state says in a few words how far the build is.
func (l *buildLog) state() string {
	l.mu.Lock()
	defer l.mu.Unlock()
	if l.packages == 0 {
		return fmt.Sprintf("%d modules downloaded", l.modules)
	}
	return fmt.Sprintf("%d packages compiled", l.packages)
}

// watch reports the state of a step now and then, until done is called: each
// second in one line on a terminal, else in a line every quarter of a minute.
func (b *builder) watch(step string, log *buildLog) (done func(error)) {
	terminal, interval := isTerminal(b.progress), 15*time.Second
	if terminal {
		interval = time.Second
	}
	start, stop, stopped := time.Now(), make(chan struct{}), make(chan struct{})
	elapsed := func() time.Duration { return time.Since(start).Round(time.Second) }
	b.report("%s: started", step)
	go func() {
		defer close(stopped)
		ticker := time.NewTicker(interval)
		defer ticker.Stop()
		for {
			select {
			case <-stop:
				return
			case <-ticker.C:
			}
			if terminal {
				fmt.Fprint(b.progress, "\x1b[1A\x1b[K") // over the line before
			}
			b.report("%s: %s, %s so far", step, log.state(), elapsed())
		}
	}()
	return func(err error) {
		close(stop)
		<-stopped
		if err == nil {
			b.report("%s: built in %s", step, elapsed())
		}
	}
}

// report prints one line of progress.
func (b *builder) report(format string, args ...any) {
	fmt.Fprintf(b.progress, "controlplane: "+format+"\n", args...)
}

// isTerminal says whether w is a terminal that lines can be overwritten on.
func isTerminal(w any) bool {
	file, ok := w.(*os.File)
	if !ok || os.Getenv("TERM") == "dumb" {
		return false
	}
	info, err := file.Stat()
	return err == nil && info.Mode()&os.ModeCharDevice != 0
}
