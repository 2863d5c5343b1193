package tensor

import (
	"bytes"
	"math"
	"strconv"
	"unicode/utf8"
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
func (t *Tensor) AppendSummary(dst []byte, s Summary) []byte {
	s = s.withDefaults()
	short := t.NumElements() > s.Threshold
	if len(t.shape) == 0 {
		return t.appendText(dst, 0)
	}
	if t.NumElements() == 0 {
		return append(dst, "[]"...)
	}
	width := 0
	var cell []byte
	t.eachShown(0, 0, s, short, func(i int) {
		cell = t.appendText(cell[:0], i)
		width = max(width, utf8.RuneCount(cell))
	})
	l := layout{t: t, s: s, short: short, width: width}
	return l.dim(dst, 0, 0, s.Indent+1)
}

// ElementText returns element i for a person to read: true, -3, 0.5, nan, 1.+2.i.
func (t *Tensor) ElementText(i int) string { return string(t.appendText(nil, i)) }

// appendText appends element i in the format of AppendSummary.
func (t *Tensor) appendText(dst []byte, i int) []byte {
	switch t.dtype.Kind() {
	case KindBool:
		return strconv.AppendBool(dst, t.data[i] != 0)
	case KindFloat:
		return appendFloatText(dst, t.FloatAt(i), floatDigits(t.dtype), textDigits(t.dtype))
	case KindComplex:
		v := t.ComplexAt(i)
		dst = appendFloatText(dst, real(v), t.dtype.Bits()/2, 8)
		if !math.Signbit(imag(v)) || math.IsNaN(imag(v)) {
			dst = append(dst, '+')
		}
		return append(appendFloatText(dst, imag(v), t.dtype.Bits()/2, 8), 'i')
	case KindSigned:
		return strconv.AppendInt(dst, t.IntAt(i), 10)
	}
	return strconv.AppendUint(dst, uint64(t.IntAt(i)), 10)
}

// textDigits returns the number of significant digits to show for a type.
func textDigits(d DType) int {
	switch d {
	case F64, F32:
		return 8
	case F16:
		return 4
	}
	return 3
}

// appendFloatText writes the shortest text that reads back as v, or digits significant digits if that is shorter.
func appendFloatText(dst []byte, v float64, bits, digits int) []byte {
	switch {
	case math.IsNaN(v):
		return append(dst, "nan"...)
	case math.IsInf(v, 1):
		return append(dst, "inf"...)
	case math.IsInf(v, -1):
		return append(dst, "-inf"...)
	}
	start := len(dst)
	dst = strconv.AppendFloat(dst, v, 'g', -1, bits)
	if n := len(dst) - start; n > digits+1 {
		dst = strconv.AppendFloat(dst[:start], v, 'g', digits, 64)
		dst = trimZeros(dst, start)
	}
	if bytes.IndexByte(dst[start:], '.') < 0 && bytes.IndexByte(dst[start:], 'e') < 0 {
		dst = append(dst, '.')
	}
	return dst
}

// trimZeros removes trailing zeros of the fraction from a number with a fixed number of digits.
func trimZeros(dst []byte, start int) []byte {
	num := dst[start:]
	exp := bytes.IndexByte(num, 'e')
	tail := []byte(nil)
	if exp >= 0 {
		tail = append(tail, num[exp:]...)
		num = num[:exp]
	}
	if bytes.IndexByte(num, '.') >= 0 {
		num = bytes.TrimRight(num, "0")
		num = bytes.TrimSuffix(num, []byte("."))
	}
	return append(dst[:start+len(num)], tail...)
}

// eachShown calls f for every element that a summary includes.
func (t *Tensor) eachShown(dim, base int, s Summary, short bool, f func(i int)) {
	n := int(t.shape[dim])
	stride := 1
	for _, d := range t.shape[dim+1:] {
		stride *= int(d)
	}
	for i := 0; i < n; i++ {
		if short && n > 2*s.Edge && i == s.Edge {
			i = n - s.Edge
		}
		if dim == len(t.shape)-1 {
			f(base + i)
		} else {
			t.eachShown(dim+1, base+i*stride, s, short, f)
		}
	}
}

type layout struct {
	t     *Tensor
	s     Summary
	short bool
	width int
}

// dim writes one dimension. Its elements start at the given column.
func (l *layout) dim(dst []byte, dim, base, column int) []byte {
	n := int(l.t.shape[dim])
	stride := 1
	for _, d := range l.t.shape[dim+1:] {
		stride *= int(d)
	}
	inner := dim == len(l.t.shape)-1
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
			cell = l.t.appendText(cell[:0], base+i)
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
	for range len(l.t.shape) - 1 - dim {
		dst = append(dst, '\n')
	}
	return append(dst, bytes.Repeat([]byte(" "), column)...)
}
