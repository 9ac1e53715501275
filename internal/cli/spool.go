package cli

import (
	"fmt"
	"io"
	"os"
)

// spoolMemory is how many bytes of output are held in memory, a multiple of
// spoolBlock; what is beyond goes to a temporary file.
const spoolMemory = 32 << 20

// spool holds output until it is certain that nothing failed. Its file has no name
// any more when the first byte is written, so that nothing stays behind, however
// the program ends.
type spool struct {
	// blocks hold the beginning of the output; all but the last one are full.
	blocks [][]byte
	limit  int64
	file   *os.File // what is beyond limit
	size   int64
}

// spoolBlock is the size of a block.
const spoolBlock = 256 << 10

func newSpool() *spool { return &spool{limit: spoolMemory} }

// Write appends to the spool.
func (s *spool) Write(p []byte) (int, error) {
	inMemory := 0
	for len(p) > 0 && s.size < s.limit {
		if s.size%spoolBlock == 0 {
			s.blocks = append(s.blocks, make([]byte, 0, spoolBlock))
		}
		last := &s.blocks[len(s.blocks)-1]
		n := min(len(p), spoolBlock-len(*last))
		*last = append(*last, p[:n]...)
		s.size += int64(n)
		inMemory += n
		p = p[n:]
	}
	if len(p) == 0 {
		return inMemory, nil
	}
	n, err := s.writeFile(p)
	return inMemory + n, err
}

func (s *spool) writeFile(p []byte) (int, error) {
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

// ReadAt reads what was written.
func (s *spool) ReadAt(p []byte, off int64) (int, error) {
	n := 0
	for n < len(p) && off < min(s.size, s.limit) {
		m := copy(p[n:], s.blocks[off/spoolBlock][off%spoolBlock:])
		n += m
		off += int64(m)
	}
	switch {
	case n == len(p):
		return n, nil
	case s.file == nil:
		return n, io.EOF
	}
	m, err := s.file.ReadAt(p[n:], off-s.limit)
	return n + m, err
}

// Close frees what the spool holds.
func (s *spool) Close() error {
	s.blocks = nil
	if s.file == nil {
		return nil
	}
	return s.file.Close()
}
