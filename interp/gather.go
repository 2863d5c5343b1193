package interp

import (
	"encoding/binary"
	"errors"
	"fmt"

	"github.com/hlocb/hlocb/dialect/stablehlo"
	"github.com/hlocb/hlocb/ir"
	"github.com/hlocb/hlocb/tensor"
)

func gatherDims(op *ir.Op) (*gatherDimensions, error) {
	if a, _ := op.Attr(stablehlo.AttrDimensionNumbers).(*ir.DialectAttr); a != nil {
		if d, ok := a.Data().(*stablehlo.GatherDims); ok {
			return (*gatherDimensions)(d), nil
		}
	}
	return nil, errors.New("has no dimension_numbers")
}

// makeGather compiles gather (spec, "gather"). It copies one box per start index, clamped into the operand.
func makeGather(s *spec) (kernel, error) {
	if len(s.in) != 2 || len(s.out) != 1 || s.in[0].dt != s.out[0].dt {
		return kernel{}, errors.New("expects an operand, start indices and a result of the operand's element type")
	}
	sizes, err := intsAttr(s.op, stablehlo.AttrSliceSizes)
	if err != nil {
		return kernel{}, err
	}
	d, err := gatherDims(s.op)
	if err != nil {
		return kernel{}, err
	}
	return gatherKernel(&s.signature, d, sizes)
}

// makeDynamicGather compiles dynamic_gather (spec, "dynamic_gather"), whose slice sizes are an operand.
func makeDynamicGather(s *spec) (kernel, error) {
	if len(s.in) != 3 || len(s.out) != 1 {
		return kernel{}, errors.New("expects an operand, start indices and slice sizes")
	}
	d, err := gatherDims(s.op)
	if err != nil {
		return kernel{}, err
	}
	inner := &signature{s.name, s.in[:2], s.out, s.reserve}
	return kernel{run: func(in, out []*tensor.Tensor) error {
		sizes, err := in[2].Int64s()
		if err != nil {
			return err
		}
		k, err := gatherKernel(inner, d, sizes)
		if err != nil {
			return err
		}
		return k.run(in[:2], out)
	}}, nil
}

func dynamicGatherShape(s *spec, in []*tensor.Tensor) error {
	sizes, err := in[2].Int64s()
	if err != nil {
		return err
	}
	return gatherShape(s, sizes)
}

func staticGatherShape(s *spec, in []*tensor.Tensor) error {
	sizes, err := intsAttr(s.op, stablehlo.AttrSliceSizes)
	if err != nil {
		return err
	}
	return gatherShape(s, sizes)
}

func gatherShape(s *spec, sizes []int64) error {
	d, err := gatherDims(s.op)
	if err != nil {
		return err
	}
	if len(sizes) != len(s.in[0].shape) {
		return errors.New("has slice sizes that do not fit the operand")
	}
	var window, batch []int64
	for _, k := range keptDims(len(sizes), append(append([]int64(nil), d.CollapsedSliceDims...), d.OperandBatchingDims...)) {
		window = append(window, sizes[k])
	}
	for _, k := range keptDims(len(s.in[1].shape), []int64{d.IndexVectorDim}) {
		batch = append(batch, s.in[1].shape[k])
	}
	out := make(tensor.Shape, len(window)+len(batch))
	isOffset := map[int64]bool{}
	for _, o := range d.OffsetDims {
		isOffset[o] = true
	}
	for i := range out {
		if isOffset[int64(i)] && len(window) > 0 {
			out[i], window = window[0], window[1:]
		} else if len(batch) > 0 {
			out[i], batch = batch[0], batch[1:]
		}
	}
	s.out[0].shape = out
	return nil
}

// indexWalk visits every index vector of a start_indices or scatter_indices tensor.
type indexWalk struct {
	batch    []int // sizes of the batch dimensions
	strides  []int // their strides in the index tensor
	other    []int // their strides in the result or the updates
	vecLen   int
	vecStep  int
	toDim    []int // component -> operand dimension
	batching []int // pairs: operand dimension, position in batch
}

func newIndexWalk(idx vtype, vectorDim int64, toDim, operandBatching, indexBatching []int64, otherStrides []int) (*indexWalk, error) {
	st := strides(idx.shape)
	w := &indexWalk{vecLen: 1, toDim: ints(toDim)}
	pos := map[int64]int{}
	for i, n := range idx.shape {
		if int64(i) == vectorDim {
			w.vecLen, w.vecStep = int(n), st[i]
			continue
		}
		pos[int64(i)] = len(w.batch)
		w.batch = append(w.batch, int(n))
		w.strides = append(w.strides, st[i])
	}
	if len(w.batch) != len(otherStrides) {
		return nil, fmt.Errorf("has %d batch dimensions of indices for %d", len(w.batch), len(otherStrides))
	}
	w.other = otherStrides
	if w.vecLen != len(toDim) {
		return nil, fmt.Errorf("has index vectors of %d components for %d dimensions", w.vecLen, len(toDim))
	}
	if len(operandBatching) != len(indexBatching) {
		return nil, errors.New("has different numbers of batching dimensions")
	}
	for i, d := range operandBatching {
		p, ok := pos[indexBatching[i]]
		if !ok {
			return nil, errors.New("has a batching dimension that the indices lack")
		}
		w.batching = append(w.batching, int(d), p)
	}
	return w, nil
}

// span calls f for each of the index vectors [lo, hi). It passes the vector's position in the batch dimensions (which f
// must not change), the offset of its first component in the index tensor, and the offset in the other tensor.
func (w *indexWalk) span(lo, hi int, f func(at []int, io, oo int) error) error {
	if lo >= hi {
		return nil
	}
	at := make([]int, len(w.batch))
	io, oo, rest := 0, 0, lo
	for i := len(at) - 1; i >= 0; i-- {
		at[i] = rest % w.batch[i]
		rest /= w.batch[i]
		io += at[i] * w.strides[i]
		oo += at[i] * w.other[i]
	}
	for range hi - lo {
		if err := f(at, io, oo); err != nil {
			return err
		}
		for i := len(at) - 1; i >= 0; i-- {
			io += w.strides[i]
			oo += w.other[i]
			if at[i]++; at[i] < w.batch[i] {
				break
			}
			io -= at[i] * w.strides[i]
			oo -= at[i] * w.other[i]
			at[i] = 0
		}
	}
	return nil
}

// each calls f for every index vector, with the start coordinates (which f may change) and the offset in the other
// tensor.
func (w *indexWalk) each(idx *tensor.Tensor, rank int, f func(start []int64, other int) error) error {
	start := make([]int64, rank)
	return w.span(0, product(w.batch), func(at []int, io, oo int) error {
		clear(start)
		for k, d := range w.toDim {
			start[d] = intAt(idx, io+k*w.vecStep)
		}
		for i := 0; i < len(w.batching); i += 2 {
			start[w.batching[i]] = int64(at[w.batching[i+1]])
		}
		return f(start, oo)
	})
}

// gatherDimensions are the dimension numbers of a gather (spec, "gather").
type gatherDimensions struct {
	OffsetDims, CollapsedSliceDims, OperandBatchingDims, StartIndicesBatchingDims, StartIndexMap []int64
	IndexVectorDim                                                                               int64
}

func gatherKernel(s *signature, d *gatherDimensions, sizes []int64) (kernel, error) {
	in, idx, out := s.in[0], s.in[1], s.out[0]
	rank := len(in.shape)
	if len(sizes) != rank || !isIndex(idx.dt) {
		return kernel{}, errors.New("has slice sizes or indices that do not fit the operand")
	}
	for i, n := range sizes {
		if n < 0 || n > in.shape[i] {
			return kernel{}, fmt.Errorf("gathers %d elements of dimension %d of size %d", n, i, in.shape[i])
		}
	}
	dropped := append(append([]int64(nil), d.CollapsedSliceDims...), d.OperandBatchingDims...)
	for _, check := range [][]int64{dropped, d.StartIndexMap} {
		if err := checkDims("gathered", check, rank); err != nil {
			return kernel{}, err
		}
	}
	if err := checkDims("offset", d.OffsetDims, len(out.shape)); err != nil {
		return kernel{}, err
	}
	window := keptDims(rank, dropped)
	if len(window) != len(d.OffsetDims) {
		return kernel{}, errors.New("has as many offset dimensions as the slice has not")
	}
	ost, ist := strides(out.shape), strides(in.shape)
	var dims, dst, src []int
	for i, w := range window {
		dims = append(dims, int(sizes[w]))
		dst = append(dst, ost[d.OffsetDims[i]])
		src = append(src, ist[w])
		if out.shape[d.OffsetDims[i]] != sizes[w] {
			return kernel{}, fmt.Errorf("gathers slices of %d elements into a dimension of %d", sizes[w], out.shape[d.OffsetDims[i]])
		}
	}
	var other []int
	for _, b := range keptDims(len(out.shape), d.OffsetDims) {
		other = append(other, ost[b])
	}
	walk, err := newIndexWalk(idx, d.IndexVectorDim, d.StartIndexMap, d.OperandBatchingDims, d.StartIndicesBatchingDims, other)
	if err != nil {
		return kernel{}, err
	}
	if product(walk.batch)*product(dims) != out.n {
		return kernel{}, fmt.Errorf("cannot gather %s", out)
	}
	limit := make([]int64, rank)
	for i := range limit {
		limit[i] = in.shape[i] - sizes[i]
	}
	c := newStridedCopy(dims, dst, src)
	size := in.dt.Size()
	return kernel{run: func(in, out []*tensor.Tensor) error {
		if c.n == 0 {
			return nil
		}
		contiguous := c.identity()
		x, o, idx := in[0].Bytes(), out[0].Bytes(), in[1]
		if step, other, ok := walk.dense(); ok && contiguous {
			parallel(product(walk.batch), max(1, gatherGrain/(c.n+8)), func(lo, hi int) {
				var block [startBlock]int
				for ; lo < hi; lo += startBlock {
					from := block[:min(startBlock, hi-lo)]
					walk.starts(from, idx, lo, step, limit, ist, true)
					moveRows(o[lo*other*size:], x, from, other*size, c.n*size, size)
				}
			})
			return nil
		}
		parallel(product(walk.batch), max(1, gatherGrain/(c.n+8)), func(lo, hi int) {
			_ = walk.span(lo, hi, func(at []int, io, oo int) error {
				off := 0
				for k, d := range walk.toDim {
					off += int(max(0, min(intAt(idx, io+k*walk.vecStep), limit[d]))) * ist[d]
				}
				for i := 0; i < len(walk.batching); i += 2 {
					d := walk.batching[i]
					off += int(max(0, min(int64(at[walk.batching[i+1]]), limit[d]))) * ist[d]
				}
				if contiguous {
					copy(o[oo*size:(oo+c.n)*size], x[off*size:])
				} else {
					c.run(size, out[0], in[0], oo, off)
				}
				return nil
			})
		})
		return nil
	}}, nil
}

// moveRows copies, for every i, n bytes from element from[i] of x to byte step*i of o. Elements of x have size bytes.
func moveRows(o, x []byte, from []int, step, n, size int) {
	switch {
	case n == 4 && step == 4:
		o = o[:4*len(from)]
		for i, at := range from {
			binary.LittleEndian.PutUint32(o[4*i:], binary.LittleEndian.Uint32(x[at*size:]))
		}
	case n == 8 && step == 8:
		o = o[:8*len(from)]
		for i, at := range from {
			binary.LittleEndian.PutUint64(o[8*i:], binary.LittleEndian.Uint64(x[at*size:]))
		}
	default:
		for i, at := range from {
			copy(o[i*step:i*step+n], x[at*size:])
		}
	}
}

// gatherGrain is the minimum number of elements that each part of a parallel gather or scatter moves.
const gatherGrain = 1 << 15

// makeTorchIndexSelect compiles the old op torch_index_select, which selects slices of one dimension by index, per
// batch.
func makeTorchIndexSelect(s *spec) (kernel, error) {
	if len(s.in) != 2 || len(s.out) != 1 || s.in[0].dt != s.out[0].dt {
		return kernel{}, errors.New("expects an operand and indices")
	}
	dim, batch := int(intAttr(s.op, stablehlo.AttrDim, -1)), int(intAttr(s.op, stablehlo.AttrBatchDims, 0))
	in, idx, out := s.in[0], s.in[1], s.out[0]
	if dim < 0 || dim >= len(in.shape) || batch < 0 || batch > dim || batch > len(idx.shape) {
		return kernel{}, errors.New("has a dimension out of range")
	}
	// [batch][before][dim][inner] and [batch][index]
	nb := int(in.shape[:batch].NumElements())
	before := int(in.shape[batch:dim].NumElements())
	n := int(in.shape[dim])
	inner := int(in.shape[dim+1:].NumElements())
	nidx := int(idx.shape[batch:].NumElements())
	if nb*before*nidx*inner != out.n || n == 0 && out.n > 0 {
		return kernel{}, fmt.Errorf("cannot select %s", out)
	}
	size := in.dt.Size()
	return kernel{run: func(in, out []*tensor.Tensor) error {
		x, o := in[0].Bytes(), out[0].Bytes()
		step := inner * size
		for b := range nb {
			for p := range before {
				for i := range nidx {
					at := intAt(in[1], b*nidx+i)
					at = max(0, min(at, int64(n-1)))
					from := ((b*before+p)*n + int(at)) * step
					copy(o[((b*before+p)*nidx+i)*step:][:step], x[from:from+step])
				}
			}
		}
		return nil
	}}, nil
}
