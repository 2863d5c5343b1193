package ops

import (
	"github.com/hlocb/hlocb/dialect/stablehlo"
	"github.com/hlocb/hlocb/interp/internal/kernel"
	"github.com/hlocb/hlocb/interp/internal/kernel/algebra"
	"github.com/hlocb/hlocb/interp/internal/plan"
)

// makeFFT compiles fft (spec, "fft"), which transforms the last one to three dimensions.
func makeFFT(s *plan.Spec) (kernel.Kernel, error) {
	length, err := plan.IntsAttr(s.Op, stablehlo.AttrFftLength)
	if err != nil {
		return kernel.Kernel{}, err
	}
	return algebra.FftKernel(&s.Signature, plan.EnumAttr(s.Op, stablehlo.AttrFftType, ""), length)
}
