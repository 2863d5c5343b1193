package kernel

import (
	"math"
	"slices"

	"github.com/hlocb/hlocb/interp/internal/simd/vec"
	"github.com/hlocb/hlocb/tensor"
)

// ScatterPlan is the geometry of a scatter: it maps update elements to operand elements.
type ScatterPlan struct {
	Walk    *indexWalk
	rank    int
	shape   tensor.Shape
	strides []int
	extent  []int64     // of the window, per operand dimension
	limit   []int64     // of a window's start, per operand dimension
	dims    []windowDim // of the window
	// Run is the length of the window's runs: elements that are adjacent both in the operand and in the updates. It is
	// 0 if the window is empty. runs holds the start of each run.
	Run  int
	runs []windowRun
}

// windowDim is a dimension of an update window.
type windowDim struct {
	operand, size  int // operand is a dimension of the operand
	target, update int // strides in operand and updates
}

// windowRun is the start of a run of elements in an update window, as offsets from the window's start.
type windowRun struct{ target, update int }

// ScatterDimensions are the dimension numbers of a scatter (spec, "scatter").
type ScatterDimensions struct {
	UpdateWindowDims, InsertedWindowDims, InputBatchingDims, ScatterIndicesBatchingDim, ScatterDimsToOperandDims []int64
	IndexVectorDim                                                                                               int64
}

func NewScatterPlan(s *Signature, d *ScatterDimensions, k int) *ScatterPlan {
	in, idx, upd := s.In[0], s.In[k], s.In[k+1]
	FailIf(!IsIndex(idx.DType), "has indices of type %s", idx)
	rank := len(in.Shape)
	dropped := slices.Concat(d.InsertedWindowDims, d.InputBatchingDims)
	for _, check := range [][]int64{dropped, d.ScatterDimsToOperandDims} {
		CheckDims("scattered", check, rank)
	}
	CheckDims("update window", d.UpdateWindowDims, len(upd.Shape))
	window := KeptDims(rank, dropped)
	FailIf(len(window) != len(d.UpdateWindowDims), "has update windows that do not fit the operand")
	ust := Strides(upd.Shape)
	var other []int
	for _, b := range KeptDims(len(upd.Shape), d.UpdateWindowDims) {
		other = append(other, ust[b])
	}
	walk := newIndexWalk(idx, d.IndexVectorDim, d.ScatterDimsToOperandDims, d.InputBatchingDims, d.ScatterIndicesBatchingDim, other)
	p := &ScatterPlan{Walk: walk, rank: rank, shape: in.Shape, strides: Strides(in.Shape), extent: make([]int64, rank)}
	for i := range p.extent {
		p.extent[i] = 1
	}
	total := 1
	for i, w := range window {
		n := upd.Shape[d.UpdateWindowDims[i]]
		FailIf(n > in.Shape[w], "has an update window of %d elements in dimension %d of size %d", n, w, in.Shape[w])
		p.extent[w] = n
		p.dims = append(p.dims, windowDim{int(w), int(n), p.strides[w], ust[d.UpdateWindowDims[i]]})
		total *= int(n)
	}
	for d, n := range p.extent {
		p.limit = append(p.limit, in.Shape[d]-n)
	}
	if total == 0 {
		return p
	}
	p.Run = 1
	outer := p.dims
	for len(outer) > 0 {
		last := outer[len(outer)-1]
		if last.size != 1 && (last.target != p.Run || last.update != p.Run) {
			break
		}
		p.Run *= last.size
		outer = outer[:len(outer)-1]
	}
	s.Reserve(16 * int64(total/p.Run))
	p.runs = make([]windowRun, 0, total/p.Run)
	walkWindow(outer, func(_ []int, target, update int) { p.runs = append(p.runs, windowRun{target, update}) })
	return p
}

// walkWindow calls f for every element of a window of the given dimensions, in order.
func walkWindow(dims []windowDim, f func(at []int, target, update int)) {
	at, target, update := make([]int, len(dims)), 0, 0
	for {
		f(at, target, update)
		i := len(dims) - 1
		for ; i >= 0; i-- {
			d := &dims[i]
			target, update = target+d.target, update+d.update
			if at[i]++; at[i] < d.size {
				break
			}
			target, update = target-d.size*d.target, update-d.size*d.update
			at[i] = 0
		}
		if i < 0 {
			return
		}
	}
}

// EachRun calls f, in order, for runs of update elements whose targets are inside the operand. It visits only the index
// vectors whose windows begin in [from, to) of the operand's elements.
func (p *ScatterPlan) EachRun(idx *tensor.Tensor, from, to int, f func(target, update, n int)) {
	count, runs, length := Product(p.Walk.Batch), p.runs, p.Run
	var starts, updates [startBlock]int
	for lo := 0; lo < count; lo += startBlock {
		n := min(startBlock, count-lo)
		p.Walk.starts(starts[:n], updates[:n], idx, lo, p.limit, p.strides, false)
		for i, off := range starts[:n] {
			switch {
			case off >= from && off < to && len(runs) == 1:
				f(off, updates[i], length)
			case off >= from && off < to:
				for _, r := range runs {
					f(off+r.target, updates[i]+r.update, length)
				}
			case off == outside && from == 0: // the part that begins at 0 handles windows that stick out
				p.partly(idx, lo+i, f)
			}
		}
	}
}

// eachRows is EachRun that calls rows with the places of many runs of p.Run elements: pairs of target and update. It
// calls one for windows that stick out. Sums of 10,000 rows of 64 f32 take 0.19 ms, 0.38
// with a call for each row.
func (p *ScatterPlan) eachRows(idx *tensor.Tensor, from, to int, rows func(places []int), one func(target, update, n int)) {
	count := Product(p.Walk.Batch)
	var starts, updates [startBlock]int
	places := make([]int, 0, 2*startBlock)
	for lo := 0; lo < count; lo += startBlock {
		n := min(startBlock, count-lo)
		p.Walk.starts(starts[:n], updates[:n], idx, lo, p.limit, p.strides, false)
		flush := func() {
			rows(places)
			places = places[:0]
		}
		for i, off := range starts[:n] {
			switch {
			case off >= from && off < to:
				for _, r := range p.runs {
					if len(places) == cap(places) {
						flush()
					}
					places = append(places, off+r.target, updates[i]+r.update)
				}
			case off == outside && from == 0: // the part that begins at 0 handles windows that stick out
				flush()
				p.partly(idx, lo+i, one)
			}
		}
		flush()
	}
}

// partly handles a window that sticks out: it calls f for the window's elements inside the operand.
func (p *ScatterPlan) partly(idx *tensor.Tensor, vector int, f func(target, update, n int)) {
	if p.Run == 0 {
		return
	}
	w := p.Walk
	w.span(vector, vector+1, func(at []int, io, uo int) {
		start, off := make([]int64, p.rank), 0
		for k, d := range w.toDim {
			start[d] = IntAt(idx, io+k*w.vecStep)
		}
		for i := 0; i < len(w.batching); i += 2 {
			start[w.batching[i]] = int64(at[w.batching[i+1]])
		}
		for d, v := range start {
			off += int(v) * p.strides[d]
		}
		walkWindow(p.dims, func(at []int, target, update int) {
			if p.contains(start, at) {
				f(off+target, uo+update, 1)
			}
		})
	})
}

// RowStep returns the number of elements of a window if windows are whole rows of the operand, else 0. Two such windows
// are identical or disjoint.
func (p *ScatterPlan) RowStep() int {
	if len(p.runs) != 1 {
		return 0
	}
	for _, d := range p.Walk.toDim {
		if p.extent[d] != 1 {
			return 0
		}
	}
	for d, n := range p.extent {
		if n != 1 && n != p.shape[d] {
			return 0
		}
	}
	return p.Run
}

// contains reports whether the element at coordinates at of the window that begins at start lies inside the operand.
func (p *ScatterPlan) contains(start []int64, at []int) bool {
	for i, v := range start {
		if v < 0 && p.extent[i] == 1 || v >= p.shape[i] {
			return false
		}
	}
	for i := range p.dims {
		d := &p.dims[i]
		if v := start[d.operand] + int64(at[i]); v < 0 || v >= p.shape[d.operand] {
			return false
		}
	}
	return true
}

// indexed returns the indices, their limit and their stride if each is one i32, and updates one element, in order;
// else nil.
func (p *ScatterPlan) indexed(idx *tensor.Tensor) (at []int32, limit int64, stride int) {
	w := p.Walk
	if p.Run != 1 || len(p.runs) != 1 || len(w.toDim) != 1 || !w.dense || w.step != 1 || w.pace != 1 || idx.DType() != tensor.I32 {
		return nil, 0, 0
	}
	return tensor.View[int32](idx)[:Product(w.Batch)], p.limit[w.toDim[0]], p.strides[w.toDim[0]]
}

// Adder returns the function that adds the updates u to the elements [from, to) of o, or nil if the type has none.
func (p *ScatterPlan) Adder(dt tensor.DType) func(o, u, idx *tensor.Tensor, from, to int) {
	switch dt {
	case tensor.F32:
		return adder(p, Add.f32)
	case tensor.F64:
		return adder(p, Add.f64)
	case tensor.I32:
		return adder(p, Add.i32)
	case tensor.I64:
		return adder(p, Add.i64)
	case tensor.BF16: // every sum is rounded
		sum, rows := vec.Binary[uint16, uint16](vec.AddBF16Loop), vec.Rows[uint16](vec.AddBF16Loop)
		return func(o, u, idx *tensor.Tensor, from, to int) {
			ob, ub := tensor.View[uint16](o), tensor.View[uint16](u)
			if at, limit, stride := p.indexed(idx); at != nil {
				for i, v := range at {
					if at := int(v) * stride; at >= from && at < to && int64(v) <= limit {
						ob[at] = addBF16(ob[at], ub[i])
					}
				}
				return
			}
			one := func(target, update, n int) {
				x, y := ob[target:target+n], ub[update:update+n]
				if n >= 8 {
					sum(x, x, y)
					return
				}
				for i, v := range y {
					x[i] = addBF16(x[i], v)
				}
			}
			if p.Run >= 16 {
				p.eachRows(idx, from, to, func(places []int) { rows(ob, ub, places, p.Run) }, one)
				return
			}
			p.EachRun(idx, from, to, one)
		}
	case tensor.F16:
		return func(o, u, idx *tensor.Tensor, from, to int) {
			x, y := make([]float32, p.Run), make([]float32, p.Run)
			p.EachRun(idx, from, to, func(target, update, n int) {
				decode32(dt, x[:n], o, target)
				decode32(dt, y[:n], u, update)
				Add.f32.run(x[:n], x[:n], y[:n])
				encode32(dt, o, target, x[:n])
			})
		}
	}
	return nil
}

func addBF16(x, y uint16) uint16 {
	s := math.Float32bits(tensor.BF16ToFloat32(x) + tensor.BF16ToFloat32(y))
	if s&^(1<<31) > 0x7f800000 { // NaN
		return uint16(s>>16)&0x8000 | 0x7fc0
	}
	return uint16((s + 0x7fff + s>>16&1) >> 16)
}

func adder[T float32 | float64 | int32 | int64](p *ScatterPlan, sum binaryLoop[T]) func(o, u, idx *tensor.Tensor, from, to int) {
	rows := vec.Rows[T](sum.vec)
	return func(ot, ut, idx *tensor.Tensor, from, to int) {
		o, u := tensor.View[T](ot), tensor.View[T](ut)
		if at, limit, stride := p.indexed(idx); at != nil {
			for i, v := range at {
				if at := int(v) * stride; at >= from && at < to && int64(v) <= limit {
					o[at] += u[i]
				}
			}
			return
		}
		one := func(target, update, n int) {
			x, y := o[target:target+n], u[update:update+n]
			if n >= 16 {
				sum.run(x, x, y)
				return
			}
			for i, v := range y {
				x[i] += v
			}
		}
		if p.Run >= 16 {
			p.eachRows(idx, from, to, func(places []int) { rows(o, u, places, p.Run) }, one)
			return
		}
		p.EachRun(idx, from, to, one)
	}
}
