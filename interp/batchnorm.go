package interp

import (
	"errors"
	"fmt"
	"math"

	"github.com/hlocb/hlocb/dialect/stablehlo"
	"github.com/hlocb/hlocb/ir"
	"github.com/hlocb/hlocb/tensor"
)

// batchNorm is the geometry of the batch_norm ops: the operand viewed as [outer][features][inner]. The ops compute in
// float64 and round once.
type batchNorm struct {
	outer, features, inner int
	epsilon                float64
}

func newBatchNorm(s *spec, nin, nout int) (*batchNorm, error) {
	if len(s.in) != nin || len(s.out) != nout || !s.in[0].dt.IsFloat() {
		return nil, fmt.Errorf("expects %d operands and %d results of floating-point type", nin, nout)
	}
	dim := int(intAttr(s.op, stablehlo.AttrFeatureIndex, -1))
	shape := s.in[0].shape
	if dim < 0 || dim >= len(shape) {
		return nil, fmt.Errorf("has feature dimension %d of rank %d", dim, len(shape))
	}
	b := &batchNorm{outer: int(shape[:dim].NumElements()), features: int(shape[dim]), inner: int(shape[dim+1:].NumElements())}
	eps, ok := s.op.Attr(stablehlo.AttrEpsilon).(*ir.FloatAttr)
	if !ok {
		return nil, errors.New("has no epsilon")
	}
	b.epsilon = tensor.DecodeFloat(eps.Type().DType(), eps.Bits())
	for _, t := range append(s.in[1:len(s.in):len(s.in)], s.out[1:]...) {
		if t.n != b.features && t.n != s.in[0].n || t.dt != s.in[0].dt {
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

func floats(t *tensor.Tensor) []float64 {
	out := make([]float64, t.NumElements())
	decode64(t.DType(), out, t, 0)
	return out
}

// scratch returns the size in bytes of the operands and the first result as float64s, plus the values per feature.
func (b *batchNorm) scratch(s *spec) int64 {
	n := s.out[0].n + 3*b.features
	for _, t := range s.in {
		n += t.n
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
	b.each(func(i, c int) {
		y[i] = scale[c]*(x[i]-mean[c])/math.Sqrt(variance[c]+b.epsilon) + offset[c]
	})
	return y
}

// makeBatchNormInference compiles batch_norm_inference (spec, "batch_norm_inference").
func makeBatchNormInference(s *spec) (kernel, error) {
	b, err := newBatchNorm(s, 5, 1)
	if err != nil {
		return kernel{}, err
	}
	return kernel{scratch: b.scratch(s), run: func(in, out []*tensor.Tensor) error {
		y := b.normalize(floats(in[0]), floats(in[1]), floats(in[2]), floats(in[3]), floats(in[4]))
		encode64(out[0].DType(), out[0], 0, y)
		return nil
	}}, nil
}

// makeBatchNormTraining compiles batch_norm_training (spec, "batch_norm_training").
func makeBatchNormTraining(s *spec) (kernel, error) {
	b, err := newBatchNorm(s, 3, 3)
	if err != nil {
		return kernel{}, err
	}
	return kernel{scratch: b.scratch(s), run: func(in, out []*tensor.Tensor) error {
		x := floats(in[0])
		mean, variance := b.moments(x)
		encode64(out[0].DType(), out[0], 0, b.normalize(x, floats(in[1]), floats(in[2]), mean, variance))
		encode64(out[1].DType(), out[1], 0, mean)
		encode64(out[2].DType(), out[2], 0, variance)
		return nil
	}}, nil
}

// makeBatchNormGrad compiles batch_norm_grad (spec, "batch_norm_grad").
func makeBatchNormGrad(s *spec) (kernel, error) {
	b, err := newBatchNorm(s, 5, 3)
	if err != nil {
		return kernel{}, err
	}
	return kernel{scratch: b.scratch(s), run: func(in, out []*tensor.Tensor) error {
		x, scale, mean, variance, grad := floats(in[0]), floats(in[1]), floats(in[2]), floats(in[3]), floats(in[4])
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
		encode64(out[0].DType(), out[0], 0, gx)
		encode64(out[1].DType(), out[1], 0, gscale)
		encode64(out[2].DType(), out[2], 0, sum)
		return nil
	}}, nil
}
