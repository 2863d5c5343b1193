package ops

import (
	"errors"
	"fmt"
	"slices"
	"strings"

	"github.com/hlocb/hlocb/dialect/stablehlo"
	"github.com/hlocb/hlocb/interp/internal/kernel"
	"github.com/hlocb/hlocb/interp/internal/plan"
	"github.com/hlocb/hlocb/tensor"
)

// makeEinsum compiles the old op einsum, "ab,bc->ac". Labels in both operands and the result are batch dimensions.
// Labels in both operands but not in the result are contracted. Labels in only one operand and not in the result are
// summed first. A label repeated within one operand selects the diagonal of its dimensions.
func makeEinsum(s *plan.Spec) (kernel.Kernel, error) {
	args, result, ok := strings.Cut(plan.StringAttr(s.Op, stablehlo.AttrEinsumConfig), "->")
	left, right, ok2 := strings.Cut(args, ",")
	if !ok || !ok2 {
		return kernel.Kernel{}, fmt.Errorf("has einsum_config %q", plan.StringAttr(s.Op, stablehlo.AttrEinsumConfig))
	}
	out, err := kernel.Labels(result, s.Out[0])
	if err != nil {
		return kernel.Kernel{}, err
	}
	inOther := func(other string) func(c rune) bool {
		return func(c rune) bool { return strings.ContainsRune(other, c) || slices.Contains(out, c) }
	}
	x, err := kernel.NewEinsumOperand(left, s.In[0], inOther(right))
	if err != nil {
		return kernel.Kernel{}, err
	}
	y, err := kernel.NewEinsumOperand(right, s.In[1], inOther(left))
	if err != nil {
		return kernel.Kernel{}, err
	}
	l, r := x.Labels, y.Labels
	d := &kernel.DotDimensions{}
	var order []rune // labels of the product's dimensions
	for i, c := range l {
		switch at := slices.Index(r, c); {
		case at >= 0 && slices.Contains(out, c):
			d.LHSBatching, d.RHSBatching = append(d.LHSBatching, int64(i)), append(d.RHSBatching, int64(at))
			order = append(order, c)
		case at >= 0:
			d.LHSContracting, d.RHSContracting = append(d.LHSContracting, int64(i)), append(d.RHSContracting, int64(at))
		}
	}
	size := map[rune]int64{}
	for _, side := range []struct{ own, other *kernel.EinsumOperand }{{x, y}, {y, x}} {
		for i, c := range side.own.Labels {
			size[c] = side.own.Typ.Shape[i]
			if !slices.Contains(side.other.Labels, c) {
				order = append(order, c)
			}
		}
	}
	if len(order) != len(out) {
		return kernel.Kernel{}, errors.New("has a result label that no operand has")
	}
	mid := tensor.Shape{}
	perm := make([]int64, len(out))
	for _, c := range order {
		mid = append(mid, size[c])
	}
	for i, c := range out {
		at := slices.Index(order, c)
		if at < 0 {
			return kernel.Kernel{}, fmt.Errorf("has no operand with label %c", c)
		}
		perm[i] = int64(at)
	}
	product := kernel.TensorType(s.Out[0].DType, mid...)
	dot, err := kernel.DotKernel(kernel.Dense(x.Typ), kernel.Dense(y.Typ), product, d)
	if err != nil {
		return kernel.Kernel{}, err
	}
	move, err := kernel.TransposeKernel(product, s.Out[0], perm)
	if err != nil {
		return kernel.Kernel{}, err
	}
	return kernel.Kernel{Family: "product", Scratch: int64(product.Bytes()) + dot.Scratch + move.Scratch + x.Scratch() + y.Scratch(), Run: func(in, out []*tensor.Tensor) {
		t := []*tensor.Tensor{tensor.New(product.DType, mid)}
		dot.Run([]*tensor.Tensor{x.Load(in[0]), y.Load(in[1])}, t)
		move.Run(t, out)
	}}, nil
}

// makeUnaryEinsum compiles the old op unary_einsum, such as "ab->ba" or "ab->a", which sums and permutes dimensions.
func makeUnaryEinsum(s *plan.Spec) (kernel.Kernel, error) {
	arg, result, ok := strings.Cut(plan.StringAttr(s.Op, stablehlo.AttrEinsumConfig), "->")
	if !ok {
		return kernel.Kernel{}, fmt.Errorf("has einsum_config %q", plan.StringAttr(s.Op, stablehlo.AttrEinsumConfig))
	}
	out, err := kernel.Labels(result, s.Out[0])
	if err != nil {
		return kernel.Kernel{}, err
	}
	x, err := kernel.NewEinsumOperand(arg, s.In[0], func(c rune) bool { return slices.Contains(out, c) })
	if err != nil {
		return kernel.Kernel{}, err
	}
	if len(x.Labels) != len(out) {
		return kernel.Kernel{}, errors.New("has a label that the operand lacks")
	}
	perm := make([]int64, len(out))
	for i, c := range out {
		perm[i] = int64(slices.Index(x.Labels, c))
	}
	move, err := kernel.TransposeKernel(x.Typ, s.Out[0], perm)
	if err != nil {
		return kernel.Kernel{}, err
	}
	return kernel.Kernel{Family: "einsum", Scratch: x.Scratch() + move.Scratch, Run: func(in, out []*tensor.Tensor) {
		move.Run([]*tensor.Tensor{x.Load(in[0])}, out)
	}}, nil
}
