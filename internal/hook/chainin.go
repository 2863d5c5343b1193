package hooks

import (
	"github.com/hlocb/hlocb/dialect/fn"
	"github.com/hlocb/hlocb/dialect/stablehlo"
	"github.com/hlocb/hlocb/hook"
	"github.com/hlocb/hlocb/ir"
)

// tokenizeChains turns the chains of calls that were rewritten before (hlocb's own, and EXLA's io_callback, which
// hands its PID from call to call) into tokens, so that everything after deals with one notation. It follows each
// chain through calls, loops and branches to where it starts, a constant or an argument, and lets it start from
// a create_token there. seeds are the links (see isChainLink), annotations the
// ops that isAnnotation selects. It returns the arguments that chains started from.
func tokenizeChains(m *ir.Module, seeds, annotations []*ir.Op) (starts []*ir.Value, err error) {
	if len(seeds) == 0 {
		return nil, nil
	}
	peelChains(annotations)
	f := &chainFollower{m: m, calls: newCallGraph(m), chain: map[*ir.Value]bool{}}
	for _, op := range seeds {
		f.add(op.Operand(0))
		f.add(op.Result(0))
	}
	for len(f.work) > 0 {
		v := f.work[len(f.work)-1]
		f.work = f.work[:len(f.work)-1]
		f.produced(v)
		for u := range v.Uses() {
			if err := f.used(v, u); err != nil {
				return nil, err
			}
		}
	}
	return f.convert(), nil
}

// peelChains takes the calls away by which a chain of a GSPMD module goes from whole values to a device's own and back
// (see placer.enterChain): they are written anew.
func peelChains(annotations []*ir.Op) {
	var around []*ir.Op
	for _, op := range annotations {
		if op.Operand(0).Type() == op.Result(0).Type() && !isZeroSize(op.Operand(0).Type()) && onChain(op) {
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

func isAnnotation(op *ir.Op) bool {
	return stable(op) == "custom_call" && isTarget(op, "Sharding", "SPMDFullToShardShape", "SPMDShardToFullShape") && op.NumOperands() == 1 && op.NumResults() == 1
}

// onChain reports whether an annotation's value is the chain that a hook gives or takes, through nothing but annotations.
func onChain(op *ir.Op) bool {
	from := op.Operand(0)
	for from.DefiningOp() != nil && isAnnotation(from.DefiningOp()) {
		from = from.DefiningOp().Operand(0)
	}
	if d := from.DefiningOp(); d != nil && isChainLink(d) && from.Index() == 0 {
		return true
	}
	for v := op.Result(0); v != nil; {
		to := v
		v = nil
		for u := range to.Uses() {
			if isChainLink(u.Owner()) && u.Index() == 0 {
				return true
			}
			if isAnnotation(u.Owner()) {
				v = u.Owner().Result(0)
			}
		}
	}
	return false
}

// isChainLink reports whether op is a call with a chain that is no token, as operand 0 and result 0.
func isChainLink(op *ir.Op) bool {
	if stable(op) != "custom_call" || op.NumOperands() == 0 || op.NumResults() == 0 || stablehlo.IsToken(op.Operand(0).Type()) ||
		op.Operand(0).Type() != op.Result(0).Type() || isZeroSize(op.Operand(0).Type()) {
		return false
	}
	switch {
	case isTarget(op, hook.Target):
		return isTrue(config(op).Get("chained"))
	case isTarget(op, exlaIOTarget):
		return true
	}
	return false
}

// chainFollower finds all values that are one chain or another.
type chainFollower struct {
	m     *ir.Module
	calls *callGraph
	chain map[*ir.Value]bool
	order []*ir.Value // of chain, as found
	work  []*ir.Value
}

// add takes v into the chain unless it is where one starts.
func (f *chainFollower) add(v *ir.Value) {
	if f.chain[v] || f.isStart(v) {
		return
	}
	f.chain[v] = true
	f.order = append(f.order, v)
	f.work = append(f.work, v)
}

// isStart reports whether a chain starts with v: nothing that hands chains on makes it.
func (f *chainFollower) isStart(v *ir.Value) bool {
	if def := v.DefiningOp(); def != nil {
		switch stable(def) {
		case "while", "if", "case", "or", "optimization_barrier":
			return false
		case "custom_call":
			return !isChainLink(def) || v.Index() != 0
		}
		switch def.Name() {
		case "sdy.manual_computation":
			return false
		case "func.call":
			_, ok := f.calls.callee(def)
			return !ok
		}
		return true
	}
	p := v.Block().Parent()
	if p.Name() == "func.func" {
		return stringAttr(p.Attr("sym_visibility")) != "private"
	}
	return stable(p) != "while" && p.Name() != "sdy.manual_computation"
}

// produced follows v to what it is made of.
func (f *chainFollower) produced(v *ir.Value) {
	i := v.Index()
	if def := v.DefiningOp(); def != nil {
		switch {
		case def.Name() == "func.call":
			if callee, ok := f.calls.callee(def); ok {
				for _, ret := range returns(callee) {
					f.add(ret.Operand(i))
				}
			}
		case stable(def) == "while":
			f.carried(def, i)
		case stable(def) == "if", stable(def) == "case", def.Name() == "sdy.manual_computation":
			for _, r := range def.Regions() {
				for _, t := range terminators(r) {
					f.add(t.Operand(i))
				}
			}
		case stable(def) == "or":
			f.add(def.Operand(0))
			f.add(def.Operand(1))
		case stable(def) == "optimization_barrier":
			f.add(def.Operand(i))
		}
		return
	}
	p := v.Block().Parent()
	switch {
	case stable(p) == "while":
		f.carried(p, i)
	case p.Name() == "sdy.manual_computation":
		f.add(p.Operand(i))
	case p.Name() == "func.func":
		for _, call := range f.calls.callers[stringAttr(p.Attr(ir.SymbolName))] {
			f.add(call.Operand(i))
		}
	}
}

// carried takes position i of a loop into the chain.
func (f *chainFollower) carried(loop *ir.Op, i int) {
	f.add(loop.Operand(i))
	f.add(loop.Result(i))
	for _, r := range loop.Regions() {
		if r.Entry() != nil && i < r.Entry().NumArgs() {
			f.add(r.Entry().Arg(i))
		}
	}
	for _, t := range terminators(loop.Region(1)) {
		f.add(t.Operand(i))
	}
}

// used follows v to where it is handed on.
func (f *chainFollower) used(v *ir.Value, u *ir.Use) error {
	op, i := u.Owner(), u.Index()
	switch {
	case isChainLink(op) && i == 0:
	case stable(op) == "custom_call" && isTarget(op, exlaTarget, exlaIOTarget) && i == 0:
	case op.Name() == "func.call":
		callee, ok := f.calls.callee(op)
		if !ok {
			return f.astray(op)
		}
		f.add(callee.Body().Arg(i))
	case stable(op) == "while":
		f.carried(op, i)
	case stable(op) == "or":
		f.add(op.Result(0))
	case stable(op) == "optimization_barrier":
		f.add(op.Result(i))
	case op.Name() == "sdy.manual_computation":
		f.add(op.Region(0).Entry().Arg(i))
	case isReturn(op):
		p := op.Parent()
		switch {
		case p.Name() == "func.func":
			if stringAttr(p.Attr("sym_visibility")) != "private" {
				return f.astray(op)
			}
			for _, call := range f.calls.callers[stringAttr(p.Attr(ir.SymbolName))] {
				f.add(call.Result(i))
			}
		case stable(p) == "while":
			f.carried(p, i)
		default:
			f.add(p.Result(i))
		}
	default:
		return f.astray(op)
	}
	return nil
}

func (f *chainFollower) astray(op *ir.Op) error {
	return f.m.Errorf(op, "the chain of a hook is passed to '%s', where it cannot be followed", op.Name())
}

// convert gives all chain values the token type and starts them from create_token.
func (f *chainFollower) convert() (starts []*ir.Value) {
	token := stablehlo.TokenType(f.m.Context())
	started := map[*ir.Value]*ir.Value{}
	for _, v := range f.order {
		v.SetType(token)
		bareSharding(v)
	}
	// What feeds a chain slot and is no chain itself is where a chain starts.
	begin := func(u *ir.Use) {
		v := u.Value()
		if f.chain[v] || stablehlo.IsToken(v.Type()) {
			return
		}
		t := started[v]
		if t == nil {
			var b *ir.Builder
			if def := v.DefiningOp(); def != nil {
				b = f.m.After(def)
			} else {
				starts = append(starts, v)
				p := v.Block().Parent()
				b = f.m.AtStart(v.Block()).At(p.Loc(), p.Pos())
			}
			t = ir.Must(b.Build(f.m.Def("stablehlo.create_token"), nil)).Result(0)
			started[v] = t
		}
		u.Set(t)
		if def := v.DefiningOp(); def != nil && stable(def) == "constant" && !v.HasUses() {
			def.Erase()
		}
	}
	slots := func(op *ir.Op, vals []*ir.Value, shift int) {
		for i, v := range vals {
			if f.chain[v] && i+shift < op.NumOperands() {
				begin(op.OperandUse(i + shift))
			}
		}
	}
	var ors []*ir.Op
	f.m.Walk(func(op *ir.Op) bool {
		switch {
		case isChainLinkTyped(f, op):
			begin(op.OperandUse(0))
		case op.Name() == "func.call":
			if callee, ok := f.calls.callee(op); ok {
				slots(op, callee.Body().Args(), 0)
			}
		case stable(op) == "while":
			slots(op, op.Region(1).Entry().Args(), 0)
		case stable(op) == "or":
			if f.chain[op.Result(0)] {
				begin(op.OperandUse(0))
				begin(op.OperandUse(1))
				ors = append(ors, op)
			}
		case stable(op) == "optimization_barrier":
			slots(op, resultList(op), 0)
		case op.Name() == "sdy.manual_computation":
			slots(op, op.Region(0).Entry().Args(), 0)
		case isReturn(op):
			p := op.Parent()
			if p.Name() == "func.func" {
				for _, call := range f.calls.callers[stringAttr(p.Attr(ir.SymbolName))] {
					slots(op, resultList(call), 0)
				}
			} else if stable(p) != "while" || op.Block().Region() == p.Region(1) {
				slots(op, resultList(p), 0)
			}
		}
		return true
	})
	for _, op := range ors {
		join := ir.Must(f.m.Before(op).Build(f.m.Def("stablehlo.after_all"), op.OperandList()))
		op.Result(0).ReplaceAllUsesWith(join.Result(0))
		op.Erase()
	}
	for _, fun := range f.calls.funcs {
		if fun.External() || fun.Type() == nil {
			continue
		}
		f.signature(fun)
	}
	return starts
}

// isChainLinkTyped reports whether op is a link of a chain after the chain values got the token type.
func isChainLinkTyped(f *chainFollower, op *ir.Op) bool {
	return stable(op) == "custom_call" && isTarget(op, hook.Target, exlaIOTarget) && op.NumResults() > 0 && f.chain[op.Result(0)]
}

// signature brings the type of a function in line with its body.
func (f *chainFollower) signature(fun fn.FuncOp) {
	t := fun.Type()
	inputs := typeList(fun.Body().Args())
	results := t.Results()
	for _, ret := range returns(fun) {
		results = typeList(ret.OperandList())
	}
	n := f.m.Context().Function(inputs, results)
	if n == t {
		return
	}
	args, res := make([]*ir.DictAttr, len(inputs)), make([]*ir.DictAttr, len(results))
	for i := range args {
		args[i] = fun.ArgAttrs(i)
	}
	for i := range res {
		res[i] = fun.ResultAttrs(i)
	}
	fun.SetSignature(n, args, res)
}
