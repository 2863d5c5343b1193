package hlo

import (
	"fmt"
	"slices"
)

// The infer functions compute the type of an instruction's result if the text omits it. Each returns the type in the
// default layout, or a description of the error. The rules come from xla/service/shape_inference.cc.

func inferSame(in *instr) (*shape, string) {
	return in.operands[0].shape, ""
}

func inferSecond(in *instr) (*shape, string) { return in.operands[1].shape, "" }

func inferToken(*instr) (*shape, string) { return tokenShape, "" }

func inferID(*instr) (*shape, string) { return array(u32), "" }

func inferSize(*instr) (*shape, string) { return array(s32), "" }

func inferUnary(in *instr) (*shape, string) {
	s := in.operands[0].shape
	if !s.isArray() {
		return nil, "its operand is no array"
	}
	switch name := in.op.name; {
	case name == "is-finite":
		return s.withElem(pred), ""
	case (name == "abs" || name == "real" || name == "imag") && s.elem.row().kind == complexKind:
		return s.withElem(s.elem.part()), ""
	}
	return s, ""
}

// inferBinary accepts operands of equal dimensions; a bound matches the same size.
func inferBinary(in *instr) (*shape, string) {
	a, b := in.operands[0].shape, in.operands[1].shape
	if !a.isArray() || !b.isArray() || a.elem != b.elem || !slices.Equal(a.dims, b.dims) {
		return nil, "operands of types " + a.plain() + " and " + b.plain()
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

func inferClamp(in *instr) (*shape, string) { return in.operands[1].shape, "" }

func inferSelect(in *instr) (*shape, string) {
	p, a, b := in.operands[0].shape, in.operands[1].shape, in.operands[2].shape
	if p.elem != pred || !compatible(a, b) {
		return nil, "operands of types " + p.plain() + ", " + a.plain() + " and " + b.plain()
	}
	return a, ""
}

func inferTuple(in *instr) (*shape, string) {
	s := &shape{elem: tupleType}
	for _, o := range in.operands {
		s.elems = append(s.elems, o.shape)
	}
	return s, ""
}

// inferTupleOfAll returns the type of an op with one result per operand.
func inferTupleOfAll(in *instr) (*shape, string) {
	if len(in.operands) == 1 {
		return in.operands[0].shape, ""
	}
	return inferTuple(in)
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
		return nil, "computation " + shorten(c.name) + " stands after its use"
	}
	return c.root.shape, ""
}

func inferCall(in *instr) (*shape, string) { return resultOf(attrOf[*computation](in, "to_apply")) }

func inferWhile(in *instr) (*shape, string) { return in.operands[0].shape, "" }

func inferConditional(in *instr) (*shape, string) {
	if c := attrOf[*computation](in, "true_computation"); c != nil {
		return resultOf(c)
	}
	return resultOf(attrOf[[]*computation](in, "branch_computations")[0])
}

func inferBroadcast(in *instr) (*shape, string) {
	s := in.operands[0].shape
	if !s.isArray() || len(s.dims) > 0 {
		return nil, "only a scalar is broadcast to an inferred type"
	}
	return array(s.elem, attrOf[[]int64](in, "dimensions")...), ""
}

func inferMap(in *instr) (*shape, string) {
	if len(in.operands) == 0 {
		return nil, "it has no operands"
	}
	r, why := resultOf(attrOf[*computation](in, "to_apply"))
	if why != "" {
		return nil, why
	}
	s := in.operands[0].shape
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
		return nil, fmt.Sprintf("%d operands are no inputs with their initial values", len(in.operands))
	}
	dims := attrOf[[]int64](in, "dimensions")
	r, why := resultOf(attrOf[*computation](in, "to_apply"))
	if why != "" {
		return nil, why
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
		return nil, fmt.Sprintf("%d operands are no inputs with their initial values", len(in.operands))
	}
	s := &shape{elem: tupleType}
	for i, o := range in.operands[:n] {
		w := attrOf[window](in, "window")
		dims, why := o.shape.windowed(w)
		if why != "" {
			return nil, why
		}
		s.elems = append(s.elems, o.shape.withDims(dims, o.shape.dynamic).withElem(in.operands[n+i].shape.elem))
	}
	if n == 1 {
		return s.elems[0], ""
	}
	return s, ""
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
	for _, o := range in.operands[1:] {
		if len(o.shape.dims) != len(sizes) {
			return nil, "operands of different numbers of dimensions"
		}
		sizes[d] += o.shape.dims[d]
		for i := range dynamic {
			dynamic[i] = dynamic[i] || o.shape.isDynamic(i)
		}
	}
	return s.withDims(sizes, dynamic), ""
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
			return nil, fmt.Sprintf("dimensions are no permutation of those of type %s", s.plain())
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
	return s.withDims(dims, s.dynamic), ""
}

func inferDot(in *instr) (*shape, string) {
	a, b := in.operands[0].shape, in.operands[1].shape
	batch, bbatch := attrOf[[]int64](in, "lhs_batch_dims"), attrOf[[]int64](in, "rhs_batch_dims")
	var dims []int64
	for _, d := range batch {
		if d < 0 || d >= int64(len(a.dims)) {
			return nil, fmt.Sprintf("type %s has no dimension %d", a.plain(), d)
		}
		dims = append(dims, a.dims[d])
	}
	dims = append(dims, a.without(append(slices.Clone(batch), attrOf[[]int64](in, "lhs_contracting_dims")...)).dims...)
	dims = append(dims, b.without(append(slices.Clone(bbatch), attrOf[[]int64](in, "rhs_contracting_dims")...)).dims...)
	return array(a.elem, dims...), ""
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
		return nil, fmt.Sprintf("%d operands are no inputs, indices and updates", len(in.operands))
	}
	if n == 1 {
		return in.operands[0].shape, ""
	}
	s := &shape{elem: tupleType}
	for _, o := range in.operands[:n] {
		s.elems = append(s.elems, o.shape)
	}
	return s, ""
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
