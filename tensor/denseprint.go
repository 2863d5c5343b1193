package tensor

import (
	"encoding/binary"
	"slices"
	"strconv"
)

// HexLarger is the number of elements above which MLIR prints a literal in hexadecimal, unless it is a splat.
const HexLarger = 100

// AppendElement appends element i of t in MLIR's format for dense literals.
func AppendElement(b []byte, t *Tensor, i int) []byte {
	size := t.dtype.Size()
	data := t.data[i*size : (i+1)*size]
	switch t.dtype.Kind() {
	case KindBool:
		return strconv.AppendBool(b, data[0] != 0)
	case KindSigned, KindIndex:
		shift := 64 - 8*size
		return strconv.AppendInt(b, int64(load(data)<<shift)>>shift, 10)
	case KindUnsigned:
		return strconv.AppendUint(b, load(data), 10)
	case KindFloat:
		return AppendFloat(b, t.dtype, load(data))
	}
	part := t.dtype.Part()
	b = AppendFloat(append(b, '('), part, load(data[:size/2]))
	b = AppendFloat(append(b, ','), part, load(data[size/2:]))
	return append(b, ')')
}

func load(data []byte) uint64 {
	switch len(data) {
	case 1:
		return uint64(data[0])
	case 2:
		return uint64(binary.LittleEndian.Uint16(data))
	case 4:
		return uint64(binary.LittleEndian.Uint32(data))
	}
	return binary.LittleEndian.Uint64(data)
}

// AppendDense appends the text that MLIR prints between dense< and > for t: one element if all are equal, else nested
// lists, or the bytes in hexadecimal for more than hexLarger elements (negative: never).
func AppendDense(b []byte, t *Tensor, hexLarger int) []byte {
	n := t.NumElements()
	if n == 0 {
		return b
	}
	if allEqual(t.data, t.dtype.Size()) {
		return AppendElement(b, t, 0)
	}
	if hexLarger >= 0 && n > hexLarger {
		b = append(b, `"0x`...)
		b = AppendHex(b, t.data)
		return append(b, '"')
	}
	// The innermost run of elements is a list. Lists open and close at each index that restarts at its level.
	rank := len(t.shape)
	index := make([]int64, rank)
	for i := range n {
		opens := rank
		for opens > 0 && index[opens-1] == 0 {
			opens--
		}
		if i > 0 {
			b = append(b, ", "...)
		}
		for range rank - opens {
			b = append(b, '[')
		}
		b = AppendElement(b, t, i)
		for k := rank - 1; k >= 0; k-- {
			index[k]++
			if index[k] < t.shape[k] {
				break
			}
			index[k] = 0
			b = append(b, ']')
		}
	}
	return b
}

// hexPairs holds the two hexadecimal digits of each byte, with the first digit in the low byte.
var hexPairs = func() (t [256]uint16) {
	const digits = "0123456789ABCDEF"
	for i := range t {
		t[i] = uint16(digits[i>>4]) | uint16(digits[i&15])<<8
	}
	return t
}()

// AppendHex appends the bytes of data as pairs of upper-case hexadecimal digits.
func AppendHex(b, data []byte) []byte {
	start := len(b)
	b = slices.Grow(b, 2*len(data))
	b = b[:start+2*len(data)]
	out := b[start:]
	for len(data) >= 4 {
		binary.LittleEndian.PutUint64(out, uint64(hexPairs[data[0]])|uint64(hexPairs[data[1]])<<16|
			uint64(hexPairs[data[2]])<<32|uint64(hexPairs[data[3]])<<48)
		data, out = data[4:], out[8:]
	}
	for i, c := range data {
		binary.LittleEndian.PutUint16(out[2*i:], hexPairs[c])
	}
	return b
}
