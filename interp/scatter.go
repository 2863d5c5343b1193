package interp

import (
	"errors"
	"fmt"

	"github.com/hlocb/hlocb/dialect/stablehlo"
	"github.com/hlocb/hlocb/ir"
	"github.com/hlocb/hlocb/tensor"
)

// scatterPlan is the geometry of a scatter: it maps update elements to operand elements.
type scatterPlan struct {
	walk    *indexWalk
	rank    int
	shape   tensor.Shape
	strides []int
	extent  []int64     // of the window, per operand dimension
	limit   []int64     // of a window's start, per operand dimension
	dims    []windowDim // of the window
	// run is the length of the window's runs: elements that are adjacent both in the operand and in the updates. It is
	// 0 if the window is empty. runs holds the start of each run.
	run  int
	runs []windowRun
}

// windowDim is a dimension of an update window.
type windowDim struct {
	operand, size  int // operand is a dimension of the operand
	target, update int // strides in operand and updates
}

// windowRun is the start of a run of elements in an update window, as offsets from the window's start.
type windowRun struct{ target, update int }

func scatterPlanOf(s *spec, k int) (*scatterPlan, error) {
	a, _ := s.op.Attr(stablehlo.AttrScatterDimensionNumbers).(*ir.DialectAttr)
	if a == nil {
		return nil, errors.New("has no scatter_dimension_numbers")
	}
	d, ok := a.Data().(*stablehlo.ScatterDims)
	if !ok {
		return nil, errors.New("has no scatter_dimension_numbers")
	}
	return newScatterPlan(&s.signature, (*scatterDimensions)(d), k)
}

// scatterDimensions are the dimension numbers of a scatter (spec, "scatter").
type scatterDimensions struct {
	UpdateWindowDims, InsertedWindowDims, InputBatchingDims, ScatterIndicesBatchingDim, ScatterDimsToOperandDims []int64
	IndexVectorDim                                                                                               int64
}

func newScatterPlan(s *signature, d *scatterDimensions, k int) (*scatterPlan, error) {
	in, idx, upd := s.in[0], s.in[k], s.in[k+1]
	if !isIndex(idx.dt) {
		return nil, fmt.Errorf("has indices of type %s", idx)
	}
	rank := len(in.shape)
	dropped := append(append([]int64(nil), d.InsertedWindowDims...), d.InputBatchingDims...)
	for _, check := range [][]int64{dropped, d.ScatterDimsToOperandDims} {
		if err := checkDims("scattered", check, rank); err != nil {
			return nil, err
		}
	}
	if err := checkDims("update window", d.UpdateWindowDims, len(upd.shape)); err != nil {
		return nil, err
	}
	window := keptDims(rank, dropped)
	if len(window) != len(d.UpdateWindowDims) {
		return nil, errors.New("has update windows that do not fit the operand")
	}
	ust := strides(upd.shape)
	var other []int
	for _, b := range keptDims(len(upd.shape), d.UpdateWindowDims) {
		other = append(other, ust[b])
	}
	walk, err := newIndexWalk(idx, d.IndexVectorDim, d.ScatterDimsToOperandDims, d.InputBatchingDims, d.ScatterIndicesBatchingDim, other)
	if err != nil {
		return nil, err
	}
	p := &scatterPlan{walk: walk, rank: rank, shape: in.shape, strides: strides(in.shape), extent: make([]int64, rank)}
	for i := range p.extent {
		p.extent[i] = 1
	}
	total := 1
	for i, w := range window {
		n := upd.shape[d.UpdateWindowDims[i]]
		if n > in.shape[w] {
			return nil, fmt.Errorf("has an update window of %d elements in dimension %d of size %d", n, w, in.shape[w])
		}
		p.extent[w] = n
		p.dims = append(p.dims, windowDim{int(w), int(n), p.strides[w], ust[d.UpdateWindowDims[i]]})
		total *= int(n)
	}
	for d, n := range p.extent {
		p.limit = append(p.limit, in.shape[d]-n)
	}
	if total == 0 {
		return p, nil
	}
	p.run = 1
	outer := p.dims
	for len(outer) > 0 {
		last := outer[len(outer)-1]
		if last.size != 1 && (last.target != p.run || last.update != p.run) {
			break
		}
		p.run *= last.size
		outer = outer[:len(outer)-1]
	}
	if err := s.reserve(16 * int64(total/p.run)); err != nil {
		return nil, err
	}
	p.runs = make([]windowRun, 0, total/p.run)
	_ = walkWindow(outer, func(_ []int, target, update int) error {
		p.runs = append(p.runs, windowRun{target, update})
		return nil
	})
	return p, nil
}

// walkWindow calls f for every element of a window of the given dimensions, in order.
func walkWindow(dims []windowDim, f func(at []int, target, update int) error) error {
	at, target, update := make([]int, len(dims)), 0, 0
	for {
		if err := f(at, target, update); err != nil {
			return err
		}
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
			return nil
		}
	}
}

// eachRun calls f, in order, for runs of update elements whose targets are inside the operand. It visits only the index
// vectors whose windows begin in [from, to) of the operand's elements.
func (p *scatterPlan) eachRun(idx *tensor.Tensor, from, to int, f func(target, update, n int)) {
	w := p.walk
	count := product(w.batch)
	if step, other, ok := w.dense(); ok && len(p.runs) == 1 {
		var block [startBlock]int
		for lo := 0; lo < count; lo += startBlock {
			starts := block[:min(startBlock, count-lo)]
			w.starts(starts, idx, lo, step, p.limit, p.strides, false)
			for i, off := range starts {
				switch {
				case off >= from && off < to:
					f(off, (lo+i)*other, p.run)
				case off == outside && from == 0:
					p.partly(idx, nil, (lo+i)*step, (lo+i)*other, f)
				}
			}
		}
		return
	}
	_ = w.span(0, count, func(at []int, io, uo int) error {
		inside := true
		off := 0
		component := func(v int64, d int) {
			inside = inside && v >= 0 && v <= p.shape[d]-p.extent[d]
			off += int(v) * p.strides[d]
		}
		for k, d := range w.toDim {
			component(intAt(idx, io+k*w.vecStep), d)
		}
		for i := 0; i < len(w.batching); i += 2 {
			component(int64(at[w.batching[i+1]]), w.batching[i])
		}
		if !inside {
			if from > 0 {
				return nil // the part that begins at 0 handles windows that stick out
			}
			p.partly(idx, at, io, uo, f)
			return nil
		}
		if off < from || off >= to {
			return nil
		}
		for _, r := range p.runs {
			f(off+r.target, uo+r.update, p.run)
		}
		return nil
	})
}

// partly handles a window that sticks out: it calls f for the window's elements inside the operand. at is the position
// of the window's index vector in the batch.
func (p *scatterPlan) partly(idx *tensor.Tensor, at []int, io, uo int, f func(target, update, n int)) {
	if p.run == 0 {
		return
	}
	w := p.walk
	start, off := make([]int64, p.rank), 0
	for k, d := range w.toDim {
		start[d] = intAt(idx, io+k*w.vecStep)
	}
	for i := 0; i < len(w.batching); i += 2 {
		start[w.batching[i]] = int64(at[w.batching[i+1]])
	}
	for d, v := range start {
		off += int(v) * p.strides[d]
	}
	_ = walkWindow(p.dims, func(at []int, target, update int) error {
		if p.contains(start, at) {
			f(off+target, uo+update, 1)
		}
		return nil
	})
}

// rowStep returns the number of elements of a window if windows are whole rows of the operand, else 0. Two such windows
// are identical or disjoint.
func (p *scatterPlan) rowStep() int {
	if len(p.runs) != 1 {
		return 0
	}
	for _, d := range p.walk.toDim {
		if p.extent[d] != 1 {
			return 0
		}
	}
	for d, n := range p.extent {
		if n != 1 && n != p.shape[d] {
			return 0
		}
	}
	return p.run
}

// each calls f for every update element whose target is inside the operand, in order.
func (p *scatterPlan) each(idx *tensor.Tensor, f func(target, update int) error) error {
	return p.walk.each(idx, p.rank, func(start []int64, uo int) error {
		inside := true
		off := 0
		for i, v := range start {
			inside = inside && v >= 0 && v <= p.shape[i]-p.extent[i]
			off += int(v) * p.strides[i]
		}
		if p.run == 0 {
			return nil
		}
		return walkWindow(p.dims, func(at []int, target, update int) error {
			if !inside && !p.contains(start, at) {
				return nil
			}
			return f(off+target, uo+update)
		})
	})
}

// contains reports whether the element at coordinates at of the window that begins at start lies inside the operand.
func (p *scatterPlan) contains(start []int64, at []int) bool {
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

func scatterCounts(s *spec) (int, error) {
	k := len(s.out)
	if k == 0 || len(s.in) != 2*k+1 || s.op.NumRegions() != 1 || len(s.op.Region(0).Blocks()) != 1 {
		return 0, errors.New("expects inputs, indices, as many updates, and one region")
	}
	for i := range k {
		if s.in[i].dt != s.out[i].dt || !s.in[i].shape.Equal(s.out[i].shape) || !s.in[i].shape.Equal(s.in[0].shape) || !s.in[k+1+i].shape.Equal(s.in[k+1].shape) {
			return 0, errors.New("expects inputs, updates and results that fit each other")
		}
	}
	return k, nil
}

// planScatter compiles scatter (spec, "scatter"). Common update computations use a kernel (makeScatter). Any other
// region executes once per update.
func planScatter(p *planner, s *spec) (control, error) {
	k, err := scatterCounts(s)
	if err != nil {
		return nil, err
	}
	if k == 1 && s.in[0].dt == s.in[2].dt && scatterCombiner(s) != nil {
		return p.kernelControl(row{make: makeScatter}, s)
	}
	for _, t := range s.in {
		if t.dynamic() {
			return nil, unsupported("a general scatter of dynamic shape")
		}
	}
	plan, err := scatterPlanOf(s, k)
	if err != nil {
		return nil, err
	}
	body, err := p.region(s.op, 0)
	if err != nil {
		return nil, err
	}
	if len(body.args) != 2*k || len(body.ret) != k {
		return nil, fmt.Errorf("expects a region of %d arguments and %d results", 2*k, k)
	}
	return func(m *machine, fr *frame, ins *instr) error {
		out := make([]*buf, k)
		upd := make([]*tensor.Tensor, k)
		for i := range k {
			b, err := m.alloc(s.out[i].dt, s.out[i].shape, s.out[i].n)
			if err != nil {
				return err
			}
			copy(b.t.Bytes(), fr.slots[ins.in[i]].t.Bytes())
			out[i] = b
			upd[i] = &fr.slots[ins.in[k+1+i]].t
		}
		vals := make([]*buf, k)
		idx := &fr.slots[ins.in[k]].t
		err := plan.each(idx, func(target, update int) error {
			if err := m.poll(); err != nil {
				return err
			}
			for i := range k {
				if err := scalarArg(m, fr, body.args[i], &out[i].t, target); err != nil {
					return err
				}
				if err := scalarArg(m, fr, body.args[k+i], upd[i], update); err != nil {
					return err
				}
			}
			if err := m.block(fr, body, vals); err != nil {
				return err
			}
			for i, v := range vals {
				size := len(v.t.Bytes())
				copy(out[i].t.Bytes()[target*size:(target+1)*size], v.t.Bytes())
				m.release(v)
			}
			return nil
		})
		if err != nil {
			return err
		}
		for i, b := range out {
			fr.slots[ins.out[i]] = b
		}
		return nil
	}, nil
}

// scalarArg copies one element into the slot of a scalar argument.
func scalarArg(m *machine, fr *frame, slot int32, t *tensor.Tensor, at int) error {
	b, err := m.alloc(t.DType(), nil, 1)
	if err != nil {
		return err
	}
	size := len(b.t.Bytes())
	copy(b.t.Bytes(), t.Bytes()[at*size:(at+1)*size])
	fr.slots[slot] = b
	return nil
}

// scatterCombiner returns the loop of a common update computation: replacement, or one of the common reducers.
func scatterCombiner(s *spec) elementLoop {
	b := s.op.Region(0).Entry()
	if b.NumArgs() == 2 && b.First() == b.Last() && isReturn(b.First()) && b.First().NumOperands() == 1 && b.First().Operand(0) == b.Arg(1) {
		size := s.in[0].dt.Size()
		return func(in, out []*tensor.Tensor, lo, hi int) {
			copy(out[0].Bytes()[lo*size:hi*size], in[1].Bytes()[lo*size:hi*size])
		}
	}
	red := commonReducer(b)
	if red == nil {
		return nil
	}
	l := *red
	if red == opXor {
		l.b = xorLoop[uint8]
	}
	return l.bind(s.in[0].dt)
}

// makeScatter compiles scatters whose update computation is common.
func makeScatter(s *spec) (kernel, error) {
	walk, err := scatterPlanOf(s, 1)
	if err != nil {
		return kernel{}, err
	}
	combine := scatterCombiner(s)
	dt := s.in[0].dt
	size := dt.Size()
	b := s.op.Region(0).Entry()
	replace := b.First() == b.Last()
	add32 := dt == tensor.F32 && !replace && opKind(b.First()) == stablehlo.Add
	step, count := walk.rowStep(), product(walk.walk.batch)
	total := s.in[0].n
	return kernel{inplace: 1, run: func(in, out []*tensor.Tensor) error {
		copyUnlessSame(out[0], in[0])
		if walk.run == 0 {
			return nil
		}
		part := func(from, to int) {
			o, u := out[0].Bytes(), in[2].Bytes()
			switch {
			case replace:
				walk.eachRun(in[1], from, to, func(target, update, n int) {
					copy(o[target*size:(target+n)*size], u[update*size:])
				})
			case add32:
				of, uf := tensor.View[float32](out[0]), tensor.View[float32](in[2])
				walk.eachRun(in[1], from, to, func(target, update, n int) {
					x, y := of[target:target+n], uf[update:update+n]
					for i, v := range y {
						x[i] += v
					}
				})
			default:
				// Combine run by run, through views of a run.
				var x, y tensor.Tensor
				vin, vout := []*tensor.Tensor{&x, &y}, []*tensor.Tensor{&x}
				shape := tensor.Shape{0}
				walk.eachRun(in[1], from, to, func(target, update, n int) {
					shape[0] = int64(n)
					x.Borrow(dt, shape, o[target*size:(target+n)*size])
					y.Borrow(dt, shape, u[update*size:(update+n)*size])
					combine(vin, vout, 0, n)
				})
			}
		}
		if step == 0 || total < 2*step || count*step < 2*gatherGrain {
			part(0, total)
			return nil
		}
		// Every part of the operand applies its own updates, in order.
		parallel(total/step, max(1, min(total/step/2, gatherGrain/step)), func(lo, hi int) { part(lo*step, hi*step) })
		return nil
	}}, nil
}
