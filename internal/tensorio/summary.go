package tensorio

import (
	"bytes"
	"unicode/utf8"

	"github.com/hlocb/hlocb/tensor"
)

// Summary says how AppendSummary shortens a tensor. The zero value selects numpy's defaults.
type Summary struct {
	Threshold int // tensors with more elements are shortened; 0 is 1000
	Edge      int // elements kept at each end of a shortened dimension; 0 is 3
	Width     int // maximum number of columns in a row; 0 is 75
	Indent    int // number of columns before the text, repeated before its further lines
}

func (s Summary) withDefaults() Summary {
	if s.Threshold == 0 {
		s.Threshold = 1000
	}
	if s.Edge == 0 {
		s.Edge = 3
	}
	if s.Width == 0 {
		s.Width = 75
	}
	return s
}

// AppendSummary appends the values of t for a person to read, in numpy's layout: nested brackets, right-aligned
// columns, and … in place of the middle of long dimensions.
func AppendSummary(dst []byte, t *tensor.Tensor, s Summary) []byte {
	s = s.withDefaults()
	short := t.NumElements() > s.Threshold
	if len(t.Shape()) == 0 {
		return append(dst, t.ElementText(0)...)
	}
	if t.NumElements() == 0 {
		return append(dst, "[]"...)
	}
	width := 0
	var cell []byte
	eachShown(t, 0, 0, s, short, func(i int) {
		cell = append(cell[:0], t.ElementText(i)...)
		width = max(width, utf8.RuneCount(cell))
	})
	l := layout{t: t, s: s, short: short, width: width}
	return l.dim(dst, 0, 0, s.Indent+1)
}

// eachShown calls f for every element that a summary includes.
func eachShown(t *tensor.Tensor, dim, base int, s Summary, short bool, f func(i int)) {
	n := int(t.Shape()[dim])
	stride := 1
	for _, d := range t.Shape()[dim+1:] {
		stride *= int(d)
	}
	for i := 0; i < n; i++ {
		if short && n > 2*s.Edge && i == s.Edge {
			i = n - s.Edge
		}
		if dim == len(t.Shape())-1 {
			f(base + i)
		} else {
			eachShown(t, dim+1, base+i*stride, s, short, f)
		}
	}
}

type layout struct {
	t     *tensor.Tensor
	s     Summary
	short bool
	width int
}

// dim writes one dimension. Its elements start at the given column.
func (l *layout) dim(dst []byte, dim, base, column int) []byte {
	n := int(l.t.Shape()[dim])
	stride := 1
	for _, d := range l.t.Shape()[dim+1:] {
		stride *= int(d)
	}
	inner := dim == len(l.t.Shape())-1
	dst = append(dst, '[')
	at := column
	var cell []byte
	for i := 0; i < n; i++ {
		gap := l.short && n > 2*l.s.Edge && i == l.s.Edge
		if gap {
			i = n - l.s.Edge
		}
		if inner {
			if gap {
				dst, at = l.cell(dst, []byte("…"), 1, at, column, false)
			}
			cell = append(cell[:0], l.t.ElementText(base+i)...)
			dst, at = l.cell(dst, cell, l.width, at, column, i == 0)
			continue
		}
		if i > 0 {
			dst = l.newline(dst, dim, column)
		}
		if gap {
			dst = append(dst, "…"...)
			dst = l.newline(dst, dim, column)
		}
		dst = l.dim(dst, dim+1, base+i*stride, column+1)
	}
	return append(dst, ']')
}

// cell writes one element, right-aligned. It starts a new line if the row is full.
func (l *layout) cell(dst, text []byte, width, at, column int, first bool) ([]byte, int) {
	if !first {
		if at+1+width > l.s.Width {
			dst = append(dst, '\n')
			dst = append(dst, bytes.Repeat([]byte(" "), column)...)
			at = column
		} else {
			dst = append(dst, ' ')
			at++
		}
	}
	n := utf8.RuneCount(text)
	for range max(0, width-n) {
		dst = append(dst, ' ')
	}
	return append(dst, text...), at + max(width, n)
}

// newline separates two items of a dimension: one line break, plus an empty line for each nested dimension except the
// innermost.
func (l *layout) newline(dst []byte, dim, column int) []byte {
	for range len(l.t.Shape()) - 1 - dim {
		dst = append(dst, '\n')
	}
	return append(dst, bytes.Repeat([]byte(" "), column)...)
}
