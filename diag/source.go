package diag

import (
	"bytes"
	"sort"
	"strings"
	"sync"
	"unicode/utf8"
)

// Pos is a position in a Source: the byte offset plus one. The zero Pos means "nowhere", so a struct without a position
// does not point at the first byte by accident. Pos limits sources to 4 GiB.
type Pos uint32

// At returns the position of the byte at offset off (0-based).
func At(off int) Pos { return Pos(off + 1) }

// IsValid reports whether p is a position.
func (p Pos) IsValid() bool { return p != 0 }

// Offset returns the 0-based byte offset, or 0 for the invalid position.
func (p Pos) Offset() int {
	if p == 0 {
		return 0
	}
	return int(p - 1)
}

// Source is an input text with its name for diagnostics. It is immutable and safe for concurrent use.
type Source struct {
	name  string
	text  []byte
	once  sync.Once
	lines []uint32 // offsets of line starts, computed on first use
	above int      // number of lines in the file before this text, if the text is a part of a file
}

// NewSource returns a source named name with the given text. The caller must not change text afterwards.
func NewSource(name string, text []byte) *Source { return &Source{name: name, text: text} }

// Split splits a source at lines that start with // -----, as MLIR's tools do with --split-input-file. The parts keep
// the line numbers of the whole file. The separators belong to no part.
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

// Name returns the name for diagnostics, usually the file's path as the user wrote it.
func (s *Source) Name() string { return s.name }

// Text returns the bytes of the source. The caller must not change them.
func (s *Source) Text() []byte { return s.text }

// Binary reports whether the source is not text: it starts as MLIR bytecode does, or one of its first 4096 bytes is
// zero. Its positions are byte offsets.
func (s *Source) Binary() bool {
	return bytes.HasPrefix(s.text, []byte("ML\xef")) || bytes.IndexByte(s.text[:min(len(s.text), 4096)], 0) >= 0
}

// LineColumn returns the 1-based line and byte column of p. A position past the end counts as the end.
func (s *Source) LineColumn(p Pos) (line, column int) {
	s.findLines()
	off := min(p.Offset(), len(s.text))
	i := sort.Search(len(s.lines), func(i int) bool { return int(s.lines[i]) > off }) - 1
	return s.above + i + 1, off - int(s.lines[i]) + 1
}

// PosAt returns the position with the given line and column (see LineColumn), or the zero Pos if there is none.
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

// findLines computes the line starts if necessary.
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

// line returns the line that contains offset off, without its line break, and the line's offset. It truncates a very
// long line well after off, because one line may have many findings.
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

// excerptWidth is the largest number of bytes of a source line in an excerpt. Longer lines are truncated around the
// caret.
const excerptWidth = 160

// excerpt returns a part of the line around p that fits width columns, and the caret's distance in runes from its
// start. It replaces control characters and bytes that are not UTF-8, because the file may be broken or hostile.
func (s *Source) excerpt(p Pos, width int) (text string, caret int) {
	size := excerptWidth
	if ends := len("......"); width > 2*ends {
		size = min(size, width-ends)
	}
	line, start := s.line(p.Offset())
	col := min(p.Offset()-start, len(line))
	from, to := 0, len(line)
	if len(line) > size {
		from = max(0, col-size/2)
		to = min(len(line), from+size)
		from = max(0, to-size)
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
