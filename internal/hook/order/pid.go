package order

import (
	"slices"

	"github.com/hlocb/hlocb/dialect/fn"
	"github.com/hlocb/hlocb/dialect/hookop"
	"github.com/hlocb/hlocb/hook"
	"github.com/hlocb/hlocb/ir"
	"github.com/hlocb/hlocb/ir/flow"
)

// AttrPID marks, on a raised module, the function arguments that hold the PID of EXLA's callback server.
const AttrPID = "hlocb.pid"

// pidBytes is the size of a PID on the machines EXLA runs on.
const pidBytes = 8

// MarkPIDs marks the function arguments that the PIDs come from, through loops, branches and calls.
func MarkPIDs(m *ir.Module, pids []*ir.Value) {
	if len(pids) == 0 {
		return
	}
	g := flow.Of(m, nil)
	seen := map[*ir.Value]bool{}
	for len(pids) > 0 {
		v := pids[len(pids)-1]
		pids = pids[:len(pids)-1]
		if seen[v] {
			continue
		}
		seen[v] = true
		if v.Block() != nil {
			if f, ok := fn.AsFunc(v.Block().Parent()); ok {
				markPID(f, v.Index())
			}
		}
		for u := range g.Sources(v) {
			pids = append(pids, u.Value())
		}
	}
}

func markPID(f fn.FuncOp, i int) {
	f.EditArg(i, func(l ir.AttrList) ir.AttrList { return l.Set(AttrPID, ir.NewUnit(), false) })
}

// DropPIDs removes the marked arguments that nothing reads any more, and the marks of the others.
func DropPIDs(m *ir.Module) {
	if !slices.ContainsFunc(fn.Funcs(m), func(f fn.FuncOp) bool { return f.Type() != nil && PIDArg(f) != nil }) {
		return
	}
	g := flow.Of(m, nil)
	passPIDs(g)
	for changed := true; changed; {
		changed = false
		for _, op := range g.Functions() {
			f := fn.FuncOp{Op: op}
			if f.External() || g.NamedBy(op) != nil || f.Type() == nil {
				continue
			}
			for i := len(f.Type().Inputs()) - 1; i >= 0; i-- {
				if isPID(f, i) && !f.Body().Arg(i).HasUses() {
					removeArg(m, f, i, g.Callers(op))
					changed = true
				}
			}
		}
	}
	for _, op := range g.Functions() {
		f := fn.FuncOp{Op: op}
		if f.Type() == nil {
			continue
		}
		for i := range f.Type().Inputs() {
			if isPID(f, i) {
				f.EditArg(i, func(l ir.AttrList) ir.AttrList { return l.Without(AttrPID) })
			}
		}
	}
}

func isPID(f fn.FuncOp, i int) bool { return f.ArgAttrs(i).Get(AttrPID) != nil }

// passPIDs marks the arguments of private functions that marked arguments are passed to. The functions that loop
// conditions become are made after MarkPIDs.
func passPIDs(g *flow.Graph) {
	work := slices.Clone(g.Functions())
	for len(work) > 0 {
		f := fn.FuncOp{Op: work[len(work)-1]}
		work = work[:len(work)-1]
		if f.External() || f.Type() == nil {
			continue
		}
		for i := range f.Type().Inputs() {
			if !isPID(f, i) {
				continue
			}
			for u := range f.Body().Arg(i).Uses() {
				op := g.Callee(u.Owner())
				if op == nil {
					continue
				}
				if callee := (fn.FuncOp{Op: op}); callee.Private() && !isPID(callee, u.Index()) {
					markPID(callee, u.Index())
					work = append(work, op)
				}
			}
		}
	}
}

// removeArg removes argument i of f, which nothing uses, and operand i of its calls.
func removeArg(m *ir.Module, f fn.FuncOp, i int, callers []*ir.Op) {
	args, results := f.ValueAttrs()
	t := f.Type()
	f.Body().RemoveArg(i)
	inputs := slices.Delete(slices.Clone(t.Inputs()), i, i+1)
	f.SetSignature(m.Context().Function(inputs, t.Results()), slices.Delete(args, i, i+1), results)
	for _, call := range callers {
		call.SetOperands(slices.Delete(call.OperandList(), i, i+1))
	}
}

// AddPIDs gives every function that reaches a hook the PID as an argument, unless the function has one: argument 0 of
// public functions, as EXLA writes them, and of private functions, whose callers pass it on.
func AddPIDs(m *ir.Module) error {
	reach := flow.ReachOf(m, func(op *ir.Op) bool { return op.Is(hookop.Hook) })
	pid := ChainType(m.Context(), hook.ChainPID)
	for _, op := range reach.Functions() {
		f := fn.FuncOp{Op: op}
		if !reach.Holds(op) || PIDArg(f) != nil {
			continue
		}
		if by := reach.NamedBy(op); by != nil {
			return m.Errorf(by, "'%s' names function @%s, which needs the PID of EXLA's callback server", by.Name(), f.Symbol())
		}
		addPID(m, f, pid)
	}
	for _, op := range reach.Functions() {
		if !reach.Holds(op) {
			continue
		}
		for _, call := range reach.Callers(op) {
			if call.NumOperands() == len(fn.FuncOp{Op: op}.Type().Inputs()) {
				continue
			}
			v := PIDFor(call)
			if v == nil {
				return m.Errorf(call, "the PID of EXLA's callback server does not reach this call")
			}
			call.SetOperands(prepend(v, call.OperandList()))
		}
	}
	return nil
}

// addPID inserts the PID as argument 0 of f.
func addPID(m *ir.Module, f fn.FuncOp, pid ir.Type) *ir.Value {
	args, results := f.ValueAttrs()
	mark := ir.NewDict(ir.AttrList{{Name: AttrPID, Attr: ir.NewUnit()}})
	t := f.Type()
	f.SetSignature(m.Context().Function(prepend(pid, t.Inputs()), t.Results()), prepend(mark, args), results)
	return f.Body().InsertArg(0, pid, f.Loc())
}

// PIDArg returns f's argument that holds the PID, nil if it has none.
func PIDArg(f fn.FuncOp) *ir.Value {
	for i := range f.Type().Inputs() {
		if isPID(f, i) {
			return f.Body().Arg(i)
		}
	}
	return nil
}

// PIDFor returns the PID as op can use it: regions use the argument of their function directly. It returns nil if the
// PID does not reach op.
func PIDFor(op *ir.Op) *ir.Value {
	for p := op.Parent(); p != nil; p = p.Parent() {
		if f, ok := fn.AsFunc(p); ok {
			return PIDArg(f)
		}
		if p.Has(ir.IsolatedFromAbove) {
			return nil
		}
	}
	return nil
}
