package parse

import (
	"strconv"
	"unsafe"

	"github.com/hlocb/hlocb/ir"
)

// maxExpansion returns how many parts an attribute or type may have when its aliases are written out. Aliases of
// aliases can double at every step, so that a short text would stand for more than any memory holds.
func (p *parser) maxExpansion() int64 { return 1<<20 + 16*int64(len(p.lexer.src)) }

// grow adds the size of a part to n and fails where the whole is too large.
func (p *parser) grow(n, part int64) int64 {
	if n += part; n > p.maxExpansion() {
		p.Errorf("more than %d parts when its aliases are written out", p.maxExpansion())
	}
	return n
}

// attrParts returns how many parts a has: for lists that were not counted, themselves and their elements.
func (p *parser) attrParts(a ir.Attr) int64 {
	switch t := a.(type) {
	case *ir.ArrayAttr:
		return max(int64(len(t.Elems()))+1, p.parts[a])
	case *ir.DictAttr:
		return max(int64(len(t.Entries()))+1, p.parts[a])
	case *ir.TypeAttr:
		return p.typeParts(t.Type())
	}
	return 1
}

// countAttr stores the number of parts of a new array or dictionary, where that is more than its own elements.
func (p *parser) countAttr(a ir.Attr, n, own int64) ir.Attr {
	if n > own {
		if p.parts == nil {
			p.parts = map[any]int64{}
		}
		p.parts[a] = n
	}
	return a
}

// typeParts returns how many parts t has. Only tuples and functions are made of several types.
func (p *parser) typeParts(t ir.Type) int64 {
	var lists [2][]ir.Type
	switch t := t.(type) {
	case *ir.TupleType:
		lists[0] = t.Elems()
	case *ir.FunctionType:
		lists[0], lists[1] = t.Inputs(), t.Results()
	default:
		return 1
	}
	if n := p.parts[t]; n > 0 {
		return n
	}
	n := int64(1)
	for _, list := range lists {
		for _, e := range list {
			n = p.grow(n, p.typeParts(e))
		}
	}
	if p.parts == nil {
		p.parts = map[any]int64{}
	}
	p.parts[t] = n
	return n
}

// internLoc returns the location that equals l among those read so far, so that equal ones are the same pointer.
func (p *parser) internLoc(l *ir.Loc) *ir.Loc {
	k := append(p.locKey[:0], byte(l.Kind()))
	if l.Kind() == ir.LocFile {
		for _, f := range [...]func() (uint32, uint32){l.Start, l.End} {
			a, b := f()
			k = strconv.AppendUint(append(k, ' '), uint64(a), 10)
			k = strconv.AppendUint(append(k, ' '), uint64(b), 10)
		}
	}
	for _, c := range l.Children() {
		k = strconv.AppendUint(append(k, ' '), uint64(uintptr(unsafe.Pointer(c))), 16)
	}
	k = append(k, '"')
	if l.Kind() == ir.LocFused {
		if m := l.Metadata(); m != nil {
			k = append(k, m.String()...)
		}
	} else {
		k = append(k, l.Name()...)
	}
	p.locKey = k
	if old := p.locSet[string(k)]; old != nil {
		return old
	}
	if p.locSet == nil {
		p.locSet = map[string]*ir.Loc{}
	}
	p.locSet[string(k)] = l
	return l
}
