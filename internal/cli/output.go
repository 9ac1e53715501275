package cli

import (
	"fmt"
	"io"
)

// sink takes objects, in order, and writes them when all of them are there.
type sink interface {
	add(output) error
	finish(stdout io.Writer) error
}

// stream writes objects as one stream of documents.
type stream struct {
	spool *spool
	json  bool
	begun bool
}

func (s *stream) add(out output) error {
	if s.begun && !s.json {
		if _, err := io.WriteString(s.spool, "---\n"); err != nil {
			return err
		}
	}
	s.begun = true
	_, err := s.spool.Write(out.text)
	return err
}

func (s *stream) finish(stdout io.Writer) error {
	if _, err := s.spool.WriteTo(stdout); err != nil {
		return fmt.Errorf("writing the output: %w", err)
	}
	return nil
}
