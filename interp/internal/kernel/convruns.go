package kernel

import (
	"sync"

	"github.com/hlocb/hlocb/interp/internal/simd/gemm"
	"github.com/hlocb/hlocb/tensor"
)

// padded reports whether the padded and dilated input is of a size like that of the input and the result, so that a
// convolution may store it.
func (c *convolution) padded() bool {
	limit := 4*(c.in.NumElements()+c.out.NumElements()) + 1<<16
	n := c.in[0] * c.in[len(c.in)-1]
	for _, size := range c.size {
		if n == 0 || size > limit/n {
			return n == 0
		}
		n *= size
	}
	return true
}

// convolutionRuns is a convolution as a product of matrices whose left one is not stored: the input elements under the
// kernel at one position are runs of the padded and dilated input, one for each row of the kernel or for each tap.
type convolutionRuns[T float32 | float64 | int32] struct {
	*convolution
	pad             *StridedCopy // from the input to the padded input; nil if they are the same
	padAt, from     int          // where the copy begins in the padded input and in the input
	elements        int          // of the padded input
	steps           []int        // distance of neighbouring positions in the padded input: batch, spatial...
	blocks          []gemm.RunBlock
	positions       int
	splits, width   int
	featureAt, next int // distance of the inputs of groups; distance of the inputs of batch groups
}

// convRuns makes the kernel of a convolution of at least smallProduct multiplications.
func convRuns[T float32 | float64 | int32](s *Signature, conv *convolution, acc tensor.DType) Kernel {
	c := &convolutionRuns[T]{convolution: conv, splits: conv.groups * conv.batchGroups}
	n := len(c.in) - 2
	cin, kout := int(c.kern[n]), int(c.kern[n+1])
	c.width, c.positions = kout/c.splits, int(c.out[:n+1].NumElements())
	c.plan(cin)
	perm := c.inPerm
	if c.pad != nil {
		perm = nil
	}
	out := s.Out[0]
	input := newOperand(Dense(s.In[0]), perm, acc)
	weights := newOperand(Dense(s.In[1]), c.kPerm, acc)
	result := newOperand(Dense(TensorType(acc, c.out...)), c.outPerm, out.DType)
	inner := int(c.kern[:n+1].NumElements())
	panels := (c.width + gemm.Columns[T]() - 1) / gemm.Columns[T]()
	group := inner * panels * gemm.Columns[T]() // elements of the packed kernel of a group
	scratch := input.scratch() + weights.scratch() + int64(c.splits*group*acc.Size())
	if c.pad != nil {
		scratch += int64(c.elements * acc.Size())
	}
	if !result.plain() {
		scratch += int64(result.in.Bytes()) + result.scratch()
	}
	var inputs, kernels sync.Pool // of tensors; the padding in the former stays zero
	return Kernel{Family: "convolution", Scratch: scratch, Run: func(in, outs []*tensor.Tensor) {
		x, k, res := input.load(in[0]), weights.load(in[1]), outs[0]
		if !result.plain() {
			res = tensor.New(acc, c.out)
			defer result.store(outs[0], res)
		}
		if c.pad != nil {
			p := pooled(&inputs, acc, c.elements)
			defer inputs.Put(p)
			c.pad.Run(acc.Size(), p, x, c.padAt, c.from)
			x = p
		}
		packed := pooled(&kernels, acc, c.splits*group)
		defer kernels.Put(packed)
		elements, right, left, product := tensor.View[T](x), tensor.View[T](packed), tensor.View[T](k), tensor.View[T](res)
		Parallel(c.splits*panels, max(1, copyGrain/(inner*gemm.Columns[T]())), func(lo, hi int) {
			for i := lo; i < hi; i++ {
				g, from := i/panels, i%panels*gemm.Columns[T]()
				gemm.PackRight(right[g*group:], left[g*c.width:], c.width, inner, kout, from, min(c.width, from+gemm.Columns[T]()))
			}
		})
		// part multiplies some positions by some columns of a group.
		part := func(g, lo, hi, from, to int) {
			c.each(g, lo, hi, func(at int, starts []int) {
				gemm.MultiplyRuns(gemm.Runs[T]{
					C: product[at*kout+g*c.width:], X: elements, Starts: starts, Blocks: c.blocks, B: right[g*group:], N: c.width, RowC: kout,
				}, from, to)
			})
		}
		const least = 1 << 18 // minimum number of multiplications of one core
		tiles := (c.positions + convTile - 1) / convTile
		if tiles*c.splits < 8*workers() && panels > 1 {
			Parallel(c.splits*panels, max(1, least/(c.positions*inner*gemm.Columns[T]())), func(lo, hi int) {
				for i := lo; i < hi; {
					g, j := i/panels, i%panels
					w := min(hi-i, panels-j)
					part(g, 0, c.positions, j*gemm.Columns[T](), min(c.width, (j+w)*gemm.Columns[T]()))
					i += w
				}
			})
			return
		}
		Parallel(c.splits*tiles, max(1, least/(convTile*inner*c.width)), func(lo, hi int) {
			for i := lo; i < hi; {
				g, t := i/tiles, i%tiles
				w := min(hi-i, tiles-t)
				part(g, t*convTile, min(c.positions, (t+w)*convTile), 0, c.width)
				i += w
			}
		})
	}}
}

// convTile is the number of positions that go to one core: whole tiles of all matrix kernels.
const convTile = 24

// pooled returns a tensor of n elements from a pool, or a new one of zeros.
func pooled(pool *sync.Pool, dt tensor.DType, n int) *tensor.Tensor {
	if t, ok := pool.Get().(*tensor.Tensor); ok {
		return t
	}
	return tensor.New(dt, tensor.Shape{int64(n)})
}

// plan sets the copy to the padded input and the runs. cin is the number of features of a group.
func (c *convolutionRuns[T]) plan(cin int) {
	n := len(c.size)
	strides := Strides(tensor.Shape(append(append([]int64{c.in[0]}, c.size...), c.in[n+1])))
	c.elements = int(c.in[0]) * strides[0]
	c.steps, c.next, c.featureAt = []int{strides[0]}, int(c.out[0])*strides[0], cin
	view := Transposed(Dense(TensorType(tensor.I8, unpermuted(c.in, c.inPerm)...)), c.inPerm)
	dims, dst := []int{int(c.in[0])}, []int{strides[0]}
	same := true
	for i := range n {
		low, dil := c.low[i], c.lhsDil[i]
		first := max(0, (-low+dil-1)/dil)
		last := min(c.in[1+i], (c.size[i]-low+dil-1)/dil) // the first one after them
		dims, dst = append(dims, int(max(0, last-first))), append(dst, strides[1+i]*int(dil))
		c.padAt += int(low+first*dil) * strides[1+i]
		c.from += int(first) * view.Strides[1+i]
		c.steps = append(c.steps, strides[1+i]*int(c.stride[i]))
		same = same && c.size[i] == c.in[1+i] && low == 0 && dil == 1
	}
	if !same {
		c.pad = NewStridedCopy(append(dims, int(c.in[n+1])), append(dst, 1), view.Strides)
	}
	var runs [][2]int
	tap := make([]int, n)
	for range c.kern[:n].NumElements() {
		at := 0
		for i, t := range tap {
			if c.reverse[i] {
				t = int(c.kern[i]) - 1 - t
			}
			at += t * int(c.rhsDil[i]) * strides[1+i]
		}
		if k := len(runs) - 1; k >= 0 && runs[k][0]+runs[k][1] == at {
			runs[k][1] += cin
		} else {
			runs = append(runs, [2]int{at, cin})
		}
		Advance(tap, c.kern[:n])
	}
	c.blocks = gemm.RunBlocks(runs)
}

// unpermuted returns the shape whose dimension perm[i] is dimension i of shape.
func unpermuted(shape tensor.Shape, perm []int64) tensor.Shape {
	out := make(tensor.Shape, len(shape))
	for i, d := range perm {
		out[d] = shape[i]
	}
	return out
}

// each calls f for blocks of the positions [lo, hi) of a group: for the first one, and the starts of their inputs.
func (c *convolutionRuns[T]) each(g, lo, hi int, f func(at int, starts []int)) {
	var starts [gemm.RowsBlock]int
	n := len(c.size)
	pos := make([]int, n+1)
	p := lo
	for i := n; i >= 0; i-- {
		pos[i] = p % int(c.out[i])
		p /= int(c.out[i])
	}
	base := g * c.featureAt
	if c.batchGroups > 1 {
		base = g * c.next
	}
	for lo < hi {
		rows := min(hi-lo, len(starts))
		for r := 0; r < rows; {
			at := base
			for i, o := range pos {
				at += o * c.steps[i]
			}
			w := min(rows-r, int(c.out[n])-pos[n]) // positions side by side
			for k := range w {
				starts[r+k] = at + k*c.steps[n]
			}
			r += w
			pos[n] += w - 1
			Advance(pos, c.out[:n+1])
		}
		f(lo, starts[:rows])
		lo += rows
	}
}
