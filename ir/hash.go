package ir

import "bytes"

// Equivalent reports whether a and b compute the same: they are of one kind and have equal attributes, result types and
// operands, and their regions hold equivalent ops. Locations and names do not matter. Ops of unknown kinds, with
// successors, or with regions of several blocks are equivalent only to themselves.
func Equivalent(a, b *Op) bool {
	if a == b {
		return true
	}
	var e equivalence
	if a.parts != nil {
		e = equivalence{}
	}
	return e.ops(a, b)
}

// equivalence maps the values that the regions of one op define to those of the other.
type equivalence map[*Value]*Value

func (e equivalence) sameValue(v, w *Value) bool {
	if n, ok := e[v]; ok {
		return n == w
	}
	return v == w
}

func (e equivalence) ops(a, b *Op) bool {
	switch {
	case a.def != b.def, a.def.unknown, len(a.operands) != len(b.operands), len(a.results) != len(b.results):
		return false
	}
	for i := range a.results {
		if a.results[i].typ != b.results[i].typ {
			return false
		}
	}
	for i := range a.operands {
		if !e.sameValue(a.operands[i].val, b.operands[i].val) {
			return false
		}
	}
	if !sameList(a.attrs, b.attrs) {
		return false
	}
	if a.parts == nil && b.parts == nil {
		return true
	}
	return a.parts != nil && b.parts != nil && e.regions(a, b)
}

// sameList is EqualAttrLists for lists that may be one.
func sameList(a, b AttrList) bool {
	return len(a) == len(b) && (len(a) == 0 || &a[0] == &b[0] || EqualAttrLists(a, b))
}

func (e equivalence) regions(a, b *Op) bool {
	if len(a.parts.regions) != len(b.parts.regions) || len(a.parts.successors)+len(b.parts.successors) > 0 {
		return false
	}
	for i, r := range a.parts.regions {
		s := b.parts.regions[i]
		if len(r.blocks) != len(s.blocks) || len(r.blocks) > 1 {
			return false
		}
		if len(r.blocks) == 0 {
			continue
		}
		x, y := r.blocks[0], s.blocks[0]
		if len(x.args) != len(y.args) {
			return false
		}
		for k, v := range x.args {
			if v.typ != y.args[k].typ {
				return false
			}
			e[v] = y.args[k]
		}
		o, p := x.first, y.first
		for ; o != nil && p != nil; o, p = o.next, p.next {
			if !e.ops(o, p) {
				return false
			}
			for k := range o.results {
				e[&o.results[k]] = &p.results[k]
			}
		}
		if o != nil || p != nil {
			return false
		}
	}
	return true
}

// Hash returns a number that is the same for ops that are Equivalent.
func Hash(o *Op) uint64 {
	h := hashString(uint64(len(o.operands)), o.def.Name)
	for i := range o.operands {
		h = mix(h, uint64(o.operands[i].val.id))
	}
	for i := range o.results {
		h = mix(h, uint64(o.results[i].typ.number()))
	}
	for i := range o.attrs {
		h = mix(h, HashAttr(o.attrs[i].Attr))
	}
	for _, r := range o.Regions() {
		if len(r.blocks) > 0 && r.blocks[0].first != nil {
			h = hashString(h, r.blocks[0].first.def.Name)
		}
	}
	return h
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
		h = mix(h, uint64(b[0])|uint64(b[1])<<8|uint64(b[2])<<16|uint64(b[3])<<24|uint64(b[4])<<32|uint64(b[5])<<40|uint64(b[6])<<48|uint64(b[7])<<56)
	}
	for _, c := range b {
		h = (h ^ uint64(c)) * 0x100000001B3
	}
	return h
}

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
