package ops

import (
	"github.com/hlocb/hlocb/dialect/stablehlo"
	"github.com/hlocb/hlocb/interp/internal/kernel"
	"github.com/hlocb/hlocb/interp/internal/plan"
	"github.com/hlocb/hlocb/tensor"
)

// makeReducePrecision compiles reduce_precision (spec, "reduce_precision"). It rounds to the given numbers of exponent
// and mantissa bits, ties to even. Overflow becomes infinity, underflow zero.
func makeReducePrecision(s *plan.Spec) (kernel.Kernel, error) {
	if err := kernel.SameShape(&s.Signature, 1); err != nil {
		return kernel.Kernel{}, err
	}
	dt := s.In[0].DType
	if !dt.IsFloat() || s.Out[0].DType != dt {
		return kernel.Kernel{}, kernel.TypeMismatch(dt, s.Out[0].DType)
	}
	eb, mb := int(plan.IntAttr(s.Op, stablehlo.AttrExponentBits, 0)), int(plan.IntAttr(s.Op, stablehlo.AttrMantissaBits, -1))
	if eb < 1 || mb < 0 {
		return kernel.Kernel{}, kernel.Unsupported("reduce_precision to e%dm%d", eb, mb)
	}
	singles := kernel.ReduceSingles(eb, mb)
	return kernel.ElementKernel(s.Out[0].N, dt.Size(), 4, func(in, out []*tensor.Tensor, lo, hi int) {
		if dt == tensor.F32 {
			singles(tensor.View[int32](out[0])[lo:hi], tensor.View[int32](in[0])[lo:hi])
			return
		}
		for i := lo; i < hi; i++ {
			kernel.StoreBits(out[0], i, kernel.ReducePrecision(dt, kernel.BitsAt(in[0], i), eb, mb))
		}
	}, 1), nil
}
