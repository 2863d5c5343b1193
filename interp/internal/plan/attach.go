package plan

import (
	"slices"

	"github.com/hlocb/hlocb/interp/internal/exec"
	"github.com/hlocb/hlocb/interp/internal/kernel"
	"github.com/hlocb/hlocb/ir"
	"github.com/hlocb/hlocb/tensor"
)

// A chain whose one result only a reduction uses executes inside the reduction, block by block. The result is never
// stored.

// attach moves such chains to the reductions that use them.
func (p *Planner) attach(groups [][]*ir.Op) [][]*ir.Op {
	group := map[*ir.Op]int{}
	for i, ops := range groups {
		for _, o := range ops {
			group[o] = i // the last one, if several repeat o
		}
		o := ops[0]
		if len(ops) > 1 || p.Prog.table[OpKind(o)].fold == nil || o.NumOperands() == 0 {
			continue
		}
		j, ok := group[o.Operand(0).DefiningOp()]
		if !ok || !p.produces(groups[j], o.Operand(0)) {
			continue
		}
		if _, ok := p.foldKernel(o, nil); ok {
			groups[i], groups[j] = append(groups[j], o), nil
		}
	}
	return slices.DeleteFunc(groups, func(ops []*ir.Op) bool { return len(ops) == 0 })
}

// produces reports whether a group is a chain that stores only v, and v has one user. An operand of v's size bounds the
// work. A chain without such an operand could broadcast a scalar to any size, and the memory limit would not refuse it.
func (p *Planner) produces(ops []*ir.Op, v *ir.Value) bool {
	size := p.fusible(ops[len(ops)-1])
	whole := func(v *ir.Value) bool {
		return p.TypeOf(v).N == size && !slices.Contains(ops, v.DefiningOp()) && !isSplat(v)
	}
	if size == 0 || !slices.ContainsFunc(ops, func(o *ir.Op) bool { return slices.ContainsFunc(p.operands(o), whole) }) {
		return false
	}
	for _, o := range ops {
		if r := o.Result(0); !r.HasUses() || p.stored(r) != (r == v) {
			return false
		}
	}
	return v.HasOneUse()
}

// foldKernel builds the kernel of o, whose operand 0 the source computes. It returns false if o cannot read a source.
func (p *Planner) foldKernel(o *ir.Op, source *kernel.Source) (kernel.Kernel, bool) {
	defer p.Prog.locate(o)
	s := NewSpec(p, o, p.typesOf(o.Operands()), p.typesOf(o.Results()))
	if slices.ContainsFunc(slices.Concat(s.In, s.Out), func(t kernel.Type) bool { return !plain(t) }) {
		return kernel.Kernel{}, false
	}
	return p.Prog.table[OpKind(o)].fold(s, source)
}

// fold compiles a chain and the op o that reads its result into instruction at of their block.
func (p *Planner) fold(ops []*ir.Op, o *ir.Op, at int, b *ir.Block) exec.Instr {
	f, ins, _ := p.chain(ops, at, b)
	k, _ := p.foldKernel(o, &kernel.Source{Cost: f.cost, Run: func(in []*tensor.Tensor, dst *tensor.Tensor, lo, hi int) {
		f.run(in, []*tensor.Tensor{dst}, lo, hi, lo)
	}})
	k.Family = "fused " + k.Family
	ins.Op, ins.Out, ins.Types = o, nil, p.typesOf(o.Results())
	for i, v := range o.Operands() {
		if i > 0 {
			ins.In = append(ins.In, p.slot(v))
			ins.Move = append(ins.Move, false)
		}
	}
	for _, v := range o.Results() {
		ins.Out = append(ins.Out, p.slot(v))
	}
	for _, s := range p.deadAfter(o, b) {
		if s != p.slot(o.Operand(0)) && !slices.Contains(ins.Dead, s) {
			ins.Dead = append(ins.Dead, s)
		}
	}
	ins.Kernel, ins.Fused = &k, append(ops[:len(ops):len(ops)], o)
	return ins
}
