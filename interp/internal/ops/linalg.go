package ops

import (
	"github.com/hlocb/hlocb/dialect/stablehlo"
	"github.com/hlocb/hlocb/interp/internal/kernel"
	"github.com/hlocb/hlocb/interp/internal/kernel/algebra"
	"github.com/hlocb/hlocb/interp/internal/plan"
)

// makeCholesky compiles cholesky (spec, "cholesky"). The spec does not define the other triangle of the result; here it
// is zero. A matrix that is not positive definite yields NaNs.
func makeCholesky(s *plan.Spec) (kernel.Kernel, error) {
	return algebra.CholeskyKernel(&s.Signature, plan.BoolAttr(s.Op, stablehlo.AttrLower, false))
}

// makeTriangularSolve compiles triangular_solve (spec, "triangular_solve").
func makeTriangularSolve(s *plan.Spec) (kernel.Kernel, error) {
	return algebra.SolveKernel(&s.Signature, plan.BoolAttr(s.Op, stablehlo.AttrLeftSide, false), plan.BoolAttr(s.Op, stablehlo.AttrLower, false),
		plan.BoolAttr(s.Op, stablehlo.AttrUnitDiagonal, false), plan.EnumAttr(s.Op, stablehlo.AttrTransposeA, "NO_TRANSPOSE"))
}

// makeFFT compiles fft (spec, "fft"), which transforms the last one to three dimensions.
func makeFFT(s *plan.Spec) (kernel.Kernel, error) {
	length, err := plan.IntsAttr(s.Op, stablehlo.AttrFftLength)
	if err != nil {
		return kernel.Kernel{}, err
	}
	return algebra.FftKernel(&s.Signature, plan.EnumAttr(s.Op, stablehlo.AttrFftType, ""), length)
}
