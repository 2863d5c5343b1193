package ops

import (
	"errors"
	"fmt"
	"math"

	"github.com/hlocb/hlocb/dialect/stablehlo"
	"github.com/hlocb/hlocb/interp/internal/kernel"
	"github.com/hlocb/hlocb/interp/internal/plan"
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

// each calls f for every element, with the element's feature.
func (b *batchNorm) each(f func(i, feature int)) {
	i := 0
	for range b.outer {
		for c := range b.features {
			for range b.inner {
				f(i, c)
				i++
			}
		}
	}
}

// scratch returns the size in bytes of the operands and the first result as float64s, plus the values per feature.
func (b *batchNorm) scratch(s *plan.Spec) int64 {
	n := s.Out[0].N + 3*b.features
	for _, t := range s.In {
		n += t.N
	}
	return 8 * int64(n)
}

func (b *batchNorm) moments(x []float64) (mean, variance []float64) {
	mean, variance = make([]float64, b.features), make([]float64, b.features)
	n := float64(b.outer * b.inner)
	b.each(func(i, c int) { mean[c] += x[i] })
	for c := range mean {
		mean[c] /= n
	}
	b.each(func(i, c int) { variance[c] += float64((x[i] - mean[c]) * (x[i] - mean[c])) })
	for c := range variance {
		variance[c] /= n
	}
	return mean, variance
}

func (b *batchNorm) normalize(x, scale, offset, mean, variance []float64) []float64 {
	y := make([]float64, len(x))
	factor := make([]float64, b.features)
	for c := range factor {
		factor[c] = scale[c] / math.Sqrt(variance[c]+b.epsilon)
	}
	kernel.Parallel(b.outer, max(1, 1<<14/max(1, b.features*b.inner)), func(lo, hi int) {
		i := lo * b.features * b.inner
		for range hi - lo {
			for c, f := range factor {
				for k, v := range x[i : i+b.inner] {
					y[i+k] = float64(f*(v-mean[c])) + offset[c]
				}
				i += b.inner
			}
		}
	})
	return y
}

// makeBatchNormInference compiles batch_norm_inference (spec, "batch_norm_inference").
func makeBatchNormInference(s *plan.Spec) (kernel.Kernel, error) {
	b, err := newBatchNorm(s, 5, 1)
	if err != nil {
		return kernel.Kernel{}, err
	}
	return kernel.Kernel{Family: "batch normalization", Scratch: b.scratch(s), Run: func(in, out []*tensor.Tensor) error {
		y := b.normalize(kernel.Floats(in[0]), kernel.Floats(in[1]), kernel.Floats(in[2]), kernel.Floats(in[3]), kernel.Floats(in[4]))
		kernel.Encode64(out[0].DType(), out[0], 0, y)
		return nil
	}}, nil
}

// makeBatchNormTraining compiles batch_norm_training (spec, "batch_norm_training").
func makeBatchNormTraining(s *plan.Spec) (kernel.Kernel, error) {
	b, err := newBatchNorm(s, 3, 3)
	if err != nil {
		return kernel.Kernel{}, err
	}
	return kernel.Kernel{Family: "batch normalization", Scratch: b.scratch(s), Run: func(in, out []*tensor.Tensor) error {
		x := kernel.Floats(in[0])
		mean, variance := b.moments(x)
		kernel.Encode64(out[0].DType(), out[0], 0, b.normalize(x, kernel.Floats(in[1]), kernel.Floats(in[2]), mean, variance))
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
	return kernel.Kernel{Family: "batch normalization", Scratch: b.scratch(s), Run: func(in, out []*tensor.Tensor) error {
		x, scale, mean, variance, grad := kernel.Floats(in[0]), kernel.Floats(in[1]), kernel.Floats(in[2]), kernel.Floats(in[3]), kernel.Floats(in[4])
		n := float64(b.outer * b.inner)
		sum, dot := make([]float64, b.features), make([]float64, b.features)
		b.each(func(i, c int) {
			sum[c] += grad[i]
			dot[c] += float64(grad[i] * (x[i] - mean[c]))
		})
		gx := make([]float64, len(x))
		b.each(func(i, c int) {
			v := variance[c] + b.epsilon
			gx[i] = scale[c] / math.Sqrt(v) / n * (float64(n*grad[i]) - sum[c] - (x[i]-mean[c])*dot[c]/v)
		})
		gscale := make([]float64, b.features)
		for c := range gscale {
			gscale[c] = dot[c] / math.Sqrt(variance[c]+b.epsilon)
		}
		kernel.Encode64(out[0].DType(), out[0], 0, gx)
		kernel.Encode64(out[1].DType(), out[1], 0, gscale)
		kernel.Encode64(out[2].DType(), out[2], 0, sum)
		return nil
	}}, nil
}
