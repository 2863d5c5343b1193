// Package order puts the hooks of a module in order and proves the order. Thread removes the tokens from a raised
// module and threads a chain through its hooks. Prove and Source.Prove prove on the lowered module that the chain keeps
// the order. Paths lists the order for people and tools.
package order

import (
	"context"
	"fmt"
	"slices"

	"github.com/hlocb/hlocb/dialect/fn"
	"github.com/hlocb/hlocb/dialect/hookop"
	"github.com/hlocb/hlocb/dialect/sdy"
	"github.com/hlocb/hlocb/dialect/stablehlo"
	"github.com/hlocb/hlocb/hook"
	"github.com/hlocb/hlocb/internal/hook/irutil"
	"github.com/hlocb/hlocb/ir"
	"github.com/hlocb/hlocb/ir/flow"
	"github.com/hlocb/hlocb/tensor"
)

// Thread removes the tokens from a raised module and orders its hooks. It stops with an error when ctx ends.
func Thread(ctx context.Context, m *ir.Module, order hook.Order, chain hook.Chain) error {
	if order == hook.OrderSource && chain == hook.ChainPID {
		return fmt.Errorf("a chain of PIDs keeps program order or none, but not the source's")
	}
	if order == hook.OrderSource {
		joinControl(m)
		return convertTokens(m, &chain)
	}
	if err := convertTokens(m, nil); err != nil {
		return err
	}
	if order == hook.OrderNone {
		return nil
	}
	return threadChain(ctx, m, chain)
}

// ChainType returns the type of a chain.
func ChainType(ctx *ir.Context, c hook.Chain) ir.Type {
	switch c {
	case hook.ChainToken:
		return stablehlo.TokenType(ctx)
	case hook.ChainPID:
		return ctx.StaticTensor(tensor.UI8, tensor.Shape{irutil.PIDBytes})
	}
	return ctx.StaticTensor(tensor.UI64, nil)
}

// Start creates a new chain, a token or a state. A chain of PIDs starts from an argument.
func Start(b *ir.Builder, c hook.Chain) *ir.Value {
	if c == hook.ChainToken {
		return ir.Must(b.Build(stablehlo.CreateToken, nil)).Result(0)
	}
	return irutil.Zero(b, b.Module().Context().StaticTensor(tensor.UI64, nil))
}

// threadChain threads one chain through all hooks with side effects, in program order. The chain passes through calls
// (private functions get it as argument 0 and result 0), loops, branches and computations. The module must not contain
// tokens.
func threadChain(ctx context.Context, m *ir.Module, chain hook.Chain) error {
	t := &threader{ctx: ctx, m: m, chain: chain}
	if !t.survey() {
		return nil
	}
	if t.callComposites() {
		t.survey()
	}
	if async, err := t.callAsync(); err != nil {
		return err
	} else if async {
		t.survey()
	}
	rotated, err := rotateLoops(m, t.reach)
	if err != nil {
		return err
	}
	if rotated {
		t.survey()
	}
	if err := t.split(); err != nil {
		return err
	}
	for _, f := range t.reach.Functions() {
		if t.reach.Holds(f) {
			if err := t.function(fn.FuncOp{Op: f}); err != nil {
				return err
			}
		}
	}
	return nil
}

// threader threads the chain through a module.
type threader struct {
	ctx   context.Context
	m     *ir.Module
	chain hook.Chain
	reach *flow.Reach // of the hooks with side effects
}

// survey finds the ops that reach hooks and reports whether there are any.
func (t *threader) survey() bool {
	t.reach = flow.ReachOf(t.m, func(op *ir.Op) bool { return op.Is(hookop.Hook) && hookop.HookOp{Op: op}.SideEffect() })
	return t.reach.Any()
}

// split moves the body of each public function that reaches hooks and has callers in the module into a private twin.
// The function and its callers call the twin, so the signature of the public function stays.
func (t *threader) split() error {
	changed := false
	names := map[*ir.Op]*ir.Namer{} // by symbol table
	for _, op := range t.reach.Functions() {
		f := fn.FuncOp{Op: op}
		if !t.reach.Holds(op) {
			continue
		}
		if by := t.reach.NamedBy(op); by != nil {
			return t.m.Errorf(by, "'%s' names function @%s, whose hooks cannot be put in order from here", by.Name(), f.Symbol())
		}
		callers := t.reach.Callers(op)
		if f.Private() || len(callers) == 0 {
			continue
		}
		changed = true
		table := ir.SymbolTableOf(op)
		if names[table] == nil {
			names[table] = ir.NewNamer(table)
		}
		body := t.m.NewRegion()
		body.TakeBlocks(f.Region(0))
		inner := t.m.After(f.Op).Insert(&ir.OpState{Def: f.Def(), Attrs: f.Attrs(), Bodies: []*ir.Region{body}, Loc: f.Loc(), Pos: f.Pos()})
		twin := fn.FuncOp{Op: inner}
		twin.SetPrivate(names[table].Unique(f.Symbol()+"_private", inner))
		twin.SetSignature(f.Type(), nil, nil)
		entry := f.Region(0).AddBlock()
		for i, in := range f.Type().Inputs() {
			entry.AddArg(in, twin.Body().Arg(i).Loc())
		}
		b := t.m.AtEnd(entry).At(f.Loc(), f.Pos())
		call := fn.NewCall(b, twin, entry.Args())
		b.Create(fn.Return, call.ResultList(), nil)
		for _, c := range callers {
			c.SetAttr(c.Def().Flow.Callee, ir.NewSymbolRef(twin.Symbol()))
		}
	}
	if changed {
		t.survey()
	}
	return nil
}

// function threads the chain through f. In a private function the chain leads from an argument to a result; in a public
// function a new chain starts.
func (t *threader) function(f fn.FuncOp) error {
	if len(f.Region(0).Blocks()) != 1 {
		return t.m.Errorf(f.Op, "function @%s reaches hooks and has several blocks, which have no program order", f.Symbol())
	}
	entry := f.Body()
	if !f.Private() {
		_, err := t.block(entry, t.start(f))
		return err
	}
	args, results := flow.Positions(len(f.Type().Inputs())), flow.Positions(len(f.Type().Results()))
	in := entry.InsertArg(0, ChainType(t.m.Context(), t.chain), f.Loc())
	if err := t.body(entry, in); err != nil {
		return err
	}
	return f.Def().Flow.Remap(t.m, f.Op, irutil.Prepend(-1, args), irutil.Prepend(-1, results))
}

// start returns the first chain of a public function.
func (t *threader) start(f fn.FuncOp) *ir.Value {
	if t.chain != hook.ChainPID {
		return Start(t.m.AtStart(f.Body()).At(f.Loc(), f.Pos()), t.chain)
	}
	if v := irutil.PIDArg(f); v != nil {
		return v
	}
	return irutil.AddPID(t.m, f, ChainType(t.m.Context(), t.chain))
}

// body threads the chain through the ops of b and through its terminator.
func (t *threader) body(b *ir.Block, in *ir.Value) error {
	out, err := t.block(b, in)
	if err != nil {
		return err
	}
	last := b.Last()
	if last == nil || !last.Has(ir.ReturnLike) {
		return t.m.Errorf(b.Parent(), "block with hooks does not end in a return")
	}
	flow.Yield(last, out)
	return nil
}

// block threads the chain through the ops of b and returns the chain after the last op.
func (t *threader) block(b *ir.Block, cur *ir.Value) (*ir.Value, error) {
	var err error
	for _, op := range t.reach.At(b) {
		if cur, err = t.op(op, cur); err != nil {
			return nil, err
		}
	}
	return cur, nil
}

// op threads the chain through one op that is or reaches a hook.
func (t *threader) op(op *ir.Op, cur *ir.Value) (*ir.Value, error) {
	if err := t.ctx.Err(); err != nil {
		return nil, err
	}
	if h, ok := hookop.AsHook(op); ok {
		if h.Chained() {
			return nil, t.m.Errorf(op, "hook is chained already")
		}
		n := prependValue(t.m, op, cur)
		n.SetAttr(hookop.AttrChained, ir.NewUnit())
		return n.Result(0), nil
	}
	if t.isAlone(op) {
		b := op.Region(0).Entry()
		_, err := t.block(b, Start(t.m.AtStart(b).At(op.Loc(), op.Pos()), t.chain))
		return cur, err
	}
	if err := t.checkFlow(op, cur.Type()); err != nil {
		return nil, err
	}
	n, out, in, err := flow.Carry(t.m, op, cur)
	if err != nil {
		return nil, err
	}
	for i, r := range n.Regions() {
		if _, ok := flow.Threads(n, i); ok {
			if err := t.body(r.Entry(), in[i]); err != nil {
				return nil, err
			}
		}
	}
	return out, nil
}

// isAlone reports whether op is a manual computation without operands, results and a mesh, and every hook of the module
// is in it. Such an op cannot forward a chain, because the chain's sharding needs a mesh, and it need not forward one.
func (t *threader) isAlone(op *ir.Op) bool {
	if t.chain == hook.ChainPID || !op.Is(sdy.ManualComputation) || op.NumOperands()+op.NumResults() > 0 || sdy.HasMesh(t.m, op) {
		return false
	}
	f := op.Parent()
	return f.Is(fn.Func) && len(t.reach.Callers(f)) == 0 && len(t.reach.At(op.Block())) == 1 &&
		!slices.ContainsFunc(t.reach.Functions(), func(g *ir.Op) bool { return g != f && t.reach.Holds(g) })
}

// prependValue rebuilds op with v as operand 0 and a new result 0 of its type.
func prependValue(m *ir.Module, op *ir.Op, v *ir.Value) *ir.Op {
	st := op.State()
	st.Operands, st.Types = irutil.Prepend(v, st.Operands), irutil.Prepend(v.Type(), st.Types)
	moved := flow.Positions(op.NumResults())
	for i := range moved {
		moved[i]++
	}
	return m.Rebuild(op, st, moved)
}

// checkFlow returns an error if op cannot forward a chain of type chain through its regions or callees.
func (t *threader) checkFlow(op *ir.Op, chain ir.Type) error {
	f := op.Def().Flow
	if f == nil {
		return t.m.Errorf(op, "hooks inside '%s' cannot be put in order: hlocb does not know how values move through it", op.Name())
	}
	if sdy.IsComputation(op) && stablehlo.IsToken(chain) && !sdy.AllManual(t.m, op) {
		return t.m.Errorf(op, "a token cannot be passed through '%s' over some axes of its mesh only, which makes plugins abort; use the state chain", op.Name())
	}
	yields := f.Callee != ""
	for _, e := range f.Edges {
		yields = yields || e.To.At == ir.AtResults
	}
	for i, r := range op.Regions() {
		_, threads := flow.Threads(op, i)
		switch {
		case !threads && !t.reach.In(r):
		case !threads || f.Run(i) == ir.RunsUnordered:
			return t.m.Errorf(op, "hooks inside '%s' cannot be put in order", op.Name())
		case len(r.Blocks()) != 1:
			return t.m.Errorf(op, "'%s' around hooks has a region with %d blocks, but needs one", op.Name(), len(r.Blocks()))
		}
	}
	if !yields {
		return t.m.Errorf(op, "hooks inside '%s' cannot be put in order", op.Name())
	}
	return nil
}
