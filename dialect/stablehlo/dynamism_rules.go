package stablehlo

import (
	"slices"

	"github.com/hlocb/hlocb/dialect/stablehlo/ods"
	"github.com/hlocb/hlocb/ir"
)

// outputShape checks a result against a computed shape. Its rank must be the number of elements of the shape. If the
// shape is a constant, the sizes must match too.
func outputShape(s *subject, i int, r *ir.TensorType, rank string) error {
	n := s.tensor(i)
	if n.Ranked() && n.Rank() == 1 && n.Shape()[0] != ir.Dynamic && n.Shape()[0] != int64(r.Rank()) {
		return fail("%s", rank)
	}
	shape := s.constantInts(i)
	if shape == nil || len(shape) != r.Rank() {
		return nil
	}
	for k, d := range shape {
		if d < 0 || !sameSize(d, r.Shape()[k]) {
			return fail("output shape %s is incompatible with return type of operation '%s'", listed(shape), r)
		}
	}
	return nil
}

func dynamicBroadcastInDimRule(s *subject) error {
	if err := sameElems(s); err != nil { // (C1)
		return err
	}
	a, r, dims := s.tensor(0), s.result(0), s.ints("broadcast_dimensions")
	if len(dims) != a.Rank() { // (C2)
		return fail("broadcast_dimensions size (%d) does not match operand rank (%d)", len(dims), a.Rank())
	}
	if r.Rank() < a.Rank() {
		return fail("result rank (%d) is less than operand rank (%d)", r.Rank(), a.Rank())
	}
	if ok, _ := unique(dims); !ok { // (C4)
		return fail("broadcast_dimensions should not have duplicates")
	}
	shape := s.constantInts(1)
	for i, d := range dims {
		if d < 0 || d >= int64(r.Rank()) { // (C3)
			return fail("broadcast_dimensions contains invalid value %d for result with rank %d", d, r.Rank())
		}
		x, y := a.Shape()[i], r.Shape()[d]
		if x != ir.Dynamic && y != ir.Dynamic && x != 1 && x != y { // (C5)
			return fail("size of operand dimension %d (%d) is not compatible with size of result dimension %d (%d)", i, x, d, y)
		}
		if int(d) < len(shape) && x != ir.Dynamic && x != 1 && x != shape[d] && shape[d] >= 0 {
			return fail("size of operand dimension %d (%d) is not equal to 1 or value of shape at index %d (%d)", i, x, d, shape[d])
		}
	}
	if err := broadcastQuantRule(a, r, dims); err != nil { // (C6)
		return err
	}
	if err := outputShape(s, 1, r, "result rank ("+listed([]int64{int64(r.Rank())})+") is not equal to number of output dimensions"); err != nil { // (C7)
		return err
	}
	expanding, kept := s.ints("known_expanding_dimensions"), s.ints("known_nonexpanding_dimensions")
	if ok, _ := unique(append(slices.Clone(expanding), kept...)); !ok { // (C8)
		return fail("duplicate expansion hint for at least one operand dimension")
	}
	for _, d := range append(slices.Clone(expanding), kept...) { // (C9, C10)
		if d < 0 || d >= int64(a.Rank()) {
			return fail("hint for expanding dimension %d does not refer to a valid operand dimension", d)
		}
	}
	return nil
}

func dynamicIotaRule(s *subject) error {
	r := s.result(0)
	if s.int("iota_dimension", 0) >= int64(r.Rank()) && r.Ranked() { // (C1)
		return fail("iota dimension cannot go beyond the output rank.")
	}
	return outputShape(s, 0, r, "output shape is incompatible with return type of operation "+ods.QuoteTypes(s.results)) // (C2)
}

func dynamicPadRule(s *subject) error {
	t, r := s.tensor(0), s.result(0)
	if t.Rank() != r.Rank() {
		return opFail("failed to verify that all of {operand, result} have same rank")
	}
	n := s.tensor(2).Shape()[0]
	for i := 3; i < 5; i++ {
		if s.tensor(i).Shape()[0] != n {
			return fail("requires the same shape for all padding operands")
		}
	}
	if n != int64(t.Rank()) { // (C2)
		return fail("padding operands size (%d) must match operand rank (%d)", n, t.Rank())
	}
	inner := s.constantInts(4)
	for _, v := range inner { // (C3)
		if v < 0 {
			return fail("interior_padding must be non-negative, but got %s", joined(inner))
		}
	}
	low, high := s.constantInts(2), s.constantInts(3)
	if len(low) != t.Rank() || len(high) != t.Rank() || len(inner) != t.Rank() {
		return nil
	}
	for i, d := range t.Shape() { // (C4)
		e := r.Shape()[i]
		if d == ir.Dynamic || e == ir.Dynamic {
			continue
		}
		if want := d + low[i] + high[i] + max(d-1, 0)*inner[i]; want != e {
			return fail("expected output dimension at index %d to equal %d, but got %d", i, want, e)
		}
	}
	return nil
}

func dynamicReshapeRule(s *subject) error {
	if err := sameElems(s); err != nil { // (C1)
		return err
	}
	a, r := s.tensor(0), s.result(0)
	if n := s.tensor(1).Shape()[0]; n != ir.Dynamic && n != int64(r.Rank()) {
		return fail("result should have a rank equal to the number of elements in output_shape")
	}
	na, ok1 := product(a.Shape())
	if nr, ok2 := product(r.Shape()); ok1 && ok2 && na != nr { // (C2)
		return fail("number of output elements (%d) doesn't match expected number of elements (%d)", nr, na)
	}
	if err := outputShape(s, 1, r, ""); err != nil { // (C4)
		return err
	}
	if shape := s.constantInts(1); shape != nil && ok1 {
		if n, _ := product(shape); n != na {
			return fail("output_shape is incompatible with input type of operation: input has %d elements, but output_shape has %d", na, n)
		}
	}
	return reshapeQuantRule(a, r) // (C3)
}

func inferGetDimensionSize(s *subject) ([]ir.Type, error) {
	n := s.tensor(0).Rank()
	if d := s.int("dimension", 0); d >= int64(n) { // (C1)
		return nil, fail("requires dimension attribute in range [0, %d); found (%d)", n, d)
	}
	return []ir.Type{s.ctx.Tensor([]int64{}, i32, nil)}, nil
}

// inferSetDimensionSize: the dimension becomes dynamic, bounded by its old size, unless the new size is a constant
// equal to the old size.
func inferSetDimensionSize(s *subject) ([]ir.Type, error) {
	t, size := s.tensor(0), s.tensor(1)
	if size.Rank() != 0 {
		return nil, fail("size operand should be of rank-0")
	}
	d := int(s.int("dimension", 0))
	if d >= t.Rank() {
		return nil, fail("requires dimension attribute in range [0, %d); found (%d)", t.Rank(), d)
	}
	dims := s.dimsOf(t)
	if v := s.constantInts(1); len(v) == 1 && v[0] == dims[d].size {
		return []ir.Type{dimsType(s.ctx, dims, t.Elem())}, nil
	}
	if n := dims[d].size; n != ir.Dynamic {
		dims[d] = dim{ir.Dynamic, n}
	}
	return []ir.Type{dimsType(s.ctx, dims, t.Elem())}, nil
}

func realDynamicSliceRule(s *subject) error {
	t := s.tensor(0)
	for i, name := range [...]string{1: "start_indices", 2: "limit_indices", 3: "strides"} {
		if i == 0 {
			continue
		}
		if n := s.tensor(i).Shape()[0]; n != int64(t.Rank()) {
			return fail("has mismatched number of operand rank (%d) and %s size (%d)", t.Rank(), name, n)
		}
	}
	return nil
}
