package format

import (
	"context"
	"fmt"

	"github.com/hlocb/hlocb/dialect/hookop"
	"github.com/hlocb/hlocb/dialect/stablehlo"
	"github.com/hlocb/hlocb/hook"
	"github.com/hlocb/hlocb/internal/hook/irutil"
	"github.com/hlocb/hlocb/ir"
	"github.com/hlocb/hlocb/tensor"
)

// LowerOptions controls how hooks are written.
type LowerOptions struct {
	Default string // strip: "zeros" replaces the results of calls and feeds with zeros; if empty, strip refuses them

	Context context.Context // ends the work with its error; nil never does
}

// Lower writes every hlocb.hook of m in the format of out, and removes leftovers of the source: unused meshes,
// arguments and constants. An error is a *diag.Diagnostic at a hook that the format cannot express.
func Lower(m *ir.Module, out *Writer, opts LowerOptions) error {
	w := &Lowerer{Module: m, Options: opts, Single: irutil.Partitions(m) == 1, writer: out, channel: 2, consumers: map[uint32]bool{}, aliases: map[aliasKey]ir.Attr{},
		abi: ir.NewInteger(hook.ABI, ir.Int(64)), four: ir.NewInteger(4, ir.Int(32)), target: ir.NewString(hook.Target)}
	m.Walk(func(op *ir.Op) bool {
		if h, ok := hookop.AsHook(op); ok {
			w.Hooks = append(w.Hooks, h)
		}
		w.Layouts = w.Layouts || requiresLayouts(op)
		return true
	})
	if len(w.Hooks) == 0 {
		return nil
	}
	if out.Begin != nil {
		if err := out.Begin(w); err != nil {
			return err
		}
	}
	for _, h := range w.Hooks {
		if opts.Context != nil && opts.Context.Err() != nil {
			return opts.Context.Err()
		}
		if h.Chained() && irutil.IsZeroSize(h.Operand(0).Type()) {
			return m.Errorf(h.Op, "a chain without elements would not keep the order")
		}
		if err := w.checkChain(h); err != nil {
			return err
		}
		if err := out.Write(w, h); err != nil {
			return err
		}
	}
	if out.End != nil {
		if err := out.End(w); err != nil {
			return err
		}
	}
	dropPIDs(m)
	dropMeshes(m)
	return nil
}

// Lowerer is the state that the writers share while they write a module.
type Lowerer struct {
	Module  *ir.Module
	Options LowerOptions
	Hooks   []hookop.HookOp // all hooks of the module, in program order
	Single  bool            // the module has one partition and one replica
	Layouts bool            // a call of the module requires layouts that are not row-major

	writer    *Writer
	index     int   // next number of a JAX callback
	channel   int64 // next channel of a host transfer
	consumers map[uint32]bool
	logs      map[int64]hook.ID // the hook with each number of XLA's log callbacks
	nextLog   int64             // no number below is free

	abi, four, target ir.Attr // attributes that hlocb's own calls share
	aliases           map[aliasKey]ir.Attr
}

// checkChain returns an error if the chain of h does not have the type that the format orders hooks with.
func (w *Lowerer) checkChain(h hookop.HookOp) error {
	if !h.Chained() {
		return nil
	}
	t := h.Operand(0).Type()
	ctx := w.Module.Context()
	switch o := w.writer.Ordered; {
	case o == OrderedByToken && !stablehlo.IsToken(t):
		return w.Cannot(h, "its chain is not a token: order the hooks with chain=token")
	case o == OrderedByPID && !isPID(t):
		return w.Cannot(h, "its chain is not a PID: order the hooks with chain=pid")
	case o == OrderedByAny && !stablehlo.IsToken(t) && t != ctx.StaticTensor(tensor.UI64, nil):
		return w.Cannot(h, fmt.Sprintf("its chain is a %s: order the hooks with chain=state or chain=token", t))
	}
	return nil
}

// Token returns the token that h waits for: its chain, or a new token if h has none.
func (w *Lowerer) Token(h hookop.HookOp) *ir.Value {
	if h.Chained() {
		return h.Operand(0)
	}
	return joinTokens(w.Module.Before(h.Op), nil)
}

// Replace replaces h with token, nil if h is not chained, and its data results with results.
func (w *Lowerer) Replace(h hookop.HookOp, token *ir.Value, results []*ir.Value) {
	if h.Chained() {
		h.Result(0).ReplaceAllUsesWith(token)
	}
	for i := range h.NumResultData() {
		h.ResultData(i).ReplaceAllUsesWith(results[i])
	}
	h.Erase()
}

// Cannot returns an error that says why the format cannot express h.
func (w *Lowerer) Cannot(h hookop.HookOp, reason string) error {
	return w.Module.Errorf(h.Op, "hook %q cannot be written as %s: %s", h.HookName(), w.writer.Name, reason)
}

// data returns the data operands of h.
func data(h hookop.HookOp) []*ir.Value {
	out := make([]*ir.Value, h.NumData())
	for i := range out {
		out[i] = h.Data(i)
	}
	return out
}

// dataTypes returns the types of the data results of h.
func dataTypes(h hookop.HookOp) []ir.Type {
	out := make([]ir.Type, h.NumResultData())
	for i := range out {
		out[i] = h.ResultData(i).Type()
	}
	return out
}

// tapResults returns the values that replace the results of a tap: its operands, because a tap never writes them. It
// returns false for other kinds of hooks.
func tapResults(h hookop.HookOp) (results []*ir.Value, ok bool) {
	if h.Kind() != hook.Tap {
		return nil, false
	}
	for _, o := range h.Aliases() {
		results = append(results, h.Data(o))
	}
	return results, true
}
