package manifest_test

import (
	"errors"
	"io"
	"strings"
	"testing"
	"testing/iotest"

	"github.com/google/go-cmp/cmp"

	"kudevops.io/appsvc/internal/manifest"
)

func TestReader(t *testing.T) {
	t.Parallel()
	type doc struct {
		Line int
		Text string
	}
	tests := map[string]struct {
		reason string
		input  string
		want   []doc
	}{
		"one":                {"no separator is needed", "a: 1\n", []doc{{1, "a: 1\n"}}},
		"no line end":        {"the last line may lack one", "a: 1", []doc{{1, "a: 1"}}},
		"several":            {"lines are counted through the file", "a: 1\n---\nb: 2\n---\nc: 3\n", []doc{{1, "a: 1\n"}, {3, "b: 2\n"}, {5, "c: 3\n"}}},
		"leading separator":  {"it separates nothing", "---\na: 1\n", []doc{{2, "a: 1\n"}}},
		"empty ones":         {"helm templates leave many", "---\n---\n\n---\na: 1\n---\n", []doc{{5, "a: 1\n"}}},
		"comment":            {"a comment after a separator belongs to the document, as content does", "--- # first\na: 1\n--- {b: 2}\n", []doc{{1, "# first\na: 1\n"}, {3, "--- {b: 2}\n"}}},
		"end marker":         {"what follows it is another document, which a parser of one would not see", "a: 1\n...\nb: 2\n", []doc{{1, "a: 1\n"}, {3, "b: 2\n"}}},
		"no separator":       {"more than three dashes, or something behind them, is content", "----\n---a\n", []doc{{1, "----\n---a\n"}}},
		"indented":           {"a separator stands at the beginning of a line", "a: |\n  ---\n  x\n", []doc{{1, "a: |\n  ---\n  x\n"}}},
		"carriage returns":   {"files from Windows", "a: 1\r\n---\r\nb: 2\r\n", []doc{{1, "a: 1\r\n"}, {3, "b: 2\r\n"}}},
		"byte order mark":    {"editors on Windows put one", "\xef\xbb\xbfa: 1\n", []doc{{1, "a: 1\n"}}},
		"JSON values":        {"-o json prints them one after the other, as kubectl reads them", "{\n \"a\": \"}{\"\n}\n{\"b\": 2}\n\n{\"c\": \"\\\"}\"}\n", []doc{{1, "{\n \"a\": \"}{\"\n}\n"}, {4, "{\"b\": 2}\n\n"}, {6, "{\"c\": \"\\\"}\"}\n"}}},
		"JSON of many lines": {"a value ends where its brackets do", "{\n\"a\": [\n{\n\"b\": 1\n}\n]\n}\n", []doc{{1, "{\n\"a\": [\n{\n\"b\": 1\n}\n]\n}\n"}}},
		"nothing":            {"an empty file has no document", "", nil},
		"comments":           {"helm templates leave documents of nothing else", "# one\n---\n# two\n---\na: 1\n", []doc{{5, "a: 1\n"}}},
		"text after the end": {"it is no comment, and must not be lost", "a: 1\n... b\n", []doc{{1, "a: 1\n... b\n"}}},
		"white space":        {"nor has one of white space", "\n \n", nil},
	}
	for name, tc := range tests {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			for how, in := range map[string]io.Reader{
				"at once":      strings.NewReader(tc.input),
				"byte by byte": iotest.OneByteReader(strings.NewReader(tc.input)),
			} {
				r := manifest.NewReader("f.yaml", in)
				var got []doc
				for {
					d, err := r.Next()
					if err == io.EOF {
						break
					}
					if err != nil {
						t.Fatal(err)
					}
					got = append(got, doc{d.Line, string(d.Text)})
				}
				if diff := cmp.Diff(tc.want, got); diff != "" {
					t.Errorf("%s (read %s): -want +got:\n%s", tc.reason, how, diff)
				}
			}
		})
	}
}

// endless gives the same line for ever, and counts what was taken.
type endless struct {
	line string
	read int
}

func (e *endless) Read(p []byte) (int, error) {
	n := copy(p, strings.Repeat(e.line, len(p)/len(e.line)+1))
	e.read += n
	return n, nil
}

func TestReaderRefusesLargeDocuments(t *testing.T) {
	t.Parallel()
	for name, in := range map[string]*endless{
		"one line":   {line: "x"},
		"many lines": {line: "a: b\n"},
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			r := manifest.NewReader("f.yaml", io.MultiReader(strings.NewReader("ok: 1\n---\n"), in))
			if _, err := r.Next(); err != nil {
				t.Fatal(err)
			}
			_, err := r.Next()
			var fault *manifest.Fault
			if !errors.As(err, &fault) || fault.Line != 3 {
				t.Fatalf("got %v, want a fault in line 3", err)
			}
			if in.read > 2*manifest.MaxDocument {
				t.Errorf("read %d bytes before it gave up", in.read)
			}
			if _, again := r.Next(); again != err {
				t.Errorf("after a fault: got %v, want the same again", again)
			}
		})
	}
}

func TestReaderReportsReadErrors(t *testing.T) {
	t.Parallel()
	broken := errors.New("disk on fire")
	r := manifest.NewReader("f.yaml", io.MultiReader(strings.NewReader("a: 1\n"), iotest.ErrReader(broken)))
	if _, err := r.Next(); err == nil || !strings.Contains(err.Error(), broken.Error()) {
		t.Errorf("got %v, want %v: a file that cannot be read to its end is not a shorter file", err, broken)
	}
}
