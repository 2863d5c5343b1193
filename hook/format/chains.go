package format

import (
	"slices"

	"github.com/hlocb/hlocb/dialect/fn"
	"github.com/hlocb/hlocb/dialect/sdy"
	"github.com/hlocb/hlocb/dialect/stablehlo"
	"github.com/hlocb/hlocb/dialect/view"
	"github.com/hlocb/hlocb/internal/hook/irutil"
	"github.com/hlocb/hlocb/ir"
	"github.com/hlocb/hlocb/ir/flow"
)

// chainOps are the ops that tokenizeChains starts from.
type chainOps struct {
	links       []*ir.Op // calls that order hooks by operand 0 and result 0, which are not tokens
	annotations []*ir.Op // ops that irutil.IsAnnotation selects
}

// tokenizeChains turns the chains of hlocb's own calls and of EXLA's io_callback into tokens; later passes handle only
// tokens. It follows each chain through calls, loops and branches back to a constant or an argument and starts the
// chain there with create_token. It returns the arguments at which chains start.
func (r *Raiser) tokenizeChains(ops chainOps) (starts []*ir.Value, err error) {
	if len(ops.links) == 0 {
		return nil, nil
	}
	r.peelChains(ops.annotations)
	f := &chainFollower{r: r, graph: flow.Of(r.Module, nil), chain: map[*ir.Value]bool{}, links: ops.links}
	for _, op := range ops.links {
		f.add(op.Operand(0))
		f.add(op.Result(0))
	}
	for len(f.work) > 0 {
		v := f.work[len(f.work)-1]
		f.work = f.work[:len(f.work)-1]
		f.addSources(v)
		for u := range v.Uses() {
			if err := f.addTargets(u); err != nil {
				return nil, err
			}
		}
	}
	return f.convert(), nil
}

// peelChains removes the annotations that convert a chain of a GSPMD module between whole values and shards. Placing
// the hooks adds new ones.
func (r *Raiser) peelChains(annotations []*ir.Op) {
	var around []*ir.Op
	for _, op := range annotations {
		if op.Operand(0).Type() == op.Result(0).Type() && !irutil.IsZeroSize(op.Operand(0).Type()) && r.onChain(op) {
			around = append(around, op)
		}
	}
	for _, op := range around {
		op.Result(0).ReplaceAllUsesWith(op.Operand(0))
	}
	for _, op := range around {
		op.Erase()
	}
}

// onChain reports whether an annotation's value is the chain of a hook, passed through annotations only.
func (r *Raiser) onChain(op *ir.Op) bool {
	from := op.Operand(0)
	for from.DefiningOp() != nil && irutil.IsAnnotation(from.DefiningOp()) {
		from = from.DefiningOp().Operand(0)
	}
	if d := from.DefiningOp(); d != nil && r.isChainLink(d) && from.Index() == 0 {
		return true
	}
	for v := op.Result(0); v != nil; {
		to := v
		v = nil
		for u := range to.Uses() {
			if r.isChainLink(u.Owner()) && u.Index() == 0 {
				return true
			}
			if irutil.IsAnnotation(u.Owner()) {
				v = u.Owner().Result(0)
			}
		}
	}
	return false
}

// isChainLink reports whether op is a hook call whose operand 0 and result 0 are a chain that is not a token.
func (r *Raiser) isChainLink(op *ir.Op) bool {
	if op.NumOperands() == 0 || op.NumResults() == 0 || stablehlo.IsToken(op.Operand(0).Type()) ||
		op.Operand(0).Type() != op.Result(0).Type() || irutil.IsZeroSize(op.Operand(0).Type()) {
		return false
	}
	return slices.ContainsFunc(r.byRow[op.Def()], func(f *Format) bool { return f.Reader.Chains != nil && f.Reader.Chains(op) })
}

// chainFollower finds all values that belong to a chain.
type chainFollower struct {
	r     *Raiser
	graph *flow.Graph
	links []*ir.Op
	joins []*ir.Op // ors of two chains
	chain map[*ir.Value]bool
	order []*ir.Value // the values of chain, in the order found
	work  []*ir.Value
}

// add adds v to the chain unless a chain starts with it.
func (f *chainFollower) add(v *ir.Value) {
	if f.chain[v] || f.isStart(v) {
		return
	}
	f.chain[v] = true
	f.order = append(f.order, v)
	f.work = append(f.work, v)
}

// isStart reports whether a chain starts with v: neither a link nor an op that forwards values defines it.
func (f *chainFollower) isStart(v *ir.Value) bool {
	if op := v.DefiningOp(); op != nil {
		if f.r.isChainLink(op) && v.Index() == 0 || op.IsOrMirrors(stablehlo.Or) {
			return false
		}
	} else if g, ok := fn.AsFunc(v.Block().Parent()); ok {
		return !g.Private()
	}
	for range f.graph.Sources(v) {
		return false
	}
	return true
}

// addSources adds the values that v comes from, and the other values that they flow into.
func (f *chainFollower) addSources(v *ir.Value) {
	if op := v.DefiningOp(); op != nil && op.IsOrMirrors(stablehlo.Or) {
		f.joins = append(f.joins, op)
		f.add(op.Operand(0))
		f.add(op.Operand(1))
		return
	}
	for u := range f.graph.Sources(v) {
		f.add(u.Value())
		for w := range f.graph.Targets(u) {
			f.add(w)
		}
	}
}

// addTargets adds the values that the chain in slot u flows into.
func (f *chainFollower) addTargets(u *ir.Use) error {
	op := u.Owner()
	if u.Index() == 0 && (f.r.isChainLink(op) || f.readsChain(op)) {
		return nil
	}
	if op.IsOrMirrors(stablehlo.Or) {
		f.add(op.Result(0))
		return nil
	}
	g, ok := fn.AsFunc(op.Parent())
	known := ok && op.Has(ir.ReturnLike) && g.Private()
	for v := range f.graph.Targets(u) {
		known = true
		f.add(v)
	}
	if !known || ok && op.Has(ir.ReturnLike) && !g.Private() {
		return f.r.Module.Errorf(op, "the chain of a hook is passed to '%s', where it cannot be followed", op.Name())
	}
	return nil
}

// readsChain reports whether op may read the chain without continuing it.
func (f *chainFollower) readsChain(op *ir.Op) bool {
	return slices.ContainsFunc(f.r.byRow[op.Def()], func(x *Format) bool { return x.Reader.ReadsChain != nil && x.Reader.ReadsChain(op) })
}

// convert changes all chain values to the token type and starts the chains with create_token.
func (f *chainFollower) convert() (starts []*ir.Value) {
	m := f.r.Module
	token := stablehlo.TokenType(m.Context())
	for _, v := range f.order {
		v.SetType(token)
		bareSharding(v)
	}
	// A chain starts at a value that flows into the chain but is not part of it.
	tokens := map[*ir.Value]*ir.Value{}
	begin := func(u *ir.Use) {
		v := u.Value()
		if f.chain[v] || stablehlo.IsToken(v.Type()) {
			return
		}
		t := tokens[v]
		if t == nil {
			var b *ir.Builder
			if op := v.DefiningOp(); op != nil {
				b = m.After(op)
			} else {
				starts = append(starts, v)
				p := v.Block().Parent()
				b = m.AtStart(v.Block()).At(p.Loc(), p.Pos())
			}
			t = ir.Must(b.Build(stablehlo.CreateToken, nil)).Result(0)
			tokens[v] = t
		}
		u.Set(t)
		if op := v.DefiningOp(); op != nil && op.IsOrMirrors(stablehlo.Constant) && !v.HasUses() {
			op.Erase()
		}
	}
	for _, op := range f.links {
		begin(op.OperandUse(0))
	}
	for _, v := range f.order {
		for u := range f.graph.Sources(v) {
			begin(u)
		}
	}
	for _, op := range f.joins {
		begin(op.OperandUse(0))
		begin(op.OperandUse(1))
	}
	for _, op := range f.joins {
		join := ir.Must(m.Before(op).Build(stablehlo.AfterAll, op.OperandList()))
		op.Result(0).ReplaceAllUsesWith(join.Result(0))
		op.Erase()
	}
	for _, g := range fn.Funcs(m) {
		if !g.External() && g.Type() != nil {
			matchSignature(m, g)
		}
	}
	return starts
}

// matchSignature updates the type of a function to match its body.
func matchSignature(m *ir.Module, f fn.FuncOp) {
	inputs, results := view.Types(f.Body().Args()), f.Type().Results()
	for _, ret := range slices.Collect(flow.Returns(f.Region(0))) {
		results = view.Types(ret.OperandList())
	}
	t := m.Context().Function(inputs, results)
	if t == f.Type() {
		return
	}
	args, attrs := f.ValueAttrs()
	f.SetSignature(t, args, attrs)
}

// bareSharding removes the dimensions from the sharding of a value that became a token.
func bareSharding(v *ir.Value) {
	op, name := v.DefiningOp(), sdy.AttrValueSharding
	switch {
	case op == nil:
		op, name = v.Block().Parent(), sdy.AttrInShardings
	case op.Is(sdy.ManualComputation):
		name = sdy.AttrOutShardings
	}
	list, ok := irutil.PerValue(op.Attr(name))
	if !ok || v.Index() >= len(list) {
		return
	}
	list = slices.Clone(list)
	list[v.Index()] = &sdy.Sharding{Mesh: list[v.Index()].Mesh, Inline: list[v.Index()].Inline}
	op.SetAttr(name, sdy.PerValueAttr.New(&sdy.PerValue{Shardings: list}))
}
