package order

import (
	"slices"

	"github.com/hlocb/hlocb/dialect/fn"
	"github.com/hlocb/hlocb/dialect/hookop"
	"github.com/hlocb/hlocb/dialect/sdy"
	"github.com/hlocb/hlocb/dialect/stablehlo"
	"github.com/hlocb/hlocb/hook"
	"github.com/hlocb/hlocb/internal/hook/irutil"
	"github.com/hlocb/hlocb/ir"
	"github.com/hlocb/hlocb/ir/flow"
)

// convertTokens takes the tokens out of a raised module: out of hooks, control flow, calls, tuples and the signatures
// of its functions. With a chain every token becomes one, which keeps exactly the order that the tokens impose; public
// functions lose their tokens all the same. It takes tuples that held tokens apart and removes functions that only
// forwarded their arguments.
func convertTokens(m *ir.Module, chain *hook.Chain) error {
	c := &converter{m: m, chain: chain, vals: map[*ir.Value][]*ir.Value{}, made: map[*ir.Op]bool{}, changed: map[*ir.Op]bool{}}
	found, foreign := false, false
	var hooks []*ir.Op
	c.calls = flow.Of(m, func(op *ir.Op) {
		if touchesToken(op) {
			found = true
			foreign = foreign || !forwardsTokens(op)
		}
		if op.Is(hookop.Hook) {
			hooks = append(hooks, op)
		}
	})
	if f := c.calls.Recursive(hooks); f != nil {
		return m.Errorf(f, "function @%s calls itself: the order of its hooks cannot be proven", fn.FuncOp{Op: f}.Symbol())
	}
	if !found && !c.signatures() || foreign && len(hooks) == 0 {
		return nil // the tokens order other ops than hooks
	}
	for _, f := range c.calls.Functions() {
		if err := c.function(fn.FuncOp{Op: f}); err != nil {
			return err
		}
	}
	collapseWrappers(m, c.changed)
	return nil
}

// converter replaces each value whose type holds a token by any number of others.
type converter struct {
	m       *ir.Module
	chain   *hook.Chain // nil: tokens vanish
	calls   *flow.Graph
	public  bool // the function being converted is visible outside
	fn      fn.FuncOp
	dropRes []bool // results of the public function being converted that go away though no token
	vals    map[*ir.Value][]*ir.Value
	made    map[*ir.Op]bool // ops that start a chain, which are not to be converted themselves
	changed map[*ir.Op]bool // functions whose signature changed
}

// touchesToken reports whether an operand or a result of op is or holds a token.
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

// forwardsTokens reports whether op does nothing with tokens but pass them on.
func forwardsTokens(op *ir.Op) bool {
	switch {
	case op.Def().Flow != nil, op.Has(ir.ReturnLike):
		return true
	}
	return isAny(op, stablehlo.CreateToken, stablehlo.AfterAll, stablehlo.Tuple, stablehlo.GetTupleElement)
}

// isAny reports whether op is of one of the rows, in MHLO's dialect or StableHLO's.
func isAny(op *ir.Op, rows ...*ir.Def) bool {
	return slices.ContainsFunc(rows, op.IsOrMirrors)
}

// signatures reports whether a function takes or gives a token.
func (c *converter) signatures() bool {
	found := false
	for _, op := range c.calls.Functions() {
		f := fn.FuncOp{Op: op}
		if t := f.Type(); t != nil {
			for i, in := range t.Inputs() {
				found = found || irutil.HoldsToken(in) || IsTokenArg(f, i)
			}
			for i, out := range t.Results() {
				found = found || irutil.HoldsToken(out) || IsTokenResult(f, i)
			}
		}
	}
	return found
}

// IsTokenArg reports whether argument i stands for a token though its type is none: JAX before 0.4.27 wrote
// tensor<0xi1> {jax.token = true}.
func IsTokenArg(f fn.FuncOp, i int) bool {
	return f.ArgAttrs(i).Get("jax.token") != nil && irutil.IsZeroSize(f.Type().Inputs()[i])
}

func IsTokenResult(f fn.FuncOp, i int) bool {
	return f.ResultAttrs(i).Get("jax.token") != nil && irutil.IsZeroSize(f.Type().Results()[i])
}

// types appends what t becomes.
func (c *converter) types(list []ir.Type, t ir.Type) []ir.Type {
	switch {
	case !irutil.HoldsToken(t):
		return append(list, t)
	case stablehlo.IsToken(t):
		if c.chain == nil {
			return list
		}
		return append(list, ChainType(c.m.Context(), *c.chain))
	}
	for _, e := range t.(*ir.TupleType).Elems() {
		list = c.types(list, e)
	}
	return list
}

// parts returns what v became.
func (c *converter) parts(v *ir.Value) []*ir.Value {
	if !irutil.HoldsToken(v.Type()) {
		return []*ir.Value{v}
	}
	return c.vals[v]
}

func (c *converter) allParts(op *ir.Op) []*ir.Value {
	var out []*ir.Value
	for _, v := range op.Operands() {
		out = append(out, c.parts(v)...)
	}
	return out
}

// function converts f's signature and body.
func (c *converter) function(f fn.FuncOp) error {
	t := f.Type()
	if t == nil {
		return nil
	}
	c.fn, c.public = f, !f.Private()
	var inputs, results []ir.Type
	var argAttrs, resAttrs []*ir.DictAttr
	dropped := make([]bool, len(t.Results())) // results that go away, for tf.aliasing_output
	tokenArg := make([]bool, len(t.Inputs()))
	changed := false
	for i, in := range t.Inputs() {
		switch {
		case c.public && (stablehlo.IsToken(in) || IsTokenArg(f, i)):
			changed, tokenArg[i] = true, true
		case irutil.HoldsToken(in):
			changed = true
			for _, p := range c.types(nil, in) {
				inputs = append(inputs, p)
				argAttrs = append(argAttrs, withoutTokenMark(f.ArgAttrs(i)))
			}
		default:
			inputs, argAttrs = append(inputs, in), append(argAttrs, f.ArgAttrs(i))
		}
	}
	for i, out := range t.Results() {
		switch {
		case c.public && (stablehlo.IsToken(out) || IsTokenResult(f, i)):
			changed, dropped[i] = true, true
		case irutil.HoldsToken(out):
			changed = true
			if c.public {
				if c.chain != nil {
					return c.m.Errorf(f.Op, "public function @%s returns a tuple with a token", f.Symbol())
				}
			}
			for _, p := range c.types(nil, out) {
				results = append(results, p)
				resAttrs = append(resAttrs, withoutTokenMark(f.ResultAttrs(i)))
			}
		default:
			results, resAttrs = append(results, out), append(resAttrs, f.ResultAttrs(i))
		}
	}
	c.dropRes = dropped
	if changed {
		name := f.Symbol()
		if op := c.calls.NamedBy(f.Op); op != nil {
			return c.m.Errorf(op, "'%s' names function @%s, which takes or returns a token that cannot be followed here", op.Name(), name)
		}
		if callers := c.calls.Callers(f.Op); c.public && len(callers) > 0 {
			return c.m.Errorf(callers[0], "call of public function @%s, which takes or returns a token, is not supported", name)
		}
		if f.External() {
			return c.m.Errorf(f.Op, "function @%s without a body takes or returns a token that cannot be followed", name)
		}
		for i, d := range argAttrs {
			argAttrs[i] = renumberAliasing(c.m.Context(), d, dropped)
		}
		f.SetSignature(c.m.Context().Function(inputs, results), argAttrs, resAttrs)
		c.changed[f.Op] = true
	}
	if f.External() {
		return nil
	}
	entry := f.Body()
	if c.public {
		for i, drop := range tokenArg {
			if drop {
				c.dropArg(entry, i)
			}
		}
	}
	if err := c.region(f.Region(0)); err != nil {
		return err
	}
	for i := len(tokenArg) - 1; i >= 0; i-- {
		if tokenArg[i] {
			entry.RemoveArg(i)
		}
	}
	return nil
}

// dropArg gives the uses of a public function's token argument something else.
func (c *converter) dropArg(entry *ir.Block, i int) {
	a := entry.Arg(i)
	b := c.m.AtStart(entry).At(c.fn.Loc(), c.fn.Pos())
	switch {
	case !stablehlo.IsToken(a.Type()): // the older tensor<0xi1>
		if a.HasUses() {
			t := a.Type().(*ir.TensorType)
			a.ReplaceAllUsesWith(zero(b, t.DType(), t.Shape()))
		}
	case c.chain == nil:
		c.vals[a] = nil
	default:
		v := Start(b, *c.chain)
		c.vals[a] = []*ir.Value{v}
		c.made[v.DefiningOp()] = true
	}
}

// withoutTokenMark returns d less jax.token.
func withoutTokenMark(d *ir.DictAttr) *ir.DictAttr {
	if d.Get("jax.token") == nil {
		return d
	}
	return ir.NewDict(d.Entries().Without("jax.token"))
}

// renumberAliasing returns d with the result that tf.aliasing_output names counted without the dropped ones.
func renumberAliasing(ctx *ir.Context, d *ir.DictAttr, dropped []bool) *ir.DictAttr {
	a, ok := d.Get("tf.aliasing_output").(*ir.IntegerAttr)
	if !ok {
		return d
	}
	old := a.Value()
	if old < 0 || old >= int64(len(dropped)) {
		return d
	}
	if dropped[old] {
		return ir.NewDict(d.Entries().Without("tf.aliasing_output"))
	}
	n := old
	for _, drop := range dropped[:old] {
		if drop {
			n--
		}
	}
	return ir.NewDict(append(d.Entries().Without("tf.aliasing_output"),
		ir.NamedAttr{Name: "tf.aliasing_output", Attr: ir.NewInteger(n, ctx.I32())}))
}

func (c *converter) region(r *ir.Region) error {
	for _, b := range r.Blocks() {
		var olds []*ir.Value
		for i := 0; i < b.NumArgs(); i++ {
			a := b.Arg(i)
			if _, mapped := c.vals[a]; mapped || !irutil.HoldsToken(a.Type()) {
				continue
			}
			var parts []*ir.Value
			for k, t := range c.types(nil, a.Type()) {
				parts = append(parts, b.InsertArg(i+1+k, t, a.Loc()))
			}
			c.vals[a] = parts
			olds = append(olds, a)
			i += len(parts)
		}
		for op := range b.Ops() {
			if err := c.op(op); err != nil {
				return err
			}
		}
		for _, a := range olds {
			if a.HasUses() {
				for u := range a.Uses() {
					return c.cannotFollow(u.Owner())
				}
			}
			b.RemoveArg(a.Index())
		}
	}
	return nil
}

func (c *converter) cannotFollow(op *ir.Op) error {
	return c.m.Errorf(op, "a token is passed to '%s', where it cannot be followed", op.Name())
}

func (c *converter) op(op *ir.Op) error {
	if c.made[op] {
		return nil
	}
	for _, r := range op.Regions() {
		if err := c.region(r); err != nil {
			return err
		}
	}
	affected := touchesToken(op)
	if op.Is(fn.Return) && c.public {
		for _, d := range c.dropRes {
			affected = affected || d
		}
	}
	if !affected {
		return nil
	}
	if len(op.Successors()) > 0 {
		return c.cannotFollow(op)
	}
	if h, ok := hookop.AsHook(op); ok {
		return c.hook(h)
	}
	switch {
	case op.Is(fn.Return):
		return c.ret(op)
	case op.IsOrMirrors(stablehlo.CreateToken):
		c.set(op, c.started(op))
	case op.IsOrMirrors(stablehlo.AfterAll):
		c.set(op, c.joined(op))
	case op.IsOrMirrors(stablehlo.Tuple):
		c.set(op, c.allParts(op))
	case op.IsOrMirrors(stablehlo.GetTupleElement):
		c.element(op)
	case op.IsOrMirrors(stablehlo.OptimizationBarrier):
		c.barrier(op)
	case op.Has(ir.ReturnLike):
		op.SetOperands(c.allParts(op))
	case op.Def().Flow != nil:
		return c.rebuild(op)
	default:
		return c.cannotFollow(op)
	}
	return nil
}

// set records what op's result became and erases op.
func (c *converter) set(op *ir.Op, parts []*ir.Value) {
	v := op.Result(0)
	if !irutil.HoldsToken(v.Type()) { // an element of a tuple that is none
		v.ReplaceAllUsesWith(parts[0])
	} else {
		c.vals[v] = parts
	}
	c.discard(op)
}

// discard takes a converted op out of the module. Its users are converted later, so it may still be in use.
func (c *converter) discard(op *ir.Op) {
	op.SetOperands(nil)
	op.Remove()
}

func (c *converter) started(op *ir.Op) []*ir.Value {
	if c.chain == nil {
		return nil
	}
	return []*ir.Value{Start(c.m.Before(op), *c.chain)}
}

// joined returns the chain that waits for all tokens of an after_all.
func (c *converter) joined(op *ir.Op) []*ir.Value {
	if c.chain == nil {
		return nil
	}
	parts := irutil.Distinct(c.allParts(op))
	switch {
	case len(parts) == 0:
		return c.started(op)
	case len(parts) == 1:
		return parts
	}
	b := c.m.Before(op)
	if *c.chain == hook.ChainToken {
		return []*ir.Value{ir.Must(b.Build(op.Def(), parts)).Result(0)}
	}
	v := parts[0]
	for _, w := range parts[1:] {
		v = ir.Must(b.Build(stablehlo.Or, []*ir.Value{v, w})).Result(0)
	}
	return []*ir.Value{v}
}

// element converts a get_tuple_element of a tuple that held a token.
func (c *converter) element(op *ir.Op) {
	tt := op.Operand(0).Type().(*ir.TupleType)
	parts := c.parts(op.Operand(0))
	i := element(op)
	for _, t := range tt.Elems()[:i] {
		parts = parts[len(c.types(nil, t)):]
	}
	c.set(op, parts[:len(c.types(nil, tt.Elems()[i]))])
}

// barrier takes tokens out of an optimization_barrier: it would not keep the order.
func (c *converter) barrier(op *ir.Op) {
	var operands []*ir.Value
	for i, v := range op.Operands() {
		if irutil.HoldsToken(v.Type()) {
			c.vals[op.Result(i)] = c.parts(v)
		} else {
			operands = append(operands, v)
		}
	}
	if len(operands) > 0 {
		n := irutil.Rebuild(c.m, op, operands, irutil.TypeList(operands))
		k := 0
		for i, v := range op.Operands() {
			if !irutil.HoldsToken(v.Type()) {
				op.Result(i).ReplaceAllUsesWith(n.Result(k))
				k++
			}
		}
	}
	c.discard(op)
}

// ret converts the return of a function.
func (c *converter) ret(op *ir.Op) error {
	var operands []*ir.Value
	for i, v := range op.Operands() {
		if c.public && i < len(c.dropRes) && c.dropRes[i] {
			continue
		}
		operands = append(operands, c.parts(v)...)
	}
	olds := op.OperandList()
	op.SetOperands(operands)
	for _, v := range olds {
		if def := v.DefiningOp(); def != nil && def.Block() != nil && def.IsOrMirrors(stablehlo.Constant) && !v.HasUses() {
			def.Erase()
		}
	}
	return nil
}

// rebuild converts an op that forwards values one by one.
func (c *converter) rebuild(op *ir.Op) error {
	n, err := c.replace(op)
	if err != nil {
		return err
	}
	k := 0
	for _, v := range op.Results() {
		parts := irutil.ResultList(n)[k : k+len(c.types(nil, v.Type()))]
		k += len(parts)
		if irutil.HoldsToken(v.Type()) {
			c.vals[v] = parts
		} else {
			v.ReplaceAllUsesWith(parts[0])
		}
	}
	c.discard(op)
	return nil
}

// replace puts an op with converted operands and results in front of op.
func (c *converter) replace(op *ir.Op) (*ir.Op, error) {
	var types []ir.Type
	var from, resultsFrom []int
	for i, v := range op.Operands() {
		for range c.parts(v) {
			from = append(from, i)
		}
	}
	for i, v := range op.Results() {
		types = c.types(types, v.Type())
		for len(resultsFrom) < len(types) {
			resultsFrom = append(resultsFrom, i)
		}
	}
	if sdy.IsComputation(op) && c.chain != nil && *c.chain == hook.ChainToken {
		return nil, c.cannotFollow(op)
	}
	n := irutil.Rebuild(c.m, op, c.allParts(op), types)
	if f := op.Def().Flow; f != nil && f.Remap != nil {
		return n, f.Remap(c.m, n, from, resultsFrom)
	}
	return n, nil
}

// hook converts the token of a hook to the chain, or takes it away.
func (c *converter) hook(h hookop.HookOp) error {
	if c.chain != nil && *c.chain == hook.ChainToken {
		op := h.Op
		op.SetOperand(0, c.parts(op.Operand(0))[0])
		op.Result(0).SetType(op.Operand(0).Type()) // MHLO has a token type of its own
		c.vals[op.Result(0)] = []*ir.Value{op.Result(0)}
		return nil
	}
	return c.rebuildHook(h)
}

func (c *converter) rebuildHook(h hookop.HookOp) error {
	n, err := c.replace(h.Op)
	if err != nil {
		return err
	}
	k := 0
	for i, v := range h.Results() {
		if i == 0 && h.Chained() {
			c.vals[v] = nil
			if c.chain != nil {
				c.vals[v] = []*ir.Value{n.Result(0)}
				k++
			}
			continue
		}
		v.ReplaceAllUsesWith(n.Result(k))
		k++
	}
	if c.chain == nil {
		n.RemoveAttr(hookop.AttrChained)
	}
	c.discard(h.Op)
	return nil
}
