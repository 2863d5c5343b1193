// Package mlirtext writes the tokens of MLIR's text: quoted strings, keywords, symbols, and lists of numbers.
package mlirtext

import (
	"math"
	"strconv"

	"github.com/hlocb/hlocb/tensor"
)

// Dynamic is the size of an open dimension; its text is '?'.
const Dynamic int64 = math.MinInt64

// Quote returns s as a string literal.
func Quote(s string) string { return string(AppendQuoted(nil, s)) }

// AppendQuoted appends s as a string literal: printable ASCII unchanged, a backslash doubled, every other byte as \XX.
func AppendQuoted(b []byte, s string) []byte {
	b = append(b, '"')
	from := 0 // of the characters that stay as they are
	for i := 0; i < len(s); i++ {
		c := s[i]
		if c >= ' ' && c < 0x7f && c != '"' && c != '\\' {
			continue
		}
		b = append(b, s[from:i]...)
		from = i + 1
		if c == '\\' {
			b = append(b, `\\`...)
		} else {
			b = append(b, '\\', "0123456789ABCDEF"[c>>4], "0123456789ABCDEF"[c&15])
		}
	}
	return append(append(b, s[from:]...), '"')
}

// isIdentifier reports whether s needs no quotes: a letter or _, then letters, digits and _ $ .
func isIdentifier(s string) bool {
	for i := 0; i < len(s); i++ {
		c := s[i]
		letter := c >= 'a' && c <= 'z' || c >= 'A' && c <= 'Z' || c == '_'
		if !letter && (i == 0 || c != '$' && c != '.' && (c < '0' || c > '9')) {
			return false
		}
	}
	return s != ""
}

// AppendKeyword appends s bare if it is an identifier, else quoted.
func AppendKeyword(b []byte, s string) []byte {
	if isIdentifier(s) {
		return append(b, s...)
	}
	return AppendQuoted(b, s)
}

// AppendSymbol appends @s, quoted if necessary.
func AppendSymbol(b []byte, s string) []byte { return AppendKeyword(append(b, '@'), s) }

// AppendInts appends [1, ?, 3], with '?' for Dynamic.
func AppendInts(b []byte, list []int64) []byte {
	b = append(b, '[')
	for i, v := range list {
		if i > 0 {
			b = append(b, ", "...)
		}
		b = appendDim(b, v)
	}
	return append(b, ']')
}

// AppendValues appends values separated by commas: numbers of type d, or the bits of floats.
func AppendValues(b []byte, d tensor.DType, values []int64) []byte {
	for i, v := range values {
		if i > 0 {
			b = append(b, ", "...)
		}
		switch {
		case d == tensor.I1:
			b = strconv.AppendBool(b, v != 0)
		case d.IsFloat():
			b = tensor.AppendFloat(b, d, uint64(v))
		case d.Kind() == tensor.KindUnsigned:
			b = strconv.AppendUint(b, uint64(v), 10)
		default:
			b = strconv.AppendInt(b, v, 10)
		}
	}
	return b
}

// AppendShape appends the dimensions as types spell them: 2x?x3x.
func AppendShape(b []byte, shape []int64) []byte {
	for _, d := range shape {
		b = append(appendDim(b, d), 'x')
	}
	return b
}

func appendDim(b []byte, d int64) []byte {
	if d == Dynamic {
		return append(b, '?')
	}
	return strconv.AppendInt(b, d, 10)
}
