package kernel

import (
	"github.com/hlocb/hlocb/tensor"
)

// startBlock is the number of index vectors that are read together if they are evenly spaced.
const startBlock = 256

// outside marks an index vector whose window sticks out of the operand.
const outside = -1 << 62

// dense reports whether the index vectors are evenly spaced: vector i begins at i*step in the index tensor, and its
// element or window at i*other in the other tensor.
func (w *indexWalk) dense() (step, other int, ok bool) {
	n := 1
	for i := len(w.Batch) - 1; i >= 0; i-- {
		switch {
		case w.Batch[i] == 1:
			continue
		case n == 1:
			step, other = w.strides[i], w.other[i]
		case w.strides[i] != step*n || w.other[i] != other*n:
			return 0, 0, false
		}
		n *= w.Batch[i]
	}
	return step, other, len(w.batching) == 0
}

// starts stores the window offsets of index vectors lo, lo+1, ... of a dense walk in out. If clamped, it clamps
// components to [0, limit of their dimension]. Otherwise a component outside this range makes the offset outside.
func (w *indexWalk) starts(out []int, idx *tensor.Tensor, lo, step int, limit []int64, strides []int, clamped bool) {
	clear(out)
	for k, d := range w.toDim {
		from := lo*step + k*w.vecStep
		switch idx.DType() {
		case tensor.I32:
			addStarts(out, tensor.View[int32](idx)[from:], step, limit[d], strides[d], clamped)
		case tensor.I64:
			addStarts(out, tensor.View[int64](idx)[from:], step, limit[d], strides[d], clamped)
		case tensor.UI32:
			addStarts(out, tensor.View[uint32](idx)[from:], step, limit[d], strides[d], clamped)
		default:
			for i := range out {
				one := [1]int64{IntAt(idx, from+i*step)}
				addStarts(out[i:i+1], one[:], 0, limit[d], strides[d], clamped)
			}
		}
	}
}

func addStarts[T int32 | int64 | uint32](out []int, v []T, step int, limit int64, stride int, clamped bool) {
	if clamped && step == 1 {
		for i, at := range v[:len(out)] {
			out[i] += int(max(0, min(int64(at), limit))) * stride
		}
		return
	}
	if clamped {
		for i := range out {
			out[i] += int(max(0, min(int64(v[i*step]), limit))) * stride
		}
		return
	}
	for i := range out {
		if at := int64(v[i*step]); at < 0 || at > limit {
			out[i] = outside
		} else if out[i] >= 0 {
			out[i] += int(at) * stride
		}
	}
}
