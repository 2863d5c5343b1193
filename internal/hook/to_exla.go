package hooks

import (
	"encoding/binary"
	"encoding/hex"
	"strings"

	"github.com/hlocb/hlocb/dialect/fn"
	"github.com/hlocb/hlocb/dialect/hookop"
	"github.com/hlocb/hlocb/hook"
	"github.com/hlocb/hlocb/ir"
	"github.com/hlocb/hlocb/tensor"
)

// toEXLA writes EXLA's io_call and runtime_call: the PID of its callback server is argument 0 of the program and
// operand 0 of each call. The notation has no order, and its calls always have a side effect.
var toEXLA = Output{
	Name:  "exla",
	Doc:   "custom calls @exla_runtime_callback with the server's PID as argument 0 of main; keeps no order",
	needs: needNone,
	lower: lowerEXLA,
}

// toEXLAIO writes the form that hands the PID from call to call, which keeps the order.
var toEXLAIO = Output{
	Name:  "exla-io",
	Doc:   "custom calls @exla_io_callback, ordered by handing on the PID; holds taps and inout hooks",
	needs: needPID,
	lower: lowerEXLAIO,
}

func lowerEXLA(w *lowerer, h hookop.HookOp) error {
	ctx := w.m.Context()
	pid := pidFor(h.Op)
	if pid == nil {
		return w.lost(h, "the PID of EXLA's callback server does not get there")
	}
	operands := prepend(pid, data(h))
	types := dataTypes(h)
	var aliases []int
	switch h.Kind() {
	case hook.InOut:
		aliases = h.Aliases()
	case hook.Tap: // an io_call whose results nobody needs, but for those it passes through
		types = nil
		for i := range h.NumData() {
			types = append(types, h.Data(i).Type())
			aliases = append(aliases, i)
		}
	}
	st := &ir.OpState{Def: w.m.Def("stablehlo.custom_call"), Operands: operands, Types: types, Loc: h.Loc(), Pos: h.Pos()}
	st.SetAttr("call_target_name", ir.NewString(exlaTarget))
	st.SetAttr("api_version", ir.NewInteger(4, ctx.I32()))
	st.SetAttr("has_side_effect", ctx.Bool(true))
	words, size := callbackID(h)
	ui64 := ctx.Integer(64, ir.Unsigned)
	st.SetAttr("backend_config", ir.NewDict(ir.AttrList{
		{Name: "callback_id", Attr: ir.NewDenseArray(ctx.I64(), words)},
		{Name: "callback_id_size", Attr: ir.NewInteger(size, ui64)},
		{Name: "num_aliased_data_outputs", Attr: ir.NewInteger(int64(len(aliases)), ui64)},
	}))
	if list := aliasList(aliases, 0, 1, len(types)); len(list) > 0 {
		st.SetAttr(attrOutputAliases, ir.NewArray(list))
	}
	op := w.m.Before(h.Op).Insert(st)
	setMarks(op, h)
	out := resultList(op)
	if h.Kind() == hook.Tap {
		out = nil
		for _, o := range h.Aliases() {
			out = append(out, op.Result(o))
		}
	}
	var token *ir.Value
	if h.Chained() {
		token = h.Operand(0)
	}
	w.finish(h, token, out)
	return nil
}

func lowerEXLAIO(w *lowerer, h hookop.HookOp) error {
	ctx := w.m.Context()
	switch {
	case !h.Chained():
		return w.lost(h, "it is not ordered, and the notation is the order's")
	case h.Kind() != hook.Tap && h.Kind() != hook.InOut:
		return w.lost(h, "its host computes the results, which the notation has no room for")
	case h.Kind() == hook.InOut && !identity(h):
		return w.lost(h, "its results are not its operands in order")
	}
	types := typeList(h.OperandList())
	aliases := make([]int, len(types))
	for i := range aliases {
		aliases[i] = i
	}
	st := &ir.OpState{Def: w.m.Def("stablehlo.custom_call"), Operands: h.OperandList(), Types: types, Loc: h.Loc(), Pos: h.Pos()}
	st.SetAttr("call_target_name", ir.NewString(exlaIOTarget))
	st.SetAttr("api_version", ir.NewInteger(4, ctx.I32()))
	st.SetAttr("has_side_effect", ctx.Bool(true))
	words, size := callbackID(h)
	st.SetAttr("backend_config", ir.NewDict(ir.AttrList{
		{Name: "callback_id", Attr: ir.NewDenseArray(ctx.I64(), words)},
		{Name: "callback_id_size", Attr: ir.NewInteger(size, ctx.Integer(64, ir.Unsigned))},
	}))
	st.SetAttr(attrOutputAliases, ir.NewArray(aliasList(aliases, 0, 0, len(types))))
	op := w.m.Before(h.Op).Insert(st)
	setMarks(op, h)
	out := resultList(op)[1:]
	if h.Kind() == hook.Tap {
		out = nil
		for _, o := range h.Aliases() {
			out = append(out, op.Result(1+o))
		}
	}
	w.finish(h, op.Result(0), out)
	return nil
}

// identity reports whether result i of h is operand i, for all of them.
func identity(h hookop.HookOp) bool {
	aliases := h.Aliases()
	for i, o := range aliases {
		if o != i {
			return false
		}
	}
	return len(aliases) == h.NumData()
}

// aliasList returns the aliases of a custom call whose data starts at the given result and operand.
func aliasList(aliases []int, firstResult, firstOperand, results int) []ir.Attr {
	var list []ir.Attr
	for i, o := range aliases {
		if o >= 0 {
			list = append(list, aliasAttr(firstResult+i, firstOperand+o, results))
		}
	}
	return list
}

// callbackID returns the words of a callback_id and its length in bytes: the source's own where it was EXLA's, else
// the hook's name as a binary in Erlang's external term format.
func callbackID(h hookop.HookOp) (words []int64, size int64) {
	var b []byte
	if id, ok := strings.CutPrefix(h.SourceID(), "callback_id "); ok {
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

// etfName returns the name that callbackID wrote into a callback_id, "" where it is another term.
func etfName(b []byte) string {
	if len(b) < 6 || b[0] != etfVersion || b[1] != etfBinary || int(binary.BigEndian.Uint32(b[2:6])) != len(b)-6 {
		return ""
	}
	return string(b[6:])
}

// pidBytes is the size of a PID on the machines EXLA runs on.
const pidBytes = 8

// addPIDs gives every function that reaches a hook the PID as an argument: argument 0 of public functions, as
// EXLA writes them, unless they have one already, and of private ones handed on by their callers.
func addPIDs(m *ir.Module) error {
	hook := m.Def(hookop.Hook.Name)
	reach := reachOf(m, func(op *ir.Op) bool { return op.Is(hook) })
	pid := m.Context().StaticTensor(tensor.UI8, tensor.Shape{pidBytes})
	for _, f := range reach.calls.funcs {
		if !reach.ops[f.Op] || pidArg(f) != nil {
			continue
		}
		if op := reach.calls.taken(f.Symbol()); op != nil {
			return m.Errorf(op, "'%s' names function @%s, which needs the PID of EXLA's callback server", op.Name(), f.Symbol())
		}
		addPID(m, f, pid)
	}
	for _, f := range reach.calls.funcs {
		if !reach.ops[f.Op] {
			continue
		}
		for _, call := range reach.calls.callers[f.Symbol()] {
			if call.NumOperands() == len(f.Type().Inputs()) {
				continue
			}
			v := pidFor(call)
			if v == nil {
				return m.Errorf(call, "the PID of EXLA's callback server does not get to this call")
			}
			call.SetOperands(prepend(v, call.OperandList()))
		}
	}
	return nil
}

// addPID inserts the PID as argument 0 of f.
func addPID(m *ir.Module, f fn.FuncOp, pid ir.Type) *ir.Value {
	args, results := signatureAttrs(f)
	mark := ir.NewDict(ir.AttrList{{Name: attrPID, Attr: ir.NewUnit()}})
	t := f.Type()
	f.SetSignature(m.Context().Function(prepend(pid, t.Inputs()), t.Results()), prepend(mark, args), results)
	return f.Body().InsertArg(0, pid, f.Loc())
}

// pidArg returns f's argument that holds the PID, nil where it has none.
func pidArg(f fn.FuncOp) *ir.Value {
	for i := range f.Type().Inputs() {
		if f.ArgAttrs(i).Get(attrPID) != nil {
			return f.Body().Arg(i)
		}
	}
	return nil
}

// pidFor returns the PID as op can use it: regions use the argument of their function directly.
func pidFor(op *ir.Op) *ir.Value {
	for p := op.Parent(); p != nil; p = p.Parent() {
		if f, ok := fn.AsFunc(p); ok {
			return pidArg(f)
		}
		if p.Has(ir.IsolatedFromAbove) {
			return nil
		}
	}
	return nil
}
