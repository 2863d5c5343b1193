package plan

import (
	"fmt"
	"slices"

	"github.com/hlocb/hlocb/dialect/fn"
	"github.com/hlocb/hlocb/dialect/quant"
	"github.com/hlocb/hlocb/interp/internal/exec"
	"github.com/hlocb/hlocb/interp/internal/kernel"
	"github.com/hlocb/hlocb/ir"
	"github.com/hlocb/hlocb/tensor"
)

// The regions of reduce, map, scatter and similar ops compute scalars. Executing such a region once per element would
// cost about a hundred nanoseconds per op and element. The engine therefore lifts the region: it compiles the region
// again with every scalar widened to a vector of N elements. This is correct if the region's ops are elementwise. Other
// regions execute once per element.

// LiftedRegion is a scalar region compiled for vectors of n elements.
type LiftedRegion struct {
	*exec.Block
	N       int
	Types   []kernel.Type // of the arguments
	Scalars bool          // the region executes once per element
}

// Lift compiles region i of op, which has the given numbers of arguments and results, for vectors of n elements.
func (p *Planner) Lift(op *ir.Op, i, n, args, results int) *LiftedRegion {
	kernel.FailIf(i >= len(op.Regions()) || len(op.Region(i).Blocks()) != 1, "expects region #%d to have one block", i)
	b := op.Region(i).Entry()
	kernel.FailIf(len(b.Args()) != args || b.Last() == nil || b.Last().NumOperands() != results,
		"expects a region of %d arguments and %d results", args, results)
	if !p.liftable(b, nil) {
		return p.liftScalars(op, i, n)
	}
	return p.liftBlock(b, n)
}

// liftScalars compiles region i of op into a block that executes the region for one element after another.
func (p *Planner) liftScalars(op *ir.Op, i, n int) *LiftedRegion {
	body := p.Region(op, i)
	body.Name += ", one element at a time"
	out := &LiftedRegion{N: n, Scalars: true, Block: &exec.Block{RetMove: make([]bool, len(body.Ret))}}
	ins := exec.Instr{Op: op}
	widen := func(v *ir.Value) kernel.Type {
		t := p.TypeOf(v)
		kernel.UnsupportedIf(t.Class != kernel.ClassTensor || t.N != 1, "a region on values of type %s", t)
		return widened(t, n)
	}
	for _, v := range op.Region(i).Entry().Args() {
		out.Types, ins.In, ins.Move = append(out.Types, widen(v)), append(ins.In, p.Fresh()), append(ins.Move, false)
	}
	for k, v := range op.Region(i).Entry().Last().Operands() {
		ins.Types, ins.Out, out.RetMove[k] = append(ins.Types, widen(v)), append(ins.Out, p.Fresh()), true
	}
	ins.Dead = ins.In
	ins.Run = func(m *exec.Machine, fr *exec.Frame, ins *exec.Instr) {
		for k, t := range ins.Types {
			fr.Slots[ins.Out[k]] = m.Alloc(t.DType, t.Shape, n)
		}
		values := m.PushRefs(len(ins.Out))
		for e := range n {
			m.Poll()
			for k, a := range body.Args {
				fr.Slots[a] = m.CopyScalar(&fr.Slots[ins.In[k]].Tensor, e)
			}
			m.RunBlock(fr, body, values)
			for k, v := range values {
				copy(exec.Element(&fr.Slots[ins.Out[k]].Tensor, e), v.Tensor.Bytes())
				m.Release(v)
			}
		}
		m.PopRefs(len(ins.Out))
	}
	out.Args, out.Ret, out.Instrs = ins.In, ins.Out, []exec.Instr{ins}
	return out
}

// liftBlock compiles a scalar block, from its arguments to its return.
func (p *Planner) liftBlock(b *ir.Block, n int) *LiftedRegion {
	kernel.FailIf(b.Last() == nil || !IsReturn(b.Last()), "ends a region without a return")
	return p.liftOps(b, slices.DeleteFunc(slices.Collect(b.Ops()), IsReturn), b.Args(), b.Last().OperandList(), n)
}

// LiftValue compiles the computation of operand i of op as a region of one argument. op belongs to scalar region b, and
// the operand must depend on only one argument of b. LiftValue returns nil if the computation is not elementwise.
func (p *Planner) LiftValue(b *ir.Block, op *ir.Op, i, n int) *LiftedRegion {
	if !p.liftable(b, nil) {
		return nil
	}
	needed := map[*ir.Op]bool{}
	var arg *ir.Value
	var visit func(v *ir.Value)
	visit = func(v *ir.Value) {
		switch {
		case v.Block() == b:
			arg = v
		case v.ParentBlock() == b && !needed[v.DefiningOp()]:
			needed[v.DefiningOp()] = true
			for _, o := range v.DefiningOp().Operands() {
				visit(o)
			}
		}
	}
	visit(op.Operand(i))
	if arg == nil {
		return nil
	}
	ops := slices.DeleteFunc(slices.Collect(b.Ops()), func(o *ir.Op) bool { return !needed[o] })
	return p.liftOps(b, ops, []*ir.Value{arg}, []*ir.Value{op.Operand(i)}, n)
}

// liftOps compiles some ops of scalar region b.
func (p *Planner) liftOps(b *ir.Block, ops []*ir.Op, args, ret []*ir.Value, n int) *LiftedRegion {
	q := p.Prog.NewPlanner(p.Fn)
	q.types, q.wide = map[*ir.Value]kernel.Type{}, n
	out := &LiftedRegion{N: n, Block: &exec.Block{}}
	at := 0
	for o := range b.Ops() {
		q.index[o] = at
		at++
	}
	widen := func(v *ir.Value) { q.types[v] = widened(TypeOf(v.Type()), n) }
	for _, a := range args {
		widen(a)
		out.Types = append(out.Types, q.types[a])
	}
	q.arguments(out.Block, args)
	// outside widens a value from outside the region, once per execution. The wide value stays until the end.
	outside := func(o *ir.Op, v *ir.Value) {
		if _, ok := q.types[v]; ok {
			return
		}
		widen(v)
		k := kernel.BroadcastKernel(TypeOf(v.Type()), q.types[v], nil)
		s := q.slot(v)
		out.After = append(out.After, s)
		out.Instrs = append(out.Instrs, exec.Instr{Op: o, In: []int32{p.slot(v)}, Out: []int32{s}, Types: []kernel.Type{q.types[v]}, Move: []bool{false}, Kernel: &k})
	}
	for _, o := range ops {
		for _, v := range o.Operands() {
			outside(o, v)
		}
		for _, v := range o.Results() {
			widen(v)
		}
		out.Instrs = append(out.Instrs, q.instr(o, b))
	}
	for _, v := range ret {
		outside(b.Last(), v)
	}
	q.results(out.Block, ret, b)
	out.Name = fmt.Sprintf("region on vectors of %d elements", n)
	p.ins.Blocks = append(p.ins.Blocks, out.Block)
	return out
}

// widened returns the type of a vector of n elements of t's type.
func widened(t kernel.Type, n int) kernel.Type {
	wide := kernel.TensorType(t.DType, int64(n))
	wide.Quant = t.Quant
	return wide
}

// planLiftedCall compiles a call in a lifted region. The callee's body is lifted too and uses the same frame.
func planLiftedCall(p *Planner, s *Spec) exec.Runner {
	f, _ := fn.AsFunc(p.Prog.Symbols[fn.Callee(s.Op)])
	r := p.liftBlock(f.Body(), p.wide)
	kernel.FailIf(len(r.Args) != len(s.In) || len(r.Ret) != len(s.Out),
		"calls '%s' with %d operands and %d results", f.Symbol(), len(s.In), len(s.Out))
	return func(m *exec.Machine, fr *exec.Frame, ins *exec.Instr) { m.RunInside(fr, r.Block, fr, ins) }
}

// liftable reports whether every op of b is elementwise on scalars. It follows calls, except calls of the functions in
// inside.
func (p *Planner) liftable(b *ir.Block, inside []string) bool {
	if slices.ContainsFunc(b.Args(), notScalar) {
		return false
	}
	for o := range b.Ops() {
		if IsReturn(o) {
			continue
		}
		if o.Is(fn.Call) {
			callee := fn.Callee(o)
			f, ok := fn.AsFunc(p.Prog.Symbols[callee])
			if !ok || f.External() || len(inside) > 16 || slices.Contains(inside, callee) || !p.liftable(f.Body(), append(inside, callee)) {
				return false
			}
		} else if r, ok := p.Prog.table[OpKind(o)]; !ok || !r.elementwise {
			return false
		}
		if slices.ContainsFunc(append(o.OperandList(), o.ResultList()...), notScalar) {
			return false
		}
	}
	return true
}

func notScalar(v *ir.Value) bool {
	t, ok := v.Type().(*ir.TensorType)
	if !ok || !t.Ranked() || t.Rank() != 0 {
		return true
	}
	q := quant.Of(t.Elem())
	return t.DType() == tensor.Invalid && (q == nil || q.Axis >= 0)
}
