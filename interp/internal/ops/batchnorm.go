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

func newBatchNorm(s *plan.Spec) (*batchNorm, error) {
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

// scratch returns the size in bytes of count values per feature as float64s, and of the sums.
func (b *batchNorm) scratch(count int) int64 {
	return 8 * (int64(count)*int64(b.features+batchBlock) + int64(b.parts()*b.features))
}

// batchBlock is the number of elements that are computed at once.
const batchBlock = 1024

// batchWorker computes blocks of elements.
type batchWorker struct {
	*batchNorm
	block, other [batchBlock]float64
	values       [2][batchBlock]float64
}

// perFeature returns a value for each feature. If a block holds many features, the values repeat: the values of any
// block are then contiguous.
func (b *batchNorm) perFeature(f func(c int) float64) []float64 {
	n := b.features
	if b.inner == 1 {
		n += batchBlock
	}
	out := make([]float64, n)
	for c := range b.features {
		out[c] = f(c)
	}
	for c := b.features; c < n; c++ {
		out[c] = out[c-b.features]
	}
	return out
}

// given returns an operand's value for each feature.
func (b *batchNorm) given(t *tensor.Tensor) []float64 { return b.perFeature(t.FloatAt) }

// of returns the values of the features of the n elements from i on. Results with different slots can be in use at the
// same time.
func (w *batchWorker) of(values []float64, slot, i, n int) []float64 {
	if w.inner == 1 {
		return values[i%w.features:][:n]
	}
	out := w.values[slot][:n]
	for k := 0; k < n; {
		v, end := values[(i+k)/w.inner%w.features], min(n, k+w.inner-(i+k)%w.inner)
		for ; k < end; k++ {
			out[k] = v
		}
	}
	return out
}

// term computes the elements from element i on.
type term func(w *batchWorker, o []float64, i int)

var (
	add       = vec.Binary[float64, float64](vec.Add64Loop)
	subtract  = vec.Binary[float64, float64](vec.Sub64Loop)
	deviation = vec.Binary[float64, float64](vec.Deviation64Loop)
	scaled    = vec.Ternary[float64, float64, float64](vec.Scaled64Loop)
)

// decode returns the elements of x.
func decode(x *tensor.Tensor) term {
	return func(_ *batchWorker, o []float64, i int) { kernel.Decode64(x.DType(), o, x, i) }
}

// The rows are summed in parts of about sumElements elements or more, and in at most maxParts parts: the sums of the
// parts then take little memory. The parts do not depend on the number of cores, and so neither do the sums.
const (
	sumElements = 1 << 16
	maxParts    = 16
)

// rows returns the number of rows of a part.
func (b *batchNorm) rows() int {
	return max(1, sumElements/max(1, b.features*b.inner), (b.outer+maxParts-1)/maxParts)
}

// parts returns the number of parts.
func (b *batchNorm) parts() int { return max(1, (b.outer+b.rows()-1)/b.rows()) }

// sums returns the sum of the elements for each feature.
func (b *batchNorm) sums(t term) []float64 {
	parts, rows := b.parts(), b.rows()
	sums := make([]float64, parts*b.features)
	fold := vec.Fold[float64](vec.Add64Loop)
	kernel.Parallel(parts, 1, func(first, last int) {
		w := &batchWorker{batchNorm: b}
		for p := first; p < last; p++ {
			out := sums[p*b.features:][:b.features]
			lo, hi := p*rows*b.features*b.inner, min((p+1)*rows, b.outer)*b.features*b.inner
			for i := lo; i < hi; i += batchBlock {
				o := w.block[:min(batchBlock, hi-i)]
				t(w, o, i)
				for k := 0; k < len(o); {
					c := (i + k) / b.inner % b.features
					if b.inner == 1 {
						n := min(b.features-c, len(o)-k)
						add(out[c:c+n], out[c:c+n], o[k:k+n])
						k += n
						continue
					}
					n := min(b.inner-(i+k)%b.inner, len(o)-k)
					var sum [1]float64
					fold(sum[:], o[k:k+n])
					out[c] += sum[0]
					k += n
				}
			}
		}
	})
	total := sums[:b.features]
	for p := 1; p < parts; p++ {
		add(total, total, sums[p*b.features:][:b.features])
	}
	return total
}

// write sets out to the elements.
func (b *batchNorm) write(out *tensor.Tensor, t term) {
	kernel.Parallel(out.NumElements(), 1<<14, func(lo, hi int) {
		w := &batchWorker{batchNorm: b}
		for i := lo; i < hi; i += batchBlock {
			o := w.block[:min(batchBlock, hi-i)]
			t(w, o, i)
			kernel.Encode64(out.DType(), out, i, o)
		}
	})
}

func (b *batchNorm) normalize(out, x, scale, offset *tensor.Tensor, mean, variance []float64) {
	factor := b.perFeature(func(c int) float64 { return scale.FloatAt(c) / math.Sqrt(variance[c]+b.epsilon) })
	shift := b.given(offset)
	b.write(out, func(w *batchWorker, o []float64, i int) {
		kernel.Decode64(x.DType(), o, x, i)
		scaled(o, o, w.of(mean, 0, i, len(o)), w.of(factor, 1, i, len(o)))
		add(o, o, w.of(shift, 0, i, len(o)))
	})
}

// makeBatchNormInference compiles batch_norm_inference (spec, "batch_norm_inference").
func makeBatchNormInference(s *plan.Spec) (kernel.Kernel, error) {
	b, err := newBatchNorm(s)
	if err != nil {
		return kernel.Kernel{}, err
	}
	return kernel.Kernel{Family: "batch normalization", Scratch: b.scratch(4), Run: func(in, out []*tensor.Tensor) {
		b.normalize(out[0], in[0], in[1], in[2], b.given(in[3]), b.given(in[4]))
	}}, nil
}

// makeBatchNormTraining compiles batch_norm_training (spec, "batch_norm_training").
func makeBatchNormTraining(s *plan.Spec) (kernel.Kernel, error) {
	b, err := newBatchNorm(s)
	if err != nil {
		return kernel.Kernel{}, err
	}
	return kernel.Kernel{Family: "batch normalization", Scratch: b.scratch(6), Run: func(in, out []*tensor.Tensor) {
		n := float64(b.outer * b.inner)
		x := decode(in[0])
		sum := b.sums(x)
		mean := b.perFeature(func(c int) float64 { return sum[c] / n })
		squares := b.sums(func(w *batchWorker, o []float64, i int) {
			x(w, o, i)
			deviation(o, o, w.of(mean, 0, i, len(o)))
		})
		variance := b.perFeature(func(c int) float64 { return squares[c] / n })
		b.normalize(out[0], in[0], in[1], in[2], mean, variance)
		kernel.Encode64(out[1].DType(), out[1], 0, mean[:b.features])
		kernel.Encode64(out[2].DType(), out[2], 0, variance[:b.features])
	}}, nil
}

// makeBatchNormGrad compiles batch_norm_grad (spec, "batch_norm_grad").
func makeBatchNormGrad(s *plan.Spec) (kernel.Kernel, error) {
	b, err := newBatchNorm(s)
	if err != nil {
		return kernel.Kernel{}, err
	}
	return kernel.Kernel{Family: "batch normalization", Scratch: b.scratch(8), Run: func(in, out []*tensor.Tensor) {
		x, grad := decode(in[0]), decode(in[4])
		center, scale, variance := b.given(in[2]), b.given(in[1]), b.given(in[3])
		sum := b.sums(grad)
		dot := b.sums(func(w *batchWorker, o []float64, i int) {
			x(w, o, i)
			grad(w, w.other[:len(o)], i)
			scaled(o, o, w.of(center, 0, i, len(o)), w.other[:len(o)])
		})
		// The result is factor (grad - mean - (x - mean of x) slope), with the mean and the slope of grad.
		n := float64(b.outer * b.inner)
		root := b.perFeature(func(c int) float64 { return math.Sqrt(variance[c] + b.epsilon) })
		factor := b.perFeature(func(c int) float64 { return scale[c] / root[c] })
		mean := b.perFeature(func(c int) float64 { return sum[c] / n })
		slope := b.perFeature(func(c int) float64 { return dot[c] / (n * (variance[c] + b.epsilon)) })
		b.write(out[0], func(w *batchWorker, o []float64, i int) {
			rest := w.other[:len(o)]
			x(w, rest, i)
			scaled(rest, rest, w.of(center, 0, i, len(o)), w.of(slope, 1, i, len(o)))
			grad(w, o, i)
			subtract(o, o, w.of(mean, 0, i, len(o)))
			scaled(o, o, rest, w.of(factor, 1, i, len(o)))
		})
		kernel.Encode64(out[1].DType(), out[1], 0, b.perFeature(func(c int) float64 { return dot[c] / root[c] })[:b.features])
		kernel.Encode64(out[2].DType(), out[2], 0, sum)
	}}, nil
}
