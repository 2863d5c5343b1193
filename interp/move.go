package interp

import (
	"errors"
	"fmt"
	"math"

	"github.com/hlocb/hlocb/dialect/stablehlo"
	"github.com/hlocb/hlocb/tensor"
)

// oneOperand returns an error unless there is one operand and one result, both of the same element type.
func oneOperand(s *signature) error {
	if len(s.in) != 1 || len(s.out) != 1 {
		return errors.New("expects one operand and one result")
	}
	if s.in[0].dt != s.out[0].dt {
		return typeMismatch(s.in[0].dt, s.out[0].dt)
	}
	return nil
}

// copyKernel wraps a copy with fixed offsets.
func copyKernel(c *stridedCopy, size, dstOff, srcOff int) kernel {
	return kernel{run: func(in, out []*tensor.Tensor) error {
		c.run(size, out[0], in[0], dstOff, srcOff)
		return nil
	}}
}

// makeBroadcastInDim compiles broadcast_in_dim and dynamic_broadcast_in_dim (spec, "broadcast_in_dim",
// "dynamic_broadcast_in_dim").
func makeBroadcastInDim(s *spec) (kernel, error) {
	if len(s.in) < 1 || len(s.out) != 1 || s.in[0].dt != s.out[0].dt {
		return kernel{}, errors.New("expects one operand of the result's element type")
	}
	dims, err := intsAttr(s.op, stablehlo.AttrBroadcastDimensions)
	if err != nil {
		return kernel{}, err
	}
	return broadcastKernel(s.in[0], s.out[0], dims)
}

func broadcastKernel(in, out vtype, dims []int64) (kernel, error) {
	if len(dims) != len(in.shape) {
		return kernel{}, fmt.Errorf("has %d broadcast dimensions for an operand of rank %d", len(dims), len(in.shape))
	}
	if err := checkDims("broadcast", dims, len(out.shape)); err != nil {
		return kernel{}, err
	}
	src := make([]int, len(out.shape))
	st := strides(in.shape)
	for i, d := range dims {
		switch in.shape[i] {
		case out.shape[d]:
			src[d] = st[i]
		case 1:
		default:
			return kernel{}, fmt.Errorf("cannot broadcast dimension %d of %s to %d", i, in, out.shape[d])
		}
	}
	for d := range src {
		if out.shape[d] == 1 {
			src[d] = 0
		}
	}
	return copyKernel(newStridedCopy(ints(out.shape), strides(out.shape), src), in.dt.Size(), 0, 0), nil
}

// makeTranspose compiles transpose (spec, "transpose").
func makeTranspose(s *spec) (kernel, error) {
	if err := oneOperand(&s.signature); err != nil {
		return kernel{}, err
	}
	perm, err := intsAttr(s.op, stablehlo.AttrPermutation)
	if err != nil {
		return kernel{}, err
	}
	return transposeKernel(s.in[0], s.out[0], perm)
}

func transposeKernel(in, out vtype, perm []int64) (kernel, error) {
	if len(perm) != len(in.shape) || len(out.shape) != len(perm) {
		return kernel{}, fmt.Errorf("has a permutation of %d dimensions for rank %d", len(perm), len(in.shape))
	}
	if err := checkDims("permutation", perm, len(perm)); err != nil {
		return kernel{}, err
	}
	st := strides(in.shape)
	src := make([]int, len(perm))
	for i, d := range perm {
		src[i] = st[d]
		if in.shape[d] != out.shape[i] {
			return kernel{}, fmt.Errorf("cannot transpose %s to %s", in, out)
		}
	}
	return copyKernel(newStridedCopy(ints(out.shape), strides(out.shape), src), in.dt.Size(), 0, 0), nil
}

func transposeShape(s *spec, in []*tensor.Tensor) error {
	perm, err := intsAttr(s.op, stablehlo.AttrPermutation)
	if err != nil {
		return err
	}
	if err := checkDims("permutation", perm, len(s.in[0].shape)); err != nil {
		return err
	}
	s.out[0].shape = nil
	for _, d := range perm {
		s.out[0].shape = append(s.out[0].shape, s.in[0].shape[d])
	}
	return nil
}

// makeReverse compiles reverse (spec, "reverse").
func makeReverse(s *spec) (kernel, error) {
	if err := oneOperand(&s.signature); err != nil {
		return kernel{}, err
	}
	dims, err := intsAttr(s.op, stablehlo.AttrDimensions)
	if err != nil {
		return kernel{}, err
	}
	if err := checkDims("reversed", dims, len(s.in[0].shape)); err != nil {
		return kernel{}, err
	}
	src, off := strides(s.in[0].shape), 0
	for _, d := range dims {
		off += src[d] * (int(s.in[0].shape[d]) - 1)
		src[d] = -src[d]
	}
	if s.out[0].n == 0 {
		off = 0
	}
	return copyKernel(newStridedCopy(ints(s.out[0].shape), strides(s.out[0].shape), src), s.in[0].dt.Size(), 0, off), nil
}

// makeSlice compiles slice (spec, "slice").
func makeSlice(s *spec) (kernel, error) {
	if err := oneOperand(&s.signature); err != nil {
		return kernel{}, err
	}
	rank := len(s.in[0].shape)
	start, err := intsOr(s.op, "start_indices", rank, 0)
	if err != nil {
		return kernel{}, err
	}
	limit, err := intsOr(s.op, "limit_indices", rank, 0)
	if err != nil {
		return kernel{}, err
	}
	step, err := intsOr(s.op, "strides", rank, 1)
	if err != nil {
		return kernel{}, err
	}
	return sliceKernel(s.in[0], s.out[0], start, limit, step)
}

func sliceKernel(in, out vtype, start, limit, step []int64) (kernel, error) {
	src, off := strides(in.shape), 0
	for i := range src {
		if start[i] < 0 || start[i] > limit[i] || limit[i] > in.shape[i] || step[i] <= 0 {
			return kernel{}, fmt.Errorf("slices dimension %d of size %d as [%d:%d:%d]", i, in.shape[i], start[i], limit[i], step[i])
		}
		if n := (limit[i] - start[i] + step[i] - 1) / step[i]; n != out.shape[i] {
			return kernel{}, fmt.Errorf("gives %d elements in dimension %d, not %d", n, i, out.shape[i])
		}
		off += src[i] * int(start[i])
		src[i] *= int(step[i])
	}
	return copyKernel(newStridedCopy(ints(out.shape), strides(out.shape), src), in.dt.Size(), 0, off), nil
}

// clampedOffset returns the element offset of a box whose start indices are scalars. It clamps the indices to keep the
// box inside shape (spec, "dynamic_slice").
func clampedOffset(index []*tensor.Tensor, shape, box tensor.Shape, st []int) int {
	off := 0
	for i, t := range index {
		v := scalarInt(t)
		v = max(0, min(v, shape[i]-box[i]))
		off += int(v) * st[i]
	}
	return off
}

// scalarInt returns the only element of an integer tensor; large ui64 values saturate.
func scalarInt(t *tensor.Tensor) int64 { return intAt(t, 0) }

func intAt(t *tensor.Tensor, i int) int64 {
	switch t.DType() {
	case tensor.I64, tensor.Index:
		return tensor.View[int64](t)[i]
	case tensor.I32:
		return int64(tensor.View[int32](t)[i])
	case tensor.I16:
		return int64(tensor.View[int16](t)[i])
	case tensor.I8, tensor.I4, tensor.I2:
		return int64(tensor.View[int8](t)[i])
	case tensor.UI64:
		return int64(min(tensor.View[uint64](t)[i], math.MaxInt64))
	case tensor.UI32:
		return int64(tensor.View[uint32](t)[i])
	case tensor.UI16:
		return int64(tensor.View[uint16](t)[i])
	}
	return int64(t.Bytes()[i])
}

func isIndex(d tensor.DType) bool {
	return d.IsInteger() || d == tensor.Index
}

func checkIndices(types []vtype, rank int) error {
	if len(types) != rank {
		return fmt.Errorf("has %d start indices for rank %d", len(types), rank)
	}
	for _, t := range types {
		if !isIndex(t.dt) || t.n != 1 {
			return fmt.Errorf("has a start index of type %s", t)
		}
	}
	return nil
}

// makeDynamicSlice compiles dynamic_slice (spec, "dynamic_slice").
func makeDynamicSlice(s *signature) (kernel, error) {
	if len(s.in) < 1 || len(s.out) != 1 || s.in[0].dt != s.out[0].dt || len(s.in[0].shape) != len(s.out[0].shape) {
		return kernel{}, errors.New("expects a result of the operand's element type and rank")
	}
	shape, box := s.in[0].shape, s.out[0].shape
	if err := checkIndices(s.in[1:], len(shape)); err != nil {
		return kernel{}, err
	}
	for i := range box {
		if box[i] > shape[i] {
			return kernel{}, fmt.Errorf("slices %d elements from dimension %d of size %d", box[i], i, shape[i])
		}
	}
	st := strides(shape)
	c := newStridedCopy(ints(box), strides(box), st)
	size := s.in[0].dt.Size()
	return kernel{run: func(in, out []*tensor.Tensor) error {
		c.run(size, out[0], in[0], 0, clampedOffset(in[1:], shape, box, st))
		return nil
	}}, nil
}

// makeDynamicUpdateSlice compiles dynamic_update_slice (spec, "dynamic_update_slice"). If the operand dies here, the
// kernel writes only the update.
func makeDynamicUpdateSlice(s *signature) (kernel, error) {
	if len(s.in) < 2 || len(s.out) != 1 || s.in[0].dt != s.out[0].dt || s.in[1].dt != s.out[0].dt ||
		!s.in[0].shape.Equal(s.out[0].shape) || len(s.in[1].shape) != len(s.out[0].shape) {
		return kernel{}, errors.New("expects operand, update and result of one element type and rank")
	}
	shape, box := s.in[0].shape, s.in[1].shape
	if err := checkIndices(s.in[2:], len(shape)); err != nil {
		return kernel{}, err
	}
	for i := range box {
		if box[i] > shape[i] {
			return kernel{}, fmt.Errorf("updates %d elements of dimension %d of size %d", box[i], i, shape[i])
		}
	}
	st := strides(shape)
	c := newStridedCopy(ints(box), st, strides(box))
	size := s.in[0].dt.Size()
	return kernel{run: func(in, out []*tensor.Tensor) error {
		off := clampedOffset(in[2:], shape, box, st)
		copyUnlessSame(out[0], in[0])
		c.run(size, out[0], in[1], off, 0)
		return nil
	}, inplace: 1}, nil
}

// copyUnlessSame copies a payload, unless source and destination are the same.
func copyUnlessSame(dst, src *tensor.Tensor) {
	d, s := dst.Bytes(), src.Bytes()
	if len(d) > 0 && &d[0] != &s[0] {
		copy(d, s)
	}
}

// makeConcatenate compiles concatenate (spec, "concatenate").
func makeConcatenate(s *spec) (kernel, error) {
	return concatenateKernel(&s.signature, int(intAttr(s.op, stablehlo.AttrDimension, -1)))
}

func concatenateKernel(s *signature, dim int) (kernel, error) {
	if len(s.out) != 1 || len(s.in) == 0 {
		return kernel{}, errors.New("expects operands and one result")
	}
	out := s.out[0]
	if dim < 0 || dim >= len(out.shape) {
		return kernel{}, fmt.Errorf("concatenates along dimension %d of rank %d", dim, len(out.shape))
	}
	st := strides(out.shape)
	var copies []*stridedCopy
	var offs []int
	at := int64(0)
	for _, t := range s.in {
		if t.dt != out.dt || len(t.shape) != len(out.shape) {
			return kernel{}, fmt.Errorf("cannot concatenate %s into %s", t, out)
		}
		for d := range t.shape {
			if d != dim && t.shape[d] != out.shape[d] {
				return kernel{}, fmt.Errorf("cannot concatenate %s into %s", t, out)
			}
		}
		copies = append(copies, newStridedCopy(ints(t.shape), st, strides(t.shape)))
		offs = append(offs, int(at)*st[dim])
		at += t.shape[dim]
	}
	if at != out.shape[dim] {
		return kernel{}, fmt.Errorf("concatenates %d elements into %d", at, out.shape[dim])
	}
	size := out.dt.Size()
	return kernel{run: func(in, out []*tensor.Tensor) error {
		for i, c := range copies {
			c.run(size, out[0], in[i], offs[i], 0)
		}
		return nil
	}}, nil
}

func concatenateShape(s *spec, in []*tensor.Tensor) error {
	dim := int(intAttr(s.op, stablehlo.AttrDimension, -1))
	shape := s.in[0].shape.Clone()
	if dim < 0 || dim >= len(shape) {
		return fmt.Errorf("concatenates along dimension %d of rank %d", dim, len(shape))
	}
	for _, t := range s.in[1:] {
		if len(t.shape) != len(shape) {
			return errors.New("concatenates operands of different ranks")
		}
		shape[dim] += t.shape[dim]
	}
	s.out[0].shape = shape
	return nil
}

// makePad compiles pad (spec, "pad"). Padding may be negative at both ends.
func makePad(s *spec) (kernel, error) {
	if len(s.in) != 2 || len(s.out) != 1 {
		return kernel{}, errors.New("expects an operand and a padding value")
	}
	rank := len(s.in[0].shape)
	low, err := intsOr(s.op, "edge_padding_low", rank, 0)
	if err != nil {
		return kernel{}, err
	}
	high, err := intsOr(s.op, "edge_padding_high", rank, 0)
	if err != nil {
		return kernel{}, err
	}
	interior, err := intsOr(s.op, "interior_padding", rank, 0)
	if err != nil {
		return kernel{}, err
	}
	return padKernel(s.in[0], s.out[0], s.in[1], low, high, interior)
}

// padShape returns the shape of a padded operand.
func padShape(in tensor.Shape, low, high, interior []int64) tensor.Shape {
	out := make(tensor.Shape, len(in))
	for i, d := range in {
		out[i] = low[i] + d + max(d-1, 0)*interior[i] + high[i]
	}
	return out
}

func padKernel(in, out, value vtype, low, high, interior []int64) (kernel, error) {
	if value.n != 1 || value.dt != out.dt || in.dt != out.dt {
		return kernel{}, errors.New("expects a scalar padding value of the operand's element type")
	}
	for _, v := range interior {
		if v < 0 {
			return kernel{}, fmt.Errorf("has negative interior padding %d", v)
		}
	}
	if want := padShape(in.shape, low, high, interior); !want.Equal(out.shape) {
		return kernel{}, fmt.Errorf("pads %s to shape %v, not %v", in, want, out.shape)
	}
	st, dst := strides(in.shape), strides(out.shape)
	dims := make([]int, len(st))
	srcOff, dstOff := 0, 0
	for i := range dims {
		step := int(interior[i]) + 1
		first := 0 // the first source element that is kept
		if low[i] < 0 {
			first = (int(-low[i]) + step - 1) / step
		}
		last := int(in.shape[i]) - 1
		if room := int(out.shape[i]-1) - int(low[i]); room < 0 {
			last = -1
		} else {
			last = min(last, room/step)
		}
		dims[i] = max(0, last-first+1)
		srcOff += first * st[i]
		dstOff += (int(low[i]) + first*step) * dst[i]
		dst[i] *= step
	}
	c := newStridedCopy(dims, dst, st)
	size := in.dt.Size()
	whole := c.n == out.n
	return kernel{run: func(in, out []*tensor.Tensor) error {
		if !whole {
			fill(out[0].Bytes(), in[1].Bytes())
		}
		c.run(size, out[0], in[0], dstOff, srcOff)
		return nil
	}}, nil
}

// makeIota compiles iota and dynamic_iota (spec, "iota", "dynamic_iota").
func makeIota(s *spec) (kernel, error) {
	return iotaKernel(&s.signature, int(intAttr(s.op, stablehlo.AttrIotaDimension, -1)))
}

func iotaKernel(s *signature, dim int) (kernel, error) {
	if len(s.out) != 1 {
		return kernel{}, errors.New("expects one result")
	}
	out := s.out[0]
	if dim < 0 || dim >= len(out.shape) {
		return kernel{}, fmt.Errorf("counts along dimension %d of rank %d", dim, len(out.shape))
	}
	n := int(out.shape[dim])
	outer, inner := int(out.shape[:dim].NumElements()), int(out.shape[dim+1:].NumElements())
	conv, err := convertLoop(tensor.I64, out.dt)
	if err != nil {
		return kernel{}, err
	}
	// Compute the numbers one block at a time and copy each block to its places. The plan keeps one block.
	const block = 4096
	size := out.dt.Size()
	line := func(counts, values *tensor.Tensor, at, m int) []byte {
		for i := range m {
			tensor.View[int64](counts)[i] = int64(at + i)
		}
		conv([]*tensor.Tensor{counts}, []*tensor.Tensor{values}, 0, m)
		return values.Bytes()[:m*size]
	}
	of := func(dt tensor.DType) *tensor.Tensor { return tensor.New(dt, tensor.Shape{min(block, int64(n))}) }
	var kept []byte
	if n <= block {
		kept = line(of(tensor.I64), of(out.dt), 0, n)
	}
	return kernel{run: func(_, outs []*tensor.Tensor) error {
		parallel((n+block-1)/block, max(1, 1<<16/max(1, min(n, block)*inner*outer)), func(lo, hi int) {
			var counts, made *tensor.Tensor
			if kept == nil {
				counts, made = of(tensor.I64), of(out.dt)
			}
			for at := lo * block; at < min(hi*block, n); at += block {
				values := kept
				if values == nil {
					values = line(counts, made, at, min(block, n-at))
				}
				m := len(values) / size
				for o := range outer {
					dst := outs[0].Bytes()[(o*n+at)*inner*size:]
					if inner == 1 {
						copy(dst, values)
						continue
					}
					for i := range m {
						fill(dst[i*inner*size:(i+1)*inner*size], values[i*size:(i+1)*size])
					}
				}
			}
		})
		return nil
	}}, nil
}

// makeBroadcast compiles the old op broadcast, which adds leading dimensions.
func makeBroadcast(s *spec) (kernel, error) {
	if err := oneOperand(&s.signature); err != nil {
		return kernel{}, err
	}
	extra := len(s.out[0].shape) - len(s.in[0].shape)
	if extra < 0 {
		return kernel{}, fmt.Errorf("cannot broadcast %s to %s", s.in[0], s.out[0])
	}
	dims := make([]int64, len(s.in[0].shape))
	for i := range dims {
		dims[i] = int64(extra + i)
	}
	return broadcastKernel(s.in[0], s.out[0], dims)
}
