package stablehlo

import (
	"slices"

	"github.com/hlocb/hlocb/dialect/quant"
	"github.com/hlocb/hlocb/dialect/stablehlo/ods"
	"github.com/hlocb/hlocb/ir"
)

// inferConstant: the type of the value (constant C1).
func inferConstant(s *subject) ([]ir.Type, error) {
	t := ods.ElementsType(s.attr("value"))
	if t == nil {
		return nil, opFail("requires attribute 'value'")
	}
	return s.single(t), nil
}

// constantRule: the value has the type of the result or, if the result is quantized, its storage type.
func constantRule(s *subject) error {
	t, err := inferConstant(s)
	if err != nil {
		return err
	}
	if t[0] == s.results[0] {
		return nil
	}
	v, ok := t[0].(*ir.TensorType)
	r := s.result(0)
	if q := quant.Of(r.Elem()); ok && q != nil {
		// The value holds integers instead of the quantized elements.
		if e, isInt := v.Elem().(*ir.IntegerType); isInt && e == q.Storage && compatibleShapes(v, r) {
			return nil
		}
	}
	if ok && v.Elem() == r.Elem() && compatibleShapes(v, r) {
		return nil
	}
	return inferenceError{inferredMismatch(t, s.results)}
}

// iotaRule: the dimension is a dimension of the result (iota C1).
func iotaRule(s *subject) error {
	t := s.result(0)
	if t.Rank() == 0 {
		return fail("does not support scalars.")
	}
	if s.int("iota_dimension", 0) >= int64(t.Rank()) {
		return fail("iota dimension cannot go beyond the output rank.")
	}
	return nil
}

// inferBroadcast prepends the sizes.
func inferBroadcast(s *subject) ([]ir.Type, error) {
	t := s.tensor(0)
	var dims []dim
	for _, d := range s.ints("broadcast_sizes") {
		if d < 0 {
			return nil, fail("Broadcast with negative dimension size %d", d)
		}
		dims = append(dims, dim{d, ir.Dynamic})
	}
	for i := range t.Rank() {
		dims = append(dims, dimOf(t, i))
	}
	return s.single(s.resultType(0, dims, t.Elem())), nil
}

func broadcastInDimRule(s *subject) error {
	if err := sameElems(s); err != nil { // (C1)
		return err
	}
	a, r, dims := s.tensor(0), s.result(0), s.ints("broadcast_dimensions")
	if len(dims) != a.Rank() { // (C2)
		return fail("broadcast_dimensions size (%d) does not match operand rank (%d)", len(dims), a.Rank())
	}
	if ok, _ := unique(dims); !ok { // (C4)
		return fail("broadcast_dimensions should not have duplicates")
	}
	for i, d := range dims {
		if d < 0 || d >= int64(r.Rank()) { // (C3)
			return fail("broadcast_dimensions contains invalid value %d for result with rank %d", d, r.Rank())
		}
		x, y := a.Shape()[i], r.Shape()[d]
		if x != ir.Dynamic && y != ir.Dynamic && x != 1 && x != y { // (C5)
			return fail("size of operand dimension %d (%d) is not equal to 1 or size of result dimension %d (%d)", i, x, d, y)
		}
	}
	return broadcastQuantRule(a, r, dims)
}

// broadcastQuantRule checks the broadcast of a per-axis quantization (broadcast_in_dim C6).
func broadcastQuantRule(a, r *ir.TensorType, dims []int64) error {
	qa, qr := quant.Of(a.Elem()), quant.Of(r.Elem())
	if !qa.PerAxis() || !qr.PerAxis() {
		return nil
	}
	if int64(qr.Axis) != dims[qa.Axis] {
		return fail("result quantization_dimension %d not same as broadcast_dimensions[%d] = %d", qr.Axis, qa.Axis, dims[qa.Axis])
	}
	if a.Shape()[qa.Axis] == 1 {
		for i := range qr.Scales {
			if qr.Scales[i] != qa.Scales[0] {
				return fail("mismatch result scale %d (%e) and operand scale 0 (%e)", i, qr.Scales[i], qa.Scales[0])
			}
			if qr.ZeroPoints[i] != qa.ZeroPoints[0] {
				return fail("mismatch result zero_point %d (%d) and operand zero_point 0 (%d)", i, qr.ZeroPoints[i], qa.ZeroPoints[0])
			}
		}
		return nil
	}
	if !sameParams(qa, qr) {
		return fail("expect same quantization scales and zero_points")
	}
	return nil
}

// inferConcatenate adds up the sizes along the dimension (concatenate C1 to C6).
func inferConcatenate(s *subject) ([]ir.Type, error) {
	if len(s.operands) == 0 { // (C3)
		return nil, opFail("expected 1 or more operands, but found 0")
	}
	first, d := s.tensor(0), int(s.int("dimension", 0))
	for i := range s.operands {
		t := s.tensor(i)
		if t.Rank() != first.Rank() {
			return nil, fail("operands (0) and (%d) do not match rank", i)
		}
	}
	if first.Rank() == 0 {
		return nil, fail("rank-0 values cannot be concatenated")
	}
	if d >= first.Rank() { // (C4)
		return nil, fail("dimension %d is out-of-bounds for input rank %d", d, first.Rank())
	}
	dims := s.dimsOf(first)
	for i := range s.operands {
		t := s.tensor(i)
		if t.Elem() != first.Elem() { // (C1)
			return nil, fail("requires the same element type for all operands and results")
		}
		for k := range dims {
			if k == d {
				continue
			}
			for j := range i { // (C2)
				if sameSize(dims[k].size, t.Shape()[k]) {
					break // all earlier ones agree on this size, so none disagrees
				}
				if u := s.tensor(j); !sameSize(u.Shape()[k], t.Shape()[k]) {
					return nil, fail("shapes of operand (%d) and (%d) are not compatible at non-concat index %d: (%s) != (%s)", j, i, k, joined(u.Shape()), joined(t.Shape()))
				}
			}
			if i > 0 {
				m, err := mostSpecific(k, dims[k], dimOf(t, k))
				if err != nil {
					return nil, err
				}
				dims[k] = m
			}
		}
		if i > 0 {
			dims[d] = concatDim(dims[d], dimOf(t, d))
		}
	}
	return s.single(s.resultType(0, dims, first.Elem())), nil // (C5, C6)
}

// concatDim adds sizes, or bounds if a size is unknown.
func concatDim(a, b dim) dim {
	if a.size != ir.Dynamic && b.size != ir.Dynamic {
		return dim{a.size + b.size, ir.Dynamic}
	}
	la, lb := a.bound, b.bound
	if a.size != ir.Dynamic {
		la = a.size
	}
	if b.size != ir.Dynamic {
		lb = b.size
	}
	if la == ir.Dynamic || lb == ir.Dynamic {
		return dim{ir.Dynamic, ir.Dynamic}
	}
	return dim{ir.Dynamic, la + lb}
}

func inferDynamicSlice(s *subject) ([]ir.Type, error) {
	t, sizes, n := s.tensor(0), s.ints("slice_sizes"), len(s.operands)-1
	if n != len(sizes) { // (C2)
		return nil, fail("has mismatched number of slice sizes (%d) and number of start indices (%d)", len(sizes), n)
	}
	if n != t.Rank() {
		return nil, fail("has mismatched number of start indices (%d) and the rank of operand (%d)", n, t.Rank())
	}
	if err := sameIndexTypes(s, 1); err != nil { // (C3)
		return nil, err
	}
	for i, v := range sizes { // (C4)
		if v < 0 {
			return nil, fail("has negative size index to dynamic slice: %d", v)
		}
		if d := t.Shape()[i]; d != ir.Dynamic && v > d {
			return nil, fail("has slice size %d greater than dimension size %d in dimension %d of operand", v, d, i)
		}
	}
	dims := s.dims(len(sizes))
	for i, v := range sizes {
		dims[i] = dim{v, ir.Dynamic}
	}
	return s.single(s.resultType(0, dims, t.Elem())), nil // (C1, C5)
}

func sameIndexTypes(s *subject, from int) error {
	for i := from; i < len(s.operands); i++ {
		if s.tensor(i).Elem() != s.tensor(from).Elem() {
			return fail("start indices must have same element type")
		}
	}
	return nil
}

func inferDynamicUpdateSlice(s *subject) ([]ir.Type, error) {
	t, u, n := s.tensor(0), s.tensor(1), len(s.operands)-2
	if u.Rank() != t.Rank() { // (C3)
		return nil, fail("update rank does not match operand rank: %d vs %d.", u.Rank(), t.Rank())
	}
	if n != t.Rank() { // (C4)
		return nil, fail("expects number of start_indices to match operand rank: %d vs %d.", n, t.Rank())
	}
	if u.Elem() != t.Elem() { // (C2)
		return nil, fail("requires the same element type for operand and update")
	}
	if err := sameIndexTypes(s, 2); err != nil { // (C5)
		return nil, err
	}
	for i, d := range u.Shape() { // (C6)
		if e := t.Shape()[i]; d != ir.Dynamic && e != ir.Dynamic && d > e {
			return nil, fail("expects size at dimension %d of update to be in range [0, %d]. Got: %d.", i, e, d)
		}
	}
	return s.single(t), nil // (C1)
}

func inferPad(s *subject) ([]ir.Type, error) {
	t := s.tensor(0)
	low, high, inner := s.ints("edge_padding_low"), s.ints("edge_padding_high"), s.ints("interior_padding")
	if t.Elem() != s.tensor(1).Elem() { // (C1)
		return nil, fail("requires the same element type for all operands and results")
	}
	for _, f := range [...]struct {
		name string
		v    []int64
	}{{"edge_padding_low", low}, {"edge_padding_high", high}, {"interior_padding", inner}} {
		if len(f.v) != t.Rank() { // (C2)
			return nil, fail("%s length (%d) must match operand rank (%d)", f.name, len(f.v), t.Rank())
		}
	}
	dims := s.dims(t.Rank())
	for i := range dims {
		if inner[i] < 0 { // (C3)
			return nil, fail("Interior padding cannot be negative: %d", inner[i])
		}
		d := dimOf(t, i)
		padded := func(n int64) int64 { return n + low[i] + high[i] + max(n-1, 0)*inner[i] }
		if d.size != ir.Dynamic {
			if d.size = padded(d.size); d.size < 0 { // (C4)
				return nil, fail("Padding result in negative size for dimension %d", i)
			}
		} else if d.bound != ir.Dynamic {
			if d.bound = padded(d.bound); d.bound < 0 {
				return nil, fail("Padding result in negative bound for dimension %d", i)
			}
		}
		dims[i] = d
	}
	return s.single(s.resultType(0, dims, t.Elem())), nil
}

// reshapeRule: the number of elements is unchanged (reshape C2), and so is the place of a quantized dimension (C3).
func reshapeRule(s *subject) error {
	a, r := s.tensor(0), s.result(0)
	na, ok1 := product(a.Shape())
	nr, ok2 := product(r.Shape())
	if ok1 && ok2 && na != nr {
		return fail("number of output elements (%d) doesn't match expected number of elements (%d)", nr, na)
	}
	return reshapeQuantRule(a, r)
}

func reshapeQuantRule(a, r *ir.TensorType) error {
	qa, qr := quant.Of(a.Elem()), quant.Of(r.Elem())
	if !qa.PerAxis() || !qr.PerAxis() {
		return nil
	}
	if !sameSize(a.Shape()[qa.Axis], r.Shape()[qr.Axis]) {
		return fail("expect same quantization dimension size for operand and result")
	}
	pa, ok1 := product(a.Shape()[:qa.Axis])
	pr, ok2 := product(r.Shape()[:qr.Axis])
	if ok1 && ok2 && pa != pr {
		return fail("product of dimensions before quantization dimension must match between operand and result")
	}
	if !sameParams(qa, qr) {
		return fail("expect same quantization scales and zero_points")
	}
	return nil
}

// reverseRule: the dimensions are unique (reverse C2) and exist in the operand (C3).
func reverseRule(s *subject) error {
	dims := s.ints("dimensions")
	if ok, _ := unique(dims); !ok {
		return fail("dimensions should be unique. Got: %s", joined(dims))
	}
	for _, d := range dims {
		if d < 0 {
			return fail("all dimensions should be non-negative. Got dimension: %d.", d)
		}
		if n := s.tensor(0).Rank(); d >= int64(n) {
			return fail("all dimensions should be between [0, %d). Got dimension: %d.", n, d)
		}
	}
	return nil
}

func inferSlice(s *subject) ([]ir.Type, error) {
	t := s.tensor(0)
	start, limit, stride := s.ints("start_indices"), s.ints("limit_indices"), s.ints("strides")
	for _, f := range [...]struct {
		name string
		v    []int64
	}{{"start_indices", start}, {"limit_indices", limit}, {"strides", stride}} {
		if len(f.v) != t.Rank() { // (C2)
			return nil, fail("the number of elements in %s (%d) does not match the rank of the operand (%d)", f.name, len(f.v), t.Rank())
		}
	}
	dims := s.dims(t.Rank())
	for i := range dims {
		d := dimOf(t, i)
		switch {
		case start[i] < 0: // (C3)
			return nil, fail("negative start index %d in dimension %d", start[i], i)
		case d.size != ir.Dynamic && limit[i] > d.size:
			return nil, fail("limit index %d is larger than dimension size %d in dimension %d", limit[i], d.size, i)
		case d.size == ir.Dynamic && d.bound != ir.Dynamic && limit[i] > d.bound:
			return nil, fail("limit index %d is larger than dimension bound %d in dimension %d", limit[i], d.bound, i)
		case start[i] > limit[i]:
			return nil, fail("start index %d is larger than limit index %d in dimension %d", start[i], limit[i], i)
		case stride[i] <= 0: // (C4)
			return nil, fail("stride must be positive but got %d in dimension %d", stride[i], i)
		}
		dims[i] = dim{(limit[i] - start[i] + stride[i] - 1) / stride[i], ir.Dynamic} // (C5)
	}
	return s.single(s.resultType(0, dims, t.Elem())), nil // (C1)
}

// inferSort: the types of the inputs (sort C2).
func inferSort(s *subject) ([]ir.Type, error) {
	if len(s.operands) == 0 { // (C1)
		return nil, opFail("expected 1 or more operands, but found 0")
	}
	return s.types(0, len(s.operands)), nil
}

func sortRule(s *subject) error {
	if t := s.tensor(0); t.Ranked() { // (C4)
		n, d := int64(t.Rank()), s.int("dimension", -1)
		if d < -n || d >= n {
			return fail("dimension attribute value must be in range [-%d, %d), but found %d", n, n, d)
		}
	}
	b, ret, err := s.body(0)
	if err != nil {
		return err
	}
	n := 2 * len(s.operands) // (C5)
	if len(b.Args()) != n {
		return fail("comparator block should have %d arguments", n)
	}
	for i := range s.operands {
		want := scalarOf(s.ctx, s.tensor(i))
		for _, k := range [...]int{2 * i, 2*i + 1} {
			if got := b.Arg(k).Type(); got != ir.Type(want) {
				return fail("comparator block argument #%d should be of type '%s' but got '%s'", k, want, got)
			}
		}
	}
	if len(ret) != 1 {
		return fail("comparator must return single output but got %d", len(ret))
	}
	if t, ok := ret[0].(*ir.TensorType); !ok || t.Rank() != 0 || t.Elem() != ir.Type(i1) {
		return fail("comparator must return tensor<i1> but got '%s'", ret[0])
	}
	return nil
}

func inferTranspose(s *subject) ([]ir.Type, error) {
	t, perm := s.tensor(0), s.ints("permutation")
	if !t.Ranked() {
		return s.single(t), nil
	}
	if len(perm) != t.Rank() {
		return nil, fail("TransposeOp operand rank %d does not match permutation size %d", t.Rank(), len(perm))
	}
	bad := slices.ContainsFunc(perm, func(p int64) bool { return p < 0 || p >= int64(len(perm)) })
	if once, _ := unique(perm); bad || !once { // (C2)
		return nil, fail("attribute permutation must be a permutation of %s but got %s", listed(identity(len(perm))), joined(perm))
	}
	dims := s.dims(len(perm))
	for i, p := range perm { // (C3)
		dims[i] = dimOf(t, int(p))
	}
	elem := t.Elem()
	if len(s.results) == 1 {
		r := s.result(0).Elem()
		qa, qr := quant.Of(elem), quant.Of(r)
		if qa.PerAxis() && qr.PerAxis() { // (C4)
			if qr.Axis >= len(perm) || perm[qr.Axis] != int64(qa.Axis) {
				at := int64(-1)
				if qr.Axis < len(perm) {
					at = perm[qr.Axis]
				}
				return nil, fail("operand quantization_dimension %d is not same as permutation[%d] = %d", qa.Axis, qr.Axis, at)
			}
			if !sameParams(qa, qr) {
				return nil, fail("expect same quantization scales and zero_points")
			}
		}
	}
	return s.single(s.resultType(0, dims, elem)), nil
}

func torchIndexSelectRule(s *subject) error {
	t, n := s.tensor(0), int64(s.tensor(0).Rank())
	if d := s.int("dim", 0); d < -n || d >= n && n > 0 {
		return fail("dim %d is out of range for an operand of type '%s'", d, t)
	}
	return nil
}
