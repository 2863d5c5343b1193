package passes

import (
	"github.com/hlocb/hlocb/dialect/shape"
	"github.com/hlocb/hlocb/dialect/stablehlo"
	"github.com/hlocb/hlocb/ir"
	"github.com/hlocb/hlocb/pass"
	"github.com/hlocb/hlocb/rewrite"
)

// Canonicalize brings ops to their simplest form, as MLIR's pass of this name does.
type Canonicalize struct {
	MaxIterations int `pass:"max-iterations" default:"10" doc:"the largest number of passes over the module; -1 means no limit"`
	MaxRewrites   int `pass:"max-num-rewrites" default:"-1" doc:"the largest number of rewrites; more are an error; -1 derives the limit from the module's size"`
	// TestConvergence makes it an error if max-iterations ends the work.
	TestConvergence bool `pass:"test-convergence" doc:"fail if max-iterations ends the work"`
}

func (Canonicalize) Info() *pass.Info {
	return &pass.Info{
		Name: "canonicalize",
		Doc: "Erases dead operations and blocks, keeps one constant of each value at the start of a function, and applies the folds that MLIR and " +
			"StableHLO define for their operations.",
		Idempotent: true,
	}
}

func (p Canonicalize) Run(ctx *pass.Context, op *ir.Op) error {
	p = pass.Defaults(p)
	res, err := rewrite.Greedy(op, canonicalizePatterns, rewrite.Options{
		MaxIterations: max(p.MaxIterations, 0), MaxRewrites: max(p.MaxRewrites, 0), EraseDead: true, Constants: true,
	})
	report(ctx, res.Statistics)
	if err == nil && p.TestConvergence && !res.Converged {
		return op.Module().Errorf(op, "canonicalization still changes '%s' after %d iterations", op.Name(), p.MaxIterations)
	}
	return err
}

// Separable implements pass.Separable. The options count the rewrites and iterations of the whole op.
func (p Canonicalize) Separable() bool { return p.MaxRewrites <= 0 && !p.TestConvergence }

// report reports the statistics of a rewrite to the driver.
func report(ctx *pass.Context, s rewrite.Statistics) {
	ctx.Count("ops created", s.Created)
	ctx.Count("ops changed", s.Changed)
	ctx.Count("ops moved", s.Moved)
	ctx.Count("ops erased", s.Erased)
}

var canonicalizePatterns = []*rewrite.Pattern{{
	Name: "case-of-constant",
	Rows: []*ir.Def{stablehlo.Case},
	// case(i) = branch i, for a constant i that has a branch.
	Rewrite: func(r *rewrite.Rewriter, op *ir.Op) (bool, error) {
		i, ok := constantInt(op.Operand(0))
		if !ok || i < 0 || i >= int64(len(op.Regions())) {
			return false, nil
		}
		inlineRegion(r, op, op.Region(int(i)))
		return true, nil
	},
}, {
	Name: "shape-of-static",
	Rows: []*ir.Def{shape.ShapeOf},
	// shape_of(x) = the sizes of x, for x of static shape.
	Rewrite: func(r *rewrite.Rewriter, op *ir.Op) (bool, error) {
		t, ok := op.Operand(0).Type().(*ir.TensorType)
		if !ok || !t.Static() {
			return false, nil
		}
		c := r.Before(op).Create(shape.ConstShape, nil, op.ResultTypes(), ir.NamedAttr{Name: shape.AttrShape, Attr: shape.Elements(r.Module().Context(), t.Shape())})
		return become(r, op, c.Result(0))
	},
}}

// constantInt returns the value of a constant integer of one element.
func constantInt(v *ir.Value) (int64, bool) {
	list, ok := rewrite.ConstantInts(v)
	if !ok || len(list) != 1 {
		return 0, false
	}
	return list[0], true
}

// inlineRegion replaces op by the ops of its region, a block without arguments.
func inlineRegion(r *rewrite.Rewriter, op *ir.Op, region *ir.Region) {
	b := region.Entry()
	end := b.Last()
	values := end.OperandList()
	r.Erase(end)
	r.InlineBefore(b, op)
	r.Replace(op, values...)
}
