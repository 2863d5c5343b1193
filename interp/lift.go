package interp

import (
	"errors"
	"fmt"
	"slices"

	"github.com/hlocb/hlocb/dialect/fn"
	"github.com/hlocb/hlocb/dialect/quant"
	"github.com/hlocb/hlocb/ir"
	"github.com/hlocb/hlocb/tensor"
)

// The regions of reduce, map, scatter and similar ops compute scalars. Executing such a region once per element would
// cost about a hundred nanoseconds per op and element. The engine therefore lifts the region: it compiles the region
// again with every scalar widened to a vector of N elements. This is correct because the region's ops are elementwise.

// liftedRegion is a scalar region compiled for vectors of n elements.
type liftedRegion struct {
	*block
	n     int
	types []vtype // of the arguments
}

// lift compiles region i of op for vectors of n elements. It returns nil if an op of the region is not elementwise.
func (p *planner) lift(op *ir.Op, i, n int) (*liftedRegion, error) {
	if i >= op.NumRegions() || len(op.Region(i).Blocks()) != 1 {
		return nil, fmt.Errorf("expects region #%d to have one block", i)
	}
	b := op.Region(i).Entry()
	if !p.liftable(b, nil) {
		return nil, nil
	}
	return p.liftBlock(b, n)
}

// liftBlock compiles a scalar block, from its arguments to its return.
func (p *planner) liftBlock(b *ir.Block, n int) (*liftedRegion, error) {
	var ops []*ir.Op
	for o := range b.Ops() {
		if !isReturn(o) {
			ops = append(ops, o)
		}
	}
	if b.Last() == nil || !isReturn(b.Last()) {
		return nil, errors.New("ends a region without a return")
	}
	return p.liftOps(b, ops, b.Args(), b.Last().OperandList(), n)
}

// liftValue compiles the computation of operand i of op as a region of one argument. op belongs to scalar region b, and
// the operand must depend on only one argument of b. liftValue returns nil if the computation is not elementwise.
func (p *planner) liftValue(b *ir.Block, op *ir.Op, i, n int) (*liftedRegion, error) {
	if !p.liftable(b, nil) {
		return nil, nil
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
	var ops []*ir.Op
	for o := range b.Ops() {
		if needed[o] {
			ops = append(ops, o)
		}
	}
	if arg == nil {
		return nil, nil
	}
	return p.liftOps(b, ops, []*ir.Value{arg}, []*ir.Value{op.Operand(i)}, n)
}

// liftOps compiles some ops of scalar region b.
func (p *planner) liftOps(b *ir.Block, ops []*ir.Op, args, ret []*ir.Value, n int) (*liftedRegion, error) {
	q := p.prog.newPlanner(p.fn)
	q.types, q.wide = map[*ir.Value]vtype{}, n
	out := &liftedRegion{n: n, block: &block{}}
	at := 0
	for o := range b.Ops() {
		q.index[o] = at
		at++
	}
	widen := func(v *ir.Value) error {
		t, err := typeOf(v.Type())
		if err != nil {
			return err
		}
		wide := tensorType(t.dt, int64(n))
		wide.quant = t.quant
		q.types[v] = wide
		return nil
	}
	for _, a := range args {
		if err := widen(a); err != nil {
			return nil, err
		}
		out.types = append(out.types, q.types[a])
		s := q.slot(a)
		out.args = append(out.args, s)
		if !a.HasUses() {
			out.argDead = append(out.argDead, s)
		}
	}
	// outside widens a value from outside the region, once per execution. The wide value stays until the end.
	outside := func(o *ir.Op, v *ir.Value) error {
		if _, ok := q.types[v]; ok {
			return nil
		}
		if err := widen(v); err != nil {
			return err
		}
		in, err := typeOf(v.Type())
		if err != nil {
			return err
		}
		k, err := broadcastKernel(in, q.types[v], nil)
		if err != nil {
			return err
		}
		s := q.slot(v)
		out.after = append(out.after, s)
		out.instrs = append(out.instrs, instr{op: o, in: []int32{p.slot(v)}, out: []int32{s}, types: []vtype{q.types[v]}, move: []bool{false}, run: execute(k)})
		return nil
	}
	for _, o := range ops {
		for _, v := range o.Operands() {
			if err := outside(o, v); err != nil {
				return nil, err
			}
		}
		for _, v := range o.Results() {
			if err := widen(v); err != nil {
				return nil, err
			}
		}
		ins, err := q.instr(o, b)
		if err != nil {
			return nil, locate(p.prog.module, o, err)
		}
		out.instrs = append(out.instrs, ins)
	}
	for i, v := range ret {
		if err := outside(b.Last(), v); err != nil {
			return nil, err
		}
		later := false
		for _, w := range ret[i+1:] {
			later = later || v == w
		}
		out.ret = append(out.ret, q.slot(v))
		out.retMove = append(out.retMove, v.ParentBlock() == b && !later)
	}
	return out, nil
}

// planLiftedCall compiles a call in a lifted region. The callee's body is lifted too and uses the same frame.
func planLiftedCall(p *planner, s *spec) (control, error) {
	f, _ := fn.AsFunc(p.prog.symbols[fn.Callee(s.op)])
	r, err := p.liftBlock(f.Body(), p.wide)
	if err != nil {
		return nil, err
	}
	if len(r.args) != len(s.in) || len(r.ret) != len(s.out) {
		return nil, fmt.Errorf("calls '%s' with %d operands and %d results", f.Symbol(), len(s.in), len(s.out))
	}
	return func(m *machine, fr *frame, ins *instr) error {
		for i, a := range r.args {
			fr.slots[a] = m.take(fr, ins, i)
		}
		out := m.refs(len(ins.out))
		if err := m.block(fr, r.block, out); err != nil {
			return err
		}
		for i, b := range out {
			fr.slots[ins.out[i]] = b
		}
		m.dropRefs(len(out))
		return nil
	}, nil
}

// liftable reports whether every op of b is elementwise on scalars. It follows calls, except calls of the functions in
// inside.
func (p *planner) liftable(b *ir.Block, inside []string) bool {
	for _, a := range b.Args() {
		if !isScalar(a.Type()) {
			return false
		}
	}
	for o := range b.Ops() {
		if isReturn(o) {
			continue
		}
		if o.Is(fn.Call) {
			callee := fn.Callee(o)
			f, ok := fn.AsFunc(p.prog.symbols[callee])
			if !ok || f.External() || len(inside) > 16 || slices.Contains(inside, callee) || !p.liftable(f.Body(), append(inside, callee)) {
				return false
			}
		} else if r, ok := p.prog.table[opKind(o)]; !ok || !r.elementwise {
			return false
		}
		for _, v := range o.Results() {
			if !isScalar(v.Type()) {
				return false
			}
		}
		for _, v := range o.Operands() {
			if !isScalar(v.Type()) {
				return false
			}
		}
	}
	return true
}

func isScalar(t ir.Type) bool {
	v, ok := t.(*ir.TensorType)
	if !ok || !v.Ranked() || v.Rank() != 0 {
		return false
	}
	q := quant.Of(v.Elem())
	return v.DType() != tensor.Invalid || q != nil && q.Axis < 0
}

// singleOp returns the only op of a scalar region, if that op combines the region's two arguments. swapped reports
// whether the op reads the arguments in the opposite order.
func singleOp(b *ir.Block) (op *ir.Op, swapped bool) {
	if b.NumArgs() != 2 {
		return nil, false
	}
	o := b.First()
	if o == nil || o.Next() == nil || o.Next() != b.Last() || !isReturn(b.Last()) ||
		o.NumOperands() != 2 || o.NumResults() != 1 || b.Last().NumOperands() != 1 || b.Last().Operand(0) != o.Result(0) {
		return nil, false
	}
	switch {
	case o.Operand(0) == b.Arg(0) && o.Operand(1) == b.Arg(1):
		return o, false
	case o.Operand(0) == b.Arg(1) && o.Operand(1) == b.Arg(0):
		return o, true
	}
	return nil, false
}
