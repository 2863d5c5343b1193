package kernel

import (
	"fmt"
	goruntime "runtime"
	"slices"

	"github.com/hlocb/hlocb/interp/internal/simd/vec"
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

	size  []int64 // of the padded and dilated input in each spatial dimension
	index [][]int // see prepare
	tap   [][]int // coordinates of each tap
}

// ConvDimensions are the dimension numbers of a convolution (spec, "convolution").
type ConvDimensions struct {
	InputBatch, InputFeature         int64
	InputSpatial                     []int64
	KernelInputFeature, KernelOutput int64
	KernelSpatial                    []int64
	OutputBatch, OutputFeature       int64
	OutputSpatial                    []int64
}

// ConvolutionWindow describes the movement of a convolution over its input.
type ConvolutionWindow struct {
	Dims                             *ConvDimensions
	Stride, LhsDil, RhsDil, Reversal []int64
	Groups, BatchGroups              int
}

func permuted(shape tensor.Shape, perm []int64) tensor.Shape {
	CheckDims("convolution", perm, len(shape))
	FailIf(len(perm) != len(shape), "has %d dimension numbers for rank %d", len(perm), len(shape))
	out := make(tensor.Shape, len(perm))
	for i, d := range perm {
		out[i] = shape[d]
	}
	return out
}

func newConvolution(s *Signature, w *ConvolutionWindow, pad []int64) *convolution {
	d := w.Dims
	c := &convolution{stride: w.Stride, lhsDil: w.LhsDil, rhsDil: w.RhsDil, groups: w.Groups, batchGroups: w.BatchGroups}
	n := len(d.InputSpatial)
	FailIf(len(d.KernelSpatial) != n || len(d.OutputSpatial) != n, "has different numbers of spatial dimensions")
	c.inPerm = append(append([]int64{d.InputBatch}, d.InputSpatial...), d.InputFeature)
	c.kPerm = append(append([]int64(nil), d.KernelSpatial...), d.KernelInputFeature, d.KernelOutput)
	order := append(append([]int64{d.OutputBatch}, d.OutputSpatial...), d.OutputFeature)
	c.in = permuted(s.In[0].Shape, c.inPerm)
	c.kern = permuted(s.In[1].Shape, c.kPerm)
	c.out = permuted(s.Out[0].Shape, order)
	c.outPerm = make([]int64, len(order))
	for i, o := range order {
		c.outPerm[o] = int64(i)
	}
	pad = Paddings(pad, n)
	FailIf(c.groups < 1 || c.batchGroups < 1 || c.groups > 1 && c.batchGroups > 1, "has impossible group counts")
	for i := range n {
		c.low = append(c.low, pad[2*i])
		c.reverse = append(c.reverse, w.Reversal[i] != 0)
		FailIf(c.stride[i] < 1 || c.lhsDil[i] < 1 || c.rhsDil[i] < 1, "has a stride or dilation below 1")
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
		c.size = append(c.size, size)
		FailIf(c.out[1+i] != want, "gives %d elements in spatial dimension %d, not %d", want, i, c.out[1+i])
	}
	feature, kin, kout := c.in[n+1], c.kern[n], c.kern[n+1]
	FailIf(feature != kin*int64(c.groups) || kout%int64(c.groups) != 0 || kout%int64(c.batchGroups) != 0 ||
		c.in[0]%int64(c.batchGroups) != 0 || c.out[0] != c.in[0]/int64(c.batchGroups) || c.out[n+1] != kout, "cannot convolve %s and %s to %s", s.In[0], s.In[1], s.Out[0])
	return c
}

// convBytes is the amount of input gathered at a time. It fits the second-level cache together with a block of the
// kernel.
const convBytes = 1 << 18

func ConvKernel(s *Signature, w *ConvolutionWindow, pad []int64) Kernel {
	c := newConvolution(s, w, pad)
	out := s.Out[0]
	acc := accumulator(out.DType)
	product := matrixProduct(acc)
	UnsupportedIf(product == nil, "a convolution of elements of type %s", out.DType)
	n := len(c.in)
	spatial := n - 2
	input := newOperand(Dense(s.In[0]), c.inPerm, acc)
	weights := newOperand(Dense(s.In[1]), c.kPerm, acc)
	result := newOperand(Dense(TensorType(acc, c.out...)), c.outPerm, out.DType)
	cin, kout := int(c.kern[spatial]), int(c.kern[spatial+1])
	taps := int(c.kern[:spatial].NumElements())
	positions := int(c.out[:n-1].NumElements()) // batch and spatial
	splits := c.groups * c.batchGroups
	width := kout / splits
	size := acc.Size()
	inner := taps * cin
	blocked := map[tensor.DType]func(s *Signature, c *convolution, acc tensor.DType) Kernel{
		tensor.F32: convRuns[float32], tensor.F64: convRuns[float64], tensor.I32: convRuns[int32]}[acc]
	if positions*width*inner < smallProduct {
		blocked = nil
		if acc.IsFloat() { // also for parts: the size of the whole decides how sums are rounded
			product = map[tensor.DType]productFn{tensor.F32: productOf[float32], tensor.F64: productOf[float64]}[acc]
		}
	}
	depthwise := map[tensor.DType]func(c *convolution, res, x, k *tensor.Tensor){
		tensor.F32: convDepthwise[float32], tensor.F64: convDepthwise[float64]}[acc]
	if blocked == nil || c.batchGroups > 1 || c.groups < 8 || cin != 1 || width != 1 || taps == 0 {
		depthwise = nil
	}
	if blocked != nil && depthwise == nil && c.padded() {
		return blocked(s, c, acc)
	}
	s.Reserve(c.tables())
	c.prepare()
	feature := int(c.in[n-1])
	// The input elements under the kernel at one position form a row of a matrix, which is multiplied by the kernel. A
	// core processes as many rows at a time as its cache holds.
	rows := max(1, min(positions, convBytes/max(1, inner*size)))
	scratch := int64(goruntime.GOMAXPROCS(0))*int64(rows)*int64(inner+width)*int64(size) + input.scratch() + weights.scratch()
	if !result.plain() {
		scratch += int64(result.in.Bytes()) + result.scratch()
	}
	return Kernel{Family: "convolution", Scratch: scratch, Run: func(in, outs []*tensor.Tensor) {
		x, k, res := input.load(in[0]), weights.load(in[1]), outs[0]
		if !result.plain() {
			res = tensor.New(acc, c.out)
			defer result.store(outs[0], res)
		}
		if depthwise != nil {
			depthwise(c, res, x, k)
			return
		}
		parts := (positions + rows - 1) / rows
		Parallel(splits*parts, max(1, (1<<18)/max(1, rows*inner*width)), func(lo, hi int) {
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
				a := &matrixOperand{rows: inner, cols: 1, nbatch: 1, nrows: rn, ncols: inner}
				b := &matrixOperand{rows: kout, cols: 1, nbatch: 1, nrows: inner, ncols: width}
				var kv, pv tensor.Tensor
				kb := k.Bytes()[g*width*size:]
				kv.Borrow(acc, tensor.Shape{int64(len(kb) / size)}, kb)
				pb := part.Bytes()[:rn*width*size]
				pv.Borrow(acc, tensor.Shape{int64(rn), int64(width)}, pb)
				product(&pv, cols, &kv, a, b)
				for r := range rn {
					copy(res.Bytes()[((r0+r)*kout+g*width)*size:], pb[r*width*size:(r+1)*width*size])
				}
			}
		})
	}}
}

// convDepthwise convolves each feature with a kernel of its own. All features of one position advance together, tap by
// tap, in the order of the matrix kernel.
func convDepthwise[T float32 | float64](c *convolution, res, x, k *tensor.Tensor) {
	l := vec.MulAdd32Loop
	if res.DType() == tensor.F64 {
		l = vec.MulAdd64Loop
	}
	add := vec.Ternary[T, T, T](l)
	o, in, weights := tensor.View[T](res), tensor.View[T](x), tensor.View[T](k)
	n, features := len(c.in)-2, int(c.in[len(c.in)-1])
	positions := len(o) / features
	Parallel(positions, max(1, 1<<14/(features*len(c.tap))), func(lo, hi int) {
		padding := make([]T, features)
		at := make([]int, n)
		for p := lo; p < hi; p++ {
			batch := p
			for i := n - 1; i >= 0; i-- {
				at[i] = batch % int(c.out[1+i])
				batch /= int(c.out[1+i])
			}
			acc := o[p*features : (p+1)*features]
			clear(acc)
			for t, tap := range c.tap {
				index := batch
				for i, k := range tap {
					v := c.index[i][at[i]*int(c.kern[i])+k]
					if v < 0 {
						index = -1
						break
					}
					index = index*int(c.in[1+i]) + v
				}
				row := padding
				if index >= 0 {
					row = in[index*features : (index+1)*features]
				}
				add(acc, row, weights[t*features:(t+1)*features], acc)
			}
		}
	})
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
		c.tap = append(c.tap, slices.Clone(tap))
		Advance(tap, c.kern[:n])
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
		if !Advance(pos, c.out[1:]) {
			batch++
		}
	}
}

// Paddings returns two numbers for each of n dimensions. pad has two numbers for each dimension, one for all, or none.
func Paddings(pad []int64, n int) []int64 {
	switch {
	case pad == nil:
		return make([]int64, 2*n)
	case len(pad) == 1 && n > 0:
		all := make([]int64, 2*n)
		for i := range all {
			all[i] = pad[0]
		}
		return all
	case len(pad) != 2*n:
		Fail(fmt.Errorf("has %d paddings for %d dimensions", len(pad), n))
	}
	return pad
}
