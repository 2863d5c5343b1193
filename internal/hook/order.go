package hooks

import (
	"fmt"

	"github.com/hlocb/hlocb/hook"
	"github.com/hlocb/hlocb/internal/hook/irutil"

	"github.com/hlocb/hlocb/dialect/fn"
	"github.com/hlocb/hlocb/dialect/hookop"
	"github.com/hlocb/hlocb/ir"
)

// ThreadChain puts one chain through all hooks with a side effect, in program order: through calls (private
// functions get it as argument 0 and result 0), loops, branches and manual computations. Hooks in loop
// conditions are moved out first (see rotate). The module holds no tokens (see DropTokens).
func ThreadChain(m *ir.Module, chain hook.Chain) error {
	t := &threader{m: m, chain: chain}
	if !t.survey() {
		return nil
	}
	if err := rotateLoops(m, t); err != nil {
		return err
	}
	if err := t.split(); err != nil {
		return err
	}
	for _, f := range t.calls.funcs {
		if t.reach.ops[f.Op] {
			if err := t.function(f); err != nil {
				return err
			}
		}
	}
	return nil
}

// threader puts the chain through a module.
type threader struct {
	m     *ir.Module
	chain hook.Chain
	calls *callGraph
	reach *reach // of the hooks with a side effect
}

// survey finds out what reaches a hook and reports whether anything does.
func (t *threader) survey() bool {
	hook := t.m.Def(hookop.Hook.Name)
	t.reach = reachOf(t.m, func(op *ir.Op) bool { return op.Is(hook) && hookop.HookOp{Op: op}.SideEffect() })
	t.calls = t.reach.calls
	return len(t.reach.at) > 0
}

// split gives public functions that reach hooks and are also called from inside a private twin that does the
// work, as the signature of a public function stays.
func (t *threader) split() error {
	again := false
	for _, f := range t.calls.funcs {
		name := f.Symbol()
		if !t.reach.ops[f.Op] {
			continue
		}
		if op := t.calls.taken(name); op != nil {
			return t.m.Errorf(op, "'%s' names function @%s, whose hooks cannot be put in order from here", op.Name(), name)
		}
		if f.Private() || len(t.calls.callers[name]) == 0 {
			continue
		}
		again = true
		syms := ir.SymbolsOf(t.m.Op())
		// The twin takes the body; the public function calls it.
		inner := t.m.NewOp(&ir.OpState{Def: f.Def(), Attrs: f.Attrs(), Bodies: irutil.TakeRegions(t.m, f.Op), Loc: f.Loc(), Pos: f.Pos()})
		inner.SetAttr(ir.SymbolName, ir.NewString(syms.Unique(name+"_private", inner)))
		inner.SetAttr("sym_visibility", ir.NewString("private"))
		twin := fn.FuncOp{Op: inner}
		twin.SetSignature(f.Type(), nil, nil)
		t.m.Body().InsertBefore(inner, f.Next())
		entry := f.Region(0).AddBlock()
		for i, in := range f.Type().Inputs() {
			entry.AddArg(in, twin.Body().Arg(i).Loc())
		}
		b := t.m.AtEnd(entry).At(f.Loc(), f.Pos())
		callee := ir.NewSymbolRef(twin.Symbol())
		call := b.Create(t.m.Def("func.call"), entry.Args(), f.Type().Results(), ir.NamedAttr{Name: "callee", Attr: callee})
		b.Create(t.m.Def("func.return"), irutil.ResultList(call), nil)
		for _, c := range t.calls.callers[name] {
			c.SetAttr("callee", callee)
		}
	}
	if again {
		t.survey()
	}
	return nil
}

// function threads the chain through f: from an argument to a result of a private function, from a new chain
// of a public one.
func (t *threader) function(f fn.FuncOp) error {
	if len(f.Region(0).Blocks()) != 1 {
		return t.m.Errorf(f.Op, "function @%s reaches hooks and has several blocks, which have no program order", f.Symbol())
	}
	entry := f.Body()
	if !f.Private() {
		_, err := t.block(entry, t.start(f))
		return err
	}
	ty := f.Type()
	ct := chainType(t.m.Context(), t.chain)
	var args, results []*ir.DictAttr
	for i := range ty.Inputs() {
		args = append(args, f.ArgAttrs(i))
	}
	for i := range ty.Results() {
		results = append(results, f.ResultAttrs(i))
	}
	f.SetSignature(t.m.Context().Function(irutil.Prepend(ct, ty.Inputs()), irutil.Prepend(ct, ty.Results())), irutil.Prepend(nil, args), irutil.Prepend(nil, results))
	return t.through(entry, entry.InsertArg(0, ct, f.Loc()))
}

// start returns the chain that a public function starts with.
func (t *threader) start(f fn.FuncOp) *ir.Value {
	if t.chain != hook.ChainPID {
		return startChain(t.m.AtStart(f.Body()).At(f.Loc(), f.Pos()), t.chain)
	}
	if v := irutil.PIDArg(f); v != nil {
		return v
	}
	return irutil.AddPID(t.m, f, chainType(t.m.Context(), t.chain))
}

// through threads the chain through b and returns it as the first operand of its terminator.
func (t *threader) through(b *ir.Block, in *ir.Value) error {
	out, err := t.block(b, in)
	if err != nil {
		return err
	}
	last := b.Last()
	if last == nil || !irutil.IsReturn(last) {
		return t.m.Errorf(b.Parent(), "block with hooks does not end in a return")
	}
	last.SetOperands(irutil.Prepend(out, last.OperandList()))
	return nil
}

// block threads the chain through the ops of b and returns the chain after the last.
func (t *threader) block(b *ir.Block, cur *ir.Value) (*ir.Value, error) {
	var err error
	for _, op := range t.reach.at[b] {
		if cur, err = t.op(op, cur); err != nil {
			return nil, err
		}
	}
	return cur, nil
}

// op threads the chain through one op that is or reaches a hook.
func (t *threader) op(op *ir.Op, cur *ir.Value) (*ir.Value, error) {
	if h, ok := hookop.AsHook(op); ok {
		if h.Chained() {
			return nil, t.m.Errorf(op, "hook is chained already")
		}
		op.SetAttr(hookop.AttrChained, ir.NewUnit())
		return t.prepend(op, cur, cur.Type()), nil
	}
	ct := cur.Type()
	switch op.Name() {
	case "func.call":
		return t.prepend(op, cur, ct), nil
	case "sdy.manual_computation":
		if err := addManualShardings(t.m, op, ct); err != nil {
			return nil, err
		}
		b := op.Region(0).Entry()
		return t.prepend(op, cur, ct), t.through(b, b.InsertArg(0, ct, op.Loc()))
	}
	switch irutil.Stable(op) {
	case "while":
		op.Region(0).Entry().InsertArg(0, ct, op.Loc())
		body := op.Region(1).Entry()
		return t.prepend(op, cur, ct), t.through(body, body.InsertArg(0, ct, op.Loc()))
	case "if", "case":
		for _, r := range op.Regions() {
			if r.Entry() == nil {
				return nil, t.m.Errorf(op, "'%s' has an empty region", op.Name())
			}
			if err := t.through(r.Entry(), cur); err != nil {
				return nil, err
			}
		}
		return t.prepend(op, nil, ct), nil
	}
	return nil, t.m.Errorf(op, "hooks inside '%s' cannot be put in order", op.Name())
}

// prepend rebuilds op with v as operand 0, unless it is nil, and a new result 0 of type chain, which it returns.
func (t *threader) prepend(op *ir.Op, v *ir.Value, chain ir.Type) *ir.Value {
	st := op.State()
	if v != nil {
		st.Operands = irutil.Prepend(v, st.Operands)
	}
	results := make([]int, len(st.Types))
	for i := range results {
		results[i] = i + 1
	}
	st.Types = irutil.Prepend(chain, st.Types)
	return t.m.Rebuild(op, st, results).Result(0)
}

// Thread takes the tokens out of a raised module and orders its hooks.
func Thread(m *ir.Module, order hook.Order, chain hook.Chain) error {
	if order == hook.OrderSource && chain == hook.ChainPID {
		return fmt.Errorf("a chain of PIDs keeps program order or none, but not the source's")
	}
	if order == hook.OrderSource {
		return TokensToChain(m, chain)
	}
	if err := DropTokens(m); err != nil {
		return err
	}
	if order == hook.OrderNone {
		return nil
	}
	return ThreadChain(m, chain)
}
