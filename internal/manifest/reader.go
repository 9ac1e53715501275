package manifest

import (
	"bufio"
	"bytes"
	"errors"
	"fmt"
	"io"
)

// MaxDocument is the size, in bytes, over which a document is refused. An object
// of more than about 1.5 MiB does not fit into etcd.
const MaxDocument = 8 << 20

// Document is the text of one document of a stream.
type Document struct {
	// File is the name of the file, for messages.
	File string
	// Line is the line of File, from 1, that Text begins on.
	Line int
	// Text is the document without the line that separates it from the one before.
	// A separator line that carries content is part of the text.
	Text []byte
}

// Reader splits a stream into documents. It holds one document at a time.
type Reader struct {
	file    string
	in      *bufio.Reader
	line    int    // lines read so far
	pending []byte // a first line of the next document, read already
	err     error
}

// NewReader reads documents from in; file is what messages call it.
func NewReader(file string, in io.Reader) *Reader {
	r := &Reader{file: file, in: bufio.NewReaderSize(in, 64<<10)}
	if bom, err := r.in.Peek(3); err == nil && bytes.Equal(bom, []byte("\xef\xbb\xbf")) {
		r.in.Discard(3)
	}
	return r
}

// Next gives the next document, io.EOF after the last one. A document of nothing
// but white space and comments is left out. Any other error is a *Fault, after which the rest
// of the stream cannot be read.
//
// In YAML a line that begins with "---" or "..." ends a document wherever it
// stands, so lines are all that has to be looked at. JSON values may follow one
// another without a separator; there a line that begins with '{' after a value
// that is complete begins the next document.
func (r *Reader) Next() (Document, error) {
	for {
		doc, err := r.next()
		if err != nil || !isComment(doc.Text) {
			return doc, err
		}
	}
}

func (r *Reader) next() (Document, error) {
	if r.err != nil {
		return Document{}, r.err
	}
	doc := Document{File: r.file, Line: r.line + 1}
	var json jsonScanner
	if r.pending != nil {
		doc.Line = r.line
		doc.Text = r.pending
		json.scan(r.pending)
		r.pending = nil
	}
	for {
		line, err := r.readLine(len(doc.Text))
		if err == io.EOF && len(line) == 0 {
			r.err = io.EOF
			if len(doc.Text) == 0 {
				return Document{}, io.EOF
			}
			return doc, nil
		}
		if err != nil && err != io.EOF {
			if errors.Is(err, errTooLarge) {
				err = fmt.Errorf("document is larger than %d MiB", MaxDocument>>20)
			}
			r.err = &Fault{File: r.file, Line: doc.Line, Message: err.Error()}
			return Document{}, r.err
		}
		r.line++
		switch {
		case separates(line, "...") && isComment(line[3:]):
			return doc, nil
		case separates(line, "---"):
			// "--- # why" begins the next document with a comment, "--- {a: b}" with
			// content.
			if rest := bytes.TrimSpace(line[3:]); len(rest) > 0 && isComment(rest) {
				r.pending = append(bytes.Clone(rest), '\n')
			} else if len(rest) > 0 {
				r.pending = bytes.Clone(line)
			}
			return doc, nil
		case json.complete() && line[0] == '{':
			r.pending = bytes.Clone(line)
			return doc, nil
		}
		json.scan(line)
		doc.Text = append(doc.Text, line...)
	}
}

var errTooLarge = errors.New("too large")

// readLine reads a line with its end, or what is left of the stream and io.EOF.
// The slice is good until the next call.
func (r *Reader) readLine(have int) ([]byte, error) {
	line, err := r.in.ReadSlice('\n')
	if err != bufio.ErrBufferFull {
		if have+len(line) > MaxDocument {
			return nil, errTooLarge
		}
		return line, err
	}
	long := bytes.Clone(line)
	for err == bufio.ErrBufferFull {
		line, err = r.in.ReadSlice('\n')
		long = append(long, line...)
		if have+len(long) > MaxDocument {
			return nil, errTooLarge
		}
	}
	return long, err
}

// isComment says whether text is nothing but white space and comments.
func isComment(text []byte) bool {
	for line := range bytes.Lines(text) {
		if line = bytes.TrimSpace(line); len(line) > 0 && line[0] != '#' {
			return false
		}
	}
	return true
}

// separates says whether a line is a document marker: the marker and then white
// space or nothing.
func separates(line []byte, marker string) bool {
	if !bytes.HasPrefix(line, []byte(marker)) {
		return false
	}
	rest := line[len(marker):]
	return len(rest) == 0 || rest[0] == ' ' || rest[0] == '\t' || rest[0] == '\r' || rest[0] == '\n'
}

// jsonScanner tells where a JSON object ends, for streams of them. Of text that
// does not begin with '{' it says nothing.
type jsonScanner struct {
	started, isJSON, inString, escaped bool
	depth                              int
}

func (s *jsonScanner) complete() bool { return s.isJSON && s.depth == 0 && !s.inString }

func (s *jsonScanner) scan(text []byte) {
	if s.started && !s.isJSON {
		return
	}
	for _, c := range text {
		if !s.started {
			if c == ' ' || c == '\t' || c == '\r' || c == '\n' {
				continue
			}
			s.started = true
			if s.isJSON = c == '{'; !s.isJSON {
				return
			}
		}
		switch {
		case s.escaped:
			s.escaped = false
		case s.inString:
			s.escaped = c == '\\'
			s.inString = c != '"'
		case c == '"':
			s.inString = true
		case c == '{' || c == '[':
			s.depth++
		case c == '}' || c == ']':
			s.depth--
		}
	}
}
