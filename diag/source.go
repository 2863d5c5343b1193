package diag

import (
	"bytes"
	"sort"
	"strings"
	"sync"
	"unicode/utf8"
)

// Pos is a place in a Source: the byte offset plus one. The zero Pos means "nowhere", so that a struct made
// without a position does not point at the first byte by accident. Sources are limited to 4 GiB by it.
type Pos uint32

// At returns the position of the byte at offset off (0-based).
func At(off int) Pos { return Pos(off + 1) }

// IsValid reports whether p points somewhere.
func (p Pos) IsValid() bool { return p != 0 }

// Offset returns the 0-based byte offset, or 0 for the invalid position.
func (p Pos) Offset() int {
	if p == 0 {
		return 0
	}
	return int(p - 1)
}

// Source is one input text with the name it is reported under. It is immutable and safe for concurrent use.
type Source struct {
	name  string
	text  []byte
	once  sync.Once
	lines []uint32 // offsets of line starts, built when first asked for
	above int      // lines of the file in front of the text, where it is a part of one
}

// NewSource returns a source named name over text, which must not be changed afterwards.
func NewSource(name string, text []byte) *Source { return &Source{name: name, text: text} }

// Split cuts a source at its lines that start with // -----, as MLIR's tools do with --split-input-file. The parts
// keep the line numbers of the whole; the separators belong to none.
func (s *Source) Split() []*Source {
	var out []*Source
	start, line, first := 0, 0, 0
	for i := 0; i < len(s.text); line++ {
		next := len(s.text)
		if n := bytes.IndexByte(s.text[i:], '\n'); n >= 0 {
			next = i + n + 1
		}
		if bytes.HasPrefix(s.text[i:next], []byte("// -----")) {
			out = append(out, &Source{name: s.name, text: s.text[start:i], above: s.above + first})
			start, first = next, line+1
		}
		i = next
	}
	return append(out, &Source{name: s.name, text: s.text[start:], above: s.above + first})
}

// Name returns the name that diagnostics print, usually the file's path as the user gave it.
func (s *Source) Name() string { return s.name }

// Text returns the bytes of the source. The caller must not change them.
func (s *Source) Text() []byte { return s.text }

// Binary reports whether the source is no text: one of its first 4096 bytes is zero. Positions in it are byte offsets.
func (s *Source) Binary() bool { return bytes.IndexByte(s.text[:min(len(s.text), 4096)], 0) >= 0 }

// LineColumn returns the 1-based line and byte column of p. A position past the end is taken as the end.
func (s *Source) LineColumn(p Pos) (line, column int) {
	s.findLines()
	off := min(p.Offset(), len(s.text))
	i := sort.Search(len(s.lines), func(i int) bool { return int(s.lines[i]) > off }) - 1
	return s.above + i + 1, off - int(s.lines[i]) + 1
}

// PosAt returns the position whose line and column LineColumn returns, the zero Pos where there is none.
func (s *Source) PosAt(line, column int) Pos {
	s.findLines()
	line -= s.above + 1
	if line < 0 || line >= len(s.lines) || column < 1 {
		return 0
	}
	end := len(s.text)
	if line+1 < len(s.lines) {
		end = int(s.lines[line+1]) - 1
	}
	if off := int(s.lines[line]) + column - 1; off <= end {
		return At(off)
	}
	return 0
}

// findLines makes sure that the starts of the lines are known.
func (s *Source) findLines() {
	s.once.Do(func() {
		s.lines = make([]uint32, 0, 1+bytes.Count(s.text, []byte{'\n'}))
		s.lines = append(s.lines, 0)
		for i := 0; ; {
			j := bytes.IndexByte(s.text[i:], '\n')
			if j < 0 {
				break
			}
			i += j + 1
			s.lines = append(s.lines, uint32(i))
		}
	})
}

// line returns the text of the line that holds offset off, without its line break, and the line's offset. Of a line that
// is very long, much of what is behind off is left out: many findings may be on one line.
func (s *Source) line(off int) (text []byte, start int) {
	s.findLines()
	off = min(off, len(s.text))
	start = int(s.lines[sort.Search(len(s.lines), func(i int) bool { return int(s.lines[i]) > off })-1])
	end := min(len(s.text), off+4*excerptWidth)
	if n := bytes.IndexByte(s.text[off:end], '\n'); n >= 0 {
		end = off + n
	}
	return bytes.TrimRight(s.text[start:end], "\r"), start
}

// excerptWidth is how many bytes of a source line an excerpt shows; longer lines are cut around the caret.
const excerptWidth = 160

// excerpt returns the part of the line around p that a terminal can show, and the caret's distance in runes
// from its start. Bytes that are no UTF-8 and control characters are replaced, so that the text of a broken
// or hostile file never reaches the terminal raw.
func (s *Source) excerpt(p Pos) (text string, caret int) {
	line, start := s.line(p.Offset())
	col := min(p.Offset()-start, len(line))
	from, to := 0, len(line)
	if len(line) > excerptWidth {
		from = max(0, col-excerptWidth/2)
		to = min(len(line), from+excerptWidth)
		from = max(0, to-excerptWidth)
	}
	var b strings.Builder
	b.Grow(excerptWidth + len("......"))
	if from > 0 {
		b.WriteString("...")
		caret = 3
	}
	for i := from; i < to; {
		r, n := utf8.DecodeRune(line[i:to])
		switch {
		case r == '\t':
			r = ' '
		case r < ' ' || r == 0x7f || (r >= 0x80 && r < 0xa0):
			r = utf8.RuneError
		}
		if i < col {
			caret++
		}
		b.WriteRune(r)
		i += n
	}
	if to < len(line) {
		b.WriteString("...")
	}
	return b.String(), caret
}
