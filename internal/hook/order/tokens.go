package order

import (
	"slices"

	"github.com/hlocb/hlocb/dialect/fn"
	"github.com/hlocb/hlocb/dialect/hookop"
	"github.com/hlocb/hlocb/dialect/sdy"
	"github.com/hlocb/hlocb/dialect/stablehlo"
	"github.com/hlocb/hlocb/dialect/view"
	"github.com/hlocb/hlocb/hook"
	"github.com/hlocb/hlocb/internal/hook/irutil"
	"github.com/hlocb/hlocb/ir"
	"github.com/hlocb/hlocb/ir/flow"
	"github.com/hlocb/hlocb/rewrite"
)

// convertTokens removes the tokens from a raised module: from hooks, control flow, calls, tuples and function
// signatures. If chain is set, every token becomes a chain, which keeps exactly the order that the tokens impose;
// public functions still lose their tokens. It expands tuples that contain tokens and removes functions that only
// forward their arguments.
//
// Tokens that only order other ops than hooks, such as a send between devices, stay.
func convertTokens(m *ir.Module, chain *hook.Chain) error {
	c := &converter{m: m, chain: chain, changed: map[*ir.Op]bool{}}
	var hooks, affected []*ir.Op
	foreign := false // whether an op does more than forward tokens
	c.calls = flow.Of(m, func(op *ir.Op) {
		if touchesToken(op) {
			affected = append(affected, op)
			foreign = foreign || isForeign(op)
		}
		if op.Is(hookop.Hook) {
			hooks = append(hooks, op)
		}
	})
	if f := c.calls.Recursive(hooks); f != nil {
		return m.Errorf(f, "function @%s calls itself: the order of its hooks cannot be proven", fn.FuncOp{Op: f}.Symbol())
	}
	if foreign && !slices.ContainsFunc(hooks, touchesToken) {
		return nil // the tokens order ops other than hooks
	}
	if foreign {
		hidden, err := c.hideForeign(affected)
		if err != nil {
			return err
		}
		affected = slices.DeleteFunc(affected, func(op *ir.Op) bool { return !touchesToken(op) })
		defer hidden.show()
	}
	found := len(affected) > 0
	for _, f := range c.calls.Functions() {
		has, err := c.signature(fn.FuncOp{Op: f})
		if err != nil {
			return err
		}
		found = found || has
	}
	if !found {
		return nil
	}
	if err := c.values(affected); err != nil {
		return err
	}
	collapseWrappers(m, c.changed)
	return nil
}

// converter replaces each value whose type contains a token with any number of other values.
type converter struct {
	m       *ir.Module
	chain   *hook.Chain // nil: tokens vanish
	calls   *flow.Graph
	changed map[*ir.Op]bool // functions whose signature changes
}

// touchesToken reports whether an operand or a result of op is or contains a token.
func touchesToken(op *ir.Op) bool {
	for i := range op.NumResults() {
		if irutil.HoldsToken(op.Result(i).Type()) {
			return true
		}
	}
	for i := range op.NumOperands() {
		if irutil.HoldsToken(op.Operand(i).Type()) {
			return true
		}
	}
	return false
}

// forwardsTokens reports whether op only forwards tokens.
func forwardsTokens(op *ir.Op) bool {
	return op.Def().Flow != nil || op.Has(ir.ReturnLike) || slices.ContainsFunc(tokenRows, op.IsOrMirrors)
}

// isForeign reports whether op uses tokens for other things than the order of hooks.
func isForeign(op *ir.Op) bool { return !op.Is(hookop.Hook) && !forwardsTokens(op) }

// tokenRows lists the ops that need their own conversion.
var tokenRows = []*ir.Def{
	stablehlo.CreateToken, stablehlo.AfterAll, stablehlo.Tuple, stablehlo.GetTupleElement, stablehlo.OptimizationBarrier,
}

func (c *converter) cannotFollow(op *ir.Op) error {
	return c.m.Errorf(op, "a token is passed to '%s', where it cannot be followed", op.Name())
}

// IsTokenArg reports whether argument i represents a token although its type is not a token type: JAX before 0.4.27
// wrote tensor<0xi1> {jax.token = true}.
func IsTokenArg(f fn.FuncOp, i int) bool {
	return f.ArgAttrs(i).Get(fn.AttrToken) != nil && irutil.IsZeroSize(f.Type().Inputs()[i])
}

// IsTokenResult is like IsTokenArg for result i.
func IsTokenResult(f fn.FuncOp, i int) bool {
	return f.ResultAttrs(i).Get(fn.AttrToken) != nil && irutil.IsZeroSize(f.Type().Results()[i])
}

// signature checks that the tokens in the signature of f can be followed, and removes them from public functions. It
// reports whether f has any.
func (c *converter) signature(f fn.FuncOp) (bool, error) {
	t := f.Type()
	if t == nil {
		return false, nil
	}
	public, holds, drops := !f.Private(), false, false
	var args, results, dropped []int // args and results to keep, and results to drop
	for i, in := range t.Inputs() {
		if public && (stablehlo.IsToken(in) || IsTokenArg(f, i)) {
			drops = true
			continue
		}
		args, holds = append(args, i), holds || irutil.HoldsToken(in)
	}
	for i, out := range t.Results() {
		if public && (stablehlo.IsToken(out) || IsTokenResult(f, i)) {
			drops, dropped = true, append(dropped, i)
			continue
		}
		if public && irutil.HoldsToken(out) && c.chain != nil {
			return false, c.m.Errorf(f.Op, "public function @%s returns a tuple with a token", f.Symbol())
		}
		results, holds = append(results, i), holds || irutil.HoldsToken(out)
	}
	if !holds && !drops {
		return false, nil
	}
	if op := c.calls.NamedBy(f.Op); op != nil {
		return false, c.m.Errorf(op, "'%s' names function @%s, which accepts or returns a token that cannot be followed here", op.Name(), f.Symbol())
	}
	if callers := c.calls.Callers(f.Op); public && len(callers) > 0 {
		return false, c.m.Errorf(callers[0], "call of public function @%s, which accepts or returns a token, is not supported", f.Symbol())
	}
	if f.External() {
		return false, c.m.Errorf(f.Op, "function @%s without a body accepts or returns a token that cannot be followed", f.Symbol())
	}
	c.changed[f.Op] = true
	if !drops {
		return true, nil
	}
	for i := range t.Inputs() {
		if !slices.Contains(args, i) {
			c.dropArg(f, i)
		}
	}
	for i := len(t.Inputs()) - 1; i >= 0; i-- {
		if !slices.Contains(args, i) {
			f.Body().RemoveArg(i)
		}
	}
	for ret := range flow.Returns(f.Region(0)) {
		old := ret.OperandList()
		var kept []*ir.Value
		for _, i := range results {
			kept = append(kept, old[i])
		}
		ret.SetOperands(kept)
		for _, i := range dropped {
			if def := old[i].DefiningOp(); def != nil && def.IsOrMirrors(stablehlo.Constant) && !def.HasUses() {
				def.Erase()
			}
		}
	}
	if err := f.Def().Flow.Remap(c.m, f.Op, args, results); err != nil {
		return false, err
	}
	return true, nil
}

// dropArg replaces the uses of a public function's token argument.
func (c *converter) dropArg(f fn.FuncOp, i int) {
	a := f.Body().Arg(i)
	if !a.HasUses() {
		return
	}
	b := c.m.AtStart(f.Body()).At(f.Loc(), f.Pos())
	if t, ok := a.Type().(*ir.TensorType); ok { // the older tensor<0xi1>
		a.ReplaceAllUsesWith(irutil.Zero(b, t))
		return
	}
	a.ReplaceAllUsesWith(ir.Must(b.Build(stablehlo.CreateToken, nil)).Result(0))
}

// values converts all values that contain tokens. affected lists the ops with such operands or results.
func (c *converter) values(affected []*ir.Op) error {
	type remapping struct {
		body              *ir.Block // of the op, which is rebuilt
		operands, results []int
	}
	var remap []remapping
	for _, op := range affected {
		if op.Erased() {
			continue
		}
		f := op.Def().Flow
		if len(op.Successors()) > 0 || sdy.IsComputation(op) && c.chain != nil && *c.chain == hook.ChainToken {
			return c.cannotFollow(op)
		}
		if f != nil && f.Remap != nil {
			operands, results := c.oldPositions(view.Types(op.OperandList())), c.oldPositions(op.ResultTypes())
			if len(op.Regions()) > 0 {
				remap = append(remap, remapping{op.Region(0).Entry(), operands, results})
			} else if err := f.Remap(c.m, op, operands, results); err != nil { // a call
				return err
			}
		}
	}
	for _, op := range c.calls.Functions() {
		if f := (fn.FuncOp{Op: op}); c.changed[op] {
			c.unmark(f)
			remap = append(remap, remapping{op.Region(0).Entry(), c.oldPositions(f.Type().Inputs()), c.oldPositions(f.Type().Results())})
		}
	}
	conv := &rewrite.Converter{Types: c.types}
	rows := map[*ir.Def]bool{}
	c.m.Walk(func(op *ir.Op) bool {
		if row := op.Def(); !rows[row] && slices.ContainsFunc(tokenRows, op.IsOrMirrors) {
			rows[row] = true
			conv.Ops = append(conv.Ops, &rewrite.Conversion{Name: "tokens", Rows: []*ir.Def{row}, Convert: c.convert})
		}
		return true
	})
	if err := rewrite.Convert(rewrite.New(c.m), c.m.Op(), conv); err != nil {
		return err
	}
	for _, r := range remap {
		op := r.body.Parent()
		if err := op.Def().Flow.Remap(c.m, op, r.operands, r.results); err != nil {
			return err
		}
	}
	if c.chain == nil {
		for _, h := range hookop.HooksOf(c.m) {
			h.RemoveAttr(hookop.AttrChained)
		}
	}
	return nil
}

// unmark removes the marks from the token arguments and results of a private function.
func (c *converter) unmark(f fn.FuncOp) {
	args, results := f.ValueAttrs()
	t := f.Type()
	for i, in := range t.Inputs() {
		if irutil.HoldsToken(in) {
			args[i] = ir.NewDict(args[i].Entries().Without(fn.AttrToken))
		}
	}
	for i, out := range t.Results() {
		if irutil.HoldsToken(out) {
			results[i] = ir.NewDict(results[i].Entries().Without(fn.AttrToken))
		}
	}
	f.SetSignature(t, args, results)
}

// oldPositions returns, for each replacement of values of the given types, the position of the original value.
func (c *converter) oldPositions(list []ir.Type) []int {
	var out []int
	for i, t := range list {
		types, ok := c.types(t)
		if !ok {
			types = []ir.Type{t}
		}
		for range types {
			out = append(out, i)
		}
	}
	return out
}

// types returns the types of the values that replace a value of type t. ok is false if t contains no token.
func (c *converter) types(t ir.Type) (list []ir.Type, ok bool) {
	if !irutil.HoldsToken(t) {
		return nil, false
	}
	if tuple, ok := t.(*ir.TupleType); ok {
		for _, e := range tuple.Elems() {
			if types, ok := c.types(e); ok {
				list = append(list, types...)
			} else {
				list = append(list, e)
			}
		}
		return list, true
	}
	if c.chain != nil {
		list = []ir.Type{ChainType(c.m.Context(), *c.chain)}
	}
	return list, true
}

// convert returns the replacements for the results of an op of tokenRows.
func (c *converter) convert(r *rewrite.Rewriter, op *ir.Op, operands [][]*ir.Value) ([][]*ir.Value, error) {
	if !touchesToken(op) {
		return split(r.Before(op).Clone(op, map[*ir.Value]*ir.Value{})), nil
	}
	all := slices.Concat(operands...)
	switch {
	case op.IsOrMirrors(stablehlo.CreateToken):
		return [][]*ir.Value{c.start(r, op)}, nil
	case op.IsOrMirrors(stablehlo.AfterAll):
		return [][]*ir.Value{c.join(r, op, irutil.Distinct(all))}, nil
	case op.IsOrMirrors(stablehlo.Tuple):
		return [][]*ir.Value{all}, nil
	case op.IsOrMirrors(stablehlo.GetTupleElement):
		elems := op.Operand(0).Type().(*ir.TupleType).Elems()
		i := element(op)
		first := len(c.oldPositions(elems[:i]))
		return [][]*ir.Value{all[first : first+len(c.oldPositions(elems[i:i+1]))]}, nil
	}
	// A barrier does not keep the order, so the tokens bypass it.
	results := operands
	st := op.State()
	st.Operands, st.Types = nil, nil
	for i, v := range op.Operands() {
		if !irutil.HoldsToken(v.Type()) {
			st.Operands, st.Types = append(st.Operands, operands[i][0]), append(st.Types, v.Type())
		}
	}
	if len(st.Operands) == 0 {
		return results, nil
	}
	n, k := r.Before(op).Insert(st), 0
	for i, v := range op.Operands() {
		if !irutil.HoldsToken(v.Type()) {
			results[i] = []*ir.Value{n.Result(k)}
			k++
		}
	}
	return results, nil
}

func split(op *ir.Op) [][]*ir.Value {
	out := make([][]*ir.Value, op.NumResults())
	for i := range out {
		out[i] = []*ir.Value{op.Result(i)}
	}
	return out
}

// start returns a new chain, or nothing if tokens vanish.
func (c *converter) start(r *rewrite.Rewriter, op *ir.Op) []*ir.Value {
	if c.chain == nil {
		return nil
	}
	return []*ir.Value{Start(r.Before(op), *c.chain)}
}

// join returns the chain that waits for all chains of an after_all.
func (c *converter) join(r *rewrite.Rewriter, op *ir.Op, chains []*ir.Value) []*ir.Value {
	switch {
	case len(chains) == 0:
		return c.start(r, op)
	case len(chains) == 1:
		return chains
	}
	b := r.Before(op)
	if *c.chain == hook.ChainToken {
		return []*ir.Value{ir.Must(b.Build(stablehlo.AfterAll, chains)).Result(0)}
	}
	v := chains[0]
	for _, w := range chains[1:] {
		v = ir.Must(b.Build(stablehlo.Or, []*ir.Value{v, w})).Result(0)
	}
	return []*ir.Value{v}
}
