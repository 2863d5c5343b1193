package ir

import (
	"bytes"
	"encoding/binary"
)

// HashAttr returns a number that is the same for attributes that EqualAttrs finds equal.
func HashAttr(a Attr) uint64 {
	switch a := a.(type) {
	case *IntegerAttr:
		return mix(uint64(a.value), uint64(a.typ.number()))
	case *FloatAttr:
		return mix(a.bits, uint64(a.typ.number()))
	case *StringAttr:
		return hashString(1, a.value)
	case *EnumAttr:
		return mix(2, uint64(a.code))
	case *TypeAttr:
		return mix(3, uint64(a.typ.number()))
	case *SymbolRefAttr:
		return hashString(4, a.root)
	case *DenseArrayAttr:
		h := uint64(5)
		for _, v := range a.values {
			h = mix(h, uint64(v))
		}
		return h
	case *ArrayAttr:
		h := uint64(6)
		for _, e := range a.elems {
			h = mix(h, HashAttr(e))
		}
		return h
	case *DictAttr:
		h := uint64(7)
		for _, e := range a.entries {
			h = mix(hashString(h, e.Name), HashAttr(e.Attr))
		}
		return h
	case *DenseAttr:
		h := mix(8, uint64(a.typ.number()))
		v, splat, err := a.Elements()
		if err != nil {
			return h
		}
		b := v.Peek()
		if size := v.DType().Size(); !splat && size > 0 && len(b) > size && bytes.Equal(b[size:], b[:len(b)-size]) {
			b = b[:size] // equal to a splat of this element
		}
		return hashBytes(h, b)
	}
	return 9
}

func mix(h, v uint64) uint64 {
	h = (h ^ v) * 0x9E3779B97F4A7C15
	return h ^ h>>29
}

func hashString(h uint64, s string) uint64 {
	for i := 0; i < len(s); i++ {
		h = (h ^ uint64(s[i])) * 0x100000001B3
	}
	return h
}

func hashBytes(h uint64, b []byte) uint64 {
	h = mix(h, uint64(len(b)))
	for ; len(b) >= 8; b = b[8:] {
		h = mix(h, binary.LittleEndian.Uint64(b))
	}
	for _, c := range b {
		h = (h ^ uint64(c)) * 0x100000001B3
	}
	return h
}
