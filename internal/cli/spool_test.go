package cli

import (
	"bytes"
	"math/rand/v2"
	"testing"
)

// TestSpool: what was written is read back, wherever memory ends and the file
// begins, in pieces of any size.
func TestSpool(t *testing.T) {
	t.Parallel()
	for name, total := range map[string]int{
		"nothing":          0,
		"within a block":   10,
		"a block":          spoolBlock,
		"several blocks":   3*spoolBlock + 7,
		"up to the limit":  4 * spoolBlock,
		"beyond the limit": 4*spoolBlock + 1,
		"far beyond it":    9*spoolBlock + 12345,
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			s := &spool{limit: 4 * spoolBlock}
			defer s.Close()
			random := rand.New(rand.NewPCG(1, 2))
			var want []byte
			for len(want) < total {
				piece := make([]byte, min(1+random.IntN(2*spoolBlock), total-len(want)))
				for i := range piece {
					piece[i] = byte(random.Uint32())
				}
				if n, err := s.Write(piece); n != len(piece) || err != nil {
					t.Fatalf("wrote %d of %d: %v", n, len(piece), err)
				}
				want = append(want, piece...)
			}
			if onDisk := s.file != nil; onDisk != (total > 4*spoolBlock) {
				t.Errorf("file is used: %t", onDisk)
			}
			var got bytes.Buffer
			if _, err := s.WriteTo(&got); err != nil || !bytes.Equal(got.Bytes(), want) {
				t.Fatalf("got %d bytes that differ from the %d written, or %v", got.Len(), len(want), err)
			}
			for range 20 {
				if total == 0 {
					break
				}
				from := random.IntN(total)
				part := make([]byte, 1+random.IntN(total-from))
				if n, err := s.ReadAt(part, int64(from)); n != len(part) || err != nil || !bytes.Equal(part, want[from:from+len(part)]) {
					t.Fatalf("ReadAt(%d, %d): %d, %v", from, len(part), n, err)
				}
			}
		})
	}
}
