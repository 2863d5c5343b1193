package parquet

import (
	"encoding/binary"
	"errors"
)

// The types of Thrift's compact protocol.
const (
	thriftTrue   = 1
	thriftFalse  = 2
	thriftByte   = 3
	thriftI16    = 4
	thriftI32    = 5
	thriftI64    = 6
	thriftDouble = 7
	thriftBinary = 8
	thriftList   = 9
	thriftSet    = 10
	thriftStruct = 12
)

// writer appends values in Thrift's compact protocol.
type writer struct {
	b    []byte
	last int16 // the number of the field before
}

func (w *writer) field(id int16, kind byte) {
	if delta := id - w.last; delta > 0 && delta < 16 {
		w.b = append(w.b, byte(delta)<<4|kind)
	} else {
		w.b = binary.AppendVarint(append(w.b, kind), int64(id))
	}
	w.last = id
}

// integer writes a field of a type: thriftI16, thriftI32 or thriftI64.
func (w *writer) integer(id int16, kind byte, v int64) {
	w.field(id, kind)
	w.b = binary.AppendVarint(w.b, v)
}

func (w *writer) i32(id int16, v int64) { w.integer(id, thriftI32, v) }
func (w *writer) i64(id int16, v int64) { w.integer(id, thriftI64, v) }

func (w *writer) text(id int16, s string) {
	w.field(id, thriftBinary)
	w.string(s)
}

// string writes text as an element of a list.
func (w *writer) string(s string) {
	w.b = append(binary.AppendUvarint(w.b, uint64(len(s))), s...)
}

// object writes a field that is a struct. f writes the struct's fields.
func (w *writer) object(id int16, f func()) {
	w.field(id, thriftStruct)
	w.element(f)
}

// element writes a struct as an element of a list.
func (w *writer) element(f func()) {
	last := w.last
	w.last = 0
	f()
	w.b = append(w.b, 0)
	w.last = last
}

// list writes a field that is a list of n elements. f writes element i.
func (w *writer) list(id int16, kind byte, n int, f func(i int)) {
	w.field(id, thriftList)
	if n < 15 {
		w.b = append(w.b, byte(n)<<4|kind)
	} else {
		w.b = binary.AppendUvarint(append(w.b, 0xf0|kind), uint64(n))
	}
	for i := range n {
		f(i)
	}
}

// reader reads values in Thrift's compact protocol. After an error it returns zeros.
type reader struct {
	b   []byte // what is left
	err error
}

var errThrift = errors.New("the Parquet metadata is damaged")

func (r *reader) fail() {
	r.b, r.err = nil, errThrift
}

func (r *reader) byte() byte {
	if len(r.b) == 0 {
		r.fail()
		return 0
	}
	c := r.b[0]
	r.b = r.b[1:]
	return c
}

func (r *reader) uvarint() uint64 {
	v, n := binary.Uvarint(r.b)
	if n <= 0 {
		r.fail()
		return 0
	}
	r.b = r.b[n:]
	return v
}

func (r *reader) varint() int64 {
	v := r.uvarint()
	return int64(v>>1) ^ -int64(v&1)
}

// integer reads a field of any integer type.
func (r *reader) integer(kind byte) int64 {
	if kind < thriftI16 || kind > thriftI64 {
		r.fail()
		return 0
	}
	return r.varint()
}

// text reads a field that is a string.
func (r *reader) text(kind byte) string {
	n := r.uvarint()
	if kind != thriftBinary || n > uint64(len(r.b)) {
		r.fail()
		return ""
	}
	s := string(r.b[:n])
	r.b = r.b[n:]
	return s
}

// object reads a field that is a struct. f reads a field of it and returns true, or returns false to skip the field.
func (r *reader) object(kind byte, f func(id int16, kind byte) bool) { r.nested(kind, 0, f) }

// maxThriftDepth is the number of structs and lists inside each other.
const maxThriftDepth = 32

func (r *reader) nested(kind byte, depth int, f func(id int16, kind byte) bool) {
	if kind != thriftStruct || depth > maxThriftDepth {
		r.fail()
	}
	id := int16(0)
	for r.err == nil {
		head := r.byte()
		if head == 0 {
			return
		}
		if delta := int16(head >> 4); delta > 0 {
			id += delta
		} else {
			id = int16(r.varint())
		}
		if !f(id, head&15) {
			r.skip(head&15, depth+1)
		}
	}
}

// list reads a field that is a list. f reads an element of a type.
func (r *reader) list(kind byte, f func(kind byte)) {
	if kind != thriftList && kind != thriftSet {
		r.fail()
		return
	}
	head := r.byte()
	n := uint64(head >> 4)
	if n == 15 {
		n = r.uvarint()
	}
	if n > uint64(len(r.b)) { // each element has a byte or more
		r.fail()
	}
	for ; n > 0 && r.err == nil; n-- {
		f(head & 15)
	}
}

// skip reads a field that nobody asks for.
func (r *reader) skip(kind byte, depth int) {
	switch kind {
	case thriftTrue, thriftFalse: // the type is the value
	case thriftByte:
		r.byte()
	case thriftI16, thriftI32, thriftI64:
		r.varint()
	case thriftDouble:
		if len(r.b) < 8 {
			r.fail()
			return
		}
		r.b = r.b[8:]
	case thriftBinary:
		r.text(kind)
	case thriftList, thriftSet:
		if depth > maxThriftDepth {
			r.fail()
			return
		}
		r.list(kind, func(kind byte) {
			if kind == thriftTrue || kind == thriftFalse {
				kind = thriftByte
			}
			r.skip(kind, depth+1)
		})
	case thriftStruct:
		r.nested(kind, depth, func(int16, byte) bool { return false })
	default: // Parquet's metadata has no maps
		r.fail()
	}
}
