package hlo

import (
	"slices"

	"github.com/hlocb/hlocb/ir"
)

// link is what Import knows about a module: the HLO module, and the instruction of each op. The translation's ops carry
// their number in the link as their origin, from 1 on. Arguments of blocks carry their ID, also from 1 on.
//
// A link never changes after Import. It describes ops as Import made them. A pass may change or erase them since.
type link struct {
	hlo    *Module
	ops    []*linkedOp          // by origin-1
	funcs  map[string]*linkedOp // functions by name
	attrs  ir.AttrList          // of the module
	order  bool                 // some instruction has a control predecessor, or is an add-dependency
	numIDs int                  // above the ID of every value
	spare  []linkedOp           // memory for linkedOps
	ids    []uint32             // memory for operands
}

// linkedScope is a block with the translation of a computation.
type linkedScope struct {
	comp    *computation
	args    []uint32    // IDs of the block's arguments
	types   []ir.Type   // of the block's arguments
	ops     []*linkedOp // of the block, without its terminator
	results []uint32    // IDs of the values that the block returns
	values  []value     // of the instructions, by their order
	logs    []*linkedOp // the ops that stand for debug_attributes
	groups  []*group    // of the instructions, by their order; nil for an instruction without ops
}

// group is one instruction of a scope, with the ops of its translation. Ops of a computation that is translated in
// place belong to the instruction that calls it.
type group struct {
	scope *linkedScope
	in    *instr
	ops   []*linkedOp
	first [1]*linkedOp // memory for ops: most instructions have one
}

// linkedOp is an op as Import made it.
type linkedOp struct {
	def      *ir.Def
	attrs    ir.AttrList
	types    []ir.Type // of the results
	operands []uint32  // IDs
	result   uint32    // ID of the first result; the IDs of the results are consecutive
	origin   uint32
	place    int            // among the ops of its group
	group    *group         // nil for a function, and for an op that stands for a request of debug_attributes
	log      int            // 1 for the first request of debug_attributes, 0 for another op
	regions  []*linkedScope // each has one block
}

// linkOf returns the link of m, nil if m was not translated from HLO.
func linkOf(m *ir.Module) *link {
	l, _ := m.Origins().(*link)
	return l
}

// op returns the op with the given origin, nil if there is none.
func (l *link) op(origin uint32) *linkedOp {
	if origin == 0 || int(origin) > len(l.ops) {
		return nil
	}
	return l.ops[origin-1]
}

// add records op, which translates an instruction of s, and gives it its origin.
func (l *link) add(op *ir.Op, regions []*linkedScope, types []ir.Type) *linkedOp {
	if len(l.spare) == 0 {
		l.spare = make([]linkedOp, 256)
	}
	o := &l.spare[0]
	l.spare = l.spare[1:]
	n := op.NumOperands()
	if len(l.ids) < n {
		l.ids = make([]uint32, max(n, 1024))
	}
	o.operands = l.ids[:n:n]
	l.ids = l.ids[n:]
	for i := range n {
		o.operands[i] = uint32(op.Operand(i).ID())
	}
	if op.NumResults() > 0 {
		o.result = uint32(op.Result(0).ID())
	}
	o.def, o.attrs, o.types, o.regions = op.Def(), op.Attrs(), types, regions
	l.ops = append(l.ops, o)
	o.origin = uint32(len(l.ops))
	op.SetOrigin(o.origin)
	return o
}

// setArgs gives the arguments of a block their origins and records them.
func (s *linkedScope) setArgs(b *ir.Block) {
	for _, a := range b.Args() {
		s.args, s.types = append(s.args, uint32(a.ID())), append(s.types, a.Type())
		a.SetOrigin(uint32(a.ID()) + 1)
	}
}

// setResults records what a block returns.
func (s *linkedScope) setResults(list []*ir.Value) {
	for _, v := range list {
		s.results = append(s.results, uint32(v.ID()))
	}
}

// group returns the ops of in.
func (s *linkedScope) group(in *instr) *group { return s.groups[in.order] }

// Before implements ir.Origins: control predecessors and add-dependency are an order that no value expresses.
func (l *link) Before(origin uint32) []uint32 {
	o := l.op(origin)
	if o == nil || o.group == nil || !l.order {
		return nil
	}
	var list []uint32
	for _, g := range o.group.before() {
		for _, o := range g.ops {
			list = append(list, o.origin)
		}
	}
	return list
}

// before returns the instructions with ops that execute before g, by control predecessors and add-dependency.
func (g *group) before() []*group {
	var list []*group
	// An instruction without ops, such as a copy, stands for its operands and its predecessors.
	after, before := map[*instr]bool{}, map[*instr]bool{}
	var precede func(in *instr)
	precede = func(in *instr) {
		if before[in] {
			return
		}
		before[in] = true
		if p := g.scope.group(in); p != nil {
			if p != g {
				list = append(list, p)
			}
			return
		}
		for _, o := range in.operands {
			precede(o)
		}
		for _, p := range in.predecessors() {
			precede(p)
		}
	}
	var wait func(in *instr)
	wait = func(in *instr) {
		if after[in] {
			return
		}
		after[in] = true
		for _, p := range in.predecessors() {
			precede(p)
		}
		if in.op.name == "add-dependency" {
			precede(in.operands[1])
		}
		for _, o := range in.operands {
			if g.scope.group(o) == nil {
				wait(o)
			}
		}
	}
	wait(g.in)
	return list
}

// ordered reports whether some instruction has an order that no value expresses.
func (m *Module) ordered() bool {
	return slices.ContainsFunc(m.comps, func(c *computation) bool {
		return slices.ContainsFunc(c.instrs, func(in *instr) bool { return in.op.name == "add-dependency" || in.get(cControl) != nil })
	})
}

// AttrOf returns the attribute that m had when it was translated from HLO, nil if there is none.
func AttrOf(m *ir.Module, name string) ir.Attr {
	if l := linkOf(m); l != nil {
		return l.attrs.Get(name)
	}
	return nil
}

// CalleeOf returns the name of the function that the op with the given origin called when the module was translated,
// and the origins of the ops that make its first operand and use its first result; they are empty if there are none.
func CalleeOf(m *ir.Module, origin uint32) (callee string, operand, user uint32) {
	l := linkOf(m)
	if l == nil {
		return "", 0, 0
	}
	o := l.op(origin)
	if o == nil || o.group == nil {
		return "", 0, 0
	}
	for _, a := range o.attrs {
		if s, ok := a.Attr.(*ir.SymbolRefAttr); ok {
			callee = s.Root()
		}
	}
	in := o.group.in
	if len(in.operands) > 0 {
		if g := o.group.producer(in.operands[0]); g != nil {
			operand = g.ops[len(g.ops)-1].origin
		}
	}
	for _, x := range o.group.scope.comp.instrs[in.order:] {
		if g := o.group.scope.group(x); g != nil && g != o.group && len(x.operands) > 0 && o.group.producer(x.operands[0]) == o.group {
			return callee, operand, g.ops[len(g.ops)-1].origin
		}
	}
	return callee, operand, 0
}

// producer returns the instruction with ops that makes the value of in, if in only extracts it.
func (g *group) producer(in *instr) *group {
	for in.op == opGTE || in.op == opTuple && len(in.operands) > 0 {
		in = in.operands[0]
	}
	return g.scope.group(in)
}

// FusionOf returns the name of the fusion instruction that op was translated from, "" if there is none. The ops of a
// fusion in a fusion belong to the outer one.
func FusionOf(m *ir.Module, op *ir.Op) string {
	l := linkOf(m)
	if l == nil {
		return ""
	}
	o := l.op(op.Origin())
	if o == nil || o.group == nil || o.group.in.op != opFusion {
		return ""
	}
	return o.group.in.name
}
