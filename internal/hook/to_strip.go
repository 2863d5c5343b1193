package hooks

import (
	"github.com/hlocb/hlocb/dialect/hookop"
	"github.com/hlocb/hlocb/hook"
	"github.com/hlocb/hlocb/ir"
	"github.com/hlocb/hlocb/tensor"
)

// toStrip takes the hooks out: taps vanish, inout hooks hand on their operands. What only a host can compute is
// refused unless a default is given.
var toStrip = Output{
	Name:  "strip",
	Doc:   "no hooks: taps vanish, inout hooks hand on their operands, calls and feeds need a default",
	needs: needNone,
	lower: lowerStrip,
}

func lowerStrip(w *lowerer, h hookop.HookOp) error {
	m := w.m
	results := make([]*ir.Value, h.NumResultData())
	for i, o := range h.Aliases() {
		switch {
		case h.Kind() == hook.Tap || h.Kind() == hook.InOut:
			results[i] = h.Data(o)
		case !h.ResultData(i).HasUses():
			results[i] = h.ResultData(i)
		case w.opts.Default == "zeros":
			t, ok := h.ResultData(i).Type().(*ir.TensorType)
			if !ok || !t.Static() || t.DType() == tensor.Invalid {
				return w.lost(h, "its results have no zero")
			}
			zero := ir.NewDense(t, tensor.New(t.DType(), nil), true)
			if isZeroSize(t) {
				zero = ir.NewDense(t, tensor.New(t.DType(), t.Shape()), false)
			}
			results[i] = ir.Must(m.Before(h.Op).Build(m.Def("stablehlo.constant"), nil, ir.NamedAttr{Name: "value", Attr: zero})).Result(0)
		default:
			return w.lost(h, "its host computes the results; give a default for them")
		}
	}
	var token *ir.Value
	if h.Chained() {
		token = h.Operand(0)
	}
	w.finish(h, token, results)
	return nil
}
