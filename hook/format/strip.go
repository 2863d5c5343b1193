package format

import (
	"github.com/hlocb/hlocb/dialect/hookop"
	"github.com/hlocb/hlocb/hook"
	"github.com/hlocb/hlocb/internal/hook/irutil"
	"github.com/hlocb/hlocb/ir"
	"github.com/hlocb/hlocb/tensor"
)

// strip removes the hooks: taps vanish, and inout hooks forward their operands. It refuses calls and feeds unless
// LowerOptions.Default replaces their results.
var strip = &Format{
	Name: "strip",
	Doc:  "no hooks",
	Writer: &Writer{
		Name:    "strip",
		Doc:     "no hooks: taps vanish, inout hooks forward their operands, calls and feeds need a default",
		Ordered: Unordered,
		Write:   writeStrip,
	},
}

func writeStrip(w *Lowerer, h hookop.HookOp) error {
	results := make([]*ir.Value, h.NumResultData())
	for i, o := range h.Aliases() {
		switch {
		case h.Kind() == hook.Tap || h.Kind() == hook.InOut:
			results[i] = h.Data(o)
		case !h.ResultData(i).HasUses():
			results[i] = h.ResultData(i)
		case w.Options.Default == "zeros":
			t, ok := h.ResultData(i).Type().(*ir.TensorType)
			if !ok || !t.Static() || t.DType() == tensor.Invalid {
				return w.Cannot(h, "its results have no zero")
			}
			results[i] = irutil.Zero(w.Module.Before(h.Op), t)
		default:
			return w.Cannot(h, "its host computes the results; set a default for them")
		}
	}
	var token *ir.Value
	if h.Chained() {
		token = h.Operand(0)
	}
	w.Replace(h, token, results)
	return nil
}
