package kernel

import (
	"github.com/hlocb/hlocb/interp/internal/simd/vec"
	"github.com/hlocb/hlocb/tensor"
	"slices"
)

// indexWalk visits every index vector of a start_indices or scatter_indices tensor.
type indexWalk struct {
	Batch    []int // sizes of the batch dimensions
	strides  []int // their strides in the index tensor
	other    []int // their strides in the result or the updates
	vecLen   int
	vecStep  int
	toDim    []int // component -> operand dimension
	batching []int // pairs: operand dimension, position in batch

	// If dense is set, the index vectors are evenly spaced: vector i begins at i*step in the index tensor, and its
	// element or window at i*pace in the other tensor.
	dense      bool
	step, pace int
}

func newIndexWalk(idx Type, vectorDim int64, toDim, operandBatching, indexBatching []int64, otherStrides []int) *indexWalk {
	st := Strides(idx.Shape)
	w := &indexWalk{vecLen: 1, toDim: Ints(toDim)}
	pos := map[int64]int{}
	for i, n := range idx.Shape {
		if int64(i) == vectorDim {
			w.vecLen, w.vecStep = int(n), st[i]
			continue
		}
		pos[int64(i)] = len(w.Batch)
		w.Batch = append(w.Batch, int(n))
		w.strides = append(w.strides, st[i])
	}
	FailIf(len(w.Batch) != len(otherStrides), "has %d batch dimensions of indices for %d", len(w.Batch), len(otherStrides))
	w.other = otherStrides
	FailIf(w.vecLen != len(toDim), "has index vectors of %d components for %d dimensions", w.vecLen, len(toDim))
	FailIf(len(operandBatching) != len(indexBatching), "has different numbers of batching dimensions")
	for i, d := range operandBatching {
		p, ok := pos[indexBatching[i]]
		FailIf(!ok, "has a batching dimension that the indices lack")
		if w.Batch[p] > 1 { // else the position is always 0
			w.batching = append(w.batching, int(d), p)
		}
	}
	w.dense = len(w.batching) == 0
	n := 1
	for i := len(w.Batch) - 1; i >= 0; i-- {
		switch {
		case w.Batch[i] == 1:
			continue
		case n == 1:
			w.step, w.pace = w.strides[i], w.other[i]
		case w.strides[i] != w.step*n || w.other[i] != w.pace*n:
			w.dense = false
		}
		n *= w.Batch[i]
	}
	return w
}

// span calls f for each of the index vectors [lo, hi). It passes the vector's position in the batch dimensions (which f
// must not change), the offset of its first component in the index tensor, and the offset in the other tensor.
func (w *indexWalk) span(lo, hi int, f func(at []int, io, oo int)) {
	if lo >= hi {
		return
	}
	at := make([]int, len(w.Batch))
	io, oo, rest := 0, 0, lo
	for i := len(at) - 1; i >= 0; i-- {
		at[i] = rest % w.Batch[i]
		rest /= w.Batch[i]
		io += at[i] * w.strides[i]
		oo += at[i] * w.other[i]
	}
	for range hi - lo {
		f(at, io, oo)
		for i := len(at) - 1; i >= 0; i-- {
			io += w.strides[i]
			oo += w.other[i]
			if at[i]++; at[i] < w.Batch[i] {
				break
			}
			io -= at[i] * w.strides[i]
			oo -= at[i] * w.other[i]
			at[i] = 0
		}
	}
}

// GatherDimensions are the dimension numbers of a gather (spec, "gather").
type GatherDimensions struct {
	OffsetDims, CollapsedSliceDims, OperandBatchingDims, StartIndicesBatchingDims, StartIndexMap []int64
	IndexVectorDim                                                                               int64
}

func GatherKernel(s *Signature, d *GatherDimensions, sizes []int64) Kernel {
	in, idx, out := s.In[0], s.In[1], s.Out[0]
	rank := len(in.Shape)
	FailIf(len(sizes) != rank || !IsIndex(idx.DType), "has slice sizes or indices that do not fit the operand")
	for i, n := range sizes {
		FailIf(n < 0 || n > in.Shape[i], "gathers %d elements of dimension %d of size %d", n, i, in.Shape[i])
	}
	dropped := slices.Concat(d.CollapsedSliceDims, d.OperandBatchingDims)
	for _, check := range [][]int64{dropped, d.StartIndexMap} {
		CheckDims("gathered", check, rank)
	}
	CheckDims("offset", d.OffsetDims, len(out.Shape))
	window := KeptDims(rank, dropped)
	FailIf(len(window) != len(d.OffsetDims), "has as many offset dimensions as the slice has not")
	ost, ist := Strides(out.Shape), Strides(in.Shape)
	var dims, dst, src []int
	for i, w := range window {
		dims = append(dims, int(sizes[w]))
		dst = append(dst, ost[d.OffsetDims[i]])
		src = append(src, ist[w])
		FailIf(out.Shape[d.OffsetDims[i]] != sizes[w], "gathers slices of %d elements into a dimension of %d", sizes[w], out.Shape[d.OffsetDims[i]])
	}
	var other []int
	for _, b := range KeptDims(len(out.Shape), d.OffsetDims) {
		other = append(other, ost[b])
	}
	walk := newIndexWalk(idx, d.IndexVectorDim, d.StartIndexMap, d.OperandBatchingDims, d.StartIndicesBatchingDims, other)
	FailIf(Product(walk.Batch)*Product(dims) != out.N, "cannot gather %s", out)
	limit := make([]int64, rank)
	for i := range limit {
		limit[i] = in.Shape[i] - sizes[i]
	}
	c := NewStridedCopy(dims, dst, src)
	size := in.DType.Size()
	return Kernel{Family: "gather", Run: func(in, out []*tensor.Tensor) {
		if c.n == 0 {
			return
		}
		x, o, idx := in[0].Bytes(), out[0].Bytes(), in[1]
		if gather := elementGather(size); walk.dense && walk.step == 1 && walk.pace == 1 && c.n == 1 && len(walk.toDim) == 1 && gather != nil {
			d := walk.toDim[0]
			Parallel(Product(walk.Batch), GatherGrain/8, func(lo, hi int) { gather(out[0], in[0], idx, lo, hi, limit[d], ist[d]) })
			return
		}
		contiguous := c.identity()
		Parallel(Product(walk.Batch), max(1, GatherGrain/(c.n+8)), func(lo, hi int) {
			var from, to [startBlock]int
			for ; lo < hi; lo += startBlock {
				n := min(startBlock, hi-lo)
				walk.starts(from[:n], to[:n], idx, lo, limit, ist, true)
				for i, at := range from[:n] {
					if contiguous {
						copy(o[to[i]*size:(to[i]+c.n)*size], x[at*size:])
					} else {
						c.Run(size, out[0], in[0], to[i], at)
					}
				}
			}
		})
	}}
}

// elementGather returns a function that sets each element i of out in [lo, hi) to an element of in. The position in in
// is index i, clamped to [0, limit], times stride. It returns nil unless elements have 2, 4 or 8 bytes.
func elementGather(size int) func(out, in, idx *tensor.Tensor, lo, hi int, limit int64, stride int) {
	switch size {
	case 2:
		return gatherElements[uint16]
	case 4:
		return gatherElements[uint32]
	case 8:
		return gatherElements[uint64]
	}
	return nil
}

func gatherElements[T tensor.Element](out, in, idx *tensor.Tensor, lo, hi int, limit int64, stride int) {
	o, x := tensor.View[T](out)[lo:hi], tensor.View[T](in)
	switch idx.DType() {
	case tensor.I32:
		vec.GatherElements(o, x, tensor.View[int32](idx)[lo:], int(limit), stride)
	case tensor.I64:
		gatherIndexed(o, x, tensor.View[int64](idx)[lo:], limit, stride)
	default:
		for i := range o {
			o[i] = x[int(max(0, min(IntAt(idx, lo+i), limit)))*stride]
		}
	}
}

func gatherIndexed[T tensor.Element](o, x []T, at []int64, limit int64, stride int) {
	for i, v := range at[:len(o)] {
		o[i] = x[int(max(0, min(v, limit)))*stride]
	}
}

// GatherGrain is the minimum number of elements that each part of a parallel gather or scatter moves.
const GatherGrain = 1 << 15

// startBlock is the number of index vectors that are read together if they are evenly spaced.
const startBlock = 256

// outside marks an index vector whose window sticks out of the operand.
const outside = -1 << 62

// starts stores the window offsets of index vectors lo, lo+1, ... in from, and their offsets in the other tensor in to.
// If clamped, it clamps components to [0, limit of their dimension]. Otherwise a component outside this range makes the
// offset outside.
func (w *indexWalk) starts(from, to []int, idx *tensor.Tensor, lo int, limit []int64, strides []int, clamped bool) {
	clear(from)
	if !w.dense {
		i := 0
		w.span(lo, lo+len(from), func(at []int, io, oo int) {
			one := from[i : i+1]
			for k, d := range w.toDim {
				addStarts(one, []int64{IntAt(idx, io+k*w.vecStep)}, 0, limit[d], strides[d], clamped)
			}
			for k := 0; k < len(w.batching); k += 2 {
				d := w.batching[k]
				addStarts(one, []int64{int64(at[w.batching[k+1]])}, 0, limit[d], strides[d], clamped)
			}
			to[i] = oo
			i++
		})
		return
	}
	for i := range to {
		to[i] = (lo + i) * w.pace
	}
	for k, d := range w.toDim {
		first := lo*w.step + k*w.vecStep
		switch idx.DType() {
		case tensor.I32:
			addStarts(from, tensor.View[int32](idx)[first:], w.step, limit[d], strides[d], clamped)
		case tensor.I64:
			addStarts(from, tensor.View[int64](idx)[first:], w.step, limit[d], strides[d], clamped)
		case tensor.UI32:
			addStarts(from, tensor.View[uint32](idx)[first:], w.step, limit[d], strides[d], clamped)
		default:
			for i := range from {
				addStarts(from[i:i+1], []int64{IntAt(idx, first+i*w.step)}, 0, limit[d], strides[d], clamped)
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
