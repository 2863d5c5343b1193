package passes

import (
	"math"
	"slices"

	"github.com/hlocb/hlocb/dialect/chlo"
	"github.com/hlocb/hlocb/dialect/fn"
	"github.com/hlocb/hlocb/dialect/stablehlo"
	"github.com/hlocb/hlocb/ir"
	"github.com/hlocb/hlocb/pass"
	"github.com/hlocb/hlocb/rewrite"
	"github.com/hlocb/hlocb/tensor"
)

// Fold computes ops on constants, as StableHLO's pass of this name does.
type Fold struct {
	AssumePure bool            `pass:"assume-no-undeclared-side-effects" doc:"erase loops without a trip even if they call functions with side effects"`
	Limit      pass.Opt[int64] `pass:"fold-op-element-limit" default:"65536" doc:"the largest number of elements of a computed constant; splats have no limit"`
	Floats     pass.Opt[bool]  `pass:"optimize-float" default:"true" doc:"compute floats, too"`
	pass.Rules

	Evaluator rewrite.Evaluator // computes the values; nil: only folds that need no computing
}

func (Fold) Info() *pass.Info {
	return &pass.Info{
		Name:       "stablehlo-aggressive-folder",
		Aliases:    []string{"constant-fold"},
		Doc:        "Replaces operations on constants by their results, and removes loops and branches that cannot run.",
		Anchor:     fn.Func.Name,
		Idempotent: true,
	}
}

func (p Fold) Run(ctx *pass.Context, op *ir.Op) error {
	_, err := p.Greedy(ctx, op, newFolder(ctx, p).patterns(), optimizing)
	return err
}

// Optimize is Fold and Simplify together, until neither changes anything. It has the options of Fold.
type Optimize Fold

func (Optimize) Info() *pass.Info {
	return &pass.Info{
		Name:       "stablehlo-target-independent-optimization",
		Aliases:    []string{"optimize"},
		Doc:        "Folds constants and simplifies, until neither changes anything: stablehlo-aggressive-folder and stablehlo-aggressive-simplification together.",
		Anchor:     fn.Func.Name,
		Idempotent: true,
	}
}

func (p Optimize) Run(ctx *pass.Context, op *ir.Op) error {
	f := newFolder(ctx, Fold(p))
	_, err := p.Greedy(ctx, op, append(f.patterns(), simplifyPatterns(f.limit)...), simplifying)
	return err
}

// folder holds the options of one run of Fold.
type folder struct {
	Fold
	limit   int64
	noFloat bool
	ctx     *pass.Context
}

func newFolder(ctx *pass.Context, p Fold) *folder {
	p = pass.Defaults(p)
	return &folder{Fold: p, limit: p.Limit.Get(), noFloat: !p.Floats.Get(), ctx: ctx}
}

// patterns returns the rules. The first rule for an op's kind that matches is applied.
func (f *folder) patterns() []*rewrite.Pattern {
	list := []*rewrite.Pattern{
		rule("fold-broadcast", f.broadcast, stablehlo.BroadcastInDim),
		rule("fold-case", foldCase, stablehlo.Case),
		rule("fold-if", foldIf, stablehlo.If),
		rule("fold-concatenate-splats", concatenateSplats, stablehlo.Concatenate),
		rule("fold-dynamic-slice", f.dynamicSlice, stablehlo.DynamicSlice),
		rule("fold-dimension-size", dimensionSize, stablehlo.GetDimensionSize),
		rule("fold-iota", f.iota, stablehlo.Iota),
		rule("fold-reduce-nothing", reduceNothing, stablehlo.Reduce),
		rule("fold-reduce-to-constant", reduceToConstant, stablehlo.Reduce),
		rule("fold-reduce-to-outer-value", reduceToOuterValue, stablehlo.Reduce),
		rule("fold-reduce-of-booleans", reduceOfBooleans, stablehlo.Reduce),
		rule("fold-reshape", f.reshape, stablehlo.Reshape),
		rule("fold-select", f.selectConstant, stablehlo.Select),
		rule("fold-set-dimension-size", setDimensionSize, stablehlo.SetDimensionSize),
		rule("fold-while", f.while, stablehlo.While),
	}
	for _, row := range []*ir.Def{
		stablehlo.Add, stablehlo.And, stablehlo.Clamp, stablehlo.Compare, stablehlo.Concatenate, stablehlo.Convert, stablehlo.Divide, stablehlo.Maximum,
		stablehlo.Minimum, stablehlo.Multiply, stablehlo.Or, stablehlo.Remainder, stablehlo.Select, stablehlo.Slice, stablehlo.Subtract,
		stablehlo.Abs, stablehlo.Cosine, chlo.Erf, stablehlo.Exponential, stablehlo.Log, stablehlo.Logistic, stablehlo.Negate, stablehlo.Not,
		stablehlo.Reverse, stablehlo.RoundNearestAFZ, stablehlo.RoundNearestEven, stablehlo.Rsqrt, stablehlo.Sign, stablehlo.Sine, stablehlo.Sqrt,
		stablehlo.Tan, stablehlo.Tanh, stablehlo.Transpose, stablehlo.Xor,
	} {
		list = append(list, rule("fold-"+row.Name, f.compute, row))
	}
	return list
}

// exact lists the ops that Fold computes even without optimize-float, because they do not round.
var exact = []*ir.Def{
	stablehlo.Abs, stablehlo.Negate, stablehlo.Reverse, stablehlo.RoundNearestAFZ, stablehlo.RoundNearestEven, stablehlo.Sign, stablehlo.Transpose,
}

// foldable reports whether values of type t may be computed: integers, booleans, and floats unless noFloat is set.
func foldable(t *ir.TensorType, noFloat bool) bool {
	d := t.DType()
	return t.Static() && t.Encoding() == nil && (d.IsInteger() || d == tensor.I1 || d.IsFloat() && !noFloat)
}

// partial lists the functions that Fold does not compute outside of their domain, because platforms differ there.
var partial = map[*ir.Def]func(x float64) bool{
	stablehlo.Log:   func(x float64) bool { return x > 0 },
	stablehlo.Rsqrt: func(x float64) bool { return x > 0 },
	stablehlo.Sqrt:  func(x float64) bool { return x >= 0 },
	stablehlo.Sign:  func(x float64) bool { return x == x },
}

// compute replaces an op on constants by its results, which the evaluator computes. It keeps quotients of integers by
// 0, functions outside of their domain, and conversions of floats to integers that overflow.
func (f *folder) compute(r *rewrite.Rewriter, op *ir.Op) (bool, error) {
	result, noFloat := tensorOf(op.Result(0)), f.noFloat && !slices.Contains(exact, op.Def().Original())
	if result == nil || !foldable(result, noFloat) {
		return false, nil
	}
	if v, ok := stablehlo.AsReverse(op); ok && trivialReverse(v) {
		return false, nil // the simplification removes it
	}
	splats := op.Has(ir.Elementwise) || op.IsOrMirrors(stablehlo.Compare) || op.IsOrMirrors(stablehlo.Convert) || op.IsOrMirrors(stablehlo.Select) || op.IsOrMirrors(stablehlo.Clamp)
	operands := make([]ir.Attr, op.NumOperands())
	for i, v := range op.Operands() {
		t := tensorOf(v)
		d, ok := rewrite.ConstantOf(v).(*ir.DenseAttr)
		if !ok || t == nil || !foldable(t, noFloat) {
			return false, nil
		}
		_, one := splatAttr(d)
		splats = splats && one
		operands[i] = d
	}
	if len(operands) == 0 || !f.isDefined(op, operands) {
		return false, nil
	}
	var out []ir.Attr
	if v, ok := stablehlo.AsCompare(op); ok && v.CompareType() == stablehlo.ComparisonTypeUNSIGNED && tensorOf(v.LHS()).DType().Kind() == tensor.KindSigned {
		out = f.compareUnsigned(v, operands)
	} else if splats {
		out = f.computeSplats(op, operands)
	} else {
		out = evaluate(f.ctx, f.Evaluator, op, operands, f.limit)
	}
	if out == nil {
		return false, nil
	}
	replaceByConstants(r, op, out)
	return true, nil
}

// compareUnsigned compares signless integers as unsigned integers, as compare_type says.
func (f *folder) compareUnsigned(v stablehlo.CompareOp, operands []ir.Attr) []ir.Attr {
	var in [2]*tensor.Tensor
	for i, a := range operands {
		var err error
		if in[i], err = a.(*ir.DenseAttr).Tensor(); err != nil || int64(in[i].NumElements()) > f.limit {
			return nil
		}
	}
	out := tensor.New(tensor.I1, in[0].Shape())
	for i := range out.NumElements() {
		if compares(v.ComparisonDirection(), in[0].Bits(i), in[1].Bits(i)) {
			out.SetBits(i, 1)
		}
	}
	return []ir.Attr{dense(v.Result(0).Type(), out)}
}

// isDefined reports whether every platform computes the same results from the operands.
func (f *folder) isDefined(op *ir.Op, operands []ir.Attr) bool {
	var divisor bool
	var domain func(x float64) bool
	switch {
	case op.IsOrMirrors(stablehlo.Divide), op.IsOrMirrors(stablehlo.Remainder):
		divisor = tensorOf(op.Operand(1)).DType().IsInteger()
	case op.IsOrMirrors(stablehlo.Convert):
		from, to := tensorOf(op.Operand(0)).DType(), tensorOf(op.Result(0)).DType()
		if from.IsFloat() && to.IsInteger() {
			low, high := -math.Ldexp(1, to.Bits()-1), math.Ldexp(1, to.Bits()-1)
			if to.Kind() == tensor.KindUnsigned {
				low, high = 0, 2*high
			}
			domain = func(x float64) bool {
				x, negativeZero := math.Trunc(x), x == 0 && math.Signbit(x)
				return x >= low && x < high && !negativeZero
			}
		}
	default:
		if domain = partial[op.Def().Original()]; domain != nil && !tensorOf(op.Operand(0)).DType().IsFloat() {
			domain = nil
		}
	}
	if !divisor && domain == nil {
		return true
	}
	e, _, err := operands[len(operands)-1].(*ir.DenseAttr).Elements()
	if err != nil {
		return false
	}
	for i := range e.NumElements() {
		if divisor && e.IntAt(i) == 0 || domain != nil && !domain(e.FloatAt(i)) {
			return false
		}
	}
	return true
}

// computeSplats computes an element-wise op of splats on one element.
func (f *folder) computeSplats(op *ir.Op, operands []ir.Attr) []ir.Attr {
	m, c := op.Module(), op.Module().Context()
	scalar := func(v *ir.Value) ir.Type { return c.Tensor(nil, tensorOf(v).Elem(), nil) }
	b := m.NewBlock()
	defer b.Erase()
	st := op.State()
	for i, v := range op.Operands() {
		st.Operands[i] = b.AddArg(scalar(v), nil)
		e, _ := splatAttr(operands[i])
		operands[i] = ir.NewDense(scalar(v), e.Reshape(nil), true)
	}
	for i, v := range op.Results() {
		st.Types[i] = scalar(v)
	}
	one := m.NewOp(st)
	b.Append(one)
	out := evaluate(f.ctx, f.Evaluator, one, operands, 0)
	for i, a := range out {
		e, _ := splatAttr(a)
		out[i] = ir.NewDense(op.Result(i).Type(), e, true)
	}
	return out
}

// resize returns a constant of one value as a constant of type t.
func resize(e *tensor.Tensor, t *ir.TensorType) ir.Attr {
	if numElements(t) == 0 {
		return ir.NewDense(t, tensor.New(e.DType(), t.Shape()), false)
	}
	return ir.NewDense(t, e.Reshape(nil), true)
}

// broadcast: the broadcast of a splat is the splat of the result's shape.
func (f *folder) broadcast(r *rewrite.Rewriter, op *ir.Op) (bool, error) {
	t := static(op.Result(0))
	if t == nil || !foldable(t, f.noFloat) && !t.DType().IsComplex() {
		return false, nil
	}
	e, ok := splat(op.Operand(0))
	if !ok {
		return false, nil
	}
	return replaceWith(r, op, constant(r, op, t, resize(e, t)))
}

// dynamicSlice: a slice of a splat is the splat of the slice's shape.
func (f *folder) dynamicSlice(r *rewrite.Rewriter, op *ir.Op) (bool, error) {
	t := static(op.Result(0))
	e, ok := splat(op.Operand(0))
	if t == nil || !ok {
		return false, nil
	}
	return replaceWith(r, op, constant(r, op, t, resize(e, t)))
}

// reshape: the reshape of a constant is the constant of the result's shape.
func (f *folder) reshape(r *rewrite.Rewriter, op *ir.Op) (bool, error) {
	t := static(op.Result(0))
	d, ok := rewrite.ConstantOf(op.Operand(0)).(*ir.DenseAttr)
	if t == nil || !ok || !foldable(t, f.noFloat) && !t.DType().IsComplex() {
		return false, nil
	}
	e, is, err := d.Elements()
	if err != nil {
		return false, nil
	}
	if !is || numElements(t) == 1 {
		e = e.Reshape(t.Shape())
	}
	return replaceWith(r, op, constant(r, op, t, ir.NewDense(t, e, is || numElements(t) == 1)))
}

// iota: an iota of integers of at most one element is a constant.
func (f *folder) iota(r *rewrite.Rewriter, op *ir.Op) (bool, error) {
	t := static(op.Result(0))
	if t == nil || !t.DType().IsInteger() || numElements(t) > 1 {
		return false, nil
	}
	return replaceWith(r, op, constant(r, op, t, resize(tensor.New(t.DType(), nil), t)))
}

// selectConstant: a select between constants by a constant of one value is one of the constants.
func (f *folder) selectConstant(r *rewrite.Rewriter, op *ir.Op) (bool, error) {
	v, _ := stablehlo.AsSelect(op)
	p, ok := splat(v.Pred())
	t := static(op.Result(0))
	if !ok || t == nil || !foldable(t, f.noFloat) || rewrite.ConstantOf(v.OnTrue()) == nil || rewrite.ConstantOf(v.OnFalse()) == nil {
		return false, nil
	}
	x := v.OnTrue()
	if p.Bits(0) == 0 {
		x = v.OnFalse()
	}
	return replaceIfSameType(r, op, x)
}

// setDimensionSize: setting the size that a static dimension has changes nothing.
func setDimensionSize(r *rewrite.Rewriter, op *ir.Op) (bool, error) {
	v, _ := stablehlo.AsSetDimensionSize(op)
	n, ok := constantInt(v.Size())
	if !ok || !sameResult(op, v.Input()) || n != tensorOf(op.Result(0)).Shape()[v.Dimension()] {
		return false, nil
	}
	return replaceWith(r, op, v.Input())
}

// concatenateSplats: adjacent operands that repeat one value become one operand.
func concatenateSplats(r *rewrite.Rewriter, op *ir.Op) (bool, error) {
	v, _ := stablehlo.AsConcatenate(op)
	inputs, d := v.Inputs(), v.Dimension()
	var list []*ir.Value
	for i := 0; i < len(inputs); {
		e, ok := splat(inputs[i])
		size, j := int64(0), i
		for ; ok && j < len(inputs); j++ {
			x, same := splat(inputs[j])
			if !same || string(x.Bytes()) != string(e.Bytes()) {
				break
			}
			size += tensorOf(inputs[j]).Shape()[d]
		}
		if j-i < 2 {
			list = append(list, inputs[i])
			i++
			continue
		}
		t := tensorOf(inputs[i])
		shape := append([]int64(nil), t.Shape()...)
		shape[d] = size
		wide := op.Module().Context().Tensor(shape, t.Elem(), nil)
		list = append(list, constant(r, op, wide, resize(e, wide)))
		i = j
	}
	if len(list) == len(inputs) {
		return false, nil
	}
	r.Update(op, func() { op.SetOperands(list) })
	return true, nil
}

// foldCase: a case of a constant is the branch that it selects, the last one for an index without a branch. If another
// branch has side effects the case stays, without uses, and selects a branch that returns zeros: a program may depend
// on a side effect that never happens, for example on a channel that is open.
func foldCase(r *rewrite.Rewriter, op *ir.Op) (bool, error) {
	region, alone := selectedRegion(op)
	switch {
	case region == nil || !op.HasUses():
		return false, nil
	case !alone:
		return caseToPlaceholders(r, op, region)
	}
	inlineRegion(r, op, region)
	return true, nil
}

// foldIf: an if of a constant is the branch that it selects, unless the other branch has side effects.
func foldIf(r *rewrite.Rewriter, op *ir.Op) (bool, error) {
	region, alone := selectedRegion(op)
	if !alone {
		return false, nil
	}
	inlineRegion(r, op, region)
	return true, nil
}

// selectedRegion returns the region that runs if a constant selects one of op's regions, else nil. alone reports
// whether no other region has side effects.
func selectedRegion(op *ir.Op) (region *ir.Region, alone bool) {
	region, ok := op.Def().Flow.Select(op, rewrite.ConstantOf(op.Operand(0)))
	if !ok {
		return nil, false
	}
	for _, other := range op.Regions() {
		for o := range other.Entry().Ops() {
			if other != region && !o.Has(ir.Terminator) && !o.Removable() {
				return region, false
			}
		}
	}
	return region, true
}

// caseToPlaceholders moves the ops of a region of op before op and has it return zeros instead.
func caseToPlaceholders(r *rewrite.Rewriter, op *ir.Op, region *ir.Region) (bool, error) {
	for _, v := range op.Results() {
		if t := static(v); v.Type() != ir.Type(stablehlo.TokenType(op.Module().Context())) && (t == nil || t.DType() == tensor.Invalid || t.DType() == tensor.F8E8M0FNU) {
			return false, nil
		}
	}
	b := region.Entry()
	end := b.Last()
	for o := range b.Ops() {
		if o != end {
			r.MoveBefore(o, op)
		}
	}
	for i, v := range op.Results() {
		r.ReplaceUses(v, end.Operand(i), nil)
	}
	zeros := make([]*ir.Value, op.NumResults())
	for i, v := range op.Results() {
		if t := static(v); t != nil {
			zeros[i] = zeroOf(r, end, t)
			continue
		}
		token, err := stablehlo.BuildAfterAll(r.Before(end), nil)
		if err != nil {
			return false, err
		}
		zeros[i] = token.Result(0)
	}
	r.Update(end, func() { end.SetOperands(zeros) })
	return true, nil
}

// reduceToConstant: a reduction whose function returns constants returns these constants.
func reduceToConstant(r *rewrite.Rewriter, op *ir.Op) (bool, error) {
	b := op.Region(0).Entry()
	if b.First() != b.Last() {
		return false, nil
	}
	attrs := make([]ir.Attr, op.NumResults())
	for i, v := range b.Last().Operands() {
		e, ok := splat(v)
		t := static(op.Result(i))
		if !ok || t == nil {
			return false, nil
		}
		attrs[i] = resize(e, t)
	}
	replaceByConstants(r, op, attrs)
	return true, nil
}

// reduceOfBooleans: a reduction by and, or by or, of splats computes on the constants that the splats repeat, since c
// and c = c, c or c = c.
func reduceOfBooleans(r *rewrite.Rewriter, op *ir.Op) (bool, error) {
	b := op.Region(0).Entry()
	first := b.First()
	if first == b.Last() || first.Next() != b.Last() || !first.IsOrMirrors(stablehlo.And) && !first.IsOrMirrors(stablehlo.Or) {
		return false, nil
	}
	values := make([]*tensor.Tensor, op.NumOperands())
	used := false
	for i, v := range op.Operands() {
		e, ok := splat(v)
		if !ok || static(b.Arg(i)) == nil {
			return false, nil
		}
		values[i] = e
		used = used || b.Arg(i).HasUses()
	}
	if !used {
		return false, nil
	}
	for i, a := range b.Args() {
		if a.HasUses() {
			r.ReplaceUses(a, constant(r, first, a.Type(), resize(values[i], static(a))), nil)
		}
	}
	return true, nil
}

// while: a loop whose condition is false returns its operands. The rule erases the loop if the loop is then dead, or,
// by option, if neither the loop nor an op inside it declares a side effect.
func (f *folder) while(r *rewrite.Rewriter, op *ir.Op) (bool, error) {
	v, _ := stablehlo.AsWhile(op)
	if c, ok := splat(v.Cond().Entry().Last().Operand(0)); !ok || c.Bits(0) != 0 {
		return false, nil
	}
	if op.HasUses() {
		for i, x := range op.Results() {
			r.ReplaceUses(x, op.Operand(i), nil)
		}
		return true, nil
	}
	if f.AssumePure && !declaresEffects(op) {
		r.Erase(op)
		return true, nil
	}
	return false, nil
}

// declaresEffects reports whether op or an op inside it declares side effects or is of an unknown kind.
func declaresEffects(op *ir.Op) bool {
	return !op.Walk(func(o *ir.Op) bool {
		d := o.Def()
		return d.Known() && (d.Effects == nil || d.Effects(o) == 0)
	})
}
