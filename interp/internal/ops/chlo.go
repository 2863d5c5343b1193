package ops

import (
	"github.com/hlocb/hlocb/dialect/chlo"
	"github.com/hlocb/hlocb/dialect/mhlo"
	"github.com/hlocb/hlocb/internal/dialect/view"
	"github.com/hlocb/hlocb/interp/internal/kernel"
	"github.com/hlocb/hlocb/interp/internal/plan"
)

// makeTopK compiles chlo.top_k: the k largest elements along the last dimension and their indices. NaN is largest;
// equal elements keep their order. mhlo.topk can also select the smallest elements.
func makeTopK(s *plan.Spec) (kernel.Kernel, error) {
	return kernel.TopKKernel(&s.Signature, int(view.IntOr(s.Op.Attr(chlo.AttrK), 0)), view.IntOr(s.Op.Attr(mhlo.AttrLargest), 1) != 0)
}
