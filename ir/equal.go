package ir

import "bytes"

// EqualAttrs reports whether a and b are the same attribute in MLIR. Either may be nil.
func EqualAttrs(a, b Attr) bool {
	if a == b {
		return true
	}
	if a == nil || b == nil {
		return false
	}
	switch a := a.(type) {
	case *IntegerAttr:
		b, ok := b.(*IntegerAttr)
		if !ok || a.typ != b.typ || (a.wide == nil) != (b.wide == nil) {
			return false
		}
		return a.wide == nil && a.value == b.value || a.wide != nil && a.wide.Cmp(b.wide) == 0
	case *FloatAttr:
		b, ok := b.(*FloatAttr)
		return ok && a.typ == b.typ && a.bits == b.bits
	case *StringAttr:
		b, ok := b.(*StringAttr)
		return ok && a.typ == b.typ && a.value == b.value
	case *UnitAttr:
		_, ok := b.(*UnitAttr)
		return ok
	case *ArrayAttr:
		b, ok := b.(*ArrayAttr)
		if !ok || len(a.elems) != len(b.elems) {
			return false
		}
		for i := range a.elems {
			if !EqualAttrs(a.elems[i], b.elems[i]) {
				return false
			}
		}
		return true
	case *DictAttr:
		b, ok := b.(*DictAttr)
		return ok && EqualAttrLists(a.entries, b.entries)
	case *TypeAttr:
		b, ok := b.(*TypeAttr)
		return ok && a.typ == b.typ
	case *EnumAttr:
		b, ok := b.(*EnumAttr)
		return ok && a.def == b.def && a.code == b.code
	case *DenseAttr:
		b, ok := b.(*DenseAttr)
		if !ok || a.typ != b.typ {
			return false
		}
		if a.text != nil && bytes.Equal(a.text, b.text) {
			return true
		}
		v, _, errA := a.Elements()
		w, _, errB := b.Elements()
		if errA != nil || errB != nil {
			return a.String() == b.String()
		}
		return bytes.Equal(v.Bytes(), w.Bytes()) && v.NumElements() == w.NumElements() || a.equalExpanded(b)
	}
	return a.String() == b.String()
}

// equalExpanded compares all elements, for the case that one attribute is a splat and the other lists its elements.
func (a *DenseAttr) equalExpanded(b *DenseAttr) bool {
	v, splatA, _ := a.Elements()
	w, splatB, _ := b.Elements()
	if splatA == splatB {
		return false
	}
	if splatB {
		v, w = w, v
	}
	size := v.DType().Size()
	one, all := v.Bytes(), w.Bytes()
	for i := 0; i < len(all); i += size {
		if !bytes.Equal(one, all[i:i+size]) {
			return false
		}
	}
	return true
}

// EqualAttrLists reports whether two lists have the same names and equal attributes.
func EqualAttrLists(a, b AttrList) bool {
	if len(a) != len(b) {
		return false
	}
	for i := range a {
		if a[i].Name != b[i].Name || !EqualAttrs(a[i].Attr, b[i].Attr) {
			return false
		}
	}
	return true
}
