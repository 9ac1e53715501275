package cli

import (
	"fmt"
	"hash/maphash"
	"math"

	"kudevops.io/appsvc/internal/manifest"
)

// identities remembers which objects were seen, and where, to find one that occurs
// twice. It holds about 30 bytes an object, whatever the length of names: of an
// identity it keeps 128 bits, hashed with seeds of this process, so that two of a
// billion objects fall together once in 10^20 runs.
type identities struct {
	seeds  [2]maphash.Seed
	places map[[2]uint64]place
	files  []string
}

// place is where an object stands.
type place struct {
	file, line int32 // file is an index into files
	// ours says that the object is an AppService or was rendered from one: what
	// other objects do among themselves is not this program's business.
	ours, rendered bool
}

func newIdentities() *identities {
	return &identities{
		seeds:  [2]maphash.Seed{maphash.MakeSeed(), maphash.MakeSeed()},
		places: make(map[[2]uint64]place),
	}
}

// add remembers an object, and gives the fault when one of its identity was there
// before and either of them is ours. An object without a name has no identity.
func (s *identities) add(out output) *manifest.Fault {
	if out.id.Name == "" {
		return nil
	}
	key := [2]uint64{maphash.Comparable(s.seeds[0], out.id), maphash.Comparable(s.seeds[1], out.id)}
	rendered := out.source.ID != out.id
	here := place{
		file: s.fileIndex(out.source.File), line: int32(min(out.source.Line, math.MaxInt32)),
		ours: rendered || out.source.IsAppService(), rendered: rendered,
	}
	first, twice := s.places[key]
	if twice && (here.ours || first.ours) {
		message := "occurs twice, first: " + s.describe(first)
		if rendered {
			message = "renders to " + out.id.String() + ", which " + message
		}
		return out.source.Fault("", message)
	}
	s.places[key] = here
	return nil
}

// fileIndex knows a file again when it is the last one, as it nearly always is.
func (s *identities) fileIndex(file string) int32 {
	if n := len(s.files); n == 0 || s.files[n-1] != file {
		s.files = append(s.files, file)
	}
	return int32(len(s.files) - 1)
}

func (s *identities) describe(p place) string {
	text := s.files[p.file]
	if p.line > 0 {
		text = fmt.Sprintf("%s:%d", text, p.line)
	}
	if p.rendered {
		return "rendered from the AppService at " + text
	}
	return text
}
