package runtime

import (
	"bytes"
	"encoding/binary"
	"math/rand/v2"

	"github.com/hlocb/hlocb/tensor"
)

// mark holds the marks that detect results that a handler did not write. Without marks such a result would return
// the previous contents of its memory. Deliver marks the results before the handler runs, and watches them:
//
//   - A result of any size that the handler never accessed (by Bytes, View, a Set method) was not written.
//   - A mark that is left was not overwritten. Marks are values that no program computes: signalling NaNs with a payload
//     of this process for f32, f64 and their complex types, invalid codes for i1 and the types narrower than a byte, and
//     64 random bits for other types.
//
// A result of up to smallResult bytes is marked in every unit. A larger one is marked in the first unit of every
// smallResult bytes and in the last unit, so a missing part of this length is detected. Two cases are not detected: a
// missing part smaller than a unit, and a result of less than eight bytes of an integer, f16 or f8 type that the
// handler accessed but did not write. Such a result is zero.
type mark struct {
	f32, f64, bits, code [8]byte // each a unit, repeated to eight bytes
}

// marks are random per process, so that no program can contain them by design.
var marks = newMarks()

func newMarks() *mark {
	m := new(mark)
	single := 0x7f80_0001 | rand.Uint32()&0x803f_fffe // the quiet bit is clear
	binary.LittleEndian.PutUint32(m.f32[:], single)
	binary.LittleEndian.PutUint32(m.f32[4:], single)
	binary.LittleEndian.PutUint64(m.f64[:], 0x7ff0_0000_0000_0001|rand.Uint64()&0x8007_ffff_ffff_fffe)
	binary.LittleEndian.PutUint64(m.bits[:], rand.Uint64())
	copy(m.code[:], bytes.Repeat([]byte{0xa5}, 8))
	return m
}

// smallResult is the size in bytes up to which a result is marked everywhere, and the distance of the marks in a larger
// one.
const smallResult = 4096

// of returns the mark of an element type and the size of its unit.
func (m *mark) of(d tensor.DType) (pattern *[8]byte, unit int) {
	switch {
	case d == tensor.F32 || d == tensor.Complex64:
		return &m.f32, 4
	case d == tensor.F64 || d == tensor.Complex128:
		return &m.f64, 8
	case d.Bits() < 8: // i1, and types that use only a part of their byte
		return &m.code, 1
	}
	return &m.bits, 8
}

// mark marks the results of a call and starts to watch them. It leaves a result in an operand's memory unchanged.
func (m *mark) mark(c *Call) {
	for _, r := range c.Results {
		data := r.Peek()
		if !hasOwnMemory(c, data) {
			continue
		}
		pattern, unit := m.of(r.DType())
		switch {
		case len(data) < unit:
			clear(data)
		case len(data) <= smallResult:
			for n := copy(data, pattern[:]); n < len(data); n *= 2 {
				copy(data[n:], data[:n])
			}
		default:
			for at := 0; at+unit <= len(data); at += smallResult {
				copy(data[at:at+unit], pattern[:])
			}
			at := len(data) - unit
			for k := range unit {
				data[at+k] = pattern[(at+k)%8]
			}
		}
		r.Watch()
	}
}

// unwritten returns the error of the first result that was not written completely, nil for none.
func (m *mark) unwritten(c *Call) *UnwrittenError {
	var found *UnwrittenError
	for i, r := range c.Results {
		data := r.Peek()
		if c.Returned(i) != nil || !hasOwnMemory(c, data) {
			continue
		}
		if !r.Reached() {
			if found == nil {
				found = &UnwrittenError{Result: i}
			}
			continue
		}
		if found != nil {
			continue // Reached ends the watch of every result
		}
		pattern, unit := m.of(r.DType())
		left, all := m.left(data, pattern, unit)
		switch {
		case left < 0:
		case all:
			found = &UnwrittenError{Result: i}
		default:
			found = &UnwrittenError{Result: i, Part: true, Index: r.Shape().Index(left / r.DType().Size())}
		}
	}
	return found
}

// left returns the offset of the first mark that is left, -1 for none, and whether all are left.
func (m *mark) left(data []byte, pattern *[8]byte, unit int) (first int, all bool) {
	if len(data) < unit {
		return -1, false
	}
	step := unit
	if len(data) > smallResult {
		step = smallResult
	}
	first, all = -1, true
	check := func(at int) {
		same := true
		if at%8 == 0 && unit == 8 {
			same = binary.LittleEndian.Uint64(data[at:]) == binary.LittleEndian.Uint64(pattern[:])
		} else {
			for k := range unit {
				same = same && data[at+k] == pattern[(at+k)%8]
			}
		}
		if !same {
			all = false
		} else if first < 0 {
			first = at
		}
	}
	for at := 0; at+unit <= len(data); at += step {
		check(at)
	}
	check(len(data) - unit)
	return first, all
}

// hasOwnMemory reports whether a result does not use the memory of an operand.
func hasOwnMemory(c *Call, data []byte) bool {
	if len(data) == 0 {
		return false
	}
	for _, o := range c.Operands {
		if b := o.Peek(); len(b) > 0 && &b[0] == &data[0] {
			return false
		}
	}
	return true
}
