package ops

import (
	"bytes"
	"fmt"
	"slices"

	"github.com/hlocb/hlocb/interp/internal/exec"
	"github.com/hlocb/hlocb/interp/internal/kernel"
	"github.com/hlocb/hlocb/interp/internal/plan"
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
func windowOf(s *plan.Spec, shape tensor.Shape) *window {
	a := plan.Attrs[struct {
		Dims     []int64 `attr:"window_dimensions,1"`
		Strides  []int64 `attr:"window_strides,1"`
		Dilation []int64 `attr:"window_dilations,1"`
		Base     []int64 `attr:"base_dilations,1"`
		Padding  []int64 `attr:"padding"`
	}](s.Op, len(shape))
	rank, base := len(shape), a.Base
	w := &window{dims: a.Dims, strides: a.Strides, dilation: a.Dilation}
	pad := kernel.Paddings(a.Padding, rank)
	for i := range rank {
		kernel.FailIf(w.dims[i] < 1 || w.strides[i] < 1 || w.dilation[i] < 1 || base[i] < 1, "has a window with a size, stride or dilation below 1")
		w.low = append(w.low, pad[2*i])
		w.high = append(w.high, pad[2*i+1])
		w.interior = append(w.interior, base[i]-1)
	}
	w.padded = kernel.PadShape(shape, w.low, w.high, w.interior)
	if n := w.padded.NumElements(); n > kernel.MaxElements || n < 0 && !slices.ContainsFunc(w.padded, func(d int64) bool { return d < 0 }) {
		kernel.Fail(fmt.Errorf("pads its operand to impossible shape %v", w.padded))
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
	return w
}

// positions returns the number of elements in a window.
func (w *window) positions() int { return int(tensor.Shape(w.dims).NumElements()) }

// walk calls f, in row-major order, with the offset in the padded operand of every element of the window.
func (w *window) walk(f func(off int)) {
	st := kernel.Strides(w.padded)
	at := make([]int64, len(w.dims))
	for range w.positions() {
		off := 0
		for i, v := range at {
			off += int(v*w.dilation[i]) * st[i]
		}
		f(off)
		kernel.Advance(at, w.dims)
	}
}

// slice returns the copy that extracts the element at one window position from all windows.
func (w *window) slice() *kernel.StridedCopy {
	src := kernel.Strides(w.padded)
	for i := range src {
		src[i] *= int(w.strides[i])
	}
	return kernel.NewStridedCopy(kernel.Ints(w.out), kernel.Strides(w.out), src)
}

// pad returns the kernel that pads the operand, or nil if no padding is needed.
func (w *window) pad(t kernel.Type) *kernel.Kernel {
	if w.padded.Equal(t.Shape) {
		plain := true
		for i := range w.low {
			plain = plain && w.low[i] == 0 && w.high[i] == 0 && w.interior[i] == 0
		}
		if plain {
			return nil
		}
	}
	if w.padded.NumElements() == 0 { // negative padding may remove more elements than there are
		return &kernel.Kernel{Run: func(_, _ []*tensor.Tensor) {}}
	}
	k := kernel.PadKernel(t, kernel.TensorType(t.DType, w.padded...), kernel.TensorType(t.DType), w.low, w.high, w.interior)
	return &k
}

// planReduceWindow compiles reduce_window (spec, "reduce_window"). All windows advance together: the first element of
// every window, then the second, and so on. Like XLA, it leaves padding out of the windows. This matters if the initial
// value is not an identity: JAX's cumlogsumexp of complex numbers starts with -inf, whose sum with itself is NaN.
func planReduceWindow(p *plan.Planner, s *plan.Spec) exec.Runner {
	k := len(s.Out)
	kernel.FailIf(k == 0 || len(s.In) != 2*k, "expects as many initial values as inputs and results, and one region")
	kernel.UnsupportedIf(!static(s.In, s.Out), "a windowed reduction of dynamic shape")
	w := windowOf(s, s.In[0].Shape)
	pads := make([]*kernel.Kernel, k)
	for i := range k {
		kernel.FailIf(!s.In[i].Shape.Equal(s.In[0].Shape) || !s.Out[i].Shape.Equal(w.out) || s.In[k+i].N != 1 || s.In[k+i].DType != s.In[i].DType,
			"cannot reduce %s to %s with this window", s.In[i], s.Out[i])
		pads[i] = w.pad(s.In[i])
	}
	flags := kernel.TensorType(tensor.I1, s.In[0].Shape...)
	padFlags := w.pad(flags)
	n := s.Out[0].N
	slice := w.slice()
	region := p.Lift(s.Op, 0, n, 2*k, k)
	var single *plan.LiftedRegion // tells whether the initial value is an identity
	if padFlags != nil {
		single = p.Lift(s.Op, 0, 1, 2*k, k)
	}
	for i := range k {
		kernel.UnsupportedIf(region.Types[i].DType != s.In[i].DType || region.Types[k+i].DType != s.In[i].DType || s.Out[i].DType != s.In[i].DType,
			"a windowed reduction that changes the element type")
	}
	p.Describe("windows, element by element of all windows")
	flat := tensor.Shape{int64(n)}
	for i := range k {
		size := int64(s.In[i].DType.Size())
		p.Scratch(2 * int64(n) * size) // the elements at one position, and the values before
		if pads[i] != nil {
			p.Scratch(w.padded.NumElements() * size)
		}
	}
	if padFlags != nil {
		p.Scratch(int64(flags.N) + w.padded.NumElements() + int64(n))
	}
	return func(m *exec.Machine, fr *exec.Frame, ins *exec.Instr) {
		src := make([]*tensor.Tensor, k)
		acc := make([]*exec.Buf, k)
		for i := range k {
			src[i] = &fr.Slots[ins.In[i]].Tensor
			init := &fr.Slots[ins.In[k+i]].Tensor
			if pads[i] != nil {
				m.Charge(int64(w.padded.NumElements()) * int64(s.In[i].DType.Size()))
				t := tensor.New(s.In[i].DType, w.padded)
				defer m.Uncharge(int64(len(t.Bytes())))
				pads[i].Run([]*tensor.Tensor{src[i], init}, []*tensor.Tensor{t})
				src[i] = t
			}
			b := m.Alloc(s.Out[i].DType, flat, n)
			kernel.Fill(b.Tensor.Bytes(), init.Bytes())
			acc[i] = b
		}
		// inside says which padded elements are the operand's, and here, which of those at one position of the windows.
		// Both are nil if padding changes nothing.
		var inside, here *exec.Buf
		if padFlags != nil {
			one := make([]*exec.Buf, k)
			for i := range k {
				init := fr.Slots[ins.In[k+i]]
				fr.Slots[single.Args[i]], fr.Slots[single.Args[k+i]] = exec.Retain(init), exec.Retain(init)
			}
			m.RunBlock(fr, single.Block, one)
			for i, b := range one {
				if inside == nil && !bytes.Equal(b.Tensor.Bytes(), fr.Slots[ins.In[k+i]].Tensor.Bytes()) {
					all := m.Alloc(tensor.I1, flags.Shape, flags.N)
					kernel.Fill(all.Tensor.Bytes(), []byte{1})
					inside = m.Alloc(tensor.I1, w.padded, int(w.padded.NumElements()))
					padFlags.Run([]*tensor.Tensor{&all.Tensor, tensor.New(tensor.I1, nil)}, []*tensor.Tensor{&inside.Tensor})
					m.Release(all)
					here = m.Alloc(tensor.I1, flat, n)
				}
				m.Release(b)
			}
		}
		before := make([]*exec.Buf, k)
		w.walk(func(off int) {
			m.Poll()
			for i := range k {
				b := m.Alloc(s.In[i].DType, flat, n)
				slice.Run(s.In[i].DType.Size(), &b.Tensor, src[i], 0, off)
				if inside != nil {
					before[i] = m.Alloc(s.Out[i].DType, flat, n)
					copy(before[i].Tensor.Bytes(), acc[i].Tensor.Bytes())
				}
				fr.Slots[region.Args[i]], fr.Slots[region.Args[k+i]] = acc[i], b
			}
			m.RunBlock(fr, region.Block, acc)
			if inside == nil {
				return
			}
			slice.Run(1, &here.Tensor, &inside.Tensor, 0, off)
			for i, b := range acc {
				size := s.Out[i].DType.Size()
				for e, ok := range here.Tensor.Bytes() {
					if ok != 0 {
						copy(before[i].Tensor.Bytes()[e*size:(e+1)*size], b.Tensor.Bytes()[e*size:])
					}
				}
				m.Release(b)
				acc[i] = before[i]
			}
		})
		m.Release(inside)
		m.Release(here)
		for i, b := range acc {
			fr.Slots[ins.Out[i]] = m.Alias(b, s.Out[i].DType, s.Out[i].Shape)
		}
	}
}

// planMap compiles map (spec, "map") by lifting the region to the whole shape.
func planMap(p *plan.Planner, s *plan.Spec) exec.Runner {
	p.Describe("map")
	kernel.FailIf(len(s.In) == 0, "expects operands, one result and one region")
	for _, t := range append(s.In[:len(s.In):len(s.In)], s.Out...) {
		kernel.UnsupportedIf(t.Class != kernel.ClassTensor || t.Dynamic() || !t.Shape.Equal(s.In[0].Shape), "map of these shapes")
	}
	n := s.Out[0].N
	r := p.Lift(s.Op, 0, n, len(s.In), 1)
	return func(m *exec.Machine, fr *exec.Frame, ins *exec.Instr) {
		for i, a := range r.Args {
			fr.Slots[a] = m.Alias(m.Take(fr, ins, i), s.In[i].DType, tensor.Shape{int64(n)})
		}
		var out [1]*exec.Buf
		m.RunBlock(fr, r.Block, out[:])
		fr.Slots[ins.Out[0]] = m.Alias(out[0], s.Out[0].DType, s.Out[0].Shape)
	}
}
