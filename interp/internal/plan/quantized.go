package plan

import (
	"fmt"
	"slices"

	"github.com/hlocb/hlocb/dialect/quant"
	"github.com/hlocb/hlocb/interp/internal/kernel"
	"github.com/hlocb/hlocb/ir"
	"github.com/hlocb/hlocb/tensor"
)

func quantumOf(t ir.Type) *kernel.Quantum {
	u := quant.Of(t)
	kernel.FailIf(u == nil, "elements of type %s are not executed", t)
	q := &kernel.Quantum{Expressed: ir.ElementDType(u.Expressed), Min: u.Min, Max: u.Max, Axis: u.Axis, Scales: u.Scales, ZeroPoints: u.ZeroPoints}
	if it, ok := u.Storage.(*ir.IntegerType); ok && it.Width() > 1 && it.Width() <= 32 {
		sign := map[bool]string{true: "i", false: "ui"}[u.Signed]
		q.Storage, _ = tensor.ParseDType(fmt.Sprint(sign, it.Width()))
	}
	kernel.FailIf(q.Storage == tensor.Invalid || !q.Expressed.IsFloat() || len(u.Scales) == 0 || len(u.ZeroPoints) != len(u.Scales),
		"elements of type %s are not executed", t)
	return q
}

// kernel builds the kernel of a maker.
func (p *Planner) kernel(m Maker, s *Spec) kernel.Kernel {
	if len(s.Out) > 0 && !slices.ContainsFunc(s.Out, func(t kernel.Type) bool { return t.N != 0 }) {
		// An empty result needs no work, but a kernel may loop over the dimensions of tensor<1000000000000x0xf32>.
		return kernel.Kernel{Family: "empty", Run: func(_, _ []*tensor.Tensor) {}}
	}
	return m(s)
}
