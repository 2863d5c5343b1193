package passes

import (
	"github.com/hlocb/hlocb/dialect/fn"
	"github.com/hlocb/hlocb/dialect/stablehlo"
	"github.com/hlocb/hlocb/internal/legalize"
	"github.com/hlocb/hlocb/ir"
	"github.com/hlocb/hlocb/pass"
	"github.com/hlocb/hlocb/rewrite"
)

// LegalizeDeprecatedOps replaces deprecated ops.
type LegalizeDeprecatedOps struct {
	KeepUnused bool `pass:"!fail-on-unused" doc:"fail on map and rng, which are deprecated and have no replacement"`
}

var legalizeDeprecatedOpsInfo = &pass.Info{
	Name:    "stablehlo-legalize-deprecated-ops",
	Aliases: []string{"legalize-deprecated-ops"},
	Anchor:  fn.Func.Name,
	Doc: "Replaces broadcast by broadcast_in_dim, create_token by after_all, cross-replica-sum by all_reduce, dot by dot_general and " +
		"unary_einsum by einsum.",
	Idempotent: true,
}

// Info implements pass.Pass.
func (LegalizeDeprecatedOps) Info() *pass.Info { return legalizeDeprecatedOpsInfo }

// Run implements pass.OpPass.
func (p LegalizeDeprecatedOps) Run(ctx *pass.Context, f *ir.Op) error {
	res, err := rewrite.Greedy(f, deprecatedPatterns, rewrite.Options{})
	if err != nil {
		return err
	}
	report(ctx, res.Statistics)
	f.Walk(func(op *ir.Op) bool {
		unused := !p.KeepUnused && (op.Is(stablehlo.Map) || op.Is(stablehlo.Rng))
		if err == nil && (unused || op.Is(stablehlo.Dot) || op.Is(stablehlo.Broadcast)) {
			err = f.Module().Errorf(op, "failed to legalize operation '%s' that was explicitly marked illegal", op.Name())
		}
		return err == nil
	})
	return err
}

var deprecatedPatterns = []*rewrite.Pattern{
	replaceBy("broadcast", stablehlo.Broadcast, func(op *ir.Op) *ir.OpState {
		b, _ := stablehlo.AsBroadcast(op)
		t, ok := op.Operand(0).Type().(*ir.TensorType)
		if !ok || !t.Ranked() {
			return nil
		}
		dims := make([]int64, t.Rank())
		for i := range dims {
			dims[i] = int64(len(b.BroadcastSizes()) + i)
		}
		st := stateOf(stablehlo.BroadcastInDim, op, op.Operand(0))
		st.SetAttr(stablehlo.AttrBroadcastDimensions, ir.NewDenseArray(ir.Int(64), dims))
		return st.OpState
	}),
	replaceBy("create_token", stablehlo.CreateToken, func(op *ir.Op) *ir.OpState { return stateOf(stablehlo.AfterAll, op).OpState }),
	replaceBy("dot", stablehlo.Dot, func(op *ir.Op) *ir.OpState {
		t, ok := op.Operand(0).Type().(*ir.TensorType)
		if !ok || !t.Ranked() {
			return nil
		}
		st := stateOf(stablehlo.DotGeneral, op, op.Operand(0), op.Operand(1))
		st.SetAttr(stablehlo.AttrDotDimensionNumbers, stablehlo.DotAttr.New(&stablehlo.DotDims{
			LHSContracting: []int64{int64(t.Rank() - 1)}, RHSContracting: []int64{0},
		}))
		return st.with(op, stablehlo.AttrPrecisionConfig)
	}),
	{Name: "unary_einsum", Rows: []*ir.Def{stablehlo.UnaryEinsum}, Rewrite: func(r *rewrite.Rewriter, op *ir.Op) (bool, error) {
		e, _ := stablehlo.AsUnaryEinsum(op)
		t, ok := op.Operand(0).Type().(*ir.TensorType)
		if !ok {
			return false, nil
		}
		b := r.Before(op)
		one := legalize.Splat(b, op.Module().Context().Tensor(nil, t.Elem(), nil), 1)
		n := stablehlo.BuildEinsum(b, one, op.Operand(0), op.Result(0).Type(), stablehlo.EinsumAttrs{EinsumConfig: "," + e.EinsumConfig()})
		return become(r, op, n.Result(0))
	}},
	{Name: "cross-replica-sum", Rows: []*ir.Def{stablehlo.CrossReplicaSum}, Rewrite: func(r *rewrite.Rewriter, op *ir.Op) (bool, error) {
		t, ok := op.Result(0).Type().(*ir.TensorType)
		if !ok {
			return false, nil
		}
		m := op.Module()
		scalar := m.Context().Tensor(nil, t.Elem(), nil)
		st := stateOf(stablehlo.AllReduce, op, op.Operand(0))
		st.Regions = 1
		n := r.Before(op).Insert(st.with(op, stablehlo.AttrReplicaGroups))
		body := n.Region(0).AddBlock(scalar, scalar)
		for _, a := range body.Args() {
			a.SetLoc(op.Loc())
			a.SetPos(op.Pos())
		}
		b := r.AtEnd(body)
		sum := b.Create(stablehlo.Add, body.Args(), []ir.Type{scalar})
		stablehlo.BuildReturn(b, sum.ResultList())
		return become(r, op, n.Result(0))
	}},
}
