package passes

import (
	"slices"

	"github.com/hlocb/hlocb/ir"
	"github.com/hlocb/hlocb/ir/flow"
	"github.com/hlocb/hlocb/pass"
	"github.com/hlocb/hlocb/rewrite"
)

// DCE erases ops and values that no result and no side effect depends on.
type DCE struct{}

func (DCE) Info() *pass.Info {
	return &pass.Info{
		Name: "dce",
		Doc: "Erases operations that no result and no side effect depends on, and the values that loops, branches and private functions " +
			"forward only for such operations.",
		Idempotent: true,
	}
}

func (DCE) Run(ctx *pass.Context, m *ir.Module) error { return runDCE(ctx, m, false) }

func runDCE(ctx *pass.Context, m *ir.Module, plain bool) error {
	g, err := pass.CallGraph.Of(ctx)
	if err != nil {
		return err
	}
	d := &dce{r: rewrite.New(m), graph: g, plain: plain, live: make([]bool, m.NumIDs()), needed: map[*ir.Op]bool{}, trims: map[*ir.Op]bool{}}
	for _, f := range d.graph.Functions() {
		d.trims[f] = private(f) && flow.Entry(f) != nil && len(f.Region(0).Blocks()) == 1 && d.graph.NamedBy(f) == nil && d.onlyCalls(f)
	}
	stop := stopper{ctx: ctx}
	m.Walk(func(op *ir.Op) bool {
		if stop.now() {
			return false
		}
		if !plain && forwards(op) {
			d.trims[op] = true
		}
		if d.isRoot(op) {
			d.need(op)
		} else if plain && op.Has(ir.ReturnLike) && !d.trims[op.Parent()] {
			d.operands(op)
		}
		return true
	})
	for len(d.work) > 0 && !stop.now() {
		v := d.work[len(d.work)-1]
		d.work = d.work[:len(d.work)-1]
		d.value(v)
	}
	if stop.ended {
		return ctx.Err()
	}
	err = d.sweep(m)
	ctx.Changes(d.r.Statistics())
	return err
}

// dce is one run of DCE or RemoveDeadValues.
type dce struct {
	r      *rewrite.Rewriter
	graph  *flow.Graph
	plain  bool            // loops and branches keep all their values
	live   []bool          // by value ID
	needed map[*ir.Op]bool // ops that stay
	// trims holds the ops from which single values can be removed: loops, branches, and functions whose uses are all
	// calls.
	trims map[*ir.Op]bool
	work  []*ir.Value // live values whose sources are not live yet
}

// onlyCalls reports whether every caller of f is a plain call.
func (d *dce) onlyCalls(f *ir.Op) bool {
	return !slices.ContainsFunc(d.graph.Callers(f), func(c *ir.Op) bool { return !c.Def().Flow.Inline })
}

// forwards reports whether op is a loop, a branch or a computation with lists of values that its Flow forwards, from
// which single values can be removed.
func forwards(op *ir.Op) bool {
	f, def := op.Def().Flow, op.Def()
	if f == nil || f.Function || f.Callee != "" || len(f.Edges) == 0 || len(op.Regions()) == 0 || def.Traits&(ir.AttrSizedOperands|ir.AttrSizedResults) != 0 {
		return false
	}
	for _, r := range op.Regions() {
		if len(r.Blocks()) != 1 || r.Entry().Last() == nil || !r.Entry().Last().Has(ir.ReturnLike) {
			return false
		}
	}
	variadic := func(p ir.Port, at ir.Place, args []ir.Arg) bool {
		return p.At != at || p.First == len(args)-1 && args[p.First].Mult == ir.Variadic
	}
	return !slices.ContainsFunc(f.Edges, func(e ir.FlowEdge) bool {
		return !variadic(e.From, ir.AtOperands, def.Operands) || !variadic(e.To, ir.AtResults, def.Results)
	})
}

// isRoot reports whether op stays even if nothing depends on it.
func (d *dce) isRoot(op *ir.Op) bool {
	def := op.Def()
	if op.Has(ir.ReturnLike) {
		f := op.Parent().Def().Flow
		return f != nil && f.Function && !d.trims[op.Parent()]
	}
	switch {
	case op.Has(ir.Terminator), op.MightHave(ir.Symbol), !def.Known():
		return true
	case def.Effects != nil:
		return def.Effects(op)&(ir.Writes|ir.Frees) != 0
	}
	return def.Traits&(ir.Pure|ir.NestedEffects) == 0
}

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
	for _, r := range op.Regions() {
		for _, b := range r.Blocks() {
			if t := b.Terminator(); t != nil {
				d.need(t)
			}
		}
	}
	for i, v := range op.Operands() {
		if !d.optional(op.OperandUse(i)) {
			d.mark(v)
		}
	}
}

// optional reports whether the value in slot u is needed only if one of the values that it becomes is.
func (d *dce) optional(u *ir.Use) bool {
	op := u.Owner()
	returns := op.Has(ir.ReturnLike) && d.trims[op.Parent()]
	if !returns && !d.trims[op] && !d.trims[d.graph.Callee(op)] {
		return false
	}
	for range d.graph.Targets(u) {
		return true
	}
	return returns && op.Parent().Def().Flow.Function // which nothing calls
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

// value marks the sources of the live value v, and the values at its position in a loop or branch.
func (d *dce) value(v *ir.Value) {
	op := v.DefiningOp()
	inside := op == nil
	if inside {
		op = v.Block().Parent()
	}
	switch {
	case !d.plain:
		d.need(op)
	case !inside:
		d.stay(op)
	}
	if !d.trims[op] && !d.trims[d.graph.Callee(op)] {
		return
	}
	for u := range d.graph.Sources(v) {
		d.mark(u.Value())
		if f := op.Def().Flow; !f.Function && f.Callee == "" {
			for t := range d.graph.Targets(u) {
				d.mark(t)
			}
		}
	}
}

// keeps reports whether the value in slot u stays.
func (d *dce) keeps(u *ir.Use) bool {
	for t := range d.graph.Targets(u) {
		if d.live[t.ID()] {
			return true
		}
	}
	return !d.optional(u)
}

// stays reports whether v, a result or an argument of an op in trims or a result of a call of one, stays.
func (d *dce) stays(v *ir.Value) bool {
	for u := range d.graph.Sources(v) {
		return d.live[v.ID()] || d.keeps(u)
	}
	return d.live[v.ID()] || v.DefiningOp() == nil && !v.Block().Parent().Def().Flow.Function
}

// trim is the change to an op that removes some of its values.
type trim struct {
	op      *ir.Op
	in, out []int       // the positions of operands and results that stay; of a function, of arguments and returned values
	args    []*ir.Value // the arguments of regions that go
}

// sweep removes the values and ops that are not live. It finds all of them before it changes the first.
func (d *dce) sweep(m *ir.Module) error {
	var short, trims []trim // ops that lose operands, and ops that lose other values or need new attributes
	operands := func(op *ir.Op) (at []int) {
		for i := range op.NumOperands() {
			if d.keeps(op.OperandUse(i)) {
				at = append(at, i)
			}
		}
		if len(at) < op.NumOperands() {
			short = append(short, trim{op: op, in: at})
		}
		return at
	}
	var dead []*ir.Op
	m.Walk(func(op *ir.Op) bool {
		if !d.needed[op] {
			if !op.Has(ir.Terminator) || !d.needed[op.Parent()] {
				dead = append(dead, op)
			}
			return true
		}
		if !d.trims[op] && !d.trims[d.graph.Callee(op)] {
			return true
		}
		n := len(short)
		t := trim{op: op, in: operands(op)}
		for i, v := range op.Results() {
			if d.stays(v) {
				t.out = append(t.out, i)
			}
		}
		for _, r := range op.Regions() {
			for i, a := range r.Entry().Args() {
				if !d.stays(a) {
					t.args = append(t.args, a)
				} else if op.Def().Flow.Function {
					t.in = append(t.in, i)
				}
			}
			if out := operands(r.Entry().Last()); op.Def().Flow.Function {
				t.out = out
			}
		}
		if len(t.args) > 0 || len(short) > n || len(t.out) < op.NumResults() {
			trims = append(trims, t)
		}
		return true
	})
	for _, t := range short {
		d.r.Update(t.op, func() { t.op.SetOperands(at(t.op.OperandList(), t.in)) })
	}
	for _, op := range slices.Backward(dead) {
		if !op.Erased() {
			op.SetOperands(nil)
		}
	}
	for _, op := range slices.Backward(dead) {
		if !op.Erased() && !op.HasUses() {
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

// shrink removes arguments and results from an op. Its operands, and the operands of its terminators, are removed
// already.
func (d *dce) shrink(m *ir.Module, t trim) error {
	for _, a := range t.args {
		a.Block().RemoveArg(a.Index())
	}
	op := t.op
	if len(t.out) < op.NumResults() {
		op = keepResults(d.r, op, op.OperandList(), t.out)
	}
	if f := op.Def().Flow; f.Remap != nil {
		return f.Remap(m, op, t.in, t.out)
	}
	return nil
}

// keepResults rebuilds op with the given operands and with its results at the positions keep.
func keepResults(r *rewrite.Rewriter, op *ir.Op, operands []*ir.Value, keep []int) *ir.Op {
	st, moved := op.State(), slices.Repeat([]int{-1}, op.NumResults())
	for k, i := range keep {
		moved[i] = k
	}
	st.Operands, st.Types = operands, at(st.Types, keep)
	return r.Rebuild(op, st, moved)
}
