package hlo_test

import (
	"bytes"
	"fmt"
	"strings"
	"testing"

	"github.com/hlocb/hlocb/hlo"
)

// TestWriteText: a text written in pieces is the text as a whole.
func TestWriteText(t *testing.T) {
	var text strings.Builder
	text.WriteString("HloModule m\n\nENTRY e {\n  c0 = f32[8]{0} constant({1, 2, 3, 4, 5, 6, 7, 8})\n")
	for i := range 3000 {
		fmt.Fprintf(&text, "  sine.%d = f32[8]{0} sine(c0)\n", i)
	}
	text.WriteString("  ROOT r = f32[8]{0} cosine(c0)\n}\n")
	m := read(t, text.String())
	for _, o := range []hlo.TextOptions{{}, {Short: true}, {ElideAbove: 4}} {
		var pieces counter
		if err := m.WriteText(&pieces, o); err != nil {
			t.Fatal(err)
		}
		if want := m.AppendText(nil, o); !bytes.Equal(pieces.Bytes(), want) || pieces.longest > 1<<17 || pieces.n < 2 {
			t.Errorf("%+v: %d bytes in %d pieces of at most %d bytes, want %d bytes", o, pieces.Len(), pieces.n, pieces.longest, len(want))
		}
	}
}

// counter counts the pieces that it gets.
type counter struct {
	bytes.Buffer
	n, longest int
}

func (c *counter) Write(b []byte) (int, error) {
	c.n, c.longest = c.n+1, max(c.longest, len(b))
	return c.Buffer.Write(b)
}
