package ir

import (
	"fmt"
	goruntime "runtime"
	"slices"
	"sync/atomic"
	"unsafe"

	"github.com/hlocb/hlocb/diag"
)

// Verify checks m: structure, what the rows say of operands, results, attributes and regions, dominance, symbols,
// and each row's own Verify. It returns nil or a diag.List with every finding, in program order, worded as MLIR
// words them. Ops of unknown kinds are checked for structure and dominance only.
//
// Large modules are checked by several goroutines; findings and their order do not depend on that. Nothing else may
// use m until Verify returns: it numbers the ops of blocks that were changed.
func Verify(m *Module) error {
	v := &verifier{r: Reporter{ctx: m.ctx, src: m.source, registry: m.registry, symbols: &symbolCache{}}, known: newKnown(m)}
	if n := goruntime.GOMAXPROCS(0); n > 1 && m.slab.count >= parallelFrom {
		v.spare = &atomic.Int32{}
		v.spare.Store(int32(n - 1))
	}
	v.op(m.op)
	return v.found()
}

// found returns what was found in the order of the text: an op before what is inside it, as MLIR finds it.
func (v *verifier) found() error {
	slices.SortStableFunc(v.r.list, func(a, b *diag.Diagnostic) int { return int(a.Pos) - int(b.Pos) })
	return v.r.list.Err()
}

type verifier struct {
	r     Reporter
	spare *atomic.Int32 // how many more goroutines may be started; nil where the module is small
	known *known        // what was found to be right last, nil where the module is too small to find it again
}

// known holds what one goroutine found to be right last, by parts of hashes.
type known struct {
	fit   [256]fitting
	right [256]signature
}

// newKnown returns room for what is found to be right in m.
func newKnown(m *Module) *known {
	if m.slab.count < 32 {
		return nil
	}
	return &known{}
}

// signature is all that decides whether an op of a local kind without regions is right. Attribute lists are immutable, and
// ops that were read from the same text share them.
type signature struct {
	def      *Def
	attrs    *NamedAttr
	numAttrs uint32
	types    [signatureTypes]Type // of the operands, then of the result
}

const signatureTypes = 4

// signed sets s to the signature of o, and returns its place in the table of those that were found to be right last. It
// reports whether o has one.
func (o *Op) signed(s *signature) (slot int, ok bool) {
	n := int(o.numOperands)
	if o.inner != nil || n >= signatureTypes || o.numResults != 1 {
		return 0, false
	}
	s.def, s.attrs, s.numAttrs = o.def, nil, o.numAttrs
	if o.numAttrs > 0 {
		s.attrs = o.attrPtr
		for _, a := range o.attrs() {
			if !a.Inherent {
				return 0, false // dialects check these, and may look at anything
			}
		}
	}
	h := uint64(uintptr(unsafe.Pointer(s.def)))>>4 ^ uint64(uintptr(unsafe.Pointer(s.attrs)))>>3
	uses := o.operands()
	for i := range uses {
		v := uses[i].val
		if v == nil {
			return 0, false
		}
		s.types[i] = v.typ
		h = h*31 + uint64(uintptr(address(v.typ)))>>4
	}
	s.types[n] = o.results()[0].typ
	h = (h*31 + uint64(uintptr(address(s.types[n])))>>4) * 0x9e3779b97f4a7c15
	return int(h >> 56), true
}

func (s *signature) equal(t *signature) bool {
	if s.def != t.def || s.attrs != t.attrs || s.numAttrs != t.numAttrs {
		return false
	}
	for i := range s.types {
		if !Identical(s.types[i], t.types[i]) {
			return false
		}
	}
	return true
}

// fitting says that the constraint of a row on an operand or result accepts a type. Types are few, so that remembering
// the last ones saves most checks.
type fitting struct {
	arg *Arg
	typ Type
}

// fits reports whether arg accepts t.
func (v *verifier) fits(arg *Arg, t Type) bool {
	if arg.Type.Check == nil {
		return true
	}
	if v.known == nil {
		return arg.Type.Check(t)
	}
	h := (uint64(uintptr(address(t)))>>4 + uint64(uintptr(unsafe.Pointer(arg)))>>5) * 0x9e3779b97f4a7c15
	f := &v.known.fit[h>>56]
	if f.arg == arg && Identical(f.typ, t) {
		return true
	}
	if !arg.Type.Check(t) {
		return false
	}
	f.arg, f.typ = arg, t
	return true
}

func (v *verifier) op(o *Op) {
	if o.def.Local && v.known != nil {
		var s signature
		if slot, ok := o.signed(&s); ok {
			if r := &v.known.right[slot]; !r.equal(&s) && v.check(o) {
				*r = s
			}
			return
		}
	}
	v.check(o)
}

// check checks o and what is inside it, and reports whether all of it is right.
func (v *verifier) check(o *Op) bool {
	before := len(v.r.list)
	if o.numAttrs > 0 {
		v.namespaced(o)
	}
	if !o.def.unknown && len(v.r.list) == before {
		v.row(o)
	}
	if o.def.Has(Symbol) && len(v.r.list) == before {
		if p := o.Parent(); p != nil && p.def.Known() && !p.def.Has(SymbolTable) && o.Attr(SymbolName) != nil {
			v.r.Errorf(o, "symbol's parent must have the SymbolTable trait")
		}
	}
	if o.def.VerifyEntry != nil && len(v.r.list) == before {
		o.def.VerifyEntry(o, &v.r)
	}
	if o.def.Has(SymbolTable) {
		v.symbols(o)
	}
	for i, r := range o.regions() {
		v.region(o, i, r)
	}
	// A row's own checks rely on what was checked before.
	if len(v.r.list) == before && o.def.Verify != nil {
		o.def.Verify(o, &v.r)
	}
	return len(v.r.list) == before
}

// namespaced has the dialects check the discardable attributes of their namespaces.
func (v *verifier) namespaced(o *Op) {
	list := o.attrs()
	for i := range list {
		a := &list[i]
		if a.Inherent {
			continue
		}
		if d := v.r.dialectOf(a.Name); d != nil && d.VerifyAttr != nil {
			before := len(v.r.list)
			if d.VerifyAttr(o, a.Name, a.Attr, &v.r); len(v.r.list) > before {
				return
			}
		}
	}
}

// row checks o against its definition, and reports the first thing that is wrong, as MLIR does.
func (v *verifier) row(o *Op) {
	d := o.def
	if !v.counted(o, "result", d.Results, int(o.numResults)) || !v.counted(o, "operand", d.Operands, int(o.numOperands)) {
		return
	}
	for i := range d.Attrs {
		s := &d.Attrs[i]
		a := o.attrs().Get(s.Name)
		switch {
		case a == nil && !s.Optional && s.Default == nil:
			d := v.r.Errorf(o, "requires attribute '%s'", s.Name)
			for _, given := range o.attrs() {
				if !given.Inherent && diag.Closest(given.Name, []string{s.Name}) != "" {
					d.Note(o.pos, "'%s' is no attribute of '%s'; did you mean '%s'?", given.Name, o.def.Name, s.Name)
				}
			}
			return
		case a != nil && s.Type.Check != nil && !s.Type.Check(a):
			v.r.Errorf(o, "attribute '%s' failed to satisfy constraint: %s", s.Name, s.Type.Summary)
			return
		}
	}
	if v.simple(o) {
		v.regionCount(o)
		return
	}
	if v.values(o, "operand", d.Operands, int(o.numOperands), d.Traits&SameVariadicOperands != 0, AttrSizedOperands, "operandSegmentSizes") &&
		v.values(o, "result", d.Results, int(o.numResults), d.Traits&SameVariadicResults != 0, AttrSizedResults, "resultSegmentSizes") {
		v.regionCount(o)
	}
}

// simple reports whether o has exactly the operands and results of its row, of the right types, where each is one value:
// what nearly every op has, in less time than values takes.
func (v *verifier) simple(o *Op) bool {
	d := o.def
	if len(d.Operands) != int(o.numOperands) || len(d.Results) != int(o.numResults) || d.Traits&(AttrSizedOperands|AttrSizedResults) != 0 {
		return false
	}
	uses, results := o.operands(), o.results()
	for i := range d.Operands {
		a := &d.Operands[i]
		if a.Mult != One || uses[i].val == nil || !v.fits(a, uses[i].val.typ) {
			return false
		}
	}
	for i := range d.Results {
		if a := &d.Results[i]; a.Mult != One || !v.fits(a, results[i].typ) {
			return false
		}
	}
	return true
}

// counted checks that there can be n operands or results; it reports whether there can.
func (v *verifier) counted(o *Op, what string, args []Arg, n int) bool {
	fixed, groups := countArgs(args)
	if n < fixed || groups == 0 && n != fixed {
		v.count(o, what, n, fixed, groups > 0)
		return false
	}
	return true
}

// countArgs returns how many of the args are one value each and how many are groups of values.
func countArgs(args []Arg) (fixed, groups int) {
	for i := range args {
		if args[i].Mult == One {
			fixed++
		} else {
			groups++
		}
	}
	return fixed, groups
}

// values checks groups and types of operands or results; it reports whether they are right.
func (v *verifier) values(o *Op, what string, args []Arg, n int, same bool, sized Traits, sizes string) bool {
	fixed, groups := countArgs(args)
	var segments []int64
	if o.def.Has(sized) {
		d, ok := o.attrs().Get(sizes).(*DenseArrayAttr)
		if !ok || d.elem != Type(Int(32)) {
			v.r.Errorf(o, "requires dense i32 array attribute '%s'", sizes)
			return false
		}
		segments = d.values
		total := int64(0)
		for _, s := range segments {
			if s < 0 {
				v.r.Errorf(o, "'%s' attribute cannot have negative elements", sizes)
				return false
			}
			total += s
		}
		if len(segments) != len(args) {
			v.r.Errorf(o, "'%s' attribute for specifying %s segments must have %d elements, but got %d", sizes, what, len(args), len(segments))
			return false
		}
		if total != int64(n) {
			v.r.Errorf(o, "%s count (%d) does not match with the total size (%d) specified in attribute '%s'", what, n, total, sizes)
			return false
		}
	} else if groups > 1 && same && (n-fixed)%groups != 0 {
		v.r.Errorf(o, "%s count (%d) does not divide into %d groups of one size", what, n, groups)
		return false
	} else if groups > 1 && !same {
		return true // how they part is the row's own business
	}
	i := 0
	for k := range args {
		take := 1
		switch {
		case segments != nil:
			take = int(segments[k])
		case args[k].Mult != One:
			take = (n - fixed) / groups
		}
		if args[k].Mult == Optional && take > 1 {
			v.r.Errorf(o, "%s group starting at #%d requires 0 or 1 element, but found %d", what, i, take)
			return false
		}
		for range take {
			if !v.value(o, what, i, &args[k]) {
				return false
			}
			i++
		}
	}
	return true
}

func (v *verifier) count(o *Op, what string, n, want int, atLeast bool) {
	switch {
	case atLeast:
		v.r.Errorf(o, "expected %d or more %ss, but found %d", want, what, n)
	case what == "operand" && want == 0:
		v.r.Errorf(o, "requires zero operands")
	case what == "operand" && want == 1:
		v.r.Errorf(o, "requires a single operand")
	case what == "operand":
		v.r.Errorf(o, "expected %d operands, but found %d", want, n)
	case want == 0:
		v.r.Errorf(o, "requires zero results")
	case want == 1:
		v.r.Errorf(o, "requires one result")
	default:
		v.r.Errorf(o, "expected %d results, but found %d", want, n)
	}
}

func (v *verifier) value(o *Op, what string, i int, arg *Arg) bool {
	var t Type
	if what == "result" {
		t = o.results()[i].typ
	} else if val := o.operands()[i].val; val != nil {
		t = val.typ
	}
	if t == nil {
		v.r.Errorf(o, "%s #%d is missing", what, i)
		return false
	}
	if c := &arg.Type; !v.fits(arg, t) {
		kind := ""
		if arg.Mult == Variadic {
			kind = "variadic of "
		}
		v.r.Errorf(o, "%s #%d must be %s%s, but got '%s'", what, i, kind, c.Summary, t)
		return false
	}
	return true
}

func (v *verifier) regionCount(o *Op) {
	if len(o.def.Regions) == 0 && o.inner == nil {
		return
	}
	fixed, open := 0, false
	for _, s := range o.def.Regions {
		if s.Mult == One {
			fixed++
		} else {
			open = true
		}
	}
	if n := o.NumRegions(); n < fixed || n > fixed && !open {
		v.r.Errorf(o, "requires %s", regions(fixed))
	}
}

func regions(n int) string {
	switch n {
	case 0:
		return "zero regions"
	case 1:
		return "one region"
	}
	return fmt.Sprintf("%d regions", n)
}

func (v *verifier) symbols(table *Op) {
	seen := map[string]*Op{}
	for _, r := range table.regions() {
		for _, b := range r.blocks.all() {
			for o := b.first; o != nil; o = o.next {
				name, ok := o.Attr(SymbolName).(*StringAttr)
				if !ok {
					continue
				}
				if first := seen[name.value]; first != nil {
					d := diag.Errorf(v.r.src, o.pos, "redefinition of symbol named '%s'", name.value)
					d.Note(first.pos, "see existing symbol definition here")
					v.r.list.Add(d)
					continue
				}
				seen[name.value] = o
			}
		}
	}
}

func (v *verifier) region(o *Op, index int, r *Region) {
	v.blockCount(o, index, r)
	for _, b := range r.blocks.all() {
		b.number() // once, for all that ask which of its ops is first
	}
	for _, b := range r.blocks.all() {
		if v.spare == nil || !v.share(b) {
			v.ops(b.first, nil)
		}
		v.terminated(o, b)
	}
}

// ops checks the ops of a block from first on up to end.
func (v *verifier) ops(first, end *Op) {
	for n := first; n != end; n = n.next {
		v.placed(n, first.block)
		v.operandsDominate(n)
		v.op(n)
	}
}

func (v *verifier) blockCount(o *Op, index int, r *Region) {
	if o.Has(SingleBlock) && r.blocks.len() > 1 {
		v.r.Errorf(o, "expects region #%d to have 0 or 1 blocks", index)
	}
}

// placed checks that an op that ends blocks ends b.
func (v *verifier) placed(n *Op, b *Block) {
	if n.Has(Terminator) && n != b.last {
		v.r.Errorf(n, "must be the last operation in the parent block")
	}
}

func (v *verifier) operandsDominate(n *Op) {
	uses := n.operands()
	for k := range uses {
		val := uses[k].val
		if val == nil || val.op != nil && val.op.block == n.block && val.op.order < n.order {
			continue
		}
		if !dominates(val, n) {
			v.r.PlainErrorf(n, "operand #%d does not dominate this use", k).Note(where(val), "operand defined here")
		}
	}
}

// terminated checks that b, a block of o, ends as it must.
func (v *verifier) terminated(o *Op, b *Block) {
	switch {
	case o.def.unknown || o.Has(NoTerminator) || b.last != nil && b.last.MightHave(Terminator):
	case b.last == nil:
		v.r.Errorf(o, "expects a non-empty block")
	default:
		v.r.list.Add(diag.Errorf(v.r.src, b.last.pos, "block with no terminator, has '%s'", b.last.def.Name))
	}
}

func where(val *Value) diag.Pos {
	if val.op != nil {
		return val.op.pos
	}
	if b := val.arg().block; b != nil && b.Parent() != nil {
		return b.Parent().pos
	}
	return 0
}

// dominates reports whether val is there when o runs. Of blocks other than the one that o (or what holds it)
// stands in, only the region counts: which block comes before which is not followed.
func dominates(val *Value, o *Op) bool {
	def := val.ParentBlock()
	if def == nil {
		return false // its op was taken out of the module
	}
	for p := o; p != nil; p = p.Parent() {
		switch b := p.block; {
		case b == nil:
			return false
		case b == def:
			return val.op == nil || val.op.order < p.order
		case b.region == def.region:
			return true
		}
		if parent := p.Parent(); parent != nil && parent.Has(IsolatedFromAbove) {
			return false
		}
	}
	return false
}
