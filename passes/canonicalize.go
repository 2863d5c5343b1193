package passes

import (
	"errors"
	"fmt"
	"slices"

	"github.com/hlocb/hlocb/dialect/shape"
	"github.com/hlocb/hlocb/dialect/stablehlo"
	"github.com/hlocb/hlocb/ir"
	"github.com/hlocb/hlocb/pass"
	"github.com/hlocb/hlocb/rewrite"
)

// Canonicalize brings ops to their simplest form, as MLIR's pass of this name does.
type Canonicalize struct {
	CSE             bool                 `pass:"cse-between-iterations" doc:"merge equal operations, as cse does, between iterations"`
	MaxIterations   pass.Opt[int]        `pass:"max-iterations" default:"10" doc:"the largest number of passes over the module; -1 means no limit"`
	MaxRewrites     pass.Opt[int]        `pass:"max-num-rewrites" default:"-1" doc:"stop after so many rewrites; -1 means no limit"`
	RegionSimplify  RegionSimplification `pass:"region-simplify" doc:"normal: erase blocks that no branch reaches; disabled: keep them"`
	TestConvergence bool                 `pass:"test-convergence" doc:"fail if a limit ends the work"`
	TopDown         pass.Opt[bool]       `pass:"top-down" default:"true" doc:"visit operations in program order; false: in reverse order"`
	pass.Rules
}

// RegionSimplification says what Canonicalize does with blocks.
type RegionSimplification uint8

// The values of RegionSimplification.
const (
	SimplifyRegions RegionSimplification = iota // erase blocks that no branch reaches
	KeepRegions
)

// Values implements pass.Option's enumerations.
func (RegionSimplification) Values() []string { return []string{"normal", "disabled"} }

// MarshalText implements encoding.TextMarshaler.
func (s RegionSimplification) MarshalText() ([]byte, error) { return []byte(s.Values()[s]), nil }

// UnmarshalText implements encoding.TextUnmarshaler.
func (s *RegionSimplification) UnmarshalText(text []byte) error {
	if string(text) == "aggressive" {
		return errors.New("aggressive also merges equal blocks, which hlocb does not do; use normal")
	}
	i := slices.Index(s.Values(), string(text))
	if i < 0 {
		return fmt.Errorf("expected normal or disabled, but got %q", text)
	}
	*s = RegionSimplification(i)
	return nil
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
	if p.MaxIterations.Get() == 0 {
		return nil
	}
	if p.MaxRewrites.Get() == 0 { // MLIR counts neither merged constants nor the operations that region-simplify erases
		none := func(string) bool { return false }
		_, err := p.Greedy(ctx, op, nil, rewrite.Options{EraseDead: p.RegionSimplify != KeepRegions, Constants: true, MaxIterations: 1, Enabled: none})
		return err
	}
	o := rewrite.Options{
		MaxIterations: max(p.MaxIterations.Get(), 0), StopAfter: max(p.MaxRewrites.Get(), 0), EraseDead: true, Constants: true,
		KeepBlocks: p.RegionSimplify == KeepRegions, BottomUp: !p.TopDown.Get(),
	}
	if p.CSE {
		o.Between = func(r *rewrite.Rewriter) { mergeEqual(ctx, r, op) }
	}
	res, err := p.Greedy(ctx, op, canonicalizePatterns, o)
	if err == nil && p.TestConvergence && !res.Converged {
		return op.Module().Errorf(op, "canonicalization still changes '%s' after %d iterations", op.Name(), p.MaxIterations.Get())
	}
	return err
}

// Separable implements pass.Separable. The options count the rewrites and iterations of the whole op.
func (p Canonicalize) Separable() bool {
	return pass.Defaults(p).MaxRewrites.Get() <= 0 && !p.TestConvergence
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
		return replaceWith(r, op, c.Result(0))
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
