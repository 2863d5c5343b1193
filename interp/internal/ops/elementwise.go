package ops

import (
	"github.com/hlocb/hlocb/interp/internal/exec"
	"github.com/hlocb/hlocb/interp/internal/kernel"
	"github.com/hlocb/hlocb/interp/internal/plan"
	"github.com/hlocb/hlocb/tensor"
)

// makeCompare compiles compare (spec, "compare").
func makeCompare(s *plan.Spec) kernel.Kernel {
	kernel.SameShape(&s.Signature)
	dt := s.In[0].DType
	if s.In[1].DType != dt || s.Out[0].DType != tensor.I1 {
		kernel.Fail(kernel.TypeMismatch(dt, s.Out[0].DType))
	}
	a := plan.Attrs[plan.Comparison](s.Op)
	dir, total := a.Direction, a.Total() && dt.IsFloat()
	run := kernel.CompareLoop(dt, dir, total)
	kernel.UnsupportedIf(run == nil, "comparison %s on elements of type %s", dir, dt)
	k := kernel.ElementKernel(s.Out[0].N, dt.Size(), 2, run, 0)
	k.Lanes = kernel.CompareLanes(dt, dir, total)
	if dt.Size() == 1 && dt == tensor.I1 {
		k.Inplace = 3
	}
	return k
}

// makeReducePrecision compiles reduce_precision (spec, "reduce_precision"). It rounds to the given numbers of exponent
// and mantissa bits, ties to even. Overflow becomes infinity, underflow zero.
func makeReducePrecision(s *plan.Spec) kernel.Kernel {
	kernel.SameShape(&s.Signature)
	dt := s.In[0].DType
	if !dt.IsFloat() || s.Out[0].DType != dt {
		kernel.Fail(kernel.TypeMismatch(dt, s.Out[0].DType))
	}
	a := plan.Attrs[struct {
		Exponent int `attr:"exponent_bits"`
		Mantissa int `attr:"mantissa_bits,-1"`
	}](s.Op)
	eb, mb := a.Exponent, a.Mantissa
	kernel.UnsupportedIf(eb < 1 || mb < 0, "reduce_precision to e%dm%d", eb, mb)
	singles := kernel.ReduceSingles(eb, mb)
	return kernel.ElementKernel(s.Out[0].N, dt.Size(), 4, func(in, out []*tensor.Tensor, lo, hi int) {
		if dt == tensor.F32 {
			singles(tensor.View[int32](out[0])[lo:hi], tensor.View[int32](in[0])[lo:hi])
			return
		}
		for i := lo; i < hi; i++ {
			out[0].SetBits(i, kernel.ReducePrecision(dt, in[0].Bits(i), eb, mb))
		}
	}, 1)
}

func planBitcast(p *plan.Planner, s *plan.Spec) exec.Runner {
	if len(s.In) == 1 && len(s.Out) == 1 && s.In[0].N >= 0 && s.Out[0].N >= 0 &&
		s.In[0].DType.Bits() == 8*s.In[0].DType.Size() && s.Out[0].DType.Bits() == 8*s.Out[0].DType.Size() {
		return plan.PlanReshape(p, s)
	}
	return p.KernelControl(plan.ByTypes(kernel.MakeBitcast), s)
}

// bitcastShape is the shape function of bitcast_convert: a wider result element absorbs the last dimension, a narrower
// one adds a dimension.
func bitcastShape(s *plan.Spec, in []*tensor.Tensor) {
	a, b := s.In[0].DType.Bits(), s.Out[0].DType.Bits()
	shape := s.In[0].Shape.Clone()
	switch {
	case a > b:
		shape = append(shape, int64(a/b))
	case a < b:
		shape = shape[:max(0, len(shape)-1)]
	}
	s.Out[0].Shape = shape
}
