package passes

import (
	"github.com/hlocb/hlocb/dialect/fn"
	"github.com/hlocb/hlocb/dialect/quant"
	"github.com/hlocb/hlocb/dialect/stablehlo"
	"github.com/hlocb/hlocb/internal/legalize"
	"github.com/hlocb/hlocb/ir"
	"github.com/hlocb/hlocb/pass"
	"github.com/hlocb/hlocb/rewrite"
)

// LegalizeQuantizedOpToQDQ computes quantized ops on real numbers.
type LegalizeQuantizedOpToQDQ struct{}

var legalizeQuantizedOpToQDQInfo = &pass.Info{
	Name:    "stablehlo-legalize-quantized-op-to-qdq",
	Aliases: []string{"legalize-quantized-op-to-qdq"},
	Anchor:  fn.Func.Name,
	Doc: "Decomposes quantized ops: uniform_dequantize for the operands, the op on real numbers, uniform_quantize for the results. " +
		"Also erases dead operations and folds.",
}

// Info implements pass.Pass.
func (LegalizeQuantizedOpToQDQ) Info() *pass.Info { return legalizeQuantizedOpToQDQInfo }

// Run implements pass.OpPass.
func (LegalizeQuantizedOpToQDQ) Run(ctx *pass.Context, f *ir.Op) error {
	return greedily(ctx, f, []*rewrite.Pattern{{Name: "quantized", Rows: legalize.ExpressedRows, Rewrite: decomposeQuantized}})
}

// expressedType returns the type of the real numbers that t represents. ok is false if t is not quantized.
func expressedType(c *ir.Context, t ir.Type) (expressed ir.Type, ok bool) {
	tt, ok := t.(*ir.TensorType)
	if !ok {
		return nil, false
	}
	u := quant.Of(tt.Elem())
	if u == nil {
		return nil, false
	}
	if !tt.Ranked() {
		return c.UnrankedTensor(u.Expressed), true
	}
	return c.Tensor(tt.Shape(), u.Expressed, tt.Encoding()), true
}

func decomposeQuantized(r *rewrite.Rewriter, op *ir.Op) (bool, error) {
	c, b, found := op.Module().Context(), r.Before(op), false
	st := op.State()
	st.Attrs, st.Operands = op.Attrs(), op.OperandList()
	types := op.ResultTypes()
	st.Types = make([]ir.Type, len(types))
	for i, t := range types {
		expressed, ok := expressedType(c, t)
		if !ok {
			expressed = t
		}
		st.Types[i], found = expressed, found || ok
	}
	for i, v := range st.Operands {
		if t, ok := expressedType(c, v.Type()); ok {
			st.Operands[i], found = b.Create(stablehlo.UniformDequantize, []*ir.Value{v}, []ir.Type{t}).Result(0), true
		}
	}
	if !found {
		return false, nil
	}
	results := b.Insert(st).ResultList()
	for i, v := range results {
		if v.Type() != types[i] {
			results[i] = b.Create(stablehlo.UniformQuantize, []*ir.Value{v}, types[i:i+1]).Result(0)
		}
	}
	return become(r, op, results...)
}
