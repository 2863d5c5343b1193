package interp

import (
	"errors"
	"fmt"
	"slices"

	"github.com/hlocb/hlocb/dialect/stablehlo"
	"github.com/hlocb/hlocb/tensor"
)

// window is the geometry of reduce_window and similar ops. The operand is first padded and dilated. Then element o of
// the result covers the padded elements o*stride + w*dilation for every w in the window.
type window struct {
	dims, strides, dilation []int64
	low, high, interior     []int64
	padded                  tensor.Shape
	out                     tensor.Shape
}

// windowOf reads the window of an op over an operand of the given shape.
func windowOf(s *spec, shape tensor.Shape) (*window, error) {
	var lists [4][]int64
	for i, name := range [...]string{"window_dimensions", "window_strides", "window_dilations", "base_dilations"} {
		var err error
		if lists[i], err = intsOr(s.op, name, len(shape), 1); err != nil {
			return nil, err
		}
	}
	pad, err := intsAttr(s.op, stablehlo.AttrPadding)
	if err != nil {
		return nil, err
	}
	return newWindow(shape, lists[0], lists[1], lists[2], lists[3], pad)
}

// paddings completes the padding of n dimensions: two numbers for each, one for all, or none.
func paddings(pad []int64, n int) ([]int64, error) {
	switch {
	case pad == nil:
		return make([]int64, 2*n), nil
	case len(pad) == 1 && n > 0:
		all := make([]int64, 2*n)
		for i := range all {
			all[i] = pad[0]
		}
		return all, nil
	case len(pad) != 2*n:
		return nil, fmt.Errorf("has %d paddings for %d dimensions", len(pad), n)
	}
	return pad, nil
}

func newWindow(shape tensor.Shape, dims, strides, dilation, base, pad []int64) (*window, error) {
	rank := len(shape)
	w := &window{dims: dims, strides: strides, dilation: dilation}
	pad, err := paddings(pad, rank)
	if err != nil {
		return nil, err
	}
	for i := range rank {
		if w.dims[i] < 1 || w.strides[i] < 1 || w.dilation[i] < 1 || base[i] < 1 {
			return nil, errors.New("has a window with a size, stride or dilation below 1")
		}
		w.low = append(w.low, pad[2*i])
		w.high = append(w.high, pad[2*i+1])
		w.interior = append(w.interior, base[i]-1)
	}
	w.padded = padShape(shape, w.low, w.high, w.interior)
	if n := w.padded.NumElements(); n > maxElements || n < 0 && !slices.ContainsFunc(w.padded, func(d int64) bool { return d < 0 }) {
		return nil, fmt.Errorf("pads its operand to impossible shape %v", w.padded)
	}
	for i := range rank {
		w.padded[i] = max(w.padded[i], 0)
		reach := (w.dims[i]-1)*w.dilation[i] + 1
		n := int64(0)
		if w.padded[i] >= reach {
			n = (w.padded[i]-reach)/w.strides[i] + 1
		}
		w.out = append(w.out, n)
	}
	return w, nil
}

// positions returns the number of elements in a window.
func (w *window) positions() int { return int(tensor.Shape(w.dims).NumElements()) }

// walk calls f, in row-major order, with the offset in the padded operand of every element of the window.
func (w *window) walk(f func(off int) error) error {
	st := strides(w.padded)
	at := make([]int64, len(w.dims))
	for range w.positions() {
		off := 0
		for i, v := range at {
			off += int(v*w.dilation[i]) * st[i]
		}
		if err := f(off); err != nil {
			return err
		}
		for i := len(at) - 1; i >= 0; i-- {
			if at[i]++; at[i] < w.dims[i] {
				break
			}
			at[i] = 0
		}
	}
	return nil
}

// slice returns the copy that extracts the element at one window position from all windows.
func (w *window) slice() *stridedCopy {
	src := strides(w.padded)
	for i := range src {
		src[i] *= int(w.strides[i])
	}
	return newStridedCopy(ints(w.out), strides(w.out), src)
}

// pad returns the kernel that pads the operand, or nil if no padding is needed.
func (w *window) pad(t vtype) (*kernel, error) {
	if w.padded.Equal(t.shape) {
		plain := true
		for i := range w.low {
			plain = plain && w.low[i] == 0 && w.high[i] == 0 && w.interior[i] == 0
		}
		if plain {
			return nil, nil
		}
	}
	if w.padded.NumElements() == 0 { // negative padding may remove more elements than there are
		return &kernel{run: func(_, _ []*tensor.Tensor) error { return nil }}, nil
	}
	k, err := padKernel(t, tensorType(t.dt, w.padded...), tensorType(t.dt), w.low, w.high, w.interior)
	return &k, err
}

// planReduceWindow compiles reduce_window (spec, "reduce_window"). All windows advance together: the first element of
// every window, then the second, and so on.
func planReduceWindow(p *planner, s *spec) (control, error) {
	k := len(s.out)
	if k == 0 || len(s.in) != 2*k || s.op.NumRegions() != 1 || len(s.op.Region(0).Blocks()) != 1 {
		return nil, errors.New("expects as many initial values as inputs and results, and one region")
	}
	for _, t := range append(s.in[:len(s.in):len(s.in)], s.out...) {
		if t.class != classTensor || t.dynamic() {
			return nil, unsupported("a windowed reduction of dynamic shape")
		}
	}
	w, err := windowOf(s, s.in[0].shape)
	if err != nil {
		return nil, err
	}
	pads := make([]*kernel, k)
	for i := range k {
		if !s.in[i].shape.Equal(s.in[0].shape) || !s.out[i].shape.Equal(w.out) || s.in[k+i].n != 1 || s.in[k+i].dt != s.in[i].dt {
			return nil, fmt.Errorf("cannot reduce %s to %s with this window", s.in[i], s.out[i])
		}
		if pads[i], err = w.pad(s.in[i]); err != nil {
			return nil, err
		}
	}
	n := s.out[0].n
	slice := w.slice()
	var combine elementLoop
	if k == 1 && s.in[0].dt == s.out[0].dt {
		if red := commonReducer(s.op.Region(0).Entry()); red != nil {
			combine = red.bind(s.in[0].dt)
		}
	}
	var region *liftedRegion
	var scalar foldFunc
	if combine == nil {
		if region, err = p.lift(s.op, 0, n); err != nil {
			return nil, err
		}
		if region == nil {
			if scalar, err = scalarFolder(p, s.op, 0, s.in[:k], w.positions(), n); err != nil {
				return nil, err
			}
		}
	}
	if region != nil {
		if len(region.args) != 2*k || len(region.ret) != k {
			return nil, fmt.Errorf("expects a region of %d arguments and %d results", 2*k, k)
		}
		for i := range k {
			if region.types[i].dt != s.in[i].dt || region.types[k+i].dt != s.in[i].dt || s.out[i].dt != s.in[i].dt {
				return nil, unsupported("a windowed reduction that changes the element type")
			}
		}
	}
	flat := tensor.Shape{int64(n)}
	return func(m *machine, fr *frame, ins *instr) error {
		src := make([]*tensor.Tensor, k)
		acc := make([]*buf, k)
		for i := range k {
			src[i] = &fr.slots[ins.in[i]].t
			init := &fr.slots[ins.in[k+i]].t
			if pads[i] != nil {
				if err := m.charge(int64(w.padded.NumElements()) * int64(s.in[i].dt.Size())); err != nil {
					return err
				}
				t := tensor.New(s.in[i].dt, w.padded)
				defer m.uncharge(int64(len(t.Bytes())))
				if err := pads[i].run([]*tensor.Tensor{src[i], init}, []*tensor.Tensor{t}); err != nil {
					return err
				}
				src[i] = t
			}
			b, err := m.alloc(s.out[i].dt, flat, n)
			if err != nil {
				return err
			}
			fill(b.t.Bytes(), init.Bytes())
			acc[i] = b
		}
		if scalar != nil {
			return w.foldScalars(m, fr, ins, s, scalar, src, acc, slice)
		}
		x := make([]*buf, k)
		err := w.walk(func(off int) error {
			if err := m.poll(); err != nil {
				return err
			}
			for i := range k {
				b, err := m.alloc(s.in[i].dt, flat, n)
				if err != nil {
					return err
				}
				slice.run(s.in[i].dt.Size(), &b.t, src[i], 0, off)
				x[i] = b
			}
			if combine != nil {
				out := []*tensor.Tensor{&acc[0].t}
				combine([]*tensor.Tensor{&acc[0].t, &x[0].t}, out, 0, n)
				m.release(x[0])
				return nil
			}
			for i := range k {
				fr.slots[region.args[i]] = acc[i]
				fr.slots[region.args[k+i]] = x[i]
			}
			return m.block(fr, region.block, acc)
		})
		if err != nil {
			return err
		}
		for i, b := range acc {
			fr.slots[ins.out[i]] = m.alias(b, s.out[i].dt, s.out[i].shape)
		}
		return nil
	}, nil
}

// foldScalars reduces all windows with a region that executes once per element. It first lays the elements of all
// windows side by side.
func (w *window) foldScalars(m *machine, fr *frame, ins *instr, s *spec, fold foldFunc, src []*tensor.Tensor, acc []*buf, slice *stridedCopy) error {
	n, positions := s.out[0].n, w.positions()
	inputs := make([]*tensor.Tensor, len(src))
	for i, x := range src {
		size := x.DType().Size()
		bytes := int64(positions) * int64(n) * int64(size)
		if err := m.charge(bytes); err != nil {
			return err
		}
		defer m.uncharge(bytes)
		inputs[i] = tensor.New(x.DType(), tensor.Shape{int64(positions), int64(n)})
		at := 0
		err := w.walk(func(off int) error {
			var line tensor.Tensor
			line.Borrow(x.DType(), tensor.Shape{int64(n)}, inputs[i].Bytes()[at*n*size:(at+1)*n*size])
			slice.run(size, &line, x, 0, off)
			at++
			return nil
		})
		if err != nil {
			return err
		}
	}
	if err := fold(m, fr, acc, inputs); err != nil {
		return err
	}
	for i, b := range acc {
		fr.slots[ins.out[i]] = m.alias(b, s.out[i].dt, s.out[i].shape)
	}
	return nil
}

// planSelectAndScatter compiles select_and_scatter (spec, "select_and_scatter"). In each window the selected element
// receives the window's source element.
func planSelectAndScatter(p *planner, s *spec) (control, error) {
	if len(s.in) != 3 || len(s.out) != 1 || s.op.NumRegions() != 2 {
		return nil, errors.New("expects an operand, a source, an initial value and two regions")
	}
	operand, source, out := s.in[0], s.in[1], s.out[0]
	if operand.dynamic() || source.dynamic() || out.dynamic() {
		return nil, unsupported("select_and_scatter of dynamic shape")
	}
	w, err := windowOf(s, operand.shape)
	if err != nil {
		return nil, err
	}
	if !w.out.Equal(source.shape) || !operand.shape.Equal(out.shape) || source.dt != out.dt || s.in[2].n != 1 || s.in[2].dt != out.dt {
		return nil, fmt.Errorf("cannot scatter %s to %s with this window", source, out)
	}
	n := source.n
	sel, err := p.lift(s.op, 0, n)
	if err != nil {
		return nil, err
	}
	var each *block // executes once per element if the region cannot be lifted
	if sel == nil {
		if each, err = p.region(s.op, 0); err != nil {
			return nil, err
		}
		sel = &liftedRegion{block: each}
	}
	if len(sel.args) != 2 || len(sel.ret) != 1 {
		return nil, errors.New("expects a selection of two arguments and one result")
	}
	scatter, err := p.region(s.op, 1)
	if err != nil {
		return nil, err
	}
	if len(scatter.args) != 2 || len(scatter.ret) != 1 {
		return nil, errors.New("expects a scatter region of two arguments and one result")
	}
	b := s.op.Region(1).Entry()
	var combine elementLoop
	if red := commonReducer(b); red != nil {
		combine = red.bind(out.dt)
	}
	// Carry each value's position in the unpadded operand along with the value. Padding has position -1.
	position := tensorType(tensor.I64, operand.shape...)
	padIndex, err := w.pad(position)
	if err != nil {
		return nil, err
	}
	// positions returns the padded positions. It computes them per run, since they may be too large to keep with the
	// plan.
	positions := func() (*tensor.Tensor, error) {
		index := tensor.New(tensor.I64, operand.shape)
		for i := range operand.n {
			tensor.View[int64](index)[i] = int64(i)
		}
		if padIndex == nil {
			return index, nil
		}
		t := tensor.New(tensor.I64, w.padded)
		minus := tensor.New(tensor.I64, nil)
		tensor.View[int64](minus)[0] = -1
		return t, padIndex.run([]*tensor.Tensor{index, minus}, []*tensor.Tensor{t})
	}
	scratch := int64(n)*int64(operand.dt.Size()+16) + int64(operand.n)*8
	if padIndex != nil {
		scratch += w.padded.NumElements() * int64(operand.dt.Size()+8)
	}
	padValue, err := w.pad(operand)
	if err != nil {
		return nil, err
	}
	slice := w.slice()
	size, wide := operand.dt.Size(), out.dt.Size()
	flat := tensor.Shape{int64(n)}
	return func(m *machine, fr *frame, ins *instr) error {
		values := &fr.slots[ins.in[0]].t
		if err := m.charge(scratch); err != nil {
			return err
		}
		defer m.uncharge(scratch)
		index, err := positions()
		if err != nil {
			return err
		}
		if padValue != nil {
			t := tensor.New(operand.dt, w.padded)
			zero := tensor.New(operand.dt, nil)
			if err := padValue.run([]*tensor.Tensor{values, zero}, []*tensor.Tensor{t}); err != nil {
				return err
			}
			values = t
		}
		// best is the selected element of each window so far; at is its position.
		best := tensor.New(operand.dt, flat)
		at := tensor.New(tensor.I64, flat)
		bestAt := tensor.View[int64](at)
		for i := range bestAt {
			bestAt[i] = -1
		}
		cand := tensor.New(tensor.I64, flat)
		candAt := tensor.View[int64](cand)
		err = w.walk(func(off int) error {
			if err := m.poll(); err != nil {
				return err
			}
			x, err := m.alloc(operand.dt, flat, n)
			if err != nil {
				return err
			}
			slice.run(size, &x.t, values, 0, off)
			slice.run(8, cand, index, 0, off)
			if each != nil {
				defer m.release(x)
				for i, c := range candAt {
					if c < 0 {
						continue
					}
					keep := false
					if bestAt[i] >= 0 {
						if keep, err = selects(m, fr, each, best, &x.t, i); err != nil {
							return err
						}
					}
					if !keep {
						copy(best.Bytes()[i*size:(i+1)*size], x.t.Bytes()[i*size:])
						bestAt[i] = c
					}
				}
				return nil
			}
			cur, err := m.alloc(operand.dt, flat, n)
			if err != nil {
				return err
			}
			copy(cur.t.Bytes(), best.Bytes())
			retain(x)
			fr.slots[sel.args[0]], fr.slots[sel.args[1]] = cur, x
			var keep [1]*buf
			if err := m.block(fr, sel.block, keep[:]); err != nil {
				return err
			}
			for i, k := range keep[0].t.Bytes() {
				// Padding is never selected. The first real element always is.
				if candAt[i] >= 0 && (bestAt[i] < 0 || k == 0) {
					copy(best.Bytes()[i*size:(i+1)*size], x.t.Bytes()[i*size:])
					bestAt[i] = candAt[i]
				}
			}
			m.release(keep[0])
			m.release(x)
			return nil
		})
		if err != nil {
			return err
		}
		res, err := m.alloc(out.dt, out.shape, out.n)
		if err != nil {
			return err
		}
		fill(res.t.Bytes(), fr.slots[ins.in[2]].t.Bytes())
		src := &fr.slots[ins.in[1]].t
		var x, y tensor.Tensor // views of one element
		two, one := []*tensor.Tensor{&x, &y}, []*tensor.Tensor{&x}
		for i, t := range bestAt {
			if t < 0 {
				continue
			}
			if combine != nil {
				x.Borrow(out.dt, nil, res.t.Bytes()[int(t)*wide:(int(t)+1)*wide])
				y.Borrow(out.dt, nil, src.Bytes()[i*wide:(i+1)*wide])
				combine(two, one, 0, 1)
				continue
			}
			if err := scalarArg(m, fr, scatter.args[0], &res.t, int(t)); err != nil {
				return err
			}
			if err := scalarArg(m, fr, scatter.args[1], src, i); err != nil {
				return err
			}
			var v [1]*buf
			if err := m.block(fr, scatter, v[:]); err != nil {
				return err
			}
			copy(res.t.Bytes()[int(t)*wide:(int(t)+1)*wide], v[0].t.Bytes())
			m.release(v[0])
		}
		fr.slots[ins.out[0]] = res
		return nil
	}, nil
}

// selects executes the select region on element i of two tensors.
func selects(m *machine, fr *frame, body *block, x, y *tensor.Tensor, i int) (bool, error) {
	if err := scalarArg(m, fr, body.args[0], x, i); err != nil {
		return false, err
	}
	if err := scalarArg(m, fr, body.args[1], y, i); err != nil {
		return false, err
	}
	var v [1]*buf
	if err := m.block(fr, body, v[:]); err != nil {
		return false, err
	}
	defer m.release(v[0])
	return v[0].t.Bytes()[0] != 0, nil
}

// planMap compiles map (spec, "map") by lifting the region to the whole shape.
func planMap(p *planner, s *spec) (control, error) {
	if len(s.in) == 0 || len(s.out) != 1 || s.op.NumRegions() != 1 {
		return nil, errors.New("expects operands, one result and one region")
	}
	for _, t := range append(s.in[:len(s.in):len(s.in)], s.out...) {
		if t.class != classTensor || t.dynamic() || !t.shape.Equal(s.in[0].shape) {
			return nil, unsupported("map of these shapes")
		}
	}
	n := s.out[0].n
	r, err := p.lift(s.op, 0, n)
	if err != nil {
		return nil, err
	}
	if r != nil {
		if len(r.args) != len(s.in) || len(r.ret) != 1 {
			return nil, errors.New("expects a region of as many arguments as operands")
		}
		return func(m *machine, fr *frame, ins *instr) error {
			for i, a := range r.args {
				fr.slots[a] = m.alias(m.take(fr, ins, i), s.in[i].dt, tensor.Shape{int64(n)})
			}
			var out [1]*buf
			if err := m.block(fr, r.block, out[:]); err != nil {
				return err
			}
			fr.slots[ins.out[0]] = m.alias(out[0], s.out[0].dt, s.out[0].shape)
			return nil
		}, nil
	}
	body, err := p.region(s.op, 0)
	if err != nil {
		return nil, err
	}
	if len(body.args) != len(s.in) || len(body.ret) != 1 {
		return nil, errors.New("expects a region of as many arguments as operands")
	}
	return func(m *machine, fr *frame, ins *instr) error {
		res, err := m.alloc(s.out[0].dt, s.out[0].shape, n)
		if err != nil {
			return err
		}
		size := s.out[0].dt.Size()
		for e := range n {
			if err := m.poll(); err != nil {
				return err
			}
			for i, a := range body.args {
				if err := scalarArg(m, fr, a, &fr.slots[ins.in[i]].t, e); err != nil {
					return err
				}
			}
			var out [1]*buf
			if err := m.block(fr, body, out[:]); err != nil {
				return err
			}
			copy(res.t.Bytes()[e*size:(e+1)*size], out[0].t.Bytes())
			m.release(out[0])
		}
		fr.slots[ins.out[0]] = res
		return nil
	}, nil
}
