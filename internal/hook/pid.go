package hooks

import (
	"slices"

	"github.com/hlocb/hlocb/dialect/fn"
	"github.com/hlocb/hlocb/ir"
)

// attrPID marks, on a raised module, the argument that holds the PID of EXLA's callback server.
const attrPID = "hlocb.pid"

// markPIDs marks the function arguments that the PIDs come from.
func markPIDs(m *ir.Module, pids []*ir.Value) {
	if len(pids) == 0 {
		return
	}
	calls := newCallGraph(m)
	seen := map[*ir.Value]bool{}
	for len(pids) > 0 {
		v := pids[len(pids)-1]
		pids = pids[:len(pids)-1]
		if seen[v] || v.Block() == nil {
			continue
		}
		seen[v] = true
		f, ok := fn.AsFunc(v.Block().Parent())
		if !ok {
			continue
		}
		editArg(f, v.Index(), func(l ir.AttrList) ir.AttrList { return l.Set(attrPID, ir.NewUnit(), false) })
		for _, call := range calls.callers[f.Symbol()] {
			pids = append(pids, call.Operand(v.Index()))
		}
	}
}

// editArg changes the attributes of argument i of f.
func editArg(f fn.FuncOp, i int, edit func(ir.AttrList) ir.AttrList) {
	t := f.Type()
	args, results := signatureAttrs(f)
	args[i] = ir.NewDict(edit(args[i].Entries()))
	f.SetSignature(t, args, results)
}

// signatureAttrs returns the attributes of all arguments and results of f, none of them nil.
func signatureAttrs(f fn.FuncOp) (args, results []*ir.DictAttr) {
	for i := range f.Type().Inputs() {
		args = append(args, orEmpty(f.ArgAttrs(i)))
	}
	for i := range f.Type().Results() {
		results = append(results, orEmpty(f.ResultAttrs(i)))
	}
	return args, results
}

func orEmpty(d *ir.DictAttr) *ir.DictAttr {
	if d == nil {
		return ir.NewDict(nil)
	}
	return d
}

// dropPIDs removes the marked arguments that nothing reads any more, and the marks of the others.
func dropPIDs(m *ir.Module) {
	if !slices.ContainsFunc(fn.Funcs(m), func(f fn.FuncOp) bool { return f.Type() != nil && pidArg(f) != nil }) {
		return
	}
	calls := newCallGraph(m)
	passPIDs(calls)
	for changed := true; changed; {
		changed = false
		for _, f := range calls.funcs {
			if f.External() || calls.taken(f.Symbol()) != nil || f.Type() == nil {
				continue
			}
			for i := len(f.Type().Inputs()) - 1; i >= 0; i-- {
				if f.ArgAttrs(i).Get(attrPID) != nil && !f.Body().Arg(i).HasUses() {
					removeArg(m, f, i, calls.callers[f.Symbol()])
					changed = true
				}
			}
		}
	}
	for _, f := range calls.funcs {
		if f.Type() == nil {
			continue
		}
		for i := range f.Type().Inputs() {
			if f.ArgAttrs(i).Get(attrPID) != nil {
				editArg(f, i, func(l ir.AttrList) ir.AttrList { return l.Without(attrPID) })
			}
		}
	}
}

// passPIDs marks the arguments of private functions that marked arguments are handed to. The functions that loop
// conditions become are made after markPIDs and take what the conditions saw.
func passPIDs(calls *callGraph) {
	work := append([]fn.FuncOp(nil), calls.funcs...)
	for len(work) > 0 {
		f := work[len(work)-1]
		work = work[:len(work)-1]
		if f.External() || f.Type() == nil {
			continue
		}
		for i := range f.Type().Inputs() {
			if f.ArgAttrs(i).Get(attrPID) == nil {
				continue
			}
			for u := range f.Body().Arg(i).Uses() {
				if u.Owner().Name() != "func.call" {
					continue
				}
				g, ok := calls.callee(u.Owner())
				if k := u.Index(); ok && g.Private() && g.ArgAttrs(k).Get(attrPID) == nil {
					editArg(g, k, func(l ir.AttrList) ir.AttrList { return l.Set(attrPID, ir.NewUnit(), false) })
					work = append(work, g)
				}
			}
		}
	}
}

// removeArg removes argument i of f, which nothing uses, and operand i of its calls.
func removeArg(m *ir.Module, f fn.FuncOp, i int, callers []*ir.Op) {
	args, results := signatureAttrs(f)
	t := f.Type()
	f.Body().RemoveArg(i)
	f.SetSignature(m.Context().Function(without(t.Inputs(), i), t.Results()), without(args, i), results)
	for _, call := range callers {
		call.SetOperands(without(call.OperandList(), i))
	}
}

// without returns list less element i.
func without[T any](list []T, i int) []T {
	out := make([]T, 0, len(list)-1)
	return append(append(out, list[:i]...), list[i+1:]...)
}
