package stablehlo

import (
	"slices"
	"strings"

	"github.com/hlocb/hlocb/dialect/quant"
	"github.com/hlocb/hlocb/internal/mlirtext"
	"github.com/hlocb/hlocb/ir"
)

// This file holds code that several rules and inferences share. An unknown size is ir.Dynamic. A dynamic dimension may
// have a bound, which the tensor's encoding carries (spec, "Dynamism", RFC on bounds).

// Compatible reports whether a value of type a can be used as a value of type b. The shapes must agree in all known
// sizes and bounds, and the element types must agree except for quantization parameters.
func Compatible(a, b ir.Type) bool {
	if a == b {
		return true
	}
	switch ta := a.(type) {
	case *ir.TensorType:
		tb, ok := b.(*ir.TensorType)
		return ok && compatibleElems(ta.Elem(), tb.Elem()) && compatibleShapes(ta, tb)
	case *ir.TupleType:
		tb, ok := b.(*ir.TupleType)
		return ok && slices.EqualFunc(ta.Elems(), tb.Elems(), Compatible)
	}
	return false
}

func compatibleElems(a, b ir.Type) bool {
	if a == b {
		return true
	}
	qa, qb := quant.Of(a), quant.Of(b)
	if qa != nil && qb != nil && (qa.Storage != qb.Storage || qa.Signed != qb.Signed || qa.Min != qb.Min || qa.Max != qb.Max) {
		return false
	}
	return expressed(a) == expressed(b)
}

// expressed returns the expressed type of a quantized element type. It returns any other type unchanged.
func expressed(t ir.Type) ir.Type {
	if q := quant.Of(t); q != nil {
		return q.Expressed
	}
	return t
}

func compatibleShapes(a, b *ir.TensorType) bool {
	if !a.Ranked() || !b.Ranked() {
		return true
	}
	if a.Rank() != b.Rank() {
		return false
	}
	ba, bb := BoundsOf(a), BoundsOf(b)
	for i, d := range a.Shape() {
		e := b.Shape()[i]
		switch {
		case d != ir.Dynamic && e != ir.Dynamic:
			if d != e {
				return false
			}
		case d != ir.Dynamic && i < len(bb) && bb[i] != ir.Dynamic && d > bb[i]:
			return false
		case e != ir.Dynamic && i < len(ba) && ba[i] != ir.Dynamic && e > ba[i]:
			return false
		}
	}
	return true
}

// sameDims reports whether two lists of sizes agree wherever both sizes are known.
func sameDims(a, b []int64) bool { return slices.EqualFunc(a, b, sameSize) }

func sameSize(a, b int64) bool { return a == b || a == ir.Dynamic || b == ir.Dynamic }

// sameShapeTypes reports whether the shapes of two types agree in all known sizes. A type without a shape agrees only
// with itself.
func sameShapeTypes(a, b ir.Type) bool {
	ta, ok1 := a.(*ir.TensorType)
	tb, ok2 := b.(*ir.TensorType)
	if !ok1 || !ok2 {
		return ok1 == ok2
	}
	return !ta.Ranked() || !tb.Ranked() || sameDims(ta.Shape(), tb.Shape())
}

// inferredShape requires that the result has a shape compatible with the inferred type want. With anyBounds, bounds do
// not count.
func inferredShape(s *subject, want ir.Type, anyBounds bool) error {
	t, got := want.(*ir.TensorType), s.result(0)
	if anyBounds && sameDims(t.Shape(), got.Shape()) || !anyBounds && compatibleShapes(t, got) {
		return nil
	}
	return fail("inferred shape '%s' is incompatible with return type of operation '%s'", listed(t.Shape()), got)
}

// sameShape requires that all operands and results have the same shape.
func sameShape(s *subject) error {
	if len(s.operands) == 0 {
		return opFail("expected 1 or more operands, but found 0")
	}
	if len(s.results) == 0 {
		return opFail("expected 1 or more results, but found 0")
	}
	all := s.allTypes()
	for _, t := range all[1:] {
		if !sameShapeTypes(all[0], t) {
			return opFail("requires the same shape for all operands and results")
		}
	}
	return nil
}

// compatibleTypes requires that all operands and results have compatible types.
func compatibleTypes(s *subject) error {
	all := s.allTypes()
	for _, t := range all {
		if !Compatible(t, all[0]) {
			return opFail("requires compatible types for all operands and results")
		}
	}
	return nil
}

// elementwiseShape requires that the operands and results of an element-wise operation have the same shape.
func elementwiseShape(s *subject) error {
	for _, t := range s.allTypes() {
		if !sameShapeTypes(s.results[0], t) {
			return opFail("all non-scalar operands/results must have the same shape and base type")
		}
	}
	return nil
}

// oneElem requires that all operands and results have the same element type.
func oneElem(s *subject) error {
	for _, t := range s.allTypes() {
		if asTensor(s.ctx, t).Elem() != s.tensor(0).Elem() && len(s.operands) > 0 {
			return opFail("requires the same element type for all operands and results")
		}
	}
	return nil
}

// compatibleElemTypes requires that the element types of all operands and results agree except for quantization.
func compatibleElemTypes(s *subject) error {
	for _, t := range s.allTypes() {
		if !compatibleElems(asTensor(s.ctx, t).Elem(), s.tensor(0).Elem()) {
			return opFail("requires compatible element types for all operands and results")
		}
	}
	return nil
}

// sameElements returns the rule that the first n operands and the result have the same element type. names lists them.
func sameElements(n int, names string) rule {
	return func(s *subject) error {
		for i := range n {
			if s.tensor(i).Elem() != s.result(0).Elem() {
				return opFail("failed to verify that all of {%s} have same element type", names)
			}
		}
		return nil
	}
}

// compatibleOperandElems requires that the element types of all operands agree except for quantization.
func compatibleOperandElems(s *subject) error {
	for i := range s.operands {
		if !compatibleElems(s.tensor(i).Elem(), s.tensor(0).Elem()) {
			return opFail("requires compatible element types for all operands")
		}
	}
	return nil
}

// sameLengths returns the rule that the list attributes have equal lengths.
func sameLengths(names ...string) rule {
	return func(s *subject) error {
		for _, name := range names {
			if len(s.ints(name)) != len(s.ints(names[0])) {
				return opFail("failed to verify that all of {%s} have same size", strings.Join(names, ", "))
			}
		}
		return nil
	}
}

// elemsPairwise requires that each result has the element type of its operand.
func elemsPairwise(s *subject) error {
	if len(s.operands) != len(s.results) {
		return opFail("requires the same number of operands and results")
	}
	for i := range s.operands {
		if s.tensor(i).Elem() != s.result(i).Elem() {
			return opFail("requires the same element type for operand and result at index %d", i)
		}
	}
	return nil
}

// sameOperandElems requires that all operands have the same element type.
func sameOperandElems(s *subject) error {
	for i := range s.operands {
		if s.tensor(i).Elem() != s.tensor(0).Elem() {
			return opFail("requires the same element type for all operands")
		}
	}
	return nil
}

// sameElems is the rule for operations that move elements (broadcast_in_dim C1, reshape C1, transpose C1): operand and
// result have the same element type and the same quantization.
func sameElems(s *subject) error {
	a, b := s.tensor(0).Elem(), s.result(0).Elem()
	qa, qb := quant.Of(a), quant.Of(b)
	mismatch := a != b
	if qa != nil && qb != nil {
		mismatch = !compatibleElems(a, b) || qa.PerAxis() != qb.PerAxis()
	}
	if mismatch {
		return fail("expects operand and result to have compatible element type. Got: '%s' and '%s'", s.typ(0), s.results[0])
	}
	if qa.PerTensor() && qb != nil && !sameParams(qa, qb) {
		return fail("expect same quantization scale and zero_point")
	}
	return nil
}

func sameParams(a, b *quant.Uniform) bool {
	return slices.Equal(a.Scales, b.Scales) && slices.Equal(a.ZeroPoints, b.ZeroPoints)
}

// accuracyRule checks result_accuracy: tolerances are allowed only in mode TOLERANCE.
func accuracyRule(s *subject) error {
	a, ok := ir.DataOf[ResultAccuracy](s.attr("result_accuracy"))
	if !ok {
		return nil
	}
	if a.Atol < 0 || a.Rtol < 0 || a.Ulps < 0 {
		return fail("Invalid tolerances for ResultAccuracyAttr, must be non-negative.")
	}
	if mode := ResultAccuracyModeEnum.Cases[a.Mode.Code]; mode != "TOLERANCE" && (a.Atol != 0 || a.Rtol != 0 || a.Ulps != 0) {
		return fail("Invalid tolerances for ResultAccuracyAttr with mode %s, must be all zero.", mode)
	}
	return nil
}

// dim is one dimension: its size, or its bound if the size is Dynamic (Dynamic for none).
type dim struct{ size, bound int64 }

func dimOf(t *ir.TensorType, i int) dim {
	d := dim{t.Shape()[i], ir.Dynamic}
	if b := BoundsOf(t); i < len(b) && d.size == ir.Dynamic {
		d.bound = b[i]
	}
	return d
}

// dimsType creates a tensor type from dimensions.
func dimsType(c *ir.Context, dims []dim, elem ir.Type) *ir.TensorType {
	shape, bounds, bounded := make([]int64, len(dims)), make([]int64, len(dims)), false
	for i, d := range dims {
		shape[i], bounds[i] = d.size, ir.Dynamic
		if d.size == ir.Dynamic && d.bound != ir.Dynamic {
			bounds[i], bounded = d.bound, true
		}
	}
	if !bounded {
		return c.Tensor(shape, elem, nil)
	}
	return c.Tensor(shape, elem, BoundsAttr.New(&Bounds{bounds}))
}

// mostSpecific joins dimensions that must agree. A size is preferred to a bound, and a smaller bound to a larger one.
func mostSpecific(i int, a, b dim) (dim, error) {
	if a.size != ir.Dynamic && b.size != ir.Dynamic && a.size != b.size {
		return dim{}, fail("Mismatched dimension sizes %d and %d in dimension %d", a.size, b.size, i)
	}
	if a.size == ir.Dynamic && b.size != ir.Dynamic {
		a, b = b, a
	}
	if a.size != ir.Dynamic {
		if b.bound != ir.Dynamic && a.size > b.bound {
			return dim{}, fail("Mismatched dimension size %d and bound %d in dimension %d", a.size, b.bound, i)
		}
		return dim{a.size, ir.Dynamic}, nil
	}
	if a.bound == ir.Dynamic || b.bound != ir.Dynamic && b.bound < a.bound {
		a.bound = b.bound
	}
	return a, nil
}

// leastSpecific joins two possible dimensions: equal sizes stay, different ones become a bound.
func leastSpecific(a, b dim) dim {
	if a.size != ir.Dynamic && a.size == b.size {
		return a
	}
	limit := func(d dim) int64 {
		if d.size != ir.Dynamic {
			return d.size
		}
		return d.bound
	}
	la, lb := limit(a), limit(b)
	if la == ir.Dynamic || lb == ir.Dynamic {
		return dim{ir.Dynamic, ir.Dynamic}
	}
	if a.size == ir.Dynamic && a.bound == ir.Dynamic || b.size == ir.Dynamic && b.bound == ir.Dynamic {
		return dim{ir.Dynamic, ir.Dynamic}
	}
	return dim{ir.Dynamic, max(la, lb)}
}

// joinTypes joins types of the same kind, dimension by dimension.
func (s *subject) joinTypes(types []ir.Type, join func(i int, a, b dim) (dim, error)) (ir.Type, error) {
	for _, t := range types {
		if tt, ok := t.(*ir.TensorType); !ok || !tt.Ranked() || tt.Encoding() != nil && BoundsOf(tt) == nil {
			return types[0], nil
		}
	}
	first := types[0].(*ir.TensorType)
	if allEqual(types) {
		return first, nil // the case for nearly every op
	}
	dims := s.dimsOf(first)
	for _, t := range types[1:] {
		tt := t.(*ir.TensorType)
		if tt.Rank() != len(dims) {
			return nil, fail("Mismatched ranks of types %d and %d", len(dims), tt.Rank())
		}
		for i := range dims {
			d, err := join(i, dims[i], dimOf(tt, i))
			if err != nil {
				return nil, err
			}
			dims[i] = d
		}
	}
	return dimsType(s.ctx, dims, first.Elem()), nil
}

// inferSame infers the type that all operands agree on. It combines everything that they know of the shape.
func inferSame(s *subject) ([]ir.Type, error) {
	if len(s.operands) == 0 {
		return nil, opFail("expected 1 or more operands, but found 0")
	}
	t, err := s.joinTypes(s.types(0, len(s.operands)), mostSpecific)
	if err != nil {
		return nil, err
	}
	return s.single(t), nil
}

func allEqual(types []ir.Type) bool {
	for _, t := range types[1:] {
		if t != types[0] {
			return false
		}
	}
	return true
}

// elemOf is withElem for the first operand.
func (s *subject) elemOf(elem ir.Type) []ir.Type {
	return s.single(s.shaped(s.tensor(0), elem))
}

// product returns the number of elements of a static shape. ok is false for any other shape.
func product(dims []int64) (n int64, ok bool) {
	n = 1
	for _, d := range dims {
		if d == ir.Dynamic {
			return 0, false
		}
		n *= d
	}
	return n, true
}

// listed prints [1, ?], joined prints 1, ?.
func listed(v []int64) string { return string(mlirtext.AppendInts(nil, v)) }

func joined(v []int64) string { return strings.Trim(listed(v), "[]") }

// unique reports whether all values differ. The second result is the first repeated value.
func unique(v []int64) (bool, int64) {
	if len(v) <= 16 {
		for i, d := range v {
			if slices.Contains(v[:i], d) {
				return false, d
			}
		}
		return true, 0
	}
	seen := map[int64]bool{}
	for _, d := range v {
		if seen[d] {
			return false, d
		}
		seen[d] = true
	}
	return true, 0
}

// scalarOf returns the tensor type of rank 0 with t's element type.
func scalarOf(c *ir.Context, t *ir.TensorType) *ir.TensorType {
	return c.Tensor([]int64{}, t.Elem(), nil)
}

// identity returns 0, 1, ..., n-1.
func identity(n int) []int64 {
	out := make([]int64, n)
	for i := range out {
		out[i] = int64(i)
	}
	return out
}
