package passes

import (
	"slices"

	"github.com/hlocb/hlocb/dialect/fn"
	"github.com/hlocb/hlocb/dialect/stablehlo"
	"github.com/hlocb/hlocb/ir"
	"github.com/hlocb/hlocb/pass"
	"github.com/hlocb/hlocb/rewrite"
)

// CompositeToCall replaces composites by calls of their decompositions.
type CompositeToCall struct {
	Except  []string `pass:"except" doc:"names of composites that stay"`
	Dynamic bool     `pass:"dynamic" doc:"replace only composites of dynamic shape"`
	pass.Rules
}

func dynamic(v *ir.Value) bool {
	t, ok := v.Type().(*ir.TensorType)
	return ok && !t.Static()
}

func (CompositeToCall) Info() *pass.Info {
	return &pass.Info{
		Name:       "stablehlo-legalize-composite-to-call",
		Aliases:    []string{"composite-to-call"},
		Anchor:     fn.Func.Name,
		Doc:        "Replaces each composite by a call of its decomposition.",
		Idempotent: true,
	}
}

func (p CompositeToCall) Run(ctx *pass.Context, f *ir.Op) error {
	_, err := p.Greedy(ctx, f, []*rewrite.Pattern{replaceBy("composite", stablehlo.Composite, func(op *ir.Op) *ir.OpState {
		c, _ := stablehlo.AsComposite(op)
		if slices.Contains(p.Except, c.CompositeName()) || p.Dynamic && !slices.ContainsFunc(slices.Concat(op.OperandList(), op.ResultList()), dynamic) {
			return nil
		}
		st := stateOf(fn.Call, op, op.OperandList()...)
		st.SetAttr(fn.AttrCallee, ir.NewSymbolRef(c.Decomposition()))
		return st.OpState
	})}, rewrite.Options{})
	return err
}
