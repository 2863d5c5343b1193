package ir

import "bytes"

// EqualAttrs reports whether a and b are the same attribute; nil equals nil only.
func EqualAttrs(a, b Attr) bool {
	if a == nil || b == nil {
		return a == nil && b == nil
	}
	if a == b {
		return true
	}
	switch a := a.(type) {
	case *DenseAttr:
		b, ok := b.(*DenseAttr)
		return ok && a.typ == b.typ && equalElements(a, b)
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
	case *StringAttr: // a typed string may print as an untyped one does
		b, ok := b.(*StringAttr)
		return ok && a.value == b.value && a.typ == b.typ
	case *TypeAttr:
		b, ok := b.(*TypeAttr)
		return ok && a.typ == b.typ
	}
	return attrString(a) == attrString(b)
}

// EqualAttrLists reports whether both lists bind the same names to equal attributes.
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

func equalElements(a, b *DenseAttr) bool {
	va, sa, ea := a.Elements()
	vb, sb, eb := b.Elements()
	if ea != nil || eb != nil || va == nil || vb == nil {
		return bytes.Equal(a.text, b.text)
	}
	if sa != sb { // a splat and the same value written out in full are one attribute
		fa, _ := a.Tensor()
		fb, _ := b.Tensor()
		return bytes.Equal(fa.Bytes(), fb.Bytes())
	}
	return bytes.Equal(va.Bytes(), vb.Bytes())
}
