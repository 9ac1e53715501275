package cli

import (
	"fmt"
	"io"
	"os"
	"sync/atomic"
	"time"

	"golang.org/x/term"
)

// progressAfter is how long work goes on before its progress is shown.
const progressAfter = 2 * time.Second

// isTerminal says whether a person sits at the other end of a stream.
func isTerminal(stream any) bool {
	f, ok := stream.(*os.File)
	return ok && term.IsTerminal(int(f.Fd()))
}

// progress counts objects and shows the count on a terminal, from progressAfter on.
type progress struct {
	count atomic.Int64
	stop  func()
}

// startProgress shows on w what the work called verb has done, if w is a terminal.
func startProgress(w io.Writer, verb string) *progress {
	p := &progress{stop: func() {}}
	if !isTerminal(w) {
		return p
	}
	quit, done := make(chan struct{}), make(chan struct{})
	go func() {
		defer close(done)
		timer := time.NewTimer(progressAfter)
		defer timer.Stop()
		shown := false
		for {
			select {
			case <-quit:
				if shown {
					fmt.Fprint(w, "\r\x1b[K")
				}
				return
			case <-timer.C:
				shown = true
				fmt.Fprintf(w, "\r\x1b[K%s: %d objects", verb, p.count.Load())
				timer.Reset(200 * time.Millisecond)
			}
		}
	}()
	p.stop = func() {
		close(quit)
		<-done
	}
	return p
}
