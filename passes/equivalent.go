package passes

import "github.com/hlocb/hlocb/ir"

// equivalent reports whether a and b compute the same: they are of one kind and have equal attributes, result types and
// operands, and their regions hold equivalent ops. Locations and names do not matter. Ops of unknown kinds, with
// successors, or with regions of several blocks are equivalent only to themselves.
func equivalent(a, b *ir.Op) bool {
	var e equivalence
	if len(a.Regions()) > 0 {
		e = equivalence{}
	}
	return e.ops(a, b)
}

// equivalence maps the values that the regions of one op define to those of the other.
type equivalence map[*ir.Value]*ir.Value

func (e equivalence) ops(a, b *ir.Op) bool {
	switch {
	case a == b:
		return true
	case a.Def() != b.Def(), !a.Def().Known(), a.NumOperands() != b.NumOperands(), a.NumResults() != b.NumResults(),
		len(a.Regions()) != len(b.Regions()), len(a.Successors())+len(b.Successors()) > 0:
		return false
	}
	for i := range a.NumResults() {
		if a.Result(i).Type() != b.Result(i).Type() {
			return false
		}
	}
	for i, v := range a.Operands() {
		if n, ok := e[v]; ok {
			v = n
		}
		if v != b.Operand(i) {
			return false
		}
	}
	if !ir.EqualAttrLists(a.Attrs(), b.Attrs()) {
		return false
	}
	for i, r := range a.Regions() {
		if !e.regions(r, b.Region(i)) {
			return false
		}
	}
	return true
}

func (e equivalence) regions(r, s *ir.Region) bool {
	if len(r.Blocks()) != len(s.Blocks()) || len(r.Blocks()) > 1 {
		return false
	}
	if len(r.Blocks()) == 0 {
		return true
	}
	x, y := r.Entry(), s.Entry()
	if len(x.Args()) != len(y.Args()) {
		return false
	}
	for k, v := range x.Args() {
		if v.Type() != y.Arg(k).Type() {
			return false
		}
		e[v] = y.Arg(k)
	}
	o, p := x.First(), y.First()
	for ; o != nil && p != nil; o, p = o.Next(), p.Next() {
		if !e.ops(o, p) {
			return false
		}
		for k, v := range o.Results() {
			e[v] = p.Result(k)
		}
	}
	return o == nil && p == nil
}

// hashOp returns a number that is the same for equivalent ops.
func hashOp(o *ir.Op) uint64 {
	h := uint64(o.NumOperands())
	mix := func(v uint64) {
		h = (h ^ v) * 0x9E3779B97F4A7C15
		h ^= h >> 29
	}
	name := func(o *ir.Op) {
		for _, c := range []byte(o.Name()) {
			h = (h ^ uint64(c)) * 0x100000001B3
		}
	}
	name(o)
	for i := range o.NumOperands() {
		mix(uint64(o.Operand(i).ID()))
	}
	for _, a := range o.Attrs() {
		mix(ir.HashAttr(a.Attr))
	}
	for _, r := range o.Regions() {
		if b := r.Entry(); b != nil && b.First() != nil {
			name(b.First())
		}
	}
	return h
}
