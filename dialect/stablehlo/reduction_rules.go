package stablehlo

import (
	"cmp"

	"github.com/hlocb/hlocb/dialect/quant"
	"github.com/hlocb/hlocb/dialect/view"
	"github.com/hlocb/hlocb/ir"
)

// promotable reports whether a reduction may compute in type b on inputs of type a. Both must be the same kind of
// number, and b must not be narrower (spec, "is_promotable"). As in MLIR, booleans count as integers, and floats may be
// narrower, because a compiler may have lowered them to fewer bits.
func promotable(a, b ir.Type) bool {
	if a == b {
		return true
	}
	switch x := a.(type) {
	case *ir.IntegerType:
		y, ok := b.(*ir.IntegerType)
		return ok && x.Width() <= y.Width()
	case *ir.FloatType:
		_, ok := b.(*ir.FloatType)
		return ok
	case *ir.ComplexType:
		y, ok := b.(*ir.ComplexType)
		return ok && ir.ElementDType(x).Bits() <= ir.ElementDType(y).Bits()
	}
	qa, qb := quant.Of(a), quant.Of(b)
	return qa != nil && qb != nil && qa.Expressed == qb.Expressed && qa.Storage.(*ir.IntegerType).Width() <= qb.Storage.(*ir.IntegerType).Width()
}

// reducerRule checks a reduction computation in region i. For n inputs and n initial values it has 2n scalar arguments
// and returns n scalars. The inputs and initial values must be promotable to their types (reduce C6, reduce_window C13,
// ...). Parameters may have dimensions from allowed, in order. If allowed is nil, they must be scalars.
func reducerRule(s *subject, i int, inputs, inits []ir.Type, allowed ...int64) error {
	b, ret, err := s.body(i)
	if err != nil {
		return err
	}
	n := len(inputs)
	if len(b.Args()) != 2*n {
		return fail("Reduction-region must take %d parameters, but takes %d parameter(s)", 2*n, len(b.Args()))
	}
	if len(ret) == 0 {
		return fail("The reduction-region expected to return some value(s)")
	}
	if len(ret) != n {
		return fail("Reduction-region here must produce %d tensors, but produces %d instead", n, len(ret))
	}
	for k, t := range ret {
		r, ok := t.(*ir.TensorType)
		if !ok {
			return fail("Reduction-region here must produce tensor-typed result(s), but produces '%s' instead", t)
		}
		for _, j := range [...]int{k, n + k} {
			if at := b.Arg(j).Type(); !Compatible(at, r) {
				return fail("The type of reduction-region's parameter at index %d is different than the corresponding result type: '%s' vs '%s'", j, at, r)
			}
		}
		init := asTensor(s.ctx, inits[k])
		if !compatibleShapes(init, r) {
			return fail("The shape of reduction-region's result type at index %d differs from the op's corresponding init-value type: '%s' vs '%s'", k, r, init)
		}
		if !promotable(init.Elem(), r.Elem()) {
			return fail("The element-type of reduction-region's result type at index %d is expected to be promotable from the op's corresponding init-value element-type: '%s' vs '%s'", k, r, init)
		}
		in := asTensor(s.ctx, inputs[k])
		if !promotable(in.Elem(), r.Elem()) {
			return fail("The element-type of reduction-region's argument at index %d is expected to be promotable from '%s', but got '%s'", n+k, in.Elem(), asTensor(s.ctx, b.Arg(n+k).Type()).Elem())
		}
		j := n + k
		at := asTensor(s.ctx, b.Arg(j).Type())
		if in.Ranked() && at.Ranked() && at.Rank() > in.Rank() {
			return fail("The rank of reduction-region's argument at index %d is expected to be <= %d, got %d", j, in.Rank(), at.Rank())
		}
		if at.Ranked() && !within(at.Shape(), allowed) {
			return fail("The shape of reduction-region's argument at index %d is not compatible with that of reduce-op's input-parameter at index %d", j, k)
		}
	}
	return nil
}

// within reports whether dims is a subsequence of allowed.
func within(dims, allowed []int64) bool {
	k := 0
	for _, a := range allowed {
		if k < len(dims) && sameSize(a, dims[k]) {
			k++
		}
	}
	return k == len(dims)
}

// inferReduce: the inputs without the reduced dimensions, with the element types of the computation (reduce C7, C8).
func inferReduce(s *subject) ([]ir.Type, error) {
	n := len(s.operands) / 2
	if n == 0 { // (C2)
		return nil, opFail("expected 1 or more operands, but found %d", len(s.operands))
	}
	first := s.tensor(0)
	for i := range n {
		if !sameDims(s.tensor(i).Shape(), first.Shape()) { // (C1)
			return nil, fail("expects all inputs to have compatible shapes. Shape at input-index %d is not compatible with shape at input-index 0", i)
		}
	}
	dims := s.ints("dimensions")
	seen := s.contains(first.Rank())
	for _, d := range dims { // (C4, C5)
		if d < 0 || d >= int64(first.Rank()) {
			return nil, fail("Out-of-bounds dimension %d, expected to be in range [0, %d)", d, first.Rank())
		}
		if seen[d] {
			return nil, fail("Duplicate reduction dimension: %d", d)
		}
		seen[d] = true
	}
	elems := reducedElems(s, n)
	for i := range n {
		t := s.tensor(i)
		kept := s.dims(t.Rank())[:0]
		for k := range t.Rank() {
			if k >= len(seen) || !seen[k] {
				kept = append(kept, dimOf(t, k))
			}
		}
		elems[i] = s.resultType(i, kept, elems[i])
	}
	return elems, nil
}

// reducedElems returns the element types that the computation returns, or the inputs' if there is no computation. The
// caller may change the list.
func reducedElems(s *subject, n int) []ir.Type {
	elems := s.single(nil)
	if n != 1 {
		elems = make([]ir.Type, n)
	}
	for i := range elems {
		elems[i] = s.tensor(i).Elem()
	}
	if _, ret, err := s.body(0); err == nil && len(ret) == n {
		for i, t := range ret {
			if tt, ok := t.(*ir.TensorType); ok {
				elems[i] = tt.Elem()
			}
		}
	}
	return elems
}

func reduceRule(s *subject) error {
	n := len(s.operands) / 2
	if n == 0 {
		return opFail("expected 1 or more operands, but found %d", len(s.operands))
	}
	var room [8]int64
	kept, dims := room[:0], s.ints("dimensions")
	t := s.tensor(0)
	seen := s.contains(t.Rank(), dims)
	for i, d := range t.Shape() {
		if !seen[i] {
			kept = append(kept, d)
		}
	}
	return reducerRule(s, 0, s.types(0, n), s.types(n, 2*n), kept...) // (C3, C6)
}

// window describes a window along one dimension.
type window struct {
	size, stride, low, high, baseDilation, dilation int64
	reversed                                        bool
}

// windowsOf combines the attributes of windows. Empty lists mean 1, no padding, not reversed. It checks their lengths
// and values (reduce_window C4 to C12, convolution C2 to C9, select_and_scatter C4 to C8).
func windowsOf(s *subject, sizes, strides, base, dilation, reversal []int64) ([]window, error) {
	n := len(sizes)
	check := func(name string, v []int64) error {
		if len(v) > 0 && len(v) != n {
			return fail("expects %s to have same dimension-size as size of window dimensions (%d), but got: %d.", name, n, len(v))
		}
		return nil
	}
	if err := cmp.Or(
		check("window-strides", strides), check("base-dilation factors", base), check("window-dilation factors", dilation), check("window-reversal", reversal),
	); err != nil {
		return nil, err
	}
	pads, err := paddingOf(s.attr("padding"))
	if err != nil {
		return nil, err
	}
	if len(pads) > 0 && len(pads) != 2*n {
		return nil, fail("expects padding-entries to have same dimension-size as size of window dimensions (%d), but got: %d.", n, len(pads)/2)
	}
	at := func(v []int64, i int) int64 {
		if len(v) == 0 {
			return 1
		}
		return v[i]
	}
	out := make([]window, n)
	for i := range out {
		w := window{size: sizes[i], stride: at(strides, i), baseDilation: at(base, i), dilation: at(dilation, i)}
		if len(pads) > 0 {
			w.low, w.high = pads[2*i], pads[2*i+1]
		}
		w.reversed = len(reversal) > 0 && reversal[i] != 0
		switch {
		case w.size != ir.Dynamic && w.size <= 0:
			return nil, fail("expects window to have positive value for %d-th window dimension, but got %d.", i, w.size)
		case w.stride <= 0:
			return nil, fail("expects window to have positive stride for %d-th window dimension, but got %d.", i, w.stride)
		case w.baseDilation <= 0:
			return nil, fail("expects window to have positive base dilation factor for %d-th window dimension, but got %d.", i, w.baseDilation)
		case w.dilation <= 0:
			return nil, fail("expects window to have positive window dilation factor for %d-th window dimension, but got %d.", i, w.dilation)
		}
		out[i] = w
	}
	return out, nil
}

// paddingOf returns the pairs of a padding attribute; none if it is absent.
func paddingOf(a ir.Attr) ([]int64, error) {
	if a == nil {
		return nil, nil
	}
	shape := shapeOf(a)
	if len(shape) != 2 || shape[1] != 2 {
		return nil, fail("expects the shape of padding-attribute to be {N, 2}, but got {%s}.", joined(shape))
	}
	return view.Elements(a), nil
}

// dilated returns the size of n elements with factor-1 holes between them.
func dilated(n, factor int64) int64 {
	if n == 0 {
		return 0
	}
	return (n-1)*factor + 1
}

// windowShape returns the number of windows that fit in each dimension.
func windowShape(shape []int64, ws []window) []int64 {
	out := make([]int64, len(ws))
	for i, w := range ws {
		if i >= len(shape) || shape[i] == ir.Dynamic || w.size == ir.Dynamic {
			out[i] = ir.Dynamic
			continue
		}
		out[i] = windows(shape[i], w)
	}
	return out
}

func windows(n int64, w window) int64 {
	padded := w.low + dilated(n, w.baseDilation) + w.high
	size := dilated(w.size, w.dilation)
	if padded < 0 || padded == 0 || size > padded {
		return 0
	}
	return (padded-size)/w.stride + 1
}

// windowDims is windowShape with bounds.
func windowDims(t *ir.TensorType, at []int64, ws []window) []dim {
	out := make([]dim, len(ws))
	for i, w := range ws {
		d := dimOf(t, int(at[i]))
		switch {
		case w.size == ir.Dynamic:
			d = dim{ir.Dynamic, ir.Dynamic}
		case d.size != ir.Dynamic:
			d.size = windows(d.size, w)
		case d.bound != ir.Dynamic:
			d.bound = windows(d.bound, w)
		}
		out[i] = d
	}
	return out
}

// inferReduceWindow: one element per window (reduce_window C14, C15, C16).
func inferReduceWindow(s *subject) ([]ir.Type, error) {
	n := len(s.operands) / 2
	if n == 0 { // (C1)
		return nil, fail("requires at least 1 input value")
	}
	first := s.tensor(0)
	for i := range n {
		if !sameDims(s.tensor(i).Shape(), first.Shape()) { // (C2)
			return nil, fail("expects all inputs to have compatible shapes. Shape at input-index %d is not compatible with shape at input-index 0", i)
		}
	}
	sizes := s.ints("window_dimensions")
	if len(sizes) != first.Rank() { // (C4)
		return nil, fail("expects window-dimensions size == input rank, but got window-dimensions size: %d and input: '%s' with rank = %d.", len(sizes), first, first.Rank())
	}
	ws, err := windowsOf(s, sizes, s.ints("window_strides"), s.ints("base_dilations"), s.ints("window_dilations"), nil)
	if err != nil {
		return nil, err
	}
	at := identity(len(ws))
	elems := reducedElems(s, n)
	var out []ir.Type
	for i := range n {
		out = append(out, dimsType(s.ctx, windowDims(s.tensor(i), at, ws), elems[i]))
	}
	return out, nil
}

func reduceWindowRule(s *subject) error {
	n := len(s.operands) / 2
	if n == 0 {
		return fail("requires at least 1 input value")
	}
	return reducerRule(s, 0, s.types(0, n), s.types(n, 2*n), s.ints("window_dimensions")...) // (C3, C13)
}

// scalars returns rank-0 tensor types with the element types of the given types.
func scalars(c *ir.Context, types []ir.Type) []ir.Type {
	out := make([]ir.Type, len(types))
	for i, t := range types {
		out[i] = scalarOf(c, asTensor(c, t))
	}
	return out
}
