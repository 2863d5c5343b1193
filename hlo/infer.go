package hlo

import (
	"cmp"
	"fmt"
	"slices"

	"github.com/hlocb/hlocb/tensor"
)

// The infer functions compute the type of an instruction's result if the text omits it. Each returns the type in the
// default layout, or a description of the error. The rules come from xla/service/shape_inference.cc.

func inferSame(in *instr) (*shape, string) {
	return in.operands[0].shape, ""
}

// inferShuffle checks the dimensions that a shuffle moves.
func inferShuffle(in *instr) (*shape, string) {
	s, dims := in.operands[0].shape, attrOf[[]int64](in, "dimensions")
	if n := len(attrOf[[]int64](in, "shifts")); n != len(dims) || n == 0 {
		return nil, fmt.Sprintf("%d dimensions and %d shifts", len(dims), n)
	}
	for i, d := range dims {
		if d < 0 || d >= int64(len(s.dims)) || slices.Contains(dims[:i], d) {
			return nil, fmt.Sprintf("dimension %d of type %s", d, s.plain())
		}
	}
	return s, ""
}

func inferSecond(in *instr) (*shape, string) { return in.operands[1].shape, "" }

func inferToken(*instr) (*shape, string) { return tokenShape, "" }

func inferID(*instr) (*shape, string) { return array(u32), "" }

func inferSize(in *instr) (*shape, string) {
	if d := attrOf[[]int64](in, "dimensions")[0]; d < 0 || d >= int64(len(in.operands[0].shape.dims)) {
		return nil, fmt.Sprintf("type %s has no dimension %d", in.operands[0].shape.plain(), d)
	}
	return array(s32), ""
}

// inferSetSize makes the dimension dynamic, with its size as the bound.
func inferSetSize(in *instr) (*shape, string) {
	if _, why := inferSize(in); why != "" {
		return nil, why
	}
	out := *in.operands[0].shape
	out.dynamic = slices.Clone(out.dynamicList())
	out.dynamic[attrOf[[]int64](in, "dimensions")[0]] = true
	return &out, ""
}

func inferReverse(in *instr) (*shape, string) {
	s, dims := in.operands[0].shape, attrOf[[]int64](in, "dimensions")
	for i, d := range dims {
		if d < 0 || d >= int64(len(s.dims)) || slices.Contains(dims[:i], d) {
			return nil, fmt.Sprintf("type %s has no dimension %d to reverse", s.plain(), d)
		}
	}
	return s, ""
}

func inferCholesky(in *instr) (*shape, string) {
	s := in.operands[0].shape
	if n := len(s.dims); n < 2 || s.dims[n-1] != s.dims[n-2] {
		return nil, "operand of type " + s.plain()
	}
	return s, ""
}

func inferTopK(in *instr) (*shape, string) {
	s, k := in.operands[0].shape, attrOf[int64](in, "k")
	n := len(s.dims)
	if n == 0 || k < 0 || k > s.dims[n-1] {
		return nil, fmt.Sprintf("k=%d for type %s", k, s.plain())
	}
	dims := slices.Clone(s.dims)
	dims[n-1] = k
	return tuple(array(s.elem, dims...), array(s32, dims...)), ""
}

// inferScan adds the scanned dimension to the outputs; the carries keep their types.
func inferScan(in *instr) (*shape, string) {
	d, carries := attrOf[[]int64](in, "dimensions")[0], attrOf[int64](in, "num_carries")
	if len(in.operands) == 0 || carries >= int64(len(in.operands)) || d < 0 || d >= int64(len(in.operands[0].shape.dims)) {
		return nil, "it has no inputs with such a dimension"
	}
	size := in.operands[0].shape.dims[d]
	r, why := resultOf(attrOf[*computation](in, "to_apply"))
	if why != "" {
		return nil, why
	}
	grown := func(s *shape) *shape {
		return s.withDims(slices.Insert(slices.Clone(s.dims), int(d), size), slices.Insert(slices.Clone(s.dynamicList()), int(d), false))
	}
	list := r.elems
	if !r.isTuple() {
		list = []*shape{r}
	}
	out := &shape{elem: tupleType}
	for i, e := range list {
		if int64(i)+carries < int64(len(list)) {
			if int(d) > len(e.dims) {
				return nil, fmt.Sprintf("type %s has no place for dimension %d", e.plain(), d)
			}
			e = grown(e)
		}
		out.elems = append(out.elems, e)
	}
	if !r.isTuple() {
		return out.elems[0], ""
	}
	return out, ""
}

// takes reports whether o infers its result's type from operands of s's element type.
func (o *opcode) takes(s *shape) bool {
	return o.kinds == nil || slices.Contains(o.kinds, s.elem.row().kind)
}

func inferUnary(in *instr) (*shape, string) {
	s := in.operands[0].shape
	if !s.isArray() || !in.op.takes(s) {
		return nil, "operand of type " + s.plain()
	}
	switch name := in.op.name; {
	case name == "is-finite":
		return s.withElem(pred), ""
	case (name == "abs" || name == "real" || name == "imag") && s.elem.row().kind == complexKind:
		return s.withElem(s.elem.part()), ""
	}
	return s, ""
}

// wider returns the element type of a result whose operands have element types a and b: the float of higher precision
// if both are floats. ok reports whether there is such a type.
func wider(a, b elementType) (t elementType, ok bool) {
	x, y := a.row(), b.row()
	switch {
	case a == b:
		return a, x.kind != noElements
	case x.kind != floatKind || y.kind != floatKind:
		return 0, false
	case x.bits > y.bits || x.bits == y.bits && x.dtype == tensor.BF16:
		return a, true
	}
	return b, y.bits > x.bits || y.dtype == tensor.BF16
}

// inferBinary accepts operands of equal dimensions; a bound matches the same size.
func inferBinary(in *instr) (*shape, string) {
	a, b := in.operands[0].shape, in.operands[1].shape
	elem, ok := wider(a.elem, b.elem)
	if !ok || !slices.Equal(a.dims, b.dims) || !in.op.takes(a) {
		return nil, "operands of types " + a.plain() + " and " + b.plain()
	}
	if a.elem != elem {
		a = a.withElem(elem)
	}
	if b.dynamic == nil {
		return a, ""
	}
	dynamic := slices.Clone(a.dynamicList())
	for i := range dynamic {
		dynamic[i] = dynamic[i] || b.isDynamic(i)
	}
	out := *a
	out.dynamic = dynamic
	return &out, ""
}

func inferCompare(in *instr) (*shape, string) {
	s, why := inferBinary(in)
	if why != "" {
		return nil, why
	}
	return s.withElem(pred), ""
}

func inferComplex(in *instr) (*shape, string) {
	s, why := inferBinary(in)
	switch {
	case why != "":
		return nil, why
	case s.elem == f32:
		return s.withElem(c64), ""
	case s.elem == f32+1:
		return s.withElem(c128), ""
	}
	return nil, "operands of type " + s.plain()
}

func inferClamp(in *instr) (*shape, string) {
	low, s, high := in.operands[0].shape, in.operands[1].shape, in.operands[2].shape
	for _, b := range []*shape{low, high} {
		if b.elem != s.elem || len(b.dims) > 0 && !slices.Equal(b.dims, s.dims) {
			return nil, "operands of types " + low.plain() + ", " + s.plain() + " and " + high.plain()
		}
	}
	return s, ""
}

func inferSelect(in *instr) (*shape, string) {
	p, a, b := in.operands[0].shape, in.operands[1].shape, in.operands[2].shape
	elem, ok := wider(a.elem, b.elem)
	if p.elem != pred || !ok && !compatible(a, b) || !slices.Equal(a.dims, b.dims) || len(p.dims) > 0 && !slices.Equal(p.dims, a.dims) {
		return nil, "operands of types " + p.plain() + ", " + a.plain() + " and " + b.plain()
	}
	if ok && a.elem != elem {
		a = a.withElem(elem)
	}
	return a, ""
}

func inferTuple(in *instr) (*shape, string) {
	return tuple(shapesOf(in.operands)...), ""
}

// inferTupleOfAll returns the type of an op with one result per operand.
func inferTupleOfAll(in *instr) (*shape, string) { return oneOrTuple(shapesOf(in.operands)), "" }

// oneOrTuple returns the type of an op whose results have the given types.
func oneOrTuple(results []*shape) *shape {
	if len(results) == 1 {
		return results[0]
	}
	return tuple(results...)
}

func inferElement(in *instr) (*shape, string) {
	s, i := in.operands[0].shape, attrOf[int64](in, "index")
	if !s.isTuple() || i < 0 || i >= int64(len(s.elems)) {
		return nil, fmt.Sprintf("type %s has no element %d", s.plain(), i)
	}
	return s.elems[i], ""
}

// resultOf returns the type of c's root.
func resultOf(c *computation) (*shape, string) {
	if !c.defined {
		return nil, "computation " + shorten(c.name) + " comes after its use"
	}
	return c.root.shape, ""
}

// applyTypes returns the type of c's root if c accepts arguments of the given types.
func applyTypes(c *computation, args ...*shape) (*shape, string) {
	r, why := resultOf(c)
	if why != "" {
		return nil, why
	}
	if len(c.params) != len(args) {
		return nil, fmt.Sprintf("computation %s has %d parameters, but %d arguments", shorten(c.name), len(c.params), len(args))
	}
	for i, p := range c.params {
		if !compatible(p.shape, args[i]) {
			return nil, fmt.Sprintf("parameter %d of computation %s has type %s, but its argument %s", i, shorten(c.name), p.shape.plain(), args[i].plain())
		}
	}
	return r, ""
}

func inferCall(in *instr) (*shape, string) {
	return applyTypes(attrOf[*computation](in, "to_apply"), shapesOf(in.operands)...)
}

func inferWhile(in *instr) (*shape, string) {
	s := in.operands[0].shape
	if c, why := applyTypes(attrOf[*computation](in, "condition"), s); why != "" || !compatible(c, array(pred)) {
		return nil, cmp.Or(why, "its condition returns no pred[]")
	}
	if b, why := applyTypes(attrOf[*computation](in, "body"), s); why != "" || !compatible(b, s) {
		return nil, cmp.Or(why, "its body returns another type than "+s.plain())
	}
	return s, ""
}

func inferConditional(in *instr) (*shape, string) {
	var out *shape
	for i, c := range in.branches() {
		r, why := applyTypes(c, in.operands[i+1].shape)
		switch {
		case why != "":
			return nil, why
		case out == nil:
			out = r
		case !compatible(out, r):
			return nil, "its branches return types " + out.plain() + " and " + r.plain()
		}
	}
	return out, ""
}

// inferBroadcast follows XLA's old broadcast: dimensions are sizes before the operand's.
func inferBroadcast(in *instr) (*shape, string) {
	s := in.operands[0].shape
	sizes := attrOf[[]int64](in, "dimensions")
	if !s.isArray() || slices.ContainsFunc(sizes, func(n int64) bool { return n < 0 }) {
		return nil, "operand of type " + s.plain()
	}
	return s.withDims(slices.Concat(sizes, s.dims), slices.Concat(make([]bool, len(sizes)), s.dynamicList())), ""
}

func inferMap(in *instr) (*shape, string) {
	if len(in.operands) == 0 {
		return nil, "it has no operands"
	}
	s := in.operands[0].shape
	var scalars []*shape
	for _, o := range in.operands {
		if !slices.Equal(o.shape.dims, s.dims) || !o.shape.isArray() {
			return nil, "operands of types " + s.plain() + " and " + o.shape.plain()
		}
		scalars = append(scalars, array(o.shape.elem))
	}
	for i, d := range attrOf[[]int64](in, "dimensions") {
		if d != int64(i) {
			return nil, fmt.Sprintf("dimension %d", d)
		}
	}
	r, why := applyTypes(attrOf[*computation](in, "to_apply"), scalars...)
	if why != "" {
		return nil, why
	}
	return s.withElem(r.elem).withDims(s.dims, s.dynamic), ""
}

// without returns the dimensions of s that are not listed.
func (s *shape) without(dims []int64) *shape {
	var sizes []int64
	var dynamic []bool
	for i, d := range s.dims {
		if !slices.Contains(dims, int64(i)) {
			sizes = append(sizes, d)
			dynamic = append(dynamic, s.isDynamic(i))
		}
	}
	return s.withDims(sizes, dynamic)
}

func inferReduce(in *instr) (*shape, string) {
	n := len(in.operands) / 2
	if n == 0 || len(in.operands)%2 != 0 {
		return nil, fmt.Sprintf("%d operands are not inputs with their initial values", len(in.operands))
	}
	dims := attrOf[[]int64](in, "dimensions")
	for i, d := range dims {
		if d < 0 || d >= int64(len(in.operands[0].shape.dims)) || slices.Contains(dims[:i], d) {
			return nil, fmt.Sprintf("type %s has no dimension %d to reduce", in.operands[0].shape.plain(), d)
		}
	}
	c := attrOf[*computation](in, "to_apply")
	r, why := resultOf(c)
	switch {
	case why != "":
		return nil, why
	case len(c.params) != 2*n:
		return nil, fmt.Sprintf("computation %s has %d parameters, expected %d", shorten(c.name), len(c.params), 2*n)
	case r.isTuple() && len(r.elems) != n || !r.isTuple() && n != 1:
		return nil, fmt.Sprintf("computation %s returns type %s for %d inputs", shorten(c.name), r.plain(), n)
	}
	for i, o := range in.operands[:n] {
		e := r
		if r.isTuple() {
			e = r.elems[i]
		}
		if !slices.Equal(o.shape.dims, in.operands[0].shape.dims) || !compatible(e, in.operands[n+i].shape) {
			return nil, fmt.Sprintf("input %d has type %s, its initial value %s, the result of %s %s", i, o.shape.plain(), in.operands[n+i].shape.plain(), shorten(c.name), e.plain())
		}
	}
	out := in.operands[0].shape.without(dims)
	if !r.isTuple() {
		return out.withElem(r.elem), ""
	}
	s := &shape{elem: tupleType}
	for _, e := range r.elems {
		s.elems = append(s.elems, out.withElem(e.elem))
	}
	return s, ""
}

// windowed returns the dimensions of s after a window has moved over it.
func (s *shape) windowed(w window) ([]int64, string) {
	if len(w) != len(s.dims) {
		return nil, fmt.Sprintf("a window of %d dimensions over type %s", len(w), s.plain())
	}
	out := make([]int64, len(w))
	for i, d := range w {
		n, ok := d.positions(s.dims[i])
		if !ok {
			return nil, fmt.Sprintf("the window does not fit dimension %d", i)
		}
		out[i] = n
	}
	return out, ""
}

// positions returns the number of window positions along a dimension of the given size.
func (d windowDim) positions(size int64) (int64, bool) {
	if size == unboundedSize {
		return size, true
	}
	if d.stride <= 0 || d.size < 0 || d.baseDilation <= 0 || d.windowDilation <= 0 {
		return 0, false
	}
	dilated := max(0, (size-1)*d.baseDilation+1)
	if size == 0 {
		dilated = 0
	}
	padded := dilated + d.padLow + d.padHigh
	w := (d.size-1)*d.windowDilation + 1
	if d.size == 0 {
		w = 0
	}
	if padded < 0 {
		return 0, false
	}
	if padded < w || padded == 0 {
		return 0, true
	}
	return (padded-w)/d.stride + 1, true
}

func inferReduceWindow(in *instr) (*shape, string) {
	n := len(in.operands) / 2
	if n == 0 || len(in.operands)%2 != 0 {
		return nil, fmt.Sprintf("%d operands are not inputs with their initial values", len(in.operands))
	}
	results := make([]*shape, n)
	for i, o := range in.operands[:n] {
		dims, why := o.shape.windowed(attrOf[window](in, "window"))
		if why != "" {
			return nil, why
		}
		results[i] = o.shape.withDims(dims, o.shape.dynamic).withElem(in.operands[n+i].shape.elem)
	}
	return oneOrTuple(results), ""
}

func inferConvolution(in *instr) (*shape, string) {
	a, k := in.operands[0].shape, in.operands[1].shape
	d := attrOf[convDims](in, "dim_labels")
	w := attrOf[window](in, "window")
	groups := attrOf[int64](in, "batch_group_count")
	if groups == 0 {
		groups = 1
	}
	if len(d.input) != len(a.dims) || len(d.kernel) != len(k.dims) {
		return nil, fmt.Sprintf("dim_labels %s_%s->%s for types %s and %s", d.input, d.kernel, d.output, a.plain(), k.plain())
	}
	size := func(labels string, dims []int64, label byte) int64 {
		for i := range len(labels) {
			if labels[i] == label {
				return dims[i]
			}
		}
		return 1
	}
	features := attrOf[int64](in, "feature_group_count")
	if features == 0 {
		features = 1
	}
	if f, want := size(d.input, a.dims, 'f'), size(d.kernel, k.dims, 'i')*features; f != want {
		return nil, fmt.Sprintf("an input of %d features, expected %d", f, want)
	}
	out := make([]int64, len(d.output))
	for i := range len(d.output) {
		switch c := d.output[i]; c {
		case 'b':
			out[i] = size(d.input, a.dims, 'b') / groups
		case 'f':
			out[i] = size(d.kernel, k.dims, 'o')
		case '?':
			out[i] = 1
		default:
			n := int(c - '0')
			if n >= len(w) {
				return nil, "the window has fewer dimensions than dim_labels"
			}
			v, ok := w[n].positions(size(d.input, a.dims, c))
			if !ok {
				return nil, "the window does not fit"
			}
			out[i] = v
		}
	}
	return array(a.elem, out...), ""
}

func inferFFT(in *instr) (*shape, string) {
	s := in.operands[0].shape
	length := attrOf[[]int64](in, "fft_length")
	if len(length) == 0 || len(length) > len(s.dims) {
		return nil, fmt.Sprintf("fft_length of %d dimensions for type %s", len(length), s.plain())
	}
	dims := slices.Clone(s.dims)
	switch attrOf[int64](in, "fft_type") {
	case 2: // RFFT
		dims[len(dims)-1] = length[len(length)-1]/2 + 1
		elem := c64
		if s.elem == f32+1 {
			elem = c128
		}
		return array(elem, dims...), ""
	case 3: // IRFFT
		if s.elem.row().kind != complexKind {
			return nil, "operand of type " + s.plain()
		}
		dims[len(dims)-1] = length[len(length)-1]
		return array(s.elem.part(), dims...), ""
	}
	return s, ""
}

func inferConcatenate(in *instr) (*shape, string) {
	dims := attrOf[[]int64](in, "dimensions")
	if len(in.operands) == 0 || len(dims) != 1 {
		return nil, "it needs operands and one dimension"
	}
	s := in.operands[0].shape
	d := dims[0]
	if d < 0 || d >= int64(len(s.dims)) {
		return nil, fmt.Sprintf("type %s has no dimension %d", s.plain(), d)
	}
	sizes, dynamic := slices.Clone(s.dims), slices.Clone(s.dynamicList())
	elem := s.elem
	for _, o := range in.operands[1:] {
		var ok bool
		if elem, ok = wider(elem, o.shape.elem); !ok || len(o.shape.dims) != len(sizes) {
			return nil, "operands of types " + s.plain() + " and " + o.shape.plain()
		}
		for i, n := range o.shape.dims {
			if int64(i) != d && n != s.dims[i] {
				return nil, "operands of types " + s.plain() + " and " + o.shape.plain()
			}
		}
		sizes[d] += o.shape.dims[d]
		for i := range dynamic {
			dynamic[i] = dynamic[i] || o.shape.isDynamic(i)
		}
	}
	return s.withElem(elem).withDims(sizes, dynamic), ""
}

func inferTranspose(in *instr) (*shape, string) {
	s := in.operands[0].shape
	perm := attrOf[[]int64](in, "dimensions")
	if len(perm) != len(s.dims) {
		return nil, fmt.Sprintf("%d dimensions for type %s", len(perm), s.plain())
	}
	dims, dynamic := make([]int64, len(perm)), make([]bool, len(perm))
	for i, d := range perm {
		if d < 0 || d >= int64(len(s.dims)) || slices.Contains(perm[:i], d) {
			return nil, fmt.Sprintf("dimensions are not a permutation of those of type %s", s.plain())
		}
		dims[i], dynamic[i] = s.dims[d], s.isDynamic(int(d))
	}
	out := s.withDims(dims, dynamic)
	// The elements do not move: permute the layout as the dimensions.
	l := *s.layout
	l.minorToMajor = make([]int64, len(perm))
	for i, d := range s.layout.minorToMajor {
		l.minorToMajor[i] = int64(slices.Index(perm, d))
	}
	out.layout = &l
	return out, ""
}

func inferBatchNorm(in *instr) (*shape, string) {
	s := in.operands[0].shape
	i := attrOf[int64](in, "feature_index")
	if i < 0 || i >= int64(len(s.dims)) {
		return nil, fmt.Sprintf("type %s has no dimension %d", s.plain(), i)
	}
	f := array(s.elem, s.dims[i])
	return tuple(s, f, f), ""
}

func inferPad(in *instr) (*shape, string) {
	s := in.operands[0].shape
	pad := attrOf[[]paddingDim](in, "padding")
	v := in.operands[1].shape
	elem, ok := wider(s.elem, v.elem)
	if !ok || !v.isScalar() {
		return nil, "padding of type " + v.plain() + " for type " + s.plain()
	}
	if len(pad) != len(s.dims) {
		return nil, fmt.Sprintf("padding of %d dimensions for type %s", len(pad), s.plain())
	}
	dims := make([]int64, len(pad))
	for i, d := range pad {
		dims[i] = s.dims[i] + d.low + d.high + max(0, s.dims[i]-1)*d.interior
		if dims[i] < 0 {
			return nil, fmt.Sprintf("padding makes dimension %d negative", i)
		}
	}
	return s.withElem(elem).withDims(dims, s.dynamic), ""
}

func inferDot(in *instr) (*shape, string) {
	return dotShape(in, in.operands[0].shape, in.operands[1].shape, nil)
}

// inferScaledDot ignores the scales, the second and the fourth operand.
func inferScaledDot(in *instr) (*shape, string) {
	return dotShape(in, in.operands[0].shape, in.operands[2].shape, nil)
}

// inferRaggedDot drops the dimension of groups; a ragged contracting dimension yields one product for each group.
func inferRaggedDot(in *instr) (*shape, string) {
	s, why := dotShape(in, in.operands[0].shape, in.operands[1].shape, attrOf[[]int64](in, "rhs_group_dims"))
	ragged, sizes := attrOf[[]int64](in, "lhs_ragged_dims"), in.operands[2].shape
	if why != "" || len(ragged) != 1 || len(sizes.dims) == 0 {
		return nil, cmp.Or(why, "it needs one ragged dimension and the sizes of its groups")
	}
	if slices.Contains(attrOf[[]int64](in, "lhs_contracting_dims"), ragged[0]) {
		return array(s.elem, slices.Concat(sizes.dims[len(sizes.dims)-1:], s.dims)...), ""
	}
	return s, ""
}

// dotShape returns the type of a product of types a and b: batch dimensions, then the rest of a, then the rest of b
// without groups.
func dotShape(in *instr, a, b *shape, groups []int64) (*shape, string) {
	batch, contract := attrOf[[]int64](in, "lhs_batch_dims"), attrOf[[]int64](in, "lhs_contracting_dims")
	bbatch, bcontract := attrOf[[]int64](in, "rhs_batch_dims"), attrOf[[]int64](in, "rhs_contracting_dims")
	if len(batch) != len(bbatch) || len(contract) != len(bcontract) {
		return nil, "its operands have different numbers of batch or contracting dimensions"
	}
	used, bused := slices.Concat(batch, contract), slices.Concat(bbatch, bcontract)
	var dims []int64
	for i, d := range used {
		e := bused[i]
		if d < 0 || d >= int64(len(a.dims)) || slices.Contains(used[:i], d) || e < 0 || e >= int64(len(b.dims)) || slices.Contains(bused[:i], e) {
			return nil, fmt.Sprintf("dimensions %d and %d of types %s and %s", d, e, a.plain(), b.plain())
		}
		if a.dims[d] != b.dims[e] {
			return nil, fmt.Sprintf("dimensions of sizes %d and %d", a.dims[d], b.dims[e])
		}
		if i < len(batch) {
			dims = append(dims, a.dims[d])
		}
	}
	dims = append(append(dims, a.without(used).dims...), b.without(append(bused, groups...)).dims...)
	elem, ok := wider(a.elem, b.elem)
	if !ok {
		elem = a.elem
		if b.elem.row().bits > a.elem.row().bits {
			elem = b.elem
		}
	}
	return array(elem, dims...), ""
}

func inferGather(in *instr) (*shape, string) {
	s, start := in.operands[0].shape, in.operands[1].shape
	offset := attrOf[[]int64](in, "offset_dims")
	sizes := attrOf[[]int64](in, "slice_sizes")
	vector := attrOf[int64](in, "index_vector_dim")
	var kept []int64
	for i, n := range sizes {
		if !slices.Contains(attrOf[[]int64](in, "collapsed_slice_dims"), int64(i)) && !slices.Contains(attrOf[[]int64](in, "operand_batching_dims"), int64(i)) {
			kept = append(kept, n)
		}
	}
	batch := start.without([]int64{vector}).dims
	if len(kept) != len(offset) {
		return nil, fmt.Sprintf("%d offset_dims for slices of %d dimensions", len(offset), len(kept))
	}
	var dims []int64
	for i := range len(batch) + len(kept) {
		if slices.Contains(offset, int64(i)) {
			dims, kept = append(dims, kept[0]), kept[1:]
		} else if len(batch) > 0 {
			dims, batch = append(dims, batch[0]), batch[1:]
		}
	}
	return array(s.elem, dims...), ""
}

func inferScatter(in *instr) (*shape, string) {
	n := len(in.operands) / 2
	if len(in.operands)%2 != 1 || n == 0 {
		return nil, fmt.Sprintf("%d operands are not inputs, indices and updates", len(in.operands))
	}
	return oneOrTuple(shapesOf(in.operands[:n])), ""
}

// fixedShape returns the result type of an instruction if XLA computes the type from the operands and ignores the
// text. It returns nil for other instructions.
func fixedShape(in *instr) *shape {
	switch in.op {
	case opSend:
		return tuple(in.operands[0].shape, array(u32), tokenShape)
	case opRecv:
		if in.shape.isTuple() && len(in.shape.elems) > 0 {
			return tuple(in.shape.elems[0], array(u32), tokenShape)
		}
	case opRecvDone:
		if from := in.operands[0]; from.op == opRecv && from.shape.isTuple() && len(from.shape.elems) > 0 {
			return tuple(from.shape.elems[0], tokenShape)
		}
	case opInfeed:
		return tuple(in.shape.elems[0], tokenShape)
	case opSendDone, opOutfeed:
		return tokenShape
	}
	return nil
}
