package interp

import (
	"errors"
	"fmt"
	"time"

	"github.com/hlocb/hlocb/dialect/fn"
	"github.com/hlocb/hlocb/ir"
	"github.com/hlocb/hlocb/tensor"
)

// maxCallDepth bounds the nesting of calls while a program runs.
const maxCallDepth = 10000

// program is what the machines of a compiled module share. It does not change once the module is compiled.
type program struct {
	module               *ir.Module
	token                *buf // the one value that all tokens share
	replicas, partitions int
	timeout              time.Duration // of a callback; 0 means none
}

// compiler compiles the functions of a module on request.
type compiler struct {
	*program
	table     map[*ir.Def]row
	symbols   ir.Symbols
	funcs     map[string]*function
	limit     int64 // of memory, in bytes; 0 means none
	constants int64 // bytes held by plans
	planned   bool  // compilation has ended: no functions and constants are added
}

// function is the plan of one function.
type function struct {
	name    string
	op      *ir.Op
	nslots  int
	args    []vtype
	results []vtype
	body    *block
}

// block is the plan of one block.
type block struct {
	args    []int32
	argDead []int32 // unused arguments
	instrs  []instr
	ret     []int32 // operands of the terminator
	retMove []bool  // whether to move the operand out of its slot
	after   []int32 // slots to release at the end; values that die at an instruction are not among them
}

// instr is one op.
type instr struct {
	op    *ir.Op
	in    []int32
	out   []int32
	types []vtype // result types
	move  []bool  // operand i dies here and no later operand of the op is the same value
	dead  []int32 // slots to release afterwards
	run   control
}

// kernel computes results from operands.
type kernel struct {
	// run writes every element of every result. It never writes an operand, except that the first result may share its
	// payload with an operand that inplace names.
	run     func(in, out []*tensor.Tensor) error
	inplace uint64      // bit i: operand i may be overwritten by the first result
	others  []uint64    // the same for the results after the first
	loop    elementLoop // of an elementwise kernel; cost is in nanoseconds per element
	cost    int
	scratch int64 // additional bytes that run needs, if they can far exceed the operands and results
}

// control executes an instruction.
type control func(m *machine, fr *frame, ins *instr) error

// row describes how to execute one op kind: with a kernel or with a control instruction.
type row struct {
	// make builds the kernel for operands and results of static shape. A row has either make or control.
	make func(s *spec) (kernel, error)
	// shape sets the result shapes in s from the operands if the shapes are not static. If shape is nil, every result
	// has the shape of the first operand.
	shape func(s *spec, in []*tensor.Tensor) error
	// control builds the instruction of an op that needs the machine: control flow, calls, hooks and everything else that
	// is not a function of tensors.
	control func(p *planner, s *spec) (control, error)
	// staticShapes: control needs operands and results of static shape. If the shapes are not static, control is called
	// when the op executes (lazyControl).
	staticShapes bool
	// elementwise: result element i depends only on operand elements i. Such an op may be lifted (lift.go).
	elementwise bool
	// pure: the results of control depend only on the operands and the regions.
	pure bool
}

// signature is the types that a kernel is built for.
type signature struct {
	name    string // of the op, for errors
	in      []vtype
	out     []vtype
	reserve func(bytes int64) error // charges for memory that the kernel keeps
}

// spec is the op that an instruction is built for.
type spec struct {
	signature
	p  *planner
	op *ir.Op
}

func newSpec(p *planner, op *ir.Op, in, out []vtype) *spec {
	return &spec{signature{op.Name(), in, out, p.reserve}, p, op}
}

// pure returns the maker of a kernel that depends only on the types.
func pure(f func(*signature) (kernel, error)) func(*spec) (kernel, error) {
	return func(s *spec) (kernel, error) { return f(&s.signature) }
}

// planner compiles the ops of one function. The regions of ops share the function's slots, since they may use values
// from outside.
type planner struct {
	prog  *compiler
	fn    *function
	slots map[*ir.Value]int32
	types map[*ir.Value]vtype // types that differ from the value's own
	index map[*ir.Op]int
	last  map[*ir.Value]int // see lastUse
	wide  int               // vector length of every scalar in a lifted region; see lift.go
}

// reserve charges for memory that a plan holds for the lifetime of the executable, before it is allocated. Plans made
// at run time, for shapes known only then, replace earlier plans; for them reserve only checks the limit.
func (p *planner) reserve(size int64) error {
	if limit := p.prog.limit; limit > 0 && p.prog.constants+size > limit {
		return fmt.Errorf("needs %d bytes more than the %d in use; the memory limit is %d", size, p.prog.constants, limit)
	}
	if !p.prog.planned {
		p.prog.constants += size
	}
	return nil
}

func newCompiler(mod *ir.Module, symbols ir.Symbols, table map[*ir.Def]row, limit int64) *compiler {
	return &compiler{program: &program{module: mod, token: &buf{refs: 1, fixed: true}, replicas: 1, partitions: 1},
		table: table, symbols: symbols, funcs: map[string]*function{}, limit: limit}
}

// newPlanner returns the planner of a function, which has no slots yet.
func (prog *compiler) newPlanner(f *function) *planner {
	return &planner{prog: prog, fn: f, slots: map[*ir.Value]int32{}, index: map[*ir.Op]int{}, last: map[*ir.Value]int{}}
}

// function returns the plan of the named function. It compiles the function on the first request. All requests for a
// new function come before the first run, since runs share the program.
func (prog *compiler) function(name string, at *ir.Op) (*function, error) {
	if f := prog.funcs[name]; f != nil {
		return f, nil
	}
	if prog.planned {
		return nil, fmt.Errorf("internal error: function '%s' was not compiled before the run", name)
	}
	op := prog.symbols[name]
	fo, ok := fn.AsFunc(op)
	if !ok {
		return nil, fmt.Errorf("'%s' does not reference a valid function", name)
	}
	if fo.External() {
		return nil, fmt.Errorf("calls '%s', which has no body", name)
	}
	f := &function{name: name, op: op}
	prog.funcs[name] = f
	var err error
	if f.args, f.results, err = typesOfFunction(fo); err != nil {
		return nil, locate(prog.module, op, err)
	}
	if len(op.Region(0).Blocks()) != 1 {
		return nil, locate(prog.module, op, unsupported("a function of several blocks"))
	}
	p := prog.newPlanner(f)
	if f.body, err = p.block(fo.Body()); err != nil {
		return nil, err
	}
	if len(f.body.args) != len(f.args) || len(f.body.ret) != len(f.results) {
		return nil, locate(prog.module, op, errors.New("has a type that does not fit its body"))
	}
	return f, nil
}

func typesOfFunction(f fn.FuncOp) (args, results []vtype, err error) {
	t := f.Type()
	if t == nil {
		return nil, nil, errors.New("has no function type")
	}
	if args, err = typesOf(t.Inputs()); err != nil {
		return nil, nil, err
	}
	results, err = typesOf(t.Results())
	return args, results, err
}

func typesOf(types []ir.Type) ([]vtype, error) {
	out := make([]vtype, len(types))
	for i, t := range types {
		v, err := typeOf(t)
		if err != nil {
			return nil, err
		}
		out[i] = v
	}
	return out, nil
}

// slot returns the slot of v and assigns one on the first request.
func (p *planner) slot(v *ir.Value) int32 {
	s, ok := p.slots[v]
	if !ok {
		s = p.fresh()
		p.slots[v] = s
	}
	return s
}

// fresh returns a new slot of the function.
func (p *planner) fresh() int32 {
	s := int32(p.fn.nslots)
	p.fn.nslots++
	return s
}

// typeOf returns the type that v is compiled with.
func (p *planner) typeOf(v *ir.Value) (vtype, error) {
	if t, ok := p.types[v]; ok {
		return t, nil
	}
	return typeOf(v.Type())
}

// block compiles a block of the function.
func (p *planner) block(b *ir.Block) (*block, error) {
	out := &block{}
	for _, a := range b.Args() {
		s := p.slot(a)
		out.args = append(out.args, s)
		if !a.HasUses() {
			out.argDead = append(out.argDead, s)
		}
	}
	term := b.Last()
	if term == nil || !isReturn(term) {
		at := b.Parent()
		if term != nil {
			at = term
		}
		return nil, locate(p.prog.module, at, errors.New("ends a block without a return"))
	}
	schedule := p.schedule(b)
	for i, ops := range schedule {
		for _, o := range ops {
			p.index[o] = i
		}
	}
	p.index[term] = len(schedule)
	out.instrs = make([]instr, 0, len(schedule))
	for _, ops := range schedule {
		var ins instr
		var err error
		if len(ops) > 1 {
			ins, err = p.fuse(ops, b)
		} else {
			ins, err = p.instr(ops[0], b)
		}
		if err != nil {
			return nil, locate(p.prog.module, ops[0], err)
		}
		out.instrs = append(out.instrs, ins)
	}
	for i, v := range term.Operands() {
		out.ret = append(out.ret, p.slot(v))
		out.retMove = append(out.retMove, v.ParentBlock() == b && lastPlace(term, i))
	}
	return out, nil
}

func isReturn(o *ir.Op) bool { return o.Has(ir.ReturnLike) }

// lastPlace reports whether operand i of o differs from all later operands.
func lastPlace(o *ir.Op, i int) bool {
	v := o.Operand(i)
	for j := i + 1; j < o.NumOperands(); j++ {
		if o.Operand(j) == v {
			return false
		}
	}
	return true
}

// usedInside reports whether the regions of o use v directly; v must then outlive the start of o.
func usedInside(v *ir.Value, o *ir.Op) bool {
	if o.NumRegions() == 0 {
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
func (p *planner) instr(o *ir.Op, b *ir.Block) (instr, error) {
	ins := instr{op: o}
	s := newSpec(p, o, nil, nil)
	for i, v := range o.Operands() {
		t, err := p.typeOf(v)
		if err != nil {
			return ins, err
		}
		s.in = append(s.in, t)
		ins.in = append(ins.in, p.slot(v))
		ins.move = append(ins.move, p.dies(v, o, b) && lastPlace(o, i) && !usedInside(v, o))
	}
	for _, v := range o.Results() {
		t, err := p.typeOf(v)
		if err != nil {
			return ins, err
		}
		s.out = append(s.out, t)
		ins.out = append(ins.out, p.slot(v))
	}
	ins.types = s.out
	ins.dead = p.deadAfter(o, b)
	if err := p.pick(&ins, s); err != nil {
		return ins, err
	}
	return ins, nil
}

// pick chooses the kernel or control instruction for an instruction.
func (p *planner) pick(ins *instr, s *spec) error {
	r, ok := p.prog.table[opKind(s.op)]
	if !ok {
		return unsupported("%s", s.op.Name())
	}
	if wide := promotions(s); wide != nil {
		return p.promote(ins, s, wide)
	}
	if r.control != nil {
		if r.staticShapes {
			for _, t := range append(s.in[:len(s.in):len(s.in)], s.out...) {
				if t.dynamic() {
					l := &lazyControl{row: r, spec: s, outer: p}
					ins.run = l.run
					return l.reserve()
				}
			}
		}
		ctl, err := r.control(p, s)
		ins.run = ctl
		return err
	}
	dynamic := false
	for _, t := range append(s.in[:len(s.in):len(s.in)], s.out...) {
		if t.class != classTensor {
			return fmt.Errorf("expects tensors, but has an operand or result of type %s", t)
		}
		dynamic = dynamic || t.dynamic()
	}
	if dynamic {
		ins.run = (&lazyKernel{row: r, spec: s}).run
		return nil
	}
	run, err := p.kernelControl(r, s)
	ins.run = run
	return err
}

// kernelControl returns the instruction that executes the kernel of a row.
func (p *planner) kernelControl(r row, s *spec) (control, error) {
	k, err := p.kernel(r, s)
	if err != nil {
		return nil, err
	}
	return execute(k), nil
}

// execute returns the instruction that executes a kernel.
func execute(k kernel) control {
	return func(m *machine, fr *frame, ins *instr) error { return m.step(fr, ins, &k, ins.types) }
}

// dies reports whether b defines v and o is the last op of b that uses v.
func (p *planner) dies(v *ir.Value, o *ir.Op, b *ir.Block) bool {
	return v.ParentBlock() == b && p.lastUse(v, b) == p.index[o]
}

// lastUse returns the index of the last op in v's block b that uses v, directly or inside its regions.
func (p *planner) lastUse(v *ir.Value, b *ir.Block) int {
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
func (p *planner) deadAfter(o *ir.Op, b *ir.Block) []int32 {
	var dead []int32
	seen := map[*ir.Value]bool{}
	note := func(v *ir.Value) {
		if !seen[v] && v.ParentBlock() == b && p.dies(v, o, b) {
			dead = append(dead, p.slot(v))
		}
		seen[v] = true
	}
	for _, v := range o.Operands() {
		note(v)
	}
	for _, r := range o.Regions() {
		for _, rb := range r.Blocks() {
			for inner := range rb.Ops() {
				inner.Walk(func(x *ir.Op) bool {
					for _, v := range x.Operands() {
						note(v)
					}
					return true
				})
			}
		}
	}
	for _, v := range o.Results() {
		if !v.HasUses() {
			dead = append(dead, p.slot(v))
		}
	}
	return dead
}
