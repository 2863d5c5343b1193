package format

import (
	"encoding/binary"
	"encoding/hex"
	"slices"
	"strings"

	"github.com/hlocb/hlocb/dialect/fn"
	"github.com/hlocb/hlocb/dialect/hookop"
	"github.com/hlocb/hlocb/dialect/stablehlo"
	"github.com/hlocb/hlocb/dialect/view"
	"github.com/hlocb/hlocb/hook"
	"github.com/hlocb/hlocb/internal/hook/irutil"
	"github.com/hlocb/hlocb/ir"
	"github.com/hlocb/hlocb/ir/flow"
	"github.com/hlocb/hlocb/tensor"
)

// Custom-call targets of EXLA.
const (
	exlaTarget   = "exla_runtime_callback"
	exlaIOTarget = "exla_io_callback"
)

// exlaCallback is EXLA's io_call and runtime_call (0.13). Operand 0 is the PID of the callback server. The callback is
// an Erlang reference in external term format. hlocb's name for a hook survives only if it is a binary in that format.
var exlaCallback = &Format{
	Name: "exla-callback",
	Doc:  "a custom call @exla_runtime_callback; num_aliased_data_outputs distinguishes io_call (N) from runtime_call (0)",
	Reader: &Reader{
		Starts:     []*ir.Def{stablehlo.CustomCall},
		Read:       readEXLACallback,
		ReadsChain: func(op *ir.Op) bool { return irutil.IsTarget(op, exlaTarget) },
	},
	Writer: &Writer{
		Name:    "exla",
		Doc:     "custom calls @exla_runtime_callback with the server's PID as argument 0 of main; keeps no order",
		Ordered: Unordered,
		Begin:   func(w *Lowerer) error { return addPIDs(w.Module) },
		Write:   writeEXLACallback,
	},
}

// exlaIOCallback is the form that EXLA proposed: each call returns the PID for the next call.
var exlaIOCallback = &Format{
	Name: "exla-io-callback",
	Doc:  "a custom call @exla_io_callback, whose result 0 is the PID for the next call",
	Reader: &Reader{
		Starts: []*ir.Def{stablehlo.CustomCall},
		Read:   readEXLAIOCallback,
		Chains: func(op *ir.Op) bool { return irutil.IsTarget(op, exlaIOTarget) },
	},
	Writer: &Writer{
		Name:    "exla-io",
		Doc:     "custom calls @exla_io_callback, each with the PID that the call before it returned; holds taps and inout hooks",
		Ordered: OrderedByPID,
		Write:   writeEXLAIOCallback,
	},
}

func readEXLACallback(r *Raiser, op *ir.Op) (bool, error) {
	if !irutil.IsTarget(op, exlaTarget) {
		return false, nil
	}
	id, err := exlaCallbackID(r, op)
	if err != nil {
		return false, err
	}
	aliased, ok := view.OptionalInt(irutil.Config(op).Get("num_aliased_data_outputs"))
	if !ok {
		return false, r.Module.Errorf(op, "EXLA callback has no num_aliased_data_outputs in its backend_config")
	}
	if err := r.pid(op); err != nil {
		return false, err
	}
	if aliased != 0 && aliased != int64(op.NumResults()) {
		return false, r.Module.Errorf(op, "EXLA callback has %d results, but num_aliased_data_outputs is %d", op.NumResults(), aliased)
	}
	s, err := exlaSite(r, op, id)
	if err != nil {
		return false, err
	}
	if aliased > 0 {
		s.Kind = hook.InOut
		if !allAliased(s.Aliases) {
			return false, r.Module.Errorf(op, "EXLA callback has num_aliased_data_outputs, but no output_operand_aliases")
		}
	} else if len(s.Results) == 0 {
		s.Kind = hook.Tap
	}
	r.pids = append(r.pids, op.Operand(0))
	r.Add(s)
	return true, nil
}

func readEXLAIOCallback(r *Raiser, op *ir.Op) (bool, error) {
	if !irutil.IsTarget(op, exlaIOTarget) {
		return false, nil
	}
	id, err := exlaCallbackID(r, op)
	if err != nil {
		return false, err
	}
	if op.NumOperands() == 0 || op.NumResults() == 0 || !stablehlo.IsToken(op.Operand(0).Type()) {
		return false, r.Module.Errorf(op, "EXLA io_callback does not pass its PID through, as operand 0 and result 0")
	}
	s, err := exlaSite(r, op, id)
	if err != nil {
		return false, err
	}
	s.Kind, s.Tokens, s.Results = hook.InOut, []*ir.Value{op.Operand(0)}, op.ResultList()
	if len(s.Aliases) == 0 {
		s.Kind = hook.Tap
	}
	r.Add(s)
	return true, nil
}

// exlaSite fills in the fields that both forms share.
func exlaSite(r *Raiser, op *ir.Op, id []byte) (*Match, error) {
	s, err := r.call(op)
	if err != nil {
		return nil, err
	}
	if irutil.IsTarget(op, exlaIOTarget) { // the chain is a token by now
		s.Aliases = s.Aliases[:0]
		for i := 1; i < op.NumResults(); i++ {
			s.Aliases = append(s.Aliases, i-1)
		}
	} else if len(s.Tokens) == 0 {
		s.Aliases = afterChain(s.Aliases) // the PID is operand 0
	}
	s.Kind, s.SideEffect, s.Mark, s.Tokens, s.Operands = hook.Call, true, op, nil, op.OperandList()[1:]
	s.Name, s.SourceID = etfName(id), "callback_id "+hex.EncodeToString(id)
	return s, nil
}

// pid checks that operand 0 is the PID of the callback server.
func (r *Raiser) pid(op *ir.Op) error {
	if op.NumOperands() > 0 {
		if t := op.Operand(0).Type(); stablehlo.IsToken(t) || isPID(t) {
			return nil
		}
	}
	return r.Module.Errorf(op, "EXLA callback needs the server's PID, a tensor<Nxui8>, as operand 0")
}

// isPID reports whether t is the type of a PID, a tensor<Nxui8>.
func isPID(t ir.Type) bool {
	tt, ok := t.(*ir.TensorType)
	return ok && tt.DType() == tensor.UI8 && tt.Rank() == 1
}

// exlaCallbackID returns the bytes of callback_id, an array of words; in a portable artifact the array becomes a
// tensor.
func exlaCallbackID(r *Raiser, op *ir.Op) ([]byte, error) {
	words := view.Ints(irutil.Config(op).Get("callback_id"))
	size, hasSize := view.OptionalInt(irutil.Config(op).Get("callback_id_size"))
	if words == nil || !hasSize {
		return nil, r.Module.Errorf(op, "EXLA callback has no callback_id and callback_id_size in its backend_config")
	}
	n := int64(len(words))
	if size < 0 || size > 8*n || size <= 8*(n-1) {
		return nil, r.Module.Errorf(op, "callback_id_size %d does not agree with the %d words of callback_id", size, n)
	}
	var b []byte
	for _, w := range words {
		b = binary.LittleEndian.AppendUint64(b, uint64(w))
	}
	return b[:size], nil
}

func writeEXLACallback(w *Lowerer, h hookop.HookOp) error {
	if err := w.checkDevice(h); err != nil {
		return err
	}
	if h.Chained() {
		return w.Cannot(h, "it is chained, and the format has no order: order the hooks with order=none")
	}
	pid := pidFor(h.Op)
	if pid == nil {
		return w.Cannot(h, "the PID of EXLA's callback server does not reach it")
	}
	types := dataTypes(h)
	var operands []int // of the results, which are operands
	switch h.Kind() {
	case hook.InOut:
		for _, o := range h.Aliases() {
			operands = append(operands, 1+o)
		}
	case hook.Tap: // an io_call whose results are unused, except the operands that it passes through
		types = view.Types(data(h))
		for i := range types {
			operands = append(operands, 1+i)
		}
	}
	count := ir.NewInteger(int64(len(operands)), w.Module.Context().Integer(64, ir.Unsigned))
	op := w.exlaCall(h, exlaTarget, irutil.Prepend(pid, data(h)), types, operands, ir.NamedAttr{Name: "num_aliased_data_outputs", Attr: count})
	w.Replace(h, nil, exlaResults(h, op.ResultList()))
	return nil
}

func writeEXLAIOCallback(w *Lowerer, h hookop.HookOp) error {
	if err := w.checkDevice(h); err != nil {
		return err
	}
	switch {
	case !h.Chained():
		return w.Cannot(h, "it is not ordered, and the format orders every hook")
	case h.Kind() != hook.Tap && h.Kind() != hook.InOut:
		return w.Cannot(h, "its host computes the results, which the format cannot return")
	case h.Kind() == hook.InOut && !identity(h):
		return w.Cannot(h, "its results are not its operands in order")
	}
	types := view.Types(h.OperandList())
	operands := make([]int, len(types))
	for i := range operands {
		operands[i] = i
	}
	op := w.exlaCall(h, exlaIOTarget, h.OperandList(), types, operands)
	w.Replace(h, op.Result(0), exlaResults(h, op.ResultList()[1:]))
	return nil
}

// exlaCall inserts a call of EXLA for h. operands lists the operands that the results are.
func (w *Lowerer) exlaCall(h hookop.HookOp, target string, inputs []*ir.Value, types []ir.Type, operands []int, cfg ...ir.NamedAttr) *ir.Op {
	words, size := callbackID(h)
	call := stablehlo.CustomCallAttrs{CallTargetName: target, APIVersion: new(int64(stablehlo.APITypedFFI)), HasSideEffect: true, BackendConfig: ir.NewDict(append(ir.AttrList{
		{Name: "callback_id", Attr: ir.NewDenseArray(ir.Int(64), words)},
		{Name: "callback_id_size", Attr: ir.NewInteger(size, w.Module.Context().Integer(64, ir.Unsigned))},
	}, cfg...))}
	for i, o := range operands {
		call.OutputOperandAliases = append(call.OutputOperandAliases, aliasOf(i, o, len(types)))
	}
	op := ir.Must(stablehlo.BuildCustomCall(w.Module.Before(h.Op), inputs, types, call)).Op
	setMarks(op, h)
	return op
}

// exlaResults returns the results of EXLA's call that replace the results of h. A tap returns all its operands.
func exlaResults(h hookop.HookOp, results []*ir.Value) []*ir.Value {
	if h.Kind() != hook.Tap {
		return results
	}
	var out []*ir.Value
	for _, o := range h.Aliases() {
		out = append(out, results[o])
	}
	return out
}

// identity reports whether every result of h is the operand with the same index.
func identity(h hookop.HookOp) bool {
	aliases := h.Aliases()
	for i, o := range aliases {
		if o != i {
			return false
		}
	}
	return len(aliases) == h.NumData()
}

// callbackID returns the words of a callback_id and its length in bytes. It keeps the source's callback_id if the
// source was EXLA, and otherwise writes the hook's name as a binary in Erlang's external term format.
func callbackID(h hookop.HookOp) (words []int64, size int64) {
	var b []byte
	if id, ok := strings.CutPrefix(h.SourceID(), "callback_id "); ok && strings.HasPrefix(h.Format(), "exla-") {
		b, _ = hex.DecodeString(id)
	}
	if b == nil {
		name := h.HookName()
		b = append([]byte{etfVersion, etfBinary}, binary.BigEndian.AppendUint32(nil, uint32(len(name)))...)
		b = append(b, name...)
	}
	size = int64(len(b))
	for len(b)%8 != 0 {
		b = append(b, 0)
	}
	for i := 0; i < len(b); i += 8 {
		words = append(words, int64(binary.LittleEndian.Uint64(b[i:])))
	}
	return words, size
}

// Bytes of Erlang's external term format.
const (
	etfVersion = 131
	etfBinary  = 109
)

// etfName returns the name that callbackID wrote into a callback_id, or "" if the id is another term.
func etfName(b []byte) string {
	if len(b) < 6 || b[0] != etfVersion || b[1] != etfBinary || int(binary.BigEndian.Uint32(b[2:6])) != len(b)-6 {
		return ""
	}
	return string(b[6:])
}

// addPIDs adds a PID argument to every function that reaches a hook, unless the function already has one. In public
// functions it is argument 0, as in EXLA. Callers of private functions pass their PID.
func addPIDs(m *ir.Module) error {
	reach := flow.ReachOf(m, func(op *ir.Op) bool { _, ok := hookop.AsHook(op); return ok })
	pid := m.Context().StaticTensor(tensor.UI8, tensor.Shape{irutil.PIDBytes})
	for _, op := range reach.Functions() {
		f := fn.FuncOp{Op: op}
		if !reach.Holds(op) || irutil.PIDArg(f) != nil {
			continue
		}
		if by := reach.NamedBy(op); by != nil {
			return m.Errorf(by, "'%s' names function @%s, which needs the PID of EXLA's callback server", by.Name(), f.Symbol())
		}
		irutil.AddPID(m, f, pid)
	}
	for _, op := range reach.Functions() {
		if !reach.Holds(op) {
			continue
		}
		for _, call := range reach.Callers(op) {
			if call.NumOperands() == len(fn.FuncOp{Op: op}.Type().Inputs()) {
				continue
			}
			v := pidFor(call)
			if v == nil {
				return m.Errorf(call, "the PID of EXLA's callback server does not reach this call")
			}
			call.SetOperands(irutil.Prepend(v, call.OperandList()))
		}
	}
	return nil
}

// pidFor returns the PID that op can use. Ops in regions use the argument of their function directly.
func pidFor(op *ir.Op) *ir.Value {
	for p := op.Parent(); p != nil; p = p.Parent() {
		if f, ok := fn.AsFunc(p); ok {
			return irutil.PIDArg(f)
		}
		if p.Has(ir.IsolatedFromAbove) {
			return nil
		}
	}
	return nil
}

// markPID marks argument i of f as a PID.
func markPID(f fn.FuncOp, i int) {
	f.EditArg(i, func(l ir.AttrList) ir.AttrList { return l.Set(irutil.AttrPID, ir.NewUnit(), false) })
}

// markPIDs marks the function arguments that the PIDs come from, following calls, loops and branches.
func markPIDs(m *ir.Module, pids []*ir.Value) {
	if len(pids) == 0 {
		return
	}
	graph := flow.Of(m, nil)
	seen := map[*ir.Value]bool{}
	for len(pids) > 0 {
		v := pids[len(pids)-1]
		pids = pids[:len(pids)-1]
		if seen[v] || v.ParentBlock() == nil {
			continue
		}
		seen[v] = true
		if v.DefiningOp() == nil {
			if f, ok := fn.AsFunc(v.Block().Parent()); ok {
				markPID(f, v.Index())
			}
		}
		for u := range graph.Sources(v) {
			pids = append(pids, u.Value())
		}
	}
}

// dropPIDs removes the marked arguments that are no longer used, and the marks of the remaining ones.
func dropPIDs(m *ir.Module) {
	funcs := slices.DeleteFunc(fn.Funcs(m), func(f fn.FuncOp) bool { return f.Type() == nil })
	if !slices.ContainsFunc(funcs, func(f fn.FuncOp) bool { return irutil.PIDArg(f) != nil }) {
		return
	}
	graph := flow.Of(m, nil)
	for changed := true; changed; {
		changed = false
		for _, f := range funcs {
			for i := len(f.Type().Inputs()) - 1; i >= 0 && !f.External(); i-- {
				switch a := f.Body().Arg(i); {
				case f.ArgAttrs(i).Get(irutil.AttrPID) == nil:
				case a.HasUses():
					changed = passPID(graph, a) || changed
				case graph.NamedBy(f.Op) == nil:
					removeArg(m, f, i, graph.Callers(f.Op))
					changed = true
				}
			}
		}
		changed = changed || zeroPIDs(m, graph, funcs)
	}
	for _, f := range funcs {
		for i := range f.Type().Inputs() {
			if f.ArgAttrs(i).Get(irutil.AttrPID) != nil {
				f.EditArg(i, func(l ir.AttrList) ir.AttrList { return l.Without(irutil.AttrPID) })
			}
		}
	}
}

// zeroPIDs puts zeros in place of the marked arguments of public functions that are only forwarded, and reports whether
// there were any: loops that forward a PID use it, and private functions that call themselves.
func zeroPIDs(m *ir.Module, graph *flow.Graph, funcs []fn.FuncOp) (changed bool) {
	for _, f := range funcs {
		for i := range f.Type().Inputs() {
			if f.External() || f.Private() || f.ArgAttrs(i).Get(irutil.AttrPID) == nil {
				continue
			}
			a := f.Body().Arg(i)
			if !a.HasUses() || !onlyForwarded(graph, a) {
				continue
			}
			// The zero stands at its first use: at the start, the next conversion would put its chain before it.
			b := m.AtStart(f.Body())
			if op := firstUser(a); op != nil {
				b = m.Before(op)
			}
			a.ReplaceAllUsesWith(irutil.Zero(b.At(f.Loc(), f.Pos()), a.Type().(*ir.TensorType)))
			changed = true
		}
	}
	return changed
}

// firstUser returns the first op of the block of the argument a that uses a or contains a use, or nil if another block
// uses a.
func firstUser(a *ir.Value) (first *ir.Op) {
	for u := range a.Uses() {
		op := u.Owner()
		for op != nil && op.Block() != a.Block() {
			op = op.Parent()
		}
		if op == nil {
			return nil
		}
		if first == nil || op.IsBefore(first) {
			first = op
		}
	}
	return first
}

// onlyForwarded reports whether loops, branches and calls forward pid, and no other op reads it.
func onlyForwarded(graph *flow.Graph, pid *ir.Value) bool {
	seen, work := map[*ir.Value]bool{pid: true}, []*ir.Value{pid}
	if t, ok := pid.Type().(*ir.TensorType); !ok || !t.Static() {
		return false
	}
	for len(work) > 0 {
		v := work[len(work)-1]
		work = work[:len(work)-1]
		for u := range v.Uses() {
			forwards := u.Owner().Has(ir.ReturnLike) && isPrivateFunction(u.Owner().Parent())
			for t := range graph.Targets(u) {
				forwards = true
				if !seen[t] {
					seen[t] = true
					work = append(work, t)
				}
			}
			if !forwards {
				return false
			}
		}
	}
	return true
}

func isPrivateFunction(op *ir.Op) bool {
	f, ok := fn.AsFunc(op)
	return ok && f.Private()
}

// passPID marks the arguments of private functions that receive pid, and reports whether one was not marked yet. Loop
// conditions became these functions after markPIDs ran.
func passPID(graph *flow.Graph, pid *ir.Value) (changed bool) {
	for u := range pid.Uses() {
		op := graph.Callee(u.Owner())
		if op == nil {
			continue
		}
		if g := (fn.FuncOp{Op: op}); g.Private() && g.ArgAttrs(u.Index()).Get(irutil.AttrPID) == nil {
			markPID(g, u.Index())
			changed = true
		}
	}
	return changed
}

// removeArg removes the unused argument i of f, and operand i of its calls.
func removeArg(m *ir.Module, f fn.FuncOp, i int, callers []*ir.Op) {
	args, results := f.ValueAttrs()
	t := f.Type()
	f.Body().RemoveArg(i)
	f.SetSignature(m.Context().Function(slices.Delete(slices.Clone(t.Inputs()), i, i+1), t.Results()), slices.Delete(args, i, i+1), results)
	for _, call := range callers {
		call.SetOperands(slices.Delete(call.OperandList(), i, i+1))
	}
}
