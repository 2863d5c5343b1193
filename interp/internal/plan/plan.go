package plan

import (
	"cmp"
	"errors"
	"fmt"
	"slices"
	"sync"

	"github.com/hlocb/hlocb/dialect/fn"
	"github.com/hlocb/hlocb/interp/internal/exec"
	"github.com/hlocb/hlocb/interp/internal/kernel"
	"github.com/hlocb/hlocb/ir"
	"github.com/hlocb/hlocb/ir/flow"
)

// Compiler compiles the functions of a module on request.
type Compiler struct {
	*exec.Program
	table     map[*ir.Def]Recipe
	Symbols   ir.Symbols
	funcs     map[string]*exec.Function
	limit     int64     // of memory, in bytes; 0 means none
	Constants int64     // bytes held by plans
	blocks    sync.Pool // see fused
	Planned   bool      // compilation has ended: no functions and constants are added
}

// Spec describes the op that an instruction is built for.
type Spec struct {
	kernel.Signature
	Planner *Planner
	Op      *ir.Op
}

func NewSpec(p *Planner, op *ir.Op, in, out []kernel.Type) *Spec {
	return &Spec{kernel.Signature{Name: op.Name(), In: in, Out: out, Reserve: p.reserve}, p, op}
}

// Planner compiles the ops of one function. Regions share the function's slots, since they may use values from outside.
type Planner struct {
	ins        *exec.Instr // the instruction under construction
	Prog       *Compiler
	Fn         *exec.Function
	slots      map[*ir.Value]int32
	types      map[*ir.Value]kernel.Type // types that differ from the value's own
	index      map[*ir.Op]int            // the last instruction of its block that executes the op
	last       map[*ir.Value]int         // see lastUse
	home       map[*ir.Op]int            // the chain that an op belongs to by its place; see recompute
	recomputed map[*ir.Value]bool        // values that no chain stores
	absorbed   map[*ir.Op]bool           // transposes that products read through; see absorb
	single     map[*ir.Op]bool           // constants with one element in store; see shrink
	wide       int                       // vector length of every scalar in a lifted region; see lift.go
}

// reserve charges for memory that a plan holds for the lifetime of the executable, before it is allocated. Plans made
// at run time, for shapes known only then, replace earlier plans; for them reserve only checks the limit.
func (p *Planner) reserve(size int64) {
	limit, held := p.Prog.limit, p.Prog.Constants
	kernel.FailIf(limit > 0 && held+size > limit, "needs %d bytes more than the %d in use; the memory limit is %d", size, held, limit)
	if !p.Prog.Planned {
		p.Prog.Constants += size
	}
}

func NewCompiler(mod *ir.Module, symbols ir.Symbols, table map[*ir.Def]Recipe, limit int64) *Compiler {
	return &Compiler{Program: &exec.Program{Module: mod, Token: &exec.Buf{Refs: 1, Fixed: true}, Replicas: 1, Partitions: 1},
		table: table, Symbols: symbols, funcs: map[string]*exec.Function{}, limit: limit}
}

// NewPlanner returns the planner of a function, which has no slots yet.
func (prog *Compiler) NewPlanner(f *exec.Function) *Planner {
	return &Planner{Prog: prog, Fn: f, slots: map[*ir.Value]int32{}, index: map[*ir.Op]int{}, last: map[*ir.Value]int{},
		home: map[*ir.Op]int{}, recomputed: map[*ir.Value]bool{}, absorbed: map[*ir.Op]bool{}, single: map[*ir.Op]bool{}}
}

// Function returns the plan of the named function. It compiles the function on the first request. Runs share the
// program; request every new function before the first run.
func (prog *Compiler) Function(name string) *exec.Function {
	if f := prog.funcs[name]; f != nil {
		return f
	}
	kernel.FailIf(prog.Planned, "internal error: function '%s' was not compiled before the run", name)
	op := prog.Symbols[name]
	fo, ok := fn.AsFunc(op)
	kernel.FailIf(!ok, "'%s' does not reference a valid function", name)
	kernel.FailIf(fo.External(), "calls '%s', which has no body", name)
	f := &exec.Function{Name: name, Op: op}
	prog.funcs[name] = f
	defer prog.locate(op)
	t := fo.Type()
	kernel.FailIf(t == nil, "has no function type")
	f.Args, f.Results = typesOf(t.Inputs()), typesOf(t.Results())
	kernel.UnsupportedIf(len(op.Region(0).Blocks()) != 1, "a function of several blocks")
	f.Body = prog.NewPlanner(f).block(fo.Body())
	place(f, prog.limit, func(i int) bool {
		_, donated := fo.Donation(i)
		return donated || fo.Private() // a caller inside the module may have no further use of an argument
	})
	kernel.FailIf(len(f.Body.Args) != len(f.Args) || len(f.Body.Ret) != len(f.Results), "has a type that does not fit its body")
	return f
}

// locate gives the error that ends the compilation of op, if there is one, the location of op. Defer it.
func (prog *Compiler) locate(op *ir.Op) {
	if v := recover(); v != nil {
		kernel.Fail(exec.Locate(prog.Module, op, kernel.Cause(v)))
	}
}

func typesOf(types []ir.Type) []kernel.Type {
	out := make([]kernel.Type, len(types))
	for i, t := range types {
		out[i] = TypeOf(t)
	}
	return out
}

// slot returns the slot of v and assigns one on the first request.
func (p *Planner) slot(v *ir.Value) int32 {
	s, ok := p.slots[v]
	if !ok {
		s = p.Fresh()
		p.slots[v] = s
	}
	return s
}

// Fresh returns a new slot of the function.
func (p *Planner) Fresh() int32 {
	s := int32(p.Fn.Nslots)
	p.Fn.Nslots++
	return s
}

// TypeOf returns the type that v is compiled with.
func (p *Planner) TypeOf(v *ir.Value) kernel.Type {
	if t, ok := p.types[v]; ok {
		return t
	}
	return TypeOf(v.Type())
}

// block compiles a block of the function.
func (p *Planner) block(b *ir.Block) *exec.Block {
	out := &exec.Block{}
	p.arguments(out, b.Args())
	term := b.Last()
	if term == nil || !IsReturn(term) {
		kernel.Fail(exec.Locate(p.Prog.Module, cmp.Or(term, b.Parent()), errors.New("ends a block without a return")))
	}
	p.absorb(b)
	schedule := p.attach(p.recompute(p.schedule(b), b))
	p.shrink(schedule)
	schedule = p.sink(schedule)
	p.number(p.index, schedule, term)
	out.Instrs = make([]exec.Instr, 0, len(schedule))
	for i, ops := range schedule {
		if p.chained(ops) {
			out.Instrs = append(out.Instrs, p.fuse(ops, i, b))
		} else {
			out.Instrs = append(out.Instrs, p.instr(ops[0], b))
		}
	}
	p.results(out, p.operands(term), b)
	return out
}

// arguments sets the arguments of a block.
func (p *Planner) arguments(out *exec.Block, args []*ir.Value) {
	for _, a := range args {
		s := p.slot(a)
		out.Args = append(out.Args, s)
		if !a.HasUses() {
			out.ArgDead = append(out.ArgDead, s)
		}
	}
}

// results sets the values that a block returns. Those of b move out of their slots.
func (p *Planner) results(out *exec.Block, values []*ir.Value, b *ir.Block) {
	for i, v := range values {
		out.Ret = append(out.Ret, p.slot(v))
		out.RetMove = append(out.RetMove, v.ParentBlock() == b && lastPlace(values, i))
	}
}

// number sets the numbers of the groups in which ops execute. Absorbed transposes execute with the ops that read them.
func (p *Planner) number(of map[*ir.Op]int, groups [][]*ir.Op, last *ir.Op) {
	for i, ops := range groups {
		for _, o := range ops {
			of[o] = i
			for _, v := range o.Operands() {
				if d := v.DefiningOp(); p.absorbed[d] {
					of[d] = i
				}
			}
		}
	}
	of[last] = len(groups)
}

func IsReturn(o *ir.Op) bool { return o.Has(ir.ReturnLike) }

// lastPlace reports whether operand i of an op differs from all later operands.
func lastPlace(operands []*ir.Value, i int) bool {
	return !slices.Contains(operands[i+1:], operands[i])
}

// usedInside reports whether the regions of o use v directly; v must then outlive the start of o.
func usedInside(v *ir.Value, o *ir.Op) bool {
	if len(o.Regions()) == 0 {
		return false
	}
	for u := range v.Uses() {
		if u.Owner() != o && o.IsAncestorOf(u.Owner()) {
			return true
		}
	}
	return false
}

// instr compiles one op of block b.
func (p *Planner) instr(o *ir.Op, b *ir.Block) exec.Instr {
	defer p.Prog.locate(o)
	operands := p.operands(o)
	s := NewSpec(p, o, p.typesOf(slices.All(operands)), p.typesOf(o.Results()))
	ins := exec.Instr{Op: o, Types: s.Out, Dead: p.deadAfter(o, b)}
	for i, v := range operands {
		ins.In = append(ins.In, p.slot(v))
		ins.Move = append(ins.Move, p.dies(v, p.index[o], b) && lastPlace(operands, i) && !usedInside(v, o))
	}
	for _, v := range o.Results() {
		ins.Out = append(ins.Out, p.slot(v))
	}
	for _, r := range o.Regions() {
		for _, v := range flow.Captures(r) {
			ins.Captures = append(ins.Captures, p.slot(v))
		}
	}
	p.Pick(&ins, s)
	ins.Fused = p.through(o)
	return ins
}

// Pick chooses the kernel or control instruction for an instruction.
func (p *Planner) Pick(ins *exec.Instr, s *Spec) {
	defer func(outer *exec.Instr) { p.ins = outer }(p.ins)
	p.ins = ins
	r, ok := p.Prog.table[OpKind(s.Op)]
	kernel.UnsupportedIf(!ok, "%s", s.Op.Name())
	checkCount("operands", OpKind(s.Op).Operands, len(s.In))
	checkCount("results", OpKind(s.Op).Results, len(s.Out))
	if r.Expands(s.Op) {
		r.control, r.static = planExpanded, true
	}
	for _, t := range slices.Concat(s.In, s.Out) {
		switch {
		case r.control == nil && t.Class != kernel.ClassTensor:
			kernel.Fail(fmt.Errorf("expects tensors, but has an operand or result of type %s", t))
		case t.Dynamic() && (r.control == nil || r.static):
			l := &lazy{recipe: r, spec: s, outer: p}
			ins.Dynamic, ins.Run = true, l.run
			l.reserve()
			return
		}
	}
	if r.control != nil {
		ins.Run = r.control(p, s)
	} else {
		ins.Run = p.KernelControl(r.maker, s)
	}
}

// checkCount fails unless there are as many values as the row of an op declares. Kernels rely on it.
func checkCount(what string, declared []ir.Arg, n int) {
	least, open := 0, false
	for i := range declared {
		if declared[i].Mult == ir.One {
			least++
		} else {
			open = true
		}
	}
	kernel.FailIf(n < least || n > least && !open, "expects %d %s, but has %d", least, what, n)
}

// Describe names the kind of the runner under construction, for printed plans.
func (p *Planner) Describe(format string, args ...any) { p.ins.Family = fmt.Sprintf(format, args...) }

// Scratch states that the instruction under construction needs size bytes besides operands, results and the values of
// its blocks.
func (p *Planner) Scratch(size int64) { p.ins.Scratch += size }

// KernelControl makes the instruction under construction execute the kernel of a maker. It returns no runner.
func (p *Planner) KernelControl(m Maker, s *Spec) exec.Runner {
	k := p.kernel(m, s)
	p.ins.Kernel = &k
	return nil
}

// dies reports whether b defines v and instruction at is the last of b that uses v.
func (p *Planner) dies(v *ir.Value, at int, b *ir.Block) bool {
	return v.ParentBlock() == b && p.lastUse(v, b) == at
}

// lastUse returns the index of the last instruction in v's block b that uses v, directly or inside its regions.
func (p *Planner) lastUse(v *ir.Value, b *ir.Block) int {
	if last, ok := p.last[v]; ok {
		return last
	}
	last := -1
	for u := range v.Uses() {
		o := u.Owner()
		for o != nil && o.Block() != b {
			o = o.Parent()
		}
		if o != nil {
			last = max(last, p.index[o])
		}
	}
	p.last[v] = last
	return last
}

// deadAfter returns the slots whose values die at o: operands and values that its regions use for the last time, and
// unused results.
func (p *Planner) deadAfter(o *ir.Op, b *ir.Block) []int32 {
	var dead []int32
	seen := map[*ir.Value]bool{}
	note := func(v *ir.Value) {
		if !seen[v] && v.ParentBlock() == b && p.dies(v, p.index[o], b) {
			dead = append(dead, p.slot(v))
		}
		seen[v] = true
	}
	for _, v := range p.operands(o) {
		note(v)
	}
	for _, r := range o.Regions() {
		for _, v := range flow.Captures(r) {
			note(v)
		}
	}
	for _, v := range o.Results() {
		if !v.HasUses() {
			dead = append(dead, p.slot(v))
		}
	}
	return dead
}

// OpKind returns the row that identifies an op to kernels. An MHLO op that mirrors a StableHLO op has the StableHLO
// op's row.
func OpKind(o *ir.Op) *ir.Def { return o.Def().Original() }
