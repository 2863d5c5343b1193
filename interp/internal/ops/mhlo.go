package ops

import (
	"math"

	"github.com/hlocb/hlocb/interp/internal/exec"
	"github.com/hlocb/hlocb/interp/internal/kernel"
	"github.com/hlocb/hlocb/interp/internal/plan"
	"github.com/hlocb/hlocb/tensor"
)

// planFirst compiles ops whose result is their first operand.
func planFirst(p *plan.Planner, s *plan.Spec) exec.Runner {
	p.Describe("operand 0")
	return func(m *exec.Machine, fr *exec.Frame, ins *exec.Instr) {
		fr.Slots[ins.Out[0]] = m.Take(fr, ins, 0)
	}
}

// makeStochasticConvert compiles mhlo.stochastic_convert to integers. It rounds away from zero if the random number, as
// a fraction of its type's range, is less than the operand's fractional part (XLA's HloEvaluator).
func makeStochasticConvert(s *kernel.Signature) kernel.Kernel {
	kernel.FailIf(!s.In[0].DType.IsFloat() || !s.In[1].DType.IsInteger() || s.In[1].DType.Bits() != s.In[0].DType.Bits() ||
		s.In[0].N != s.Out[0].N || s.In[1].N != s.Out[0].N, "expects floats, random integers of their width, and one result of the same shape")
	to := s.Out[0].DType
	kernel.UnsupportedIf(to.Kind() != tensor.KindSigned && to.Kind() != tensor.KindUnsigned || to == tensor.I1, "stochastic conversion to %s", to)
	lo, hi := int64(math.MinInt64), int64(math.MaxInt64)
	if n := to.Bits(); to.Kind() == tensor.KindUnsigned {
		if lo = 0; n < 64 {
			hi = 1<<n - 1
		}
	} else if n < 64 {
		lo, hi = -1<<(n-1), 1<<(n-1)-1
	}
	bits := s.In[0].DType.Bits()
	return kernel.Kernel{Family: "elements", Run: func(in, out []*tensor.Tensor) {
		n := s.Out[0].N
		v, result := make([]float64, n), make([]int64, n)
		kernel.Decode64(in[0].DType(), v, in[0], 0)
		for i, x := range v {
			whole, part := math.Modf(math.Abs(x))
			switch {
			case math.IsNaN(x):
				continue
			case x >= float64(hi):
				result[i] = hi
				continue
			case x <= float64(lo):
				result[i] = lo
				continue
			}
			r := int64(whole)
			if random := in[1].Bits(i) & (1<<bits - 1); random < uint64(math.Ldexp(part, bits)) {
				r++
			}
			if x < 0 {
				r = -r
			}
			result[i] = min(max(r, lo), hi)
		}
		kernel.EncodeInt(to, out[0], 0, result)
	}}
}
