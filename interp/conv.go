package interp

import (
	"errors"
	"fmt"
	goruntime "runtime"

	"github.com/hlocb/hlocb/dialect/stablehlo"
	"github.com/hlocb/hlocb/interp/gemm"
	"github.com/hlocb/hlocb/ir"
	"github.com/hlocb/hlocb/tensor"
)

// convolution is the geometry of one convolution. Every tensor has a fixed order of dimensions: input
// [batch][spatial...][feature], kernel [spatial...][feature][output], result [batch][spatial...][output].
type convolution struct {
	in, kern, out          tensor.Shape
	stride, low, lhsDil    []int64
	rhsDil                 []int64
	reverse                []bool
	groups, batchGroups    int
	inPerm, kPerm, outPerm []int64 // from the op's order to the fixed order; outPerm from the fixed order to the op's

	index [][]int // see prepare
	tap   [][]int // coordinates of each tap
}

// makeConvolution compiles convolution (spec, "convolution").
func makeConvolution(s *spec) (kernel, error) {
	if len(s.in) != 2 || len(s.out) != 1 {
		return kernel{}, errors.New("expects two operands and one result")
	}
	pad, err := intsAttr(s.op, stablehlo.AttrPadding)
	if err != nil {
		return kernel{}, err
	}
	a, err := convAttributes(s)
	if err != nil {
		return kernel{}, err
	}
	return convKernel(&s.signature, a, pad)
}

// makeDynamicConv compiles dynamic_conv (spec, "dynamic_conv"), whose padding is an operand.
func makeDynamicConv(s *spec) (kernel, error) {
	if len(s.in) != 3 || len(s.out) != 1 {
		return kernel{}, errors.New("expects three operands and one result")
	}
	a, err := convAttributes(s)
	if err != nil {
		return kernel{}, err
	}
	inner := &signature{s.name, s.in[:2], s.out, s.reserve}
	scratch := int64(2 * 8 * s.out[0].n)
	for _, t := range inner.in {
		scratch += int64(t.n) * int64(t.dt.Size()+8)
	}
	return kernel{scratch: scratch, run: func(in, out []*tensor.Tensor) error {
		pad, err := in[2].Int64s()
		if err != nil {
			return err
		}
		k, err := convKernel(inner, a, pad)
		if err != nil {
			return err
		}
		return k.run(in[:2], out)
	}}, nil
}

// convAttributes reads the attributes of a convolution, except its padding.
func convAttributes(s *spec) (*convolutionWindow, error) {
	a, _ := s.op.Attr(stablehlo.AttrDimensionNumbers).(*ir.DialectAttr)
	if a == nil {
		return nil, errors.New("has no dimension_numbers")
	}
	d, ok := a.Data().(*stablehlo.ConvDims)
	if !ok {
		return nil, errors.New("has no dimension_numbers")
	}
	n := len(d.InputSpatial)
	w := &convolutionWindow{dims: (*convDimensions)(d), groups: int(intAttr(s.op, stablehlo.AttrFeatureGroupCount, 1)),
		batchGroups: int(intAttr(s.op, stablehlo.AttrBatchGroupCount, 1))}
	for _, x := range []struct {
		list *[]int64
		name string
		def  int64
	}{{&w.stride, stablehlo.AttrWindowStrides, 1}, {&w.lhsDil, "lhs_dilation", 1}, {&w.rhsDil, "rhs_dilation", 1}, {&w.reversal, "window_reversal", 0}} {
		var err error
		if *x.list, err = intsOr(s.op, x.name, n, x.def); err != nil {
			return nil, err
		}
	}
	return w, nil
}

// convDimensions are the dimension numbers of a convolution (spec, "convolution").
type convDimensions struct {
	InputBatch, InputFeature         int64
	InputSpatial                     []int64
	KernelInputFeature, KernelOutput int64
	KernelSpatial                    []int64
	OutputBatch, OutputFeature       int64
	OutputSpatial                    []int64
}

// convolutionWindow is how a convolution moves over its input.
type convolutionWindow struct {
	dims                             *convDimensions
	stride, lhsDil, rhsDil, reversal []int64
	groups, batchGroups              int
}

func permuted(shape tensor.Shape, perm []int64) (tensor.Shape, error) {
	if err := checkDims("convolution", perm, len(shape)); err != nil {
		return nil, err
	}
	if len(perm) != len(shape) {
		return nil, fmt.Errorf("has %d dimension numbers for rank %d", len(perm), len(shape))
	}
	out := make(tensor.Shape, len(perm))
	for i, d := range perm {
		out[i] = shape[d]
	}
	return out, nil
}

func newConvolution(s *signature, w *convolutionWindow, pad []int64) (*convolution, error) {
	d := w.dims
	var err error
	c := &convolution{stride: w.stride, lhsDil: w.lhsDil, rhsDil: w.rhsDil, groups: w.groups, batchGroups: w.batchGroups}
	n := len(d.InputSpatial)
	if len(d.KernelSpatial) != n || len(d.OutputSpatial) != n {
		return nil, errors.New("has different numbers of spatial dimensions")
	}
	c.inPerm = append(append([]int64{d.InputBatch}, d.InputSpatial...), d.InputFeature)
	c.kPerm = append(append([]int64(nil), d.KernelSpatial...), d.KernelInputFeature, d.KernelOutput)
	order := append(append([]int64{d.OutputBatch}, d.OutputSpatial...), d.OutputFeature)
	if c.in, err = permuted(s.in[0].shape, c.inPerm); err != nil {
		return nil, err
	}
	if c.kern, err = permuted(s.in[1].shape, c.kPerm); err != nil {
		return nil, err
	}
	if c.out, err = permuted(s.out[0].shape, order); err != nil {
		return nil, err
	}
	c.outPerm = make([]int64, len(order))
	for i, o := range order {
		c.outPerm[o] = int64(i)
	}
	if pad, err = paddings(pad, n); err != nil {
		return nil, err
	}
	if c.groups < 1 || c.batchGroups < 1 || c.groups > 1 && c.batchGroups > 1 {
		return nil, errors.New("has impossible group counts")
	}
	for i := range n {
		c.low = append(c.low, pad[2*i])
		c.reverse = append(c.reverse, w.reversal[i] != 0)
		if c.stride[i] < 1 || c.lhsDil[i] < 1 || c.rhsDil[i] < 1 {
			return nil, errors.New("has a stride or dilation below 1")
		}
		size := pad[2*i] + pad[2*i+1] + max(0, (c.in[1+i]-1)*c.lhsDil[i]+1)
		if c.in[1+i] == 0 {
			size = pad[2*i] + pad[2*i+1]
		}
		reach := (c.kern[i]-1)*c.rhsDil[i] + 1
		if c.kern[i] == 0 {
			reach = 0
		}
		want := int64(0)
		if size >= reach && size > 0 {
			want = (size-reach)/c.stride[i] + 1
		}
		if c.out[1+i] != want {
			return nil, fmt.Errorf("gives %d elements in spatial dimension %d, not %d", want, i, c.out[1+i])
		}
	}
	feature, kin, kout := c.in[n+1], c.kern[n], c.kern[n+1]
	if feature != kin*int64(c.groups) || kout%int64(c.groups) != 0 || kout%int64(c.batchGroups) != 0 ||
		c.in[0]%int64(c.batchGroups) != 0 || c.out[0] != c.in[0]/int64(c.batchGroups) || c.out[n+1] != kout {
		return nil, fmt.Errorf("cannot convolve %s and %s to %s", s.in[0], s.in[1], s.out[0])
	}
	return c, nil
}

// convBytes is the amount of input gathered at a time. It fits the second-level cache together with a block of the
// kernel.
const convBytes = 1 << 18

func convKernel(s *signature, w *convolutionWindow, pad []int64) (kernel, error) {
	c, err := newConvolution(s, w, pad)
	if err != nil {
		return kernel{}, err
	}
	out := s.out[0]
	acc := out.dt
	if acc.IsFloat() && acc != tensor.F64 {
		acc = tensor.F32
	}
	product := matrixProduct(acc)
	if product == nil {
		return kernel{}, unsupported("a convolution of elements of type %s", out.dt)
	}
	n := len(c.in)
	spatial := n - 2
	arrange := func(t vtype, shape tensor.Shape, perm []int64) (func(*tensor.Tensor) (*tensor.Tensor, error), error) {
		k, err := transposeKernel(t, tensorType(t.dt, shape...), perm)
		if err != nil {
			return nil, err
		}
		conv, err := convertLoop(t.dt, acc)
		if err != nil {
			return nil, err
		}
		return func(x *tensor.Tensor) (*tensor.Tensor, error) {
			y := tensor.New(t.dt, shape)
			if err := k.run([]*tensor.Tensor{x}, []*tensor.Tensor{y}); err != nil || t.dt == acc {
				return y, err
			}
			z := tensor.New(acc, shape)
			conv([]*tensor.Tensor{y}, []*tensor.Tensor{z}, 0, t.n)
			return z, nil
		}, nil
	}
	loadIn, err := arrange(s.in[0], c.in, c.inPerm)
	if err != nil {
		return kernel{}, err
	}
	loadKern, err := arrange(s.in[1], c.kern, c.kPerm)
	if err != nil {
		return kernel{}, err
	}
	store, err := transposeKernel(tensorType(acc, c.out...), tensorType(acc, out.shape...), c.outPerm)
	if err != nil {
		return kernel{}, err
	}
	narrow, err := convertLoop(acc, out.dt)
	if err != nil {
		return kernel{}, err
	}
	cin, kout := int(c.kern[spatial]), int(c.kern[spatial+1])
	taps := int(c.kern[:spatial].NumElements())
	positions := int(c.out[:n-1].NumElements()) // batch and spatial
	splits := c.groups * c.batchGroups
	width := kout / splits
	size := acc.Size()
	inner := taps * cin
	if err := s.reserve(c.tables()); err != nil {
		return kernel{}, err
	}
	c.prepare()
	inPlain, kernPlain, outPlain := isIdentity(c.inPerm) && s.in[0].dt == acc, isIdentity(c.kPerm) && s.in[1].dt == acc, isIdentity(c.outPerm) && acc == out.dt
	feature := int(c.in[n-1])
	// The input elements under the kernel at one position form a row of a matrix, which is multiplied by the kernel. A
	// core processes as many rows at a time as its cache holds.
	rows := max(1, min(positions, convBytes/max(1, inner*size)))
	scratch := int64(goruntime.GOMAXPROCS(0)) * int64(rows) * int64(inner+width) * int64(size)
	for _, side := range []struct {
		t     vtype
		plain bool
	}{{s.in[0], inPlain}, {s.in[1], kernPlain}} {
		if !side.plain {
			scratch += int64(side.t.bytes())
			if side.t.dt != acc {
				scratch += int64(side.t.n) * int64(size)
			}
		}
	}
	if !outPlain {
		scratch += int64(out.n) * int64(size)
		if acc != out.dt {
			scratch += int64(out.n) * int64(size)
		}
	}
	return kernel{scratch: scratch, run: func(in, outs []*tensor.Tensor) error {
		var err error
		x, k, res := in[0], in[1], outs[0]
		if !inPlain {
			if x, err = loadIn(in[0]); err != nil {
				return err
			}
		}
		if !kernPlain {
			if k, err = loadKern(in[1]); err != nil {
				return err
			}
		}
		if !outPlain {
			res = tensor.New(acc, c.out)
		}
		parts := (positions + rows - 1) / rows
		parallel(splits*parts, max(1, (1<<18)/max(1, rows*inner*width)), func(lo, hi int) {
			cols := tensor.New(acc, tensor.Shape{int64(rows), int64(inner)})
			part := tensor.New(acc, tensor.Shape{int64(rows), int64(width)})
			for task := lo; task < hi; task++ {
				g, r0 := task/parts, task%parts*rows
				rn := min(rows, positions-r0)
				featureAt, batchAt := 0, 0
				if c.groups > 1 {
					featureAt = g * cin
				} else {
					batchAt = g * int(c.out[0])
				}
				c.gather(cols.Bytes(), x.Bytes(), r0, rn, batchAt, feature*size, featureAt*size, cin*size)
				if inner == 0 {
					for r := range rn {
						clear(res.Bytes()[((r0+r)*kout+g*width)*size:][:width*size])
					}
					continue
				}
				if acc == tensor.F32 && positions*width*inner >= smallProduct {
					gemm.Float32(gemm.Problem{
						C: tensor.View[float32](res)[r0*kout+g*width:], A: tensor.View[float32](cols), B: tensor.View[float32](k)[g*width:],
						M: rn, N: width, K: inner, RowA: inner, ColA: 1, RowB: kout, ColB: 1, RowC: kout,
					})
					continue
				}
				a := &matrixOperand{rows: inner, cols: 1, nbatch: 1, nrows: rn, ncols: inner}
				b := &matrixOperand{rows: kout, cols: 1, nbatch: 1, nrows: inner, ncols: width}
				var kv, pv tensor.Tensor
				kb := k.Bytes()[g*width*size:]
				kv.Borrow(acc, tensor.Shape{int64(len(kb) / size)}, kb)
				pb := part.Bytes()[:rn*width*size]
				pv.Borrow(acc, tensor.Shape{int64(rn), int64(width)}, pb)
				if acc == tensor.F32 {
					productOf[float32](&pv, cols, &kv, a, b)
				} else {
					product(&pv, cols, &kv, a, b)
				}
				for r := range rn {
					copy(res.Bytes()[((r0+r)*kout+g*width)*size:], pb[r*width*size:(r+1)*width*size])
				}
			}
		})
		switch {
		case outPlain:
			return nil
		case acc == out.dt:
			return store.run([]*tensor.Tensor{res}, outs)
		}
		t := tensor.New(acc, out.shape)
		if err := store.run([]*tensor.Tensor{res}, []*tensor.Tensor{t}); err != nil {
			return err
		}
		narrow([]*tensor.Tensor{t}, outs, 0, out.n)
		return nil
	}}, nil
}

func isIdentity(perm []int64) bool {
	for i, p := range perm {
		if int64(i) != p {
			return false
		}
	}
	return true
}

// tables returns the bytes that prepare allocates.
func (c *convolution) tables() int64 {
	n := len(c.in) - 2
	bytes := tensor.Shape(c.kern[:n]).NumElements() * int64(24+8*n)
	for i := range n {
		bytes += c.out[1+i] * c.kern[i] * 8
	}
	return bytes
}

// prepare fills the index tables. In spatial dimension i, index[i][o*K+k] is the input element under tap k at position
// o, or -1 if the tap falls on padding or between dilated elements.
func (c *convolution) prepare() {
	n := len(c.in) - 2
	c.index = make([][]int, n)
	for i := range n {
		taps := c.kern[i]
		c.index[i] = make([]int, 0, c.out[1+i]*taps)
		for o := range c.out[1+i] {
			for k := range taps {
				w := k
				if c.reverse[i] {
					w = taps - 1 - k
				}
				v := o*c.stride[i] + w*c.rhsDil[i] - c.low[i]
				if v < 0 || v%c.lhsDil[i] != 0 || v/c.lhsDil[i] >= c.in[1+i] {
					c.index[i] = append(c.index[i], -1)
				} else {
					c.index[i] = append(c.index[i], int(v/c.lhsDil[i]))
				}
			}
		}
	}
	c.tap = nil
	tap := make([]int, n)
	for range tensor.Shape(c.kern[:n]).NumElements() {
		c.tap = append(c.tap, append([]int(nil), tap...))
		for i := n - 1; i >= 0; i-- {
			if tap[i]++; tap[i] < int(c.kern[i]) {
				break
			}
			tap[i] = 0
		}
	}
}

// gather copies the input of each tap side by side, for rn positions from r0 on; taps without input yield zeros. step
// is the number of bytes between input positions; gather copies width of these bytes, from offset at on.
func (c *convolution) gather(dst, src []byte, r0, rn, batchAt, step, at, width int) {
	n := len(c.in) - 2
	pos := make([]int, n)
	line := make([][]int, n) // entries of the index tables at the position
	p := r0
	for i := n - 1; i >= 0; i-- {
		pos[i] = p % int(c.out[1+i])
		p /= int(c.out[1+i])
	}
	batch := p + batchAt
	for range rn {
		for i, o := range pos {
			k := int(c.kern[i])
			line[i] = c.index[i][o*k : (o+1)*k]
		}
		for _, tap := range c.tap {
			index := batch
			for i, t := range tap {
				v := line[i][t]
				if v < 0 {
					index = -1
					break
				}
				index = index*int(c.in[1+i]) + v
			}
			if index < 0 {
				clear(dst[:width])
			} else {
				copy(dst[:width], src[index*step+at:])
			}
			dst = dst[width:]
		}
		i := n - 1
		for ; i >= 0; i-- {
			if pos[i]++; pos[i] < int(c.out[1+i]) {
				break
			}
			pos[i] = 0
		}
		if i < 0 {
			batch++
		}
	}
}
