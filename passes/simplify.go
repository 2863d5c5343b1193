package passes

import (
	"slices"

	"github.com/hlocb/hlocb/dialect/fn"
	"github.com/hlocb/hlocb/dialect/mhlo"
	"github.com/hlocb/hlocb/dialect/stablehlo"
	"github.com/hlocb/hlocb/ir"
	"github.com/hlocb/hlocb/pass"
	"github.com/hlocb/hlocb/rewrite"
	"github.com/hlocb/hlocb/tensor"
)

// Simplify applies algebra and shape rules, as StableHLO's pass of this name does. Each rule's function states its
// algebra. A rule keeps every bit of a result, NaN included, unless its function says otherwise.
type Simplify struct {
	Limit pass.Opt[int64] `pass:"fold-op-element-limit" default:"65536" doc:"the largest number of elements of a computed constant; splats have no limit"`
	pass.Rules
}

func (Simplify) Info() *pass.Info {
	return &pass.Info{
		Name:       "stablehlo-aggressive-simplification",
		Aliases:    []string{"simplify"},
		Doc:        "Simplifies StableHLO operations by algebra (x + 0, select of equal values) and shape (reshapes and transposes that move nothing).",
		Anchor:     fn.Func.Name,
		Idempotent: true,
	}
}

func (p Simplify) Run(ctx *pass.Context, op *ir.Op) error {
	p = pass.Defaults(p)
	_, err := p.Greedy(ctx, op, simplifyPatterns(p.Limit.Get()), simplifying)
	return err
}

// The options of passes that fold, and of passes that simplify. They also erase dead ops. Only rules that simplify
// expect constants after all other operands.
var (
	optimizing  = rewrite.Options{MaxIterations: 10, EraseDead: true, Constants: true}
	simplifying = rewrite.Options{MaxIterations: 10, EraseDead: true, Constants: true, ConstantsLast: true}
)

// rule returns a pattern for a function that rewrites ops of the given rows.
func rule(name string, f func(r *rewrite.Rewriter, op *ir.Op) (bool, error), rows ...*ir.Def) *rewrite.Pattern {
	return &rewrite.Pattern{Name: name, Rows: rows, Rewrite: f}
}

// simplifyPatterns returns the rules. The first rule for an op's kind that matches is applied.
func simplifyPatterns(limit int64) []*rewrite.Pattern {
	return []*rewrite.Pattern{
		rule("add-of-zero", addOfZero, stablehlo.Add),
		rule("and-of-constant", andOfConstant, stablehlo.And),
		rule("broadcast-in-dim", simplifyBroadcast, stablehlo.BroadcastInDim),
		rule("compare-with-boolean", compareWithBoolean, stablehlo.Compare),
		rule("compare-integers", compareIntegers, stablehlo.Compare),
		rule("complex-of-parts", complexOfParts, stablehlo.Complex),
		rule("part-of-complex", partOfComplex, stablehlo.Real, stablehlo.Imag),
		rule("concatenate-flatten", concatenateFlatten, stablehlo.Concatenate),
		rule("concatenate-one", concatenateOne, stablehlo.Concatenate),
		rule("concatenate-empty", concatenateEmpty, stablehlo.Concatenate),
		rule("convert-to-itself", sameType, stablehlo.Convert),
		rule("custom-call-config", customCallConfig, stablehlo.CustomCall),
		rule("dynamic-broadcast-in-dim", simplifyDynamicBroadcast, stablehlo.DynamicBroadcastInDim),
		rule("dynamic-gather-to-gather", simplifyToStatic, stablehlo.DynamicGather),
		rule("dynamic-iota", simplifyDynamicIota, stablehlo.DynamicIota),
		rule("dynamic-pad-to-pad", simplifyToStatic, stablehlo.DynamicPad),
		rule("dynamic-reshape", simplifyDynamicReshape, stablehlo.DynamicReshape),
		rule("dynamic-slice-to-slice", dynamicSliceToSlice, stablehlo.DynamicSlice),
		rule("dynamic-update-slice", simplifyUpdateSlice, stablehlo.DynamicUpdateSlice),
		rule("gather-to-slice", gatherToSlice, stablehlo.Gather),
		rule("dimension-size", dimensionSize, stablehlo.GetDimensionSize),
		rule("element-of-tuple", elementOfTuple, stablehlo.GetTupleElement),
		rule("iota", simplifyIota, stablehlo.Iota),
		rule("multiply-by-constant", multiplyByConstant, stablehlo.Multiply),
		rule("or-of-constant", orOfConstant, stablehlo.Or),
		rule("pad", simplifyPad, stablehlo.Pad),
		rule("real-dynamic-slice", simplifyRealDynamicSlice, stablehlo.RealDynamicSlice),
		rule("reduce-nothing", reduceNothing, stablehlo.Reduce),
		rule("reduce-to-outer-value", reduceToOuterValue, stablehlo.Reduce),
		rule("reduce-empty", reduceEmpty, stablehlo.Reduce),
		rule("reduce-unused-results", reduceUnusedResults, stablehlo.Reduce),
		rule("reshape", simplifyReshape, stablehlo.Reshape),
		rule("reverse", simplifyReverse, stablehlo.Reverse),
		rule("select", simplifySelect(limit), stablehlo.Select),
		rule("shape-of", simplifyShapeOf, shapeOf),
		rule("slice", simplifySlice, stablehlo.Slice),
		rule("sort", simplifySort, stablehlo.Sort),
		rule("subtract", simplifySubtract, stablehlo.Subtract),
		rule("transpose", simplifyTranspose, stablehlo.Transpose),
		rule("tuple-of-elements", tupleOfElements, stablehlo.Tuple),
		rule("while-invariants", whileInvariants, stablehlo.While),
		rule("xor", simplifyXor, stablehlo.Xor),
		rule("empty-tensors", emptyTensors),
	}
}

// replace replaces op, of one result, by v, which takes over op's discardable attributes.
func replace(r *rewrite.Rewriter, op *ir.Op, v *ir.Value) (bool, error) {
	keepAttrs(r, op, v.DefiningOp())
	return replaceWith(r, op, v)
}

// replaceWith replaces op by values, without its attributes.
func replaceWith(r *rewrite.Rewriter, op *ir.Op, values ...*ir.Value) (bool, error) {
	r.Replace(op, values...)
	return true, nil
}

// replaceIfSameType is like replaceWith if v has the type of op's result.
func replaceIfSameType(r *rewrite.Rewriter, op *ir.Op, v *ir.Value) (bool, error) {
	if !sameResult(op, v) {
		return false, nil
	}
	return replaceWith(r, op, v)
}

// replaceNew replaces op, of one result, by the result of the new op n, which gets op's result type. It returns err if
// err is not nil.
func replaceNew(r *rewrite.Rewriter, op, n *ir.Op, err error) (bool, error) {
	if err != nil {
		return false, err
	}
	n.Result(0).SetType(op.Result(0).Type())
	return replace(r, op, n.Result(0))
}

// payload is the entry of mhlo.frontend_attributes that identifies an op.
const payload = "xla_metadata_payload"

// keepAttrs copies the discardable attributes of op to the op to, and overwrites equal names. It merges the entries of
// mhlo.frontend_attributes, and keeps the xla_metadata_payload of to.
func keepAttrs(r *rewrite.Rewriter, op, to *ir.Op) {
	if to == nil || to == op {
		return
	}
	list := to.Attrs()
	for _, a := range op.Attrs() {
		if a.Inherent {
			continue
		}
		old, _ := list.Get(a.Name).(*ir.DictAttr)
		own, _ := a.Attr.(*ir.DictAttr)
		if a.Name == mhlo.AttrFrontendAttributes && old != nil && own != nil {
			merged := slices.Clone(old.Entries())
			for _, e := range own.Entries() {
				if e.Name != payload || merged.Get(payload) == nil {
					merged = merged.Set(e.Name, e.Attr, false)
				}
			}
			a.Attr = ir.NewDict(merged)
		}
		list = list.Set(a.Name, a.Attr, false)
	}
	if len(list) > 0 && (len(to.Attrs()) != len(list) || !ir.EqualAttrLists(list, to.Attrs())) {
		r.Update(to, func() { to.SetAttrs(list) })
	}
}

// tensorOf returns the type of v as a tensor type, or nil.
func tensorOf(v *ir.Value) *ir.TensorType {
	t, _ := v.Type().(*ir.TensorType)
	return t
}

// static returns the type of v if it is a tensor of static shape, else nil.
func static(v *ir.Value) *ir.TensorType {
	if t := tensorOf(v); t != nil && t.Static() {
		return t
	}
	return nil
}

func numElements(t *ir.TensorType) int64 { return tensor.Shape(t.Shape()).NumElements() }

// isIota reports whether list is 0, 1, 2, ...
func isIota(list []int64) bool {
	for i, v := range list {
		if v != int64(i) {
			return false
		}
	}
	return true
}

// splat returns the one element that all elements of the constant v are equal to.
func splat(v *ir.Value) (*tensor.Tensor, bool) { return splatAttr(rewrite.ConstantOf(v)) }

func splatAttr(a ir.Attr) (*tensor.Tensor, bool) {
	d, ok := a.(*ir.DenseAttr)
	if !ok {
		return nil, false
	}
	e, is, err := d.Elements()
	if err != nil || !is && e.NumElements() != 1 {
		return nil, false
	}
	return e, true
}

// isInteger reports whether t holds booleans or integers.
func isInteger(t *tensor.Tensor) bool { return t.DType().IsInteger() || t.DType() == tensor.I1 }

// isIntZero reports whether v is a constant integer or boolean 0.
func isIntZero(v *ir.Value) bool {
	t, ok := splat(v)
	return ok && isInteger(t) && t.Bits(0) == 0
}

// isZero reports whether v is a constant 0 of integers, or 0 or -0 of floats.
func isZero(v *ir.Value) bool {
	t, ok := splat(v)
	return ok && (isInteger(t) && t.Bits(0) == 0 || t.DType().IsFloat() && t.FloatAt(0) == 0)
}

// isOne reports whether v is a constant 1 of integers or floats.
func isOne(v *ir.Value) bool {
	t, ok := splat(v)
	return ok && (isInteger(t) && t.Bits(0) == 1 || t.DType().IsFloat() && t.FloatAt(0) == 1)
}

// isAllOnes reports whether v is a constant integer with all bits set.
func isAllOnes(v *ir.Value) bool {
	t, ok := splat(v)
	return ok && isInteger(t) && t.Bits(0) == ^uint64(0)>>(64-t.DType().Bits())
}

// zeroOf inserts a constant 0 of type t before op and returns it. It returns nil if t holds no numbers or has no 0.
func zeroOf(r *rewrite.Rewriter, op *ir.Op, t *ir.TensorType) *ir.Value {
	d := t.DType()
	if d == tensor.Invalid || d == tensor.F8E8M0FNU {
		return nil
	}
	return constant(r, op, t, ir.NewDense(t, tensor.New(d, tensor.Shape{}), true))
}

// addOfZero: x + 0 = x. Of floats, -0 + 0 becomes -0 instead of 0.
func addOfZero(r *rewrite.Rewriter, op *ir.Op) (bool, error) {
	if !isZero(op.Operand(1)) || !sameResult(op, op.Operand(0)) {
		return false, nil
	}
	return replace(r, op, op.Operand(0))
}

// sameResult reports whether v has the type of op's result.
func sameResult(op *ir.Op, v *ir.Value) bool { return op.Result(0).Type() == v.Type() }

// andOfConstant: x & 0 = 0, and x & 1...1 = x.
func andOfConstant(r *rewrite.Rewriter, op *ir.Op) (bool, error) {
	x, c := op.Operand(0), op.Operand(1)
	switch {
	case isIntZero(c) && sameResult(op, c):
		return replaceWith(r, op, c)
	case isAllOnes(c) && sameResult(op, x):
		return replace(r, op, x)
	}
	return false, nil
}

// orOfConstant: x | 1...1 = 1...1, and x | 0 = x.
func orOfConstant(r *rewrite.Rewriter, op *ir.Op) (bool, error) {
	x, c := op.Operand(0), op.Operand(1)
	switch {
	case isAllOnes(c) && sameResult(op, c):
		return replace(r, op, c)
	case isIntZero(c) && sameResult(op, x):
		return replace(r, op, x)
	}
	return false, nil
}

// simplifyXor: x ^ x = 0 for a static shape, and x ^ 0 = x.
func simplifyXor(r *rewrite.Rewriter, op *ir.Op) (bool, error) {
	x, c := op.Operand(0), op.Operand(1)
	if t := static(x); x == c && t != nil && sameResult(op, x) {
		if z := zeroOf(r, op, t); z != nil {
			return replaceWith(r, op, z)
		}
	}
	if isIntZero(c) && sameResult(op, x) {
		return replaceWith(r, op, x)
	}
	return false, nil
}

// multiplyByConstant: x * 0 = 0 for integers, since NaN * 0 is NaN; x * 1 = x.
func multiplyByConstant(r *rewrite.Rewriter, op *ir.Op) (bool, error) {
	x, c := op.Operand(0), op.Operand(1)
	switch {
	case isIntZero(c) && sameResult(op, c):
		return replace(r, op, c)
	case isOne(c) && sameResult(op, x):
		return replace(r, op, x)
	}
	return false, nil
}

// simplifySubtract: x - x = 0 for integers of a static shape, since NaN - NaN is NaN; x - 0 = x. Of floats, -0 - -0
// becomes -0 instead of 0.
func simplifySubtract(r *rewrite.Rewriter, op *ir.Op) (bool, error) {
	x, y := op.Operand(0), op.Operand(1)
	if t := static(x); x == y && t != nil && t.DType().IsInteger() && sameResult(op, x) {
		return replaceWith(r, op, zeroOf(r, op, t))
	}
	if isZero(y) && sameResult(op, x) {
		return replace(r, op, x)
	}
	return false, nil
}

// compareWithBoolean: x != false is x, and x == true is x.
func compareWithBoolean(r *rewrite.Rewriter, op *ir.Op) (bool, error) {
	v, _ := stablehlo.AsCompare(op)
	t, ok := splat(v.RHS())
	if !ok || t.DType() != tensor.I1 || !sameResult(op, v.LHS()) {
		return false, nil
	}
	d := v.ComparisonDirection()
	if d == stablehlo.ComparisonDirectionNE && t.Bits(0) == 0 || d == stablehlo.ComparisonDirectionEQ && t.Bits(0) == 1 {
		return replaceWith(r, op, v.LHS())
	}
	return false, nil
}

// swappedDirection maps a comparison to the equal comparison of swapped operands.
var swappedDirection = map[stablehlo.ComparisonDirection]stablehlo.ComparisonDirection{
	stablehlo.ComparisonDirectionEQ: stablehlo.ComparisonDirectionEQ, stablehlo.ComparisonDirectionNE: stablehlo.ComparisonDirectionNE,
	stablehlo.ComparisonDirectionGE: stablehlo.ComparisonDirectionLE, stablehlo.ComparisonDirectionGT: stablehlo.ComparisonDirectionLT,
	stablehlo.ComparisonDirectionLE: stablehlo.ComparisonDirectionGE, stablehlo.ComparisonDirectionLT: stablehlo.ComparisonDirectionGT,
}

// compareIntegers: x == x, x >= x and x <= x are true, x != x, x > x and x < x false; c < x is x > c for a constant c.
// The compare_type must be integers, because NaN is not equal to itself.
func compareIntegers(r *rewrite.Rewriter, op *ir.Op) (bool, error) {
	v, _ := stablehlo.AsCompare(op)
	if op.Attr(stablehlo.AttrCompareType) == nil || v.CompareType() != stablehlo.ComparisonTypeSIGNED && v.CompareType() != stablehlo.ComparisonTypeUNSIGNED {
		return false, nil
	}
	d := v.ComparisonDirection()
	if t := static(op.Result(0)); v.LHS() == v.RHS() && t != nil {
		one := tensor.New(tensor.I1, tensor.Shape{})
		if d == stablehlo.ComparisonDirectionEQ || d == stablehlo.ComparisonDirectionGE || d == stablehlo.ComparisonDirectionLE {
			one.SetBits(0, 1)
		}
		return replaceWith(r, op, constant(r, op, t, ir.NewDense(t, one, true)))
	}
	x, y := v.LHS(), v.RHS()
	if rewrite.ConstantOf(x) == nil || rewrite.ConstantOf(y) != nil {
		return false, nil
	}
	r.Update(op, func() {
		op.SetOperand(0, y)
		op.SetOperand(1, x)
		op.SetAttr(stablehlo.AttrComparisonDirection, ir.NewEnum(stablehlo.ComparisonDirectionEnum, int(swappedDirection[d])))
	})
	return true, nil
}

// complexOfParts: complex(real(x), imag(x)) = x.
func complexOfParts(r *rewrite.Rewriter, op *ir.Op) (bool, error) {
	re, im := op.Operand(0).DefiningOp(), op.Operand(1).DefiningOp()
	if re == nil || im == nil || !re.IsOrMirrors(stablehlo.Real) || !im.IsOrMirrors(stablehlo.Imag) || re.Operand(0) != im.Operand(0) {
		return false, nil
	}
	return replaceIfSameType(r, op, re.Operand(0))
}

// partOfComplex: real(complex(x, y)) = x, and imag(complex(x, y)) = y.
func partOfComplex(r *rewrite.Rewriter, op *ir.Op) (bool, error) {
	c := op.Operand(0).DefiningOp()
	if c == nil || !c.IsOrMirrors(stablehlo.Complex) {
		return false, nil
	}
	part := c.Operand(0)
	if op.IsOrMirrors(stablehlo.Imag) {
		part = c.Operand(1)
	}
	return replaceIfSameType(r, op, part)
}

// sameType: convert(x) = x if the type stays.
func sameType(r *rewrite.Rewriter, op *ir.Op) (bool, error) {
	if !sameResult(op, op.Operand(0)) {
		return false, nil
	}
	return replace(r, op, op.Operand(0))
}

// customCallConfig: a custom call of the original interface with an empty configuration takes the dictionary
// mhlo.backend_config as its configuration, and thus the typed interface.
func customCallConfig(r *rewrite.Rewriter, op *ir.Op) (bool, error) {
	v, _ := stablehlo.AsCustomCall(op)
	d, ok := op.Attr(mhlo.AttrBackendConfig).(*ir.DictAttr)
	if !ok || v.APIVersion() != stablehlo.APIOriginal {
		return false, nil
	}
	if old := v.BackendConfig(); old != nil {
		if s, ok := old.(*ir.StringAttr); !ok || s.Value() != "" {
			return false, nil
		}
	}
	r.Update(op, func() {
		op.RemoveAttr(mhlo.AttrBackendConfig)
		op.SetAttr(stablehlo.AttrBackendConfig, d)
		op.SetAttr(stablehlo.AttrAPIVersion, ir.NewInteger(stablehlo.APITypedFFI, ir.Int(32)))
	})
	return true, nil
}

// elementOfTuple: get_tuple_element(tuple(x0, x1, ...), i) = xi.
func elementOfTuple(r *rewrite.Rewriter, op *ir.Op) (bool, error) {
	v, _ := stablehlo.AsGetTupleElement(op)
	t := v.Input().DefiningOp()
	if t == nil || !t.IsOrMirrors(stablehlo.Tuple) || v.Index() >= int64(t.NumOperands()) {
		return false, nil
	}
	return replaceWith(r, op, t.Operand(int(v.Index())))
}

// tupleOfElements: tuple(get_tuple_element(x, 0), get_tuple_element(x, 1), ...) = x for all elements of x.
func tupleOfElements(r *rewrite.Rewriter, op *ir.Op) (bool, error) {
	var whole *ir.Value
	for i, x := range op.Operands() {
		e, ok := stablehlo.AsGetTupleElement(x.DefiningOp())
		if !ok || e.Index() != int64(i) || whole != nil && e.Input() != whole {
			return false, nil
		}
		whole = e.Input()
	}
	if whole == nil {
		return false, nil
	}
	return replaceIfSameType(r, op, whole)
}

// whileInvariants: a carried value that no trip changes is the value before the loop, inside the loop and after it.
func whileInvariants(r *rewrite.Rewriter, op *ir.Op) (bool, error) {
	v, _ := stablehlo.AsWhile(op)
	cond, body := v.Cond().Entry(), v.Body().Entry()
	end := body.Last()
	var keep []int
	for i := range op.NumOperands() {
		if end.Operand(i) != op.Operand(i) && end.Operand(i) != body.Arg(i) {
			keep = append(keep, i)
		}
	}
	if len(keep) == op.NumOperands() {
		return false, nil
	}
	r.Update(end, func() { end.SetOperands(at(end.OperandList(), keep)) })
	for i := op.NumOperands() - 1; i >= 0; i-- {
		if slices.Contains(keep, i) {
			continue
		}
		for _, a := range []*ir.Value{cond.Arg(i), body.Arg(i), op.Result(i)} {
			r.ReplaceUses(a, op.Operand(i), nil)
		}
		cond.RemoveArg(i)
		body.RemoveArg(i)
	}
	keepResults(r, op, at(op.OperandList(), keep), keep)
	return true, nil
}

// emptyTensors: a result without elements is a constant without elements, unless the op has side effects, and so is an
// operand.
func emptyTensors(r *rewrite.Rewriter, op *ir.Op) (bool, error) {
	if op.Def().Dialect() != stablehlo.Constant.Dialect() || op.Has(ir.ConstantLike) || !op.Def().Known() || op.Def().Effects != nil && op.Def().Effects(op) != 0 {
		return false, nil
	}
	empty := func(v *ir.Value) *ir.Value {
		t := static(v)
		if t == nil || numElements(t) != 0 || t.DType() == tensor.Invalid {
			return nil
		}
		return constant(r, op, t, ir.NewDense(t, tensor.New(t.DType(), t.Shape()), false))
	}
	changed := false
	for _, v := range op.Results() {
		if v.HasUses() {
			if c := empty(v); c != nil {
				r.ReplaceUses(v, c, nil)
				changed = true
			}
		}
	}
	for i, v := range op.Operands() {
		if d := v.DefiningOp(); d != nil && d.Is(stablehlo.Constant) {
			continue
		}
		if c := empty(v); c != nil {
			r.Update(op, func() { op.SetOperand(i, c) })
			changed = true
		}
	}
	return changed, nil
}
