package passes

import (
	"github.com/hlocb/hlocb/dialect/fn"
	"github.com/hlocb/hlocb/dialect/stablehlo"
	"github.com/hlocb/hlocb/ir"
	"github.com/hlocb/hlocb/ir/flow"
	"github.com/hlocb/hlocb/pass"
	"github.com/hlocb/hlocb/rewrite"
)

// DCE erases ops and values that no result and no side effect depends on.
type DCE struct{}

var dceInfo = &pass.Info{
	Name: "dce",
	Doc: "Erases operations that no result and no side effect depends on, and the values that loops, branches and private functions " +
		"forward only for such operations.",
	Idempotent: true,
}

// Info implements pass.Pass.
func (DCE) Info() *pass.Info { return dceInfo }

// Run implements pass.ModulePass.
func (DCE) Run(ctx *pass.Context, m *ir.Module) error { return runDCE(ctx, m, false) }

func runDCE(ctx *pass.Context, m *ir.Module, plain bool) error {
	d := &dce{r: rewrite.New(m), graph: flow.Of(m, nil), plain: plain, live: make([]bool, m.NumIDs()), needed: map[*ir.Op]bool{}, closed: map[*ir.Op]bool{}}
	for _, f := range d.graph.Functions() {
		d.closed[f] = private(f) && flow.Entry(f) != nil && len(f.Region(0).Blocks()) == 1 && d.graph.NamedBy(f) == nil && d.onlyCalls(f)
	}
	m.Walk(func(op *ir.Op) bool {
		if d.root(op) {
			d.need(op)
		} else if plain && op.Has(ir.ReturnLike) && !d.closed[op.Parent()] {
			d.operands(op)
		}
		return true
	})
	for len(d.work) > 0 {
		v := d.work[len(d.work)-1]
		d.work = d.work[:len(d.work)-1]
		d.value(v)
	}
	err := d.sweep(m)
	report(ctx, d.r.Statistics())
	return err
}

// dce is one run of DCE or RemoveDeadValues.
type dce struct {
	r      *rewrite.Rewriter
	graph  *flow.Graph
	plain  bool            // loops and branches keep all their values
	live   []bool          // by value ID
	needed map[*ir.Op]bool // ops that stay
	closed map[*ir.Op]bool // functions whose uses are all calls
	work   []*ir.Value     // live values whose sources are not live yet
}

// onlyCalls reports whether every caller of f is a plain call.
func (d *dce) onlyCalls(f *ir.Op) bool {
	for _, c := range d.graph.Callers(f) {
		if !c.Is(fn.Call) {
			return false
		}
	}
	return true
}

// root reports whether op stays even if nothing depends on it.
func (d *dce) root(op *ir.Op) bool {
	def := op.Def()
	if op.Has(ir.ReturnLike) {
		p := op.Parent()
		f := p.Def().Flow
		return f != nil && f.Function && !d.closed[p]
	}
	switch {
	case op.Has(ir.Terminator), op.MightHave(ir.Symbol), !def.Known():
		return true
	case def.Effects != nil:
		return def.Effects(op)&(ir.Writes|ir.Frees) != 0
	}
	return def.Traits&(ir.Pure|ir.NestedEffects) == 0
}

// loop reports whether op is a loop from which single values can be removed.
func (d *dce) loop(op *ir.Op) bool { return !d.plain && op.IsOrMirrors(stablehlo.While) }

// branch reports whether op is a branch from which single results can be removed.
func (d *dce) branch(op *ir.Op) bool { return !d.plain && conditional(op) }

// need marks op and the ops around it as needed.
func (d *dce) need(op *ir.Op) {
	if d.needed[op] {
		return
	}
	if p := op.Parent(); p != nil {
		d.need(p)
	}
	d.stay(op)
}

// stay marks op as needed. The ops around it are needed already.
func (d *dce) stay(op *ir.Op) {
	if d.needed[op] {
		return
	}
	d.needed[op] = true
	switch {
	case d.loop(op):
		d.mark(op.Region(0).Entry().Last().Operand(0))
		d.need(op.Region(0).Entry().Last())
		d.need(op.Region(1).Entry().Last())
		return
	case d.branch(op):
		d.mark(op.Operand(0))
		for _, r := range op.Regions() {
			d.need(r.Entry().Last())
		}
		return
	case op.Is(fn.Call) && d.closed[d.graph.Callee(op)]:
		return
	case d.closed[op]:
		d.need(op.Region(0).Entry().Last())
		return
	case op.Has(ir.ReturnLike) && (d.loop(op.Parent()) || d.branch(op.Parent()) || d.closed[op.Parent()]):
		return // each operand may be needed or not
	}
	d.operands(op)
	for _, r := range op.Regions() {
		for _, b := range r.Blocks() {
			if t := b.Last(); t != nil && op.Def().Flow != nil && !op.Def().Flow.Function || t != nil && op.Def().Flow == nil && op.Has(ir.Pure) {
				d.need(t)
			}
		}
	}
}

func (d *dce) operands(op *ir.Op) {
	for _, v := range op.Operands() {
		d.mark(v)
	}
}

func (d *dce) mark(v *ir.Value) {
	if !d.live[v.ID()] {
		d.live[v.ID()] = true
		d.work = append(d.work, v)
	}
}

// value marks the sources of the live value v.
func (d *dce) value(v *ir.Value) {
	i := v.Index()
	op := v.DefiningOp()
	if op == nil {
		op = v.Block().Parent()
		switch {
		case d.loop(op):
			d.markCarried(op, i)
		case d.closed[op]:
			for _, c := range d.graph.Callers(op) {
				d.mark(c.Operand(i))
			}
		}
		if !d.plain {
			d.need(op)
		}
		return
	}
	if d.plain {
		d.stay(op)
	} else {
		d.need(op)
	}
	switch {
	case d.loop(op):
		d.markCarried(op, i)
	case d.branch(op):
		for _, r := range op.Regions() {
			d.mark(r.Entry().Last().Operand(i))
		}
	case op.Is(fn.Call):
		if f := d.graph.Callee(op); d.closed[f] {
			d.mark(f.Region(0).Entry().Last().Operand(i))
		}
	}
}

// markCarried marks value i of a loop as result, operand, region arguments and returned value.
func (d *dce) markCarried(op *ir.Op, i int) {
	d.mark(op.Result(i))
	d.mark(op.Operand(i))
	d.mark(op.Region(0).Entry().Arg(i))
	d.mark(op.Region(1).Entry().Arg(i))
	d.mark(op.Region(1).Entry().Last().Operand(i))
}

// trim is a change to an op that keeps only some of its values.
type trim struct {
	op         *ir.Op
	args, outs []int // the positions that stay, of arguments and results
}

// sweep removes the values and ops that are not live.
func (d *dce) sweep(m *ir.Module) error {
	var trims []trim
	keep := func(values []*ir.Value) (at []int) {
		for i, v := range values {
			if d.live[v.ID()] {
				at = append(at, i)
			}
		}
		return at
	}
	operands := func(op *ir.Op, at []int) {
		if len(at) < op.NumOperands() {
			list := make([]*ir.Value, len(at))
			for k, i := range at {
				list[k] = op.Operand(i)
			}
			d.r.Update(op, func() { op.SetOperands(list) })
		}
	}
	var dead []*ir.Op
	m.Walk(func(op *ir.Op) bool {
		if !d.needed[op] {
			if !op.Has(ir.Terminator) || !d.needed[op.Parent()] {
				dead = append(dead, op)
			}
			return true
		}
		switch f := d.graph.Callee(op); {
		case d.loop(op):
			outs := keep(op.ResultList())
			if len(outs) < op.NumResults() {
				trims = append(trims, trim{op, outs, outs})
			}
			operands(op, outs)
			operands(op.Region(1).Entry().Last(), outs)
		case d.branch(op):
			outs := keep(op.ResultList())
			if len(outs) < op.NumResults() {
				trims = append(trims, trim{op, nil, outs})
			}
			for _, r := range op.Regions() {
				operands(r.Entry().Last(), outs)
			}
		case d.closed[op]:
			b := op.Region(0).Entry()
			args, outs := keep(b.Args()), d.usedResults(op)
			if len(args) < len(b.Args()) || len(outs) < b.Last().NumOperands() {
				trims = append(trims, trim{op, args, outs})
			}
			operands(b.Last(), outs)
		case op.Is(fn.Call) && d.closed[f]:
			outs := d.usedResults(f)
			if len(outs) < op.NumResults() {
				trims = append(trims, trim{op, nil, outs})
			}
			operands(op, keep(f.Region(0).Entry().Args()))
		}
		return true
	})
	for i := len(dead) - 1; i >= 0; i-- {
		if !dead[i].Erased() {
			dead[i].SetOperands(nil)
		}
	}
	for i := len(dead) - 1; i >= 0; i-- {
		if op := dead[i]; !op.Erased() && !op.HasUses() {
			d.r.Erase(op)
		}
	}
	for _, t := range trims {
		if err := d.shrink(m, t); err != nil {
			return err
		}
	}
	return nil
}

// usedResults returns the positions of the results of f that its callers use, directly or not.
func (d *dce) usedResults(f *ir.Op) []int {
	var at []int
	calls := d.graph.Callers(f)
	for i := range (fn.FuncOp{Op: f}).Type().Results() {
		used := false
		for _, c := range calls {
			used = used || !c.Erased() && i < c.NumResults() && d.live[c.Result(i).ID()]
		}
		if used {
			at = append(at, i)
		}
	}
	return at
}

// shrink removes arguments and results from an op. Its operands are removed already.
func (d *dce) shrink(m *ir.Module, t trim) error {
	op := t.op
	arguments := func(b *ir.Block) {
		k := len(t.args) - 1
		for i := len(b.Args()) - 1; i >= 0; i-- {
			if k >= 0 && t.args[k] == i {
				k--
				continue
			}
			b.RemoveArg(i)
		}
	}
	if d.closed[op] {
		arguments(op.Region(0).Entry())
		return op.Def().Flow.Remap(m, op, t.args, t.outs)
	}
	if op.IsOrMirrors(stablehlo.While) {
		arguments(op.Region(0).Entry())
		arguments(op.Region(1).Entry())
	}
	st, moved := op.State(), make([]int, op.NumResults())
	types := st.Types
	st.Types = nil
	for i := range moved {
		moved[i] = -1
	}
	for k, i := range t.outs {
		moved[i] = k
		st.Types = append(st.Types, types[i])
	}
	d.r.Rebuild(op, st, moved)
	return nil
}
