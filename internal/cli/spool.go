package cli

import (
	"fmt"
	"io"
	"os"
)

// spoolMemory is how many bytes of output are held in memory; what is beyond goes
// to a temporary file.
const spoolMemory = 32 << 20

// spool holds output until it is certain that nothing failed. Its file has no name
// any more when the first byte is written, so that nothing stays behind, however
// the program ends.
type spool struct {
	memory []byte
	limit  int
	file   *os.File
	size   int64
}

func newSpool() *spool { return &spool{limit: spoolMemory} }

// Write appends to the spool.
func (s *spool) Write(p []byte) (int, error) {
	if s.file == nil && len(s.memory)+len(p) <= s.limit {
		s.memory = append(s.memory, p...)
		s.size += int64(len(p))
		return len(p), nil
	}
	if s.file == nil {
		f, err := os.CreateTemp("", "appsvc-render-")
		if err != nil {
			return 0, fmt.Errorf("spooling output: %w", err)
		}
		s.file = f
		if err := os.Remove(f.Name()); err != nil {
			return 0, fmt.Errorf("spooling output: %w", err)
		}
	}
	n, err := s.file.Write(p)
	s.size += int64(n)
	if err != nil {
		return n, fmt.Errorf("spooling output: %w", err)
	}
	return n, nil
}

// WriteTo copies all that was written to w.
func (s *spool) WriteTo(w io.Writer) (int64, error) {
	return io.Copy(w, io.NewSectionReader(s, 0, s.size))
}

// ReadAt reads what was written. Memory holds the beginning, the file the rest.
func (s *spool) ReadAt(p []byte, off int64) (int, error) {
	n := 0
	if off < int64(len(s.memory)) {
		n = copy(p, s.memory[off:])
		if n == len(p) || s.file == nil {
			if n < len(p) {
				return n, io.EOF
			}
			return n, nil
		}
		off += int64(n)
	}
	if s.file == nil {
		return n, io.EOF
	}
	m, err := s.file.ReadAt(p[n:], off-int64(len(s.memory)))
	return n + m, err
}

// Close frees what the spool holds.
func (s *spool) Close() error {
	s.memory = nil
	if s.file == nil {
		return nil
	}
	return s.file.Close()
}
