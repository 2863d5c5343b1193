package ops

import (
	"errors"
	"fmt"
	"math"

	"github.com/hlocb/hlocb/dialect/stablehlo"
	"github.com/hlocb/hlocb/interp/internal/kernel"
	"github.com/hlocb/hlocb/interp/internal/plan"
	"github.com/hlocb/hlocb/interp/internal/simd/vec"
	"github.com/hlocb/hlocb/ir"
	"github.com/hlocb/hlocb/tensor"
)

// batchNorm is the geometry of the batch_norm ops: the operand viewed as [outer][features][inner]. The ops compute in
// float64 and round once.
type batchNorm struct {
	outer, features, inner int
	epsilon                float64
}

func newBatchNorm(s *plan.Spec, nin, nout int) (*batchNorm, error) {
	if len(s.In) != nin || len(s.Out) != nout || !s.In[0].DType.IsFloat() {
		return nil, fmt.Errorf("expects %d operands and %d results of floating-point type", nin, nout)
	}
	dim := int(plan.IntAttr(s.Op, stablehlo.AttrFeatureIndex, -1))
	shape := s.In[0].Shape
	if dim < 0 || dim >= len(shape) {
		return nil, fmt.Errorf("has feature dimension %d of rank %d", dim, len(shape))
	}
	b := &batchNorm{outer: int(shape[:dim].NumElements()), features: int(shape[dim]), inner: int(shape[dim+1:].NumElements())}
	eps, ok := s.Op.Attr(stablehlo.AttrEpsilon).(*ir.FloatAttr)
	if !ok {
		return nil, errors.New("has no epsilon")
	}
	b.epsilon = tensor.DecodeFloat(eps.Type().DType(), eps.Bits())
	for _, t := range append(s.In[1:len(s.In):len(s.In)], s.Out[1:]...) {
		if t.N != b.features && t.N != s.In[0].N || t.DType != s.In[0].DType {
			return nil, fmt.Errorf("has an operand or result of type %s for %d features", t, b.features)
		}
	}
	return b, nil
}

// scratch returns the size in bytes of count values per feature as float64s.
func (b *batchNorm) scratch(count int) int64 { return 8 * int64(count*b.features) }

// batchBlock is the number of elements that are computed at once.
const batchBlock = 1024

// batchWorker computes blocks of elements.
type batchWorker struct {
	*batchNorm
	block, values, other [batchBlock]float64
}

// term computes the elements from element i on.
type term func(w *batchWorker, o []float64, i int)

// with combines each element with its feature's value.
func (w *batchWorker) with(l *vec.Loop, o, values []float64, i int) {
	buf := w.values[:len(o)]
	for k := 0; k < len(buf); {
		c, n := (i+k)/w.inner%w.features, w.inner-(i+k)%w.inner
		if w.inner == 1 {
			k += copy(buf[k:], values[c:])
			continue
		}
		for end := min(k+n, len(buf)); k < end; k++ {
			buf[k] = values[c]
		}
	}
	combine(l, o, buf)
}

func combine(l *vec.Loop, o, x []float64) { vec.Binary[float64, float64](l)(o, o, x) }

// decode returns the elements of x.
func decode(x *tensor.Tensor) term {
	return func(_ *batchWorker, o []float64, i int) { kernel.Decode64(x.DType(), o, x, i) }
}

// centered returns the elements of x minus the mean.
func centered(x *tensor.Tensor, mean []float64) term {
	return func(w *batchWorker, o []float64, i int) {
		kernel.Decode64(x.DType(), o, x, i)
		w.with(vec.Sub64Loop, o, mean, i)
	}
}

// blocks calls f on the blocks of elements lo to hi. A block that reaches another feature's elements starts or ends
// with them: a feature's sum must not depend on lo, which depends on the number of cores.
func (w *batchWorker) blocks(lo, hi int, t term, f func(o []float64, i int)) {
	for i := lo; i < hi; {
		n := min(batchBlock, hi-i)
		if rest := (i + n) % w.inner; rest < n {
			n -= rest
		}
		o := w.block[:n]
		t(w, o, i)
		f(o, i)
		i += n
	}
}

// sums returns the sum of the elements for each feature.
func (b *batchNorm) sums(t term) []float64 {
	out := make([]float64, b.features)
	fold := vec.Fold[float64](vec.Add64Loop)
	kernel.Parallel(b.features, 1+1<<14/max(1, b.outer*b.inner), func(first, last int) {
		w := &batchWorker{batchNorm: b}
		for o := range b.outer {
			start := o * b.features * b.inner
			w.blocks(start+first*b.inner, start+last*b.inner, t, func(o []float64, i int) {
				c := i / b.inner % b.features
				if b.inner == 1 {
					combine(vec.Add64Loop, out[c:c+len(o)], o)
					return
				}
				for k := 0; k < len(o); c++ {
					n := min(b.inner-(i+k)%b.inner, len(o)-k)
					var sum [1]float64
					fold(sum[:], o[k:k+n])
					out[c] += sum[0]
					k += n
				}
			})
		}
	})
	return out
}

// write sets out to the elements.
func (b *batchNorm) write(out *tensor.Tensor, t term) {
	kernel.Parallel(out.NumElements(), 1<<14, func(lo, hi int) {
		w := &batchWorker{batchNorm: b}
		w.blocks(lo, hi, t, func(o []float64, i int) { kernel.Encode64(out.DType(), out, i, o) })
	})
}

// perFeature returns a value for each feature.
func (b *batchNorm) perFeature(f func(c int) float64) []float64 {
	out := make([]float64, b.features)
	for c := range out {
		out[c] = f(c)
	}
	return out
}

func (b *batchNorm) normalize(out, x *tensor.Tensor, scale, offset, mean, variance []float64) {
	factor := b.perFeature(func(c int) float64 { return scale[c] / math.Sqrt(variance[c]+b.epsilon) })
	difference := centered(x, mean)
	b.write(out, func(w *batchWorker, o []float64, i int) {
		difference(w, o, i)
		w.with(vec.Mul64Loop, o, factor, i)
		w.with(vec.Add64Loop, o, offset, i)
	})
}

// makeBatchNormInference compiles batch_norm_inference (spec, "batch_norm_inference").
func makeBatchNormInference(s *plan.Spec) (kernel.Kernel, error) {
	b, err := newBatchNorm(s, 5, 1)
	if err != nil {
		return kernel.Kernel{}, err
	}
	return kernel.Kernel{Family: "batch normalization", Scratch: b.scratch(5), Run: func(in, out []*tensor.Tensor) error {
		b.normalize(out[0], in[0], kernel.Floats(in[1]), kernel.Floats(in[2]), kernel.Floats(in[3]), kernel.Floats(in[4]))
		return nil
	}}, nil
}

// makeBatchNormTraining compiles batch_norm_training (spec, "batch_norm_training").
func makeBatchNormTraining(s *plan.Spec) (kernel.Kernel, error) {
	b, err := newBatchNorm(s, 3, 3)
	if err != nil {
		return kernel.Kernel{}, err
	}
	return kernel.Kernel{Family: "batch normalization", Scratch: b.scratch(7), Run: func(in, out []*tensor.Tensor) error {
		n := float64(b.outer * b.inner)
		sum := b.sums(decode(in[0]))
		mean := b.perFeature(func(c int) float64 { return sum[c] / n })
		difference := centered(in[0], mean)
		squares := b.sums(func(w *batchWorker, o []float64, i int) {
			difference(w, o, i)
			combine(vec.Mul64Loop, o, o)
		})
		variance := b.perFeature(func(c int) float64 { return squares[c] / n })
		b.normalize(out[0], in[0], kernel.Floats(in[1]), kernel.Floats(in[2]), mean, variance)
		kernel.Encode64(out[1].DType(), out[1], 0, mean)
		kernel.Encode64(out[2].DType(), out[2], 0, variance)
		return nil
	}}, nil
}

// makeBatchNormGrad compiles batch_norm_grad (spec, "batch_norm_grad").
func makeBatchNormGrad(s *plan.Spec) (kernel.Kernel, error) {
	b, err := newBatchNorm(s, 5, 3)
	if err != nil {
		return kernel.Kernel{}, err
	}
	return kernel.Kernel{Family: "batch normalization", Scratch: b.scratch(8), Run: func(in, out []*tensor.Tensor) error {
		grad, difference := decode(in[4]), centered(in[0], kernel.Floats(in[2]))
		scale, variance := kernel.Floats(in[1]), kernel.Floats(in[3])
		sum := b.sums(grad)
		dot := b.sums(func(w *batchWorker, o []float64, i int) {
			difference(w, o, i)
			grad(w, w.other[:len(o)], i)
			combine(vec.Mul64Loop, o, w.other[:len(o)])
		})
		// The result is factor (grad - mean - (x - mean of x) slope), where mean and slope are those of grad.
		n := float64(b.outer * b.inner)
		root := b.perFeature(func(c int) float64 { return math.Sqrt(variance[c] + b.epsilon) })
		factor := b.perFeature(func(c int) float64 { return scale[c] / root[c] })
		mean := b.perFeature(func(c int) float64 { return sum[c] / n })
		slope := b.perFeature(func(c int) float64 { return dot[c] / (n * (variance[c] + b.epsilon)) })
		b.write(out[0], func(w *batchWorker, o []float64, i int) {
			rest := w.other[:len(o)]
			difference(w, rest, i)
			w.with(vec.Mul64Loop, rest, slope, i)
			grad(w, o, i)
			w.with(vec.Sub64Loop, o, mean, i)
			combine(vec.Sub64Loop, o, rest)
			w.with(vec.Mul64Loop, o, factor, i)
		})
		kernel.Encode64(out[1].DType(), out[1], 0, b.perFeature(func(c int) float64 { return dot[c] / root[c] }))
		kernel.Encode64(out[2].DType(), out[2], 0, sum)
		return nil
	}}, nil
}
