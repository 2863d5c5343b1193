package hooks

import (
	"github.com/hlocb/hlocb/dialect/fn"
	"github.com/hlocb/hlocb/dialect/hookop"
	"github.com/hlocb/hlocb/dialect/stablehlo"
	"github.com/hlocb/hlocb/hook"
	"github.com/hlocb/hlocb/internal/hook/irutil"
	"github.com/hlocb/hlocb/ir"
	"github.com/hlocb/hlocb/tensor"
)

// chainType returns the type of a chain.
func chainType(ctx *ir.Context, c hook.Chain) ir.Type {
	if c == hook.ChainToken {
		return stablehlo.TokenType(ctx)
	}
	if c == hook.ChainPID {
		return ctx.StaticTensor(tensor.UI8, tensor.Shape{irutil.PIDBytes})
	}
	return ctx.StaticTensor(tensor.UI64, nil)
}

// startChain creates a new chain at b. A chain of PIDs starts from an argument instead.
func startChain(b *ir.Builder, c hook.Chain) *ir.Value {
	m := b.Module()
	if c == hook.ChainToken {
		return ir.Must(b.Build(m.Def("stablehlo.create_token"), nil)).Result(0)
	}
	return ir.Must(b.Build(m.Def("stablehlo.constant"), nil,
		ir.NamedAttr{Name: "value", Attr: m.Context().DenseFromTensor(tensor.New(tensor.UI64, nil))})).Result(0)
}

// DropTokens takes the tokens out of a raised module: out of hooks, control flow, calls, tuples and the
// signature of its functions. Tuples that held tokens are taken apart, and functions that only passed on what
// they got go away.
func DropTokens(m *ir.Module) error { return convertTokens(m, nil) }

// TokensToChain makes every token of a raised module a chain of the given type, which keeps exactly the order
// that the tokens impose; public functions lose their tokens all the same.
func TokensToChain(m *ir.Module, chain hook.Chain) error { return convertTokens(m, &chain) }

func convertTokens(m *ir.Module, chain *hook.Chain) error {
	c := &converter{m: m, chain: chain, vals: map[*ir.Value][]*ir.Value{}, made: map[*ir.Op]bool{}, changed: map[string]bool{}}
	found, foreign := false, false
	hook := m.Def(hookop.Hook.Name)
	var hooks []*ir.Op
	c.calls = callGraphOf(m, func(op *ir.Op) {
		if touchesToken(op) {
			found = true
			foreign = foreign || !handsTokensOn(op)
		}
		if op.Is(hook) {
			hooks = append(hooks, op)
		}
	})
	if f, ok := c.calls.recursive(hooks); ok {
		return m.Errorf(f.Op, "function @%s calls itself: the order of its hooks cannot be proven", f.Symbol())
	}
	if !found && !c.signatures() || foreign && len(hooks) == 0 {
		return nil // tokens that order what is no hook are none of our business
	}
	for _, f := range c.calls.funcs {
		if err := c.function(f); err != nil {
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
	calls   *callGraph
	public  bool // the function being converted is visible outside
	fn      fn.FuncOp
	dropRes []bool // results of the public function being converted that go away though no token
	vals    map[*ir.Value][]*ir.Value
	made    map[*ir.Op]bool // ops that start a chain, which are not to be converted themselves
	changed map[string]bool // functions whose signature changed
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

// handsTokensOn reports whether op does nothing with tokens but hand them on.
func handsTokensOn(op *ir.Op) bool {
	switch irutil.Stable(op) {
	case "create_token", "after_all", "while", "if", "case", "tuple", "get_tuple_element", "optimization_barrier":
		return true
	}
	return op.Name() == "func.call" || op.Name() == "sdy.manual_computation" || irutil.IsReturn(op)
}

// signatures reports whether a function takes or gives a token.
func (c *converter) signatures() bool {
	found := false
	for _, f := range c.calls.funcs {
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

// IsTokenResult reports whether result i stands for a token though its type is none, as IsTokenArg says of arguments.
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
		return append(list, chainType(c.m.Context(), *c.chain))
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
		if op := c.calls.taken(name); op != nil {
			return c.m.Errorf(op, "'%s' names function @%s, which takes or returns a token that cannot be followed here", op.Name(), name)
		}
		if c.public && len(c.calls.callers[name]) > 0 {
			return c.m.Errorf(c.calls.callers[name][0], "call of public function @%s, which takes or returns a token, is not supported", name)
		}
		if f.External() {
			return c.m.Errorf(f.Op, "function @%s without a body takes or returns a token that cannot be followed", name)
		}
		for i, d := range argAttrs {
			argAttrs[i] = renumberAliasing(c.m.Context(), d, dropped)
		}
		f.SetSignature(c.m.Context().Function(inputs, results), argAttrs, resAttrs)
		c.changed[name] = true
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
			zero := c.m.Context().DenseFromTensor(tensor.New(t.DType(), t.Shape()))
			k := ir.Must(b.Build(c.m.Def("stablehlo.constant"), nil, ir.NamedAttr{Name: "value", Attr: zero}))
			a.ReplaceAllUsesWith(k.Result(0))
		}
	case c.chain == nil:
		c.vals[a] = nil
	default:
		v := startChain(b, *c.chain)
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
	old, ok := irutil.IntAttr(d.Get("tf.aliasing_output"))
	if !ok || old < 0 || old >= int64(len(dropped)) {
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
	if op.Name() == "func.return" && c.public {
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
	switch op.Name() {
	case "func.return":
		return c.ret(op)
	case "func.call", "sdy.return", "sdy.manual_computation":
		return c.rebuild(op)
	}
	if h, ok := hookop.AsHook(op); ok {
		return c.hook(h)
	}
	switch irutil.Stable(op) {
	case "create_token":
		c.set(op, c.started(op))
	case "after_all":
		c.set(op, c.joined(op))
	case "tuple":
		c.set(op, c.allParts(op))
	case "get_tuple_element":
		c.element(op)
	case "optimization_barrier":
		c.barrier(op)
	case "return", "while", "if", "case":
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
	return []*ir.Value{startChain(c.m.Before(op), *c.chain)}
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
		v = ir.Must(b.Build(c.m.Def("stablehlo.or"), []*ir.Value{v, w})).Result(0)
	}
	return []*ir.Value{v}
}

// element converts a get_tuple_element of a tuple that held a token.
func (c *converter) element(op *ir.Op) {
	tt := op.Operand(0).Type().(*ir.TupleType)
	parts := c.parts(op.Operand(0))
	i, _ := irutil.IntAttr(op.Attr("index"))
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
		if def := v.DefiningOp(); def != nil && def.Block() != nil && irutil.Stable(def) == "constant" {
			irutil.EraseDead(def)
		}
	}
	return nil
}

// rebuild converts an op that passes values on one by one.
func (c *converter) rebuild(op *ir.Op) error {
	var types []ir.Type
	for _, v := range op.Results() {
		types = c.types(types, v.Type())
	}
	if err := c.shardings(op); err != nil {
		return err
	}
	if op.NumResults() == 0 {
		op.SetOperands(c.allParts(op))
		return nil
	}
	n := irutil.Rebuild(c.m, op, c.allParts(op), types)
	k := 0
	for _, v := range op.Results() {
		if !irutil.HoldsToken(v.Type()) {
			v.ReplaceAllUsesWith(n.Result(k))
			k++
			continue
		}
		var parts []*ir.Value
		for range c.types(nil, v.Type()) {
			parts = append(parts, n.Result(k))
			k++
		}
		c.vals[v] = parts
	}
	c.discard(op)
	return nil
}

// shardings keeps what a manual computation says of its values in line with them.
func (c *converter) shardings(op *ir.Op) error {
	if op.Name() != "sdy.manual_computation" {
		return nil
	}
	count := func(vals []*ir.Value) []int {
		out := make([]int, len(vals))
		for i, v := range vals {
			out[i] = len(c.types(nil, v.Type()))
		}
		return out
	}
	if c.chain != nil && *c.chain == hook.ChainToken || !keepManualShardings(op, count(op.OperandList()), count(irutil.ResultList(op))) {
		return c.cannotFollow(op)
	}
	return nil
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
	op := h.Op
	var types []ir.Type
	for _, v := range op.Results() {
		types = c.types(types, v.Type())
	}
	n := irutil.Rebuild(c.m, op, c.allParts(op), types)
	k := 0
	for i, v := range op.Results() {
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
	c.discard(op)
	return nil
}
