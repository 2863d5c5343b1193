package kernel

import "github.com/hlocb/hlocb/tensor"

// operand reads a tensor with its elements in another order, and as another type.
type operand struct {
	in      Type
	shape   tensor.Shape // in the new order
	move    *StridedCopy // nil if the order stays
	to      tensor.DType
	convert ElementLoop // nil if the type stays
}

// newOperand returns the reader of v. Dimension i of its result is dimension perm[i] of v; a nil perm keeps the order.
func newOperand(v View, perm []int64, to tensor.DType) *operand {
	o := &operand{in: v.Type, shape: v.Shape, to: to}
	if perm != nil {
		moved := Transposed(v, perm)
		o.shape, o.move = moved.Shape, NewStridedCopy(Ints(moved.Shape), Strides(moved.Shape), moved.Strides)
		if o.move.identity() {
			o.move = nil
		}
	}
	if v.DType != to {
		o.convert = convertLoop(v.DType, to)
	}
	return o
}

// plain reports whether the tensor is read as it lies in memory.
func (o *operand) plain() bool { return o.move == nil && o.convert == nil }

// scratch returns the bytes that load allocates.
func (o *operand) scratch() int64 {
	n := int64(0)
	if o.move != nil {
		n += int64(o.in.Bytes())
	}
	if o.convert != nil {
		n += int64(o.in.N) * int64(o.to.Size())
	}
	return n
}

// load returns the elements of t in the new order and type.
func (o *operand) load(t *tensor.Tensor) *tensor.Tensor {
	if o.plain() {
		return t
	}
	out := tensor.New(o.to, o.shape)
	o.store(out, t)
	return out
}

// store writes the elements of t to out, in the new order and type.
func (o *operand) store(out, t *tensor.Tensor) {
	if o.move != nil {
		moved := out
		if o.convert != nil {
			moved = tensor.New(o.in.DType, o.shape)
		}
		o.move.Run(o.in.DType.Size(), moved, t, 0, 0)
		t = moved
	}
	if o.convert != nil {
		Parallel(o.in.N, 1<<14, func(lo, hi int) { o.convert([]*tensor.Tensor{t}, []*tensor.Tensor{out}, lo, hi) })
	}
}
