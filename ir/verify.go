package ir

import (
	"context"
	"fmt"
	goruntime "runtime"
	"slices"
	"strings"
	"sync/atomic"

	"github.com/hlocb/hlocb/diag"
)

// Verify checks m: structure, dominance, symbols, the constraints of each definition on operands, results, attributes
// and regions, and each definition's Verify hook. It returns nil or a diag.List with every finding, in program order
// and with MLIR's messages. For ops of unknown kinds it checks only structure and dominance. Verify only reads the
// module.
//
// A Pure op that was found valid is not checked again until the op or an op that defines its operands changes. Checks
// that read only types and attributes are not repeated for an op that has the same ones as one of the last ops.
//
// Several goroutines check a large module. The findings and their order do not depend on the number of goroutines.
// Verify returns the first findings only if all have more than 64 MiB.
func Verify(m *Module) error { return VerifyContext(context.Background(), m) }

// VerifyContext is like Verify, but it stops and returns the error of ctx when ctx ends.
func VerifyContext(ctx context.Context, m *Module) error {
	v := &verifier{ends: ctx, r: Reporter{ctx: m.ctx, src: m.source, symbols: &symbolCache{}}}
	if n := goruntime.GOMAXPROCS(0); n > 1 && m.NumIDs() >= parallelFrom {
		v.spare = &atomic.Int32{}
		v.spare.Store(int32(n - 1))
	}
	v.op(m.op)
	if err := ctx.Err(); err != nil {
		return err
	}
	slices.SortStableFunc(v.r.list, func(a, b *diag.Diagnostic) int { return int(a.Pos) - int(b.Pos) })
	return firstFindings(v.r.list).Err()
}

// maxMessages is the length of the messages after which a check ends. A message can be long: it names types whole.
const maxMessages = 1 << 26

// firstFindings returns the findings that are not after the first maxMessages bytes. A goroutine that found more has
// left out only findings after these, since it checks ops in their order.
func firstFindings(list diag.List) diag.List {
	size := 0
	for i, d := range list {
		if size += len(d.Message); size > maxMessages {
			return list[:i+1]
		}
	}
	return list
}

type verifier struct {
	ends  context.Context
	count int  // of ops that were checked
	ended bool // ends has ended, or the findings are too long
	r     Reporter
	spare *atomic.Int32 // number of goroutines that may still be started; nil for a small module
	seen  memo
}

// op checks o and everything inside it.
func (v *verifier) op(o *Op) {
	if v.count++; v.count%256 == 0 { // the context takes a lock
		v.ended = v.ended || v.ends.Err() != nil
	}
	if v.ended || o.valid.Load() {
		return
	}
	simple := o.parts == nil && !o.def.unknown && o.def.Traits&(Pure|Terminator|Symbol) == Pure
	var same **Op // in v.seen
	if simple {
		if same = v.seen.slot(o); *same != nil && alike(*same, o) {
			o.valid.Store(true)
			return
		}
	}
	before := len(v.r.list)
	v.r.reads = readsOperands
	if o.def.Verify == nil && o.def.VerifyEntry == nil {
		v.r.reads = readsTypes
	}
	v.namespaced(o)
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
	for _, r := range o.Regions() {
		v.region(o, r)
	}
	// The Verify hook relies on the checks above.
	if len(v.r.list) == before && o.def.Verify != nil {
		o.def.Verify(o, &v.r)
	}
	if len(v.r.list) > before {
		v.ended = v.ended || v.r.size > maxMessages
	}
	// Remember that a simple op is valid. A change of the op or of the ops that define its operands clears it.
	if len(v.r.list) == before && simple && v.r.reads != readsAround {
		o.valid.Store(true)
		if v.r.reads == readsTypes {
			*same = o
		}
	}
}

// namespaced has each dialect check the discardable attributes of its namespace, and the dialect of o those without a
// prefix.
func (v *verifier) namespaced(o *Op) {
	list := o.attrs
	for i := range list {
		a := &list[i]
		if a.Inherent {
			continue
		}
		d, own := v.r.dialectOf(a.Name), strings.IndexByte(a.Name, '.') < 0
		if own && !o.def.unknown {
			d = v.r.dialectOf(o.def.Name)
		}
		if d != nil && d.VerifyAttr != nil {
			before := len(v.r.list)
			if !own {
				v.r.ReadsAround()
			}
			if d.VerifyAttr(o, a.Name, a.Attr, &v.r); len(v.r.list) > before {
				return
			}
		}
	}
}

// row checks o against its definition and reports the first error, as MLIR does.
func (v *verifier) row(o *Op) {
	d := o.def
	if !(v.counted(o, "result", d.Results, len(o.results)) && v.counted(o, "operand", d.Operands, len(o.operands))) {
		return
	}
	if fault, missing := d.attrFault(o.attrs); fault != "" {
		e := v.r.Errorf(o, "%s", fault)
		for _, given := range o.attrs {
			if missing != "" && !given.Inherent && diag.Closest(given.Name, []string{missing}) != "" {
				e.Note(o.pos, "'%s' is not an attribute of '%s'; did you mean '%s'?", given.Name, o.def.Name, missing)
			}
		}
		return
	}
	if v.values(o, "operand", d.Operands, len(o.operands), d.Traits&SameVariadicOperands != 0, AttrSizedOperands, "operandSegmentSizes") &&
		v.values(o, "result", d.Results, len(o.results), false, AttrSizedResults, "resultSegmentSizes") {
		v.regionCount(o)
	}
}

// attrFault returns the first error in the attributes of an op of the kind, or "". If an attribute is missing, missing
// is its name.
func (d *Def) attrFault(attrs AttrList) (fault, missing string) {
	for i := range d.Attrs {
		s := &d.Attrs[i]
		a := attrs.Get(s.Name)
		switch {
		case a == nil && !s.Optional && s.Default == nil:
			return "requires attribute '" + s.Name + "'", s.Name
		case a != nil && s.Type.Check != nil && !s.Type.Check(a):
			return "attribute '" + s.Name + "' failed to satisfy constraint: " + s.Type.Summary, ""
		}
	}
	return "", ""
}

// counted checks the number n of operands or results and reports whether it is valid.
func (v *verifier) counted(o *Op, what string, args []Arg, n int) bool {
	fault := countFault(what, args, n)
	if fault != "" {
		v.r.Errorf(o, "%s", fault)
	}
	return fault == ""
}

// countArgs returns how many of the args are single values and how many are groups of values.
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

// values checks groups and types of operands or results and reports whether they are valid.
func (v *verifier) values(o *Op, what string, args []Arg, n int, same bool, sized Traits, sizes string) bool {
	var attr Attr
	if o.def.Has(sized) {
		d, ok := o.attrs.Get(sizes).(*DenseArrayAttr)
		if !ok || d.elem != Type(Int(32)) {
			v.r.Errorf(o, "requires dense i32 array attribute '%s'", sizes)
			return false
		}
		total := int64(0)
		for _, s := range d.values {
			if s < 0 {
				v.r.Errorf(o, "'%s' attribute cannot have negative elements", sizes)
				return false
			}
			total += s
		}
		if len(d.values) != len(args) {
			v.r.Errorf(o, "'%s' attribute for specifying %s segments must have %d elements, but got %d", sizes, what, len(args), len(d.values))
			return false
		}
		if total != int64(n) {
			v.r.Errorf(o, "%s count (%d) does not match with the total size (%d) specified in attribute '%s'", what, n, total, sizes)
			return false
		}
		attr = d
	} else if fixed, groups := countArgs(args); groups > 1 && !same {
		return true // the definition's own hooks check the groups
	} else if groups > 1 && (n-fixed)%groups != 0 {
		v.r.Errorf(o, "%s count (%d) does not divide into %d groups of one size", what, n, groups)
		return false
	}
	var buf [8]int
	counts, ok := segments(buf[:], args, n, attr, same)
	several := -1
	if !ok {
		several = severalAt(args, counts)
	}
	i := 0
	for k := range args {
		if k == several {
			v.r.Errorf(o, "%s group starting at #%d requires 0 or 1 element, but found %d", what, i, counts[k])
			return false
		}
		for range counts[k] {
			if !v.value(o, what, i, &args[k]) {
				return false
			}
			i++
		}
	}
	return true
}

// countFault returns the error if args cannot stand for n operands or results, or "".
func countFault(what string, args []Arg, n int) string {
	fixed, groups := countArgs(args)
	switch {
	case n == fixed || n > fixed && groups > 0:
		return ""
	case groups > 0:
		return fmt.Sprintf("expected %d or more %ss, but found %d", fixed, what, n)
	case fixed == 0:
		return "requires zero " + what + "s"
	case fixed == 1 && what == "operand":
		return "requires a single operand"
	case fixed == 1:
		return "requires one result"
	}
	return fmt.Sprintf("expected %d %ss, but found %d", fixed, what, n)
}

func (v *verifier) value(o *Op, what string, i int, arg *Arg) bool {
	var t Type
	if what == "result" {
		t = o.results[i].typ
	} else if val := o.operands[i].val; val != nil {
		t = val.typ
	}
	if t == nil {
		v.r.Errorf(o, "%s #%d is missing", what, i)
		return false
	}
	if c := &arg.Type; !c.accepts(t) {
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
	if len(o.def.Regions) == 0 && o.parts == nil {
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
	if n := len(o.Regions()); n < fixed || n > fixed && !open {
		v.r.Errorf(o, "requires %s", regions(fixed))
		return
	}
	for i, r := range o.Regions() {
		if o.def.Traits&SingleBlock != 0 && len(r.blocks) != 1 {
			v.r.Errorf(o, "region #%d ('%s') failed to verify constraint: region with 1 blocks", i, o.def.Regions[min(i, len(o.def.Regions)-1)].Name)
			return
		}
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
	for _, r := range table.Regions() {
		for _, b := range r.blocks {
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

func (v *verifier) region(o *Op, r *Region) {
	for _, b := range r.blocks {
		if v.spare == nil || !v.share(b) {
			v.ops(b.first, nil)
		}
		v.checkTerminator(o, b)
	}
}

// ops checks the ops of a block from first up to but excluding end.
func (v *verifier) ops(first, end *Op) {
	for n := first; n != end; n = n.next {
		if n.Has(Terminator) && n.next != nil {
			v.r.Errorf(n, "must be the last operation in the parent block")
		}
		v.successors(n)
		v.dominance(n)
		v.op(n)
	}
}

// successors checks that n branches only to blocks of its own region.
func (v *verifier) successors(n *Op) {
	for i, b := range n.Successors() {
		switch {
		case b.region != n.block.region:
			v.r.Errorf(n, "branching to block of a different region: successor #%d", i)
			return
		case b == b.region.Entry():
			v.r.PlainErrorf(b.Parent(), "entry block of region may not have predecessors")
			return
		}
	}
}

// dominance checks that the operands of n are available to it. Order does not matter in an unreachable block.
func (v *verifier) dominance(n *Op) {
	for i := range n.operands {
		val := n.operands[i].val
		if val == nil {
			v.r.PlainErrorf(n, "null operand found")
			return
		}
		if val.op != nil && val.op.block == n.block && val.op.order < n.order {
			continue
		}
		if !val.Dominates(n) && (val.ParentBlock() != n.block || n.block.Reachable()) {
			v.r.PlainErrorf(n, "operand #%d does not dominate this use", i).Note(defined(val), "operand defined here")
		}
	}
}

// checkTerminator checks the terminator of b, a block of o.
func (v *verifier) checkTerminator(o *Op, b *Block) {
	switch {
	case o.def.unknown || o.Has(NoTerminator) || b.last != nil && b.last.MightHave(Terminator):
	case b.last == nil:
		v.r.Errorf(o, "expects a non-empty block")
	default:
		v.r.list.Add(diag.Errorf(v.r.src, b.last.pos, "block with no terminator, has '%s'", b.last.def.Name))
	}
}

// defined returns the position of the op or block that defines val.
func defined(val *Value) diag.Pos {
	switch {
	case val.op != nil:
		return val.op.pos
	case val.block != nil && val.block.Parent() != nil:
		return val.block.Parent().pos
	}
	return 0
}
