package interp

import (
	"errors"
	"fmt"
	"slices"
	"strings"

	"github.com/hlocb/hlocb/dialect/stablehlo"
	"github.com/hlocb/hlocb/tensor"
)

// makeEinsum compiles the old op einsum, "ab,bc->ac": labels in both operands and the result are batch dimensions,
// those in both operands only are contracted, those in one operand only and not in the result are summed first.
func makeEinsum(s *spec) (kernel, error) {
	if len(s.in) != 2 || len(s.out) != 1 {
		return kernel{}, errors.New("expects two operands and one result")
	}
	args, result, ok := strings.Cut(stringAttr(s.op, "einsum_config"), "->")
	left, right, ok2 := strings.Cut(args, ",")
	if !ok || !ok2 {
		return kernel{}, fmt.Errorf("has einsum_config %q", stringAttr(s.op, "einsum_config"))
	}
	l, err := labels(left, s.in[0])
	if err != nil {
		return kernel{}, err
	}
	r, err := labels(right, s.in[1])
	if err != nil {
		return kernel{}, err
	}
	out, err := labels(result, s.out[0])
	if err != nil {
		return kernel{}, err
	}
	d := &stablehlo.DotDims{}
	var order []rune // of the product's dimensions
	for i, c := range l {
		switch at := slices.Index(r, c); {
		case at >= 0 && slices.Contains(out, c):
			d.LHSBatching, d.RHSBatching = append(d.LHSBatching, int64(i)), append(d.RHSBatching, int64(at))
			order = append(order, c)
		case at >= 0:
			d.LHSContracting, d.RHSContracting = append(d.LHSContracting, int64(i)), append(d.RHSContracting, int64(at))
		}
	}
	for _, c := range l {
		if !slices.Contains(r, c) {
			order = append(order, c)
		}
	}
	for _, c := range r {
		if !slices.Contains(l, c) {
			order = append(order, c)
		}
	}
	size := map[rune]int64{}
	for i, c := range l {
		size[c] = s.in[0].shape[i]
	}
	for i, c := range r {
		size[c] = s.in[1].shape[i]
	}
	if len(order) != len(out) {
		return kernel{}, unsupported("an einsum that sums a dimension of one operand")
	}
	mid := tensor.Shape{}
	perm := make([]int64, len(out))
	for _, c := range order {
		mid = append(mid, size[c])
	}
	for i, c := range out {
		at := slices.Index(order, c)
		if at < 0 {
			return kernel{}, fmt.Errorf("has no operand with label %c", c)
		}
		perm[i] = int64(at)
	}
	product := tensorType(s.out[0].dt, mid...)
	dot, err := dotKernel(s.in[0], s.in[1], product, d)
	if err != nil {
		return kernel{}, err
	}
	move, err := transposeKernel(product, s.out[0], perm)
	if err != nil {
		return kernel{}, err
	}
	return kernel{run: func(in, out []*tensor.Tensor) error {
		t := []*tensor.Tensor{tensor.New(product.dt, mid)}
		if err := dot.run(in, t); err != nil {
			return err
		}
		return move.run(t, out)
	}}, nil
}

// labels returns the label of each dimension of an operand; each may occur once.
func labels(text string, t vtype) ([]rune, error) {
	out := []rune(strings.TrimSpace(text))
	if len(out) != len(t.shape) {
		return nil, fmt.Errorf("has %d labels for %s", len(out), t)
	}
	for i, c := range out {
		if slices.Index(out, c) != i {
			return nil, unsupported("an einsum with label %c twice in one operand", c)
		}
	}
	return out, nil
}

// makeUnaryEinsum compiles the old op unary_einsum, "ab->ba" or "ab->a": sums and permutes.
func makeUnaryEinsum(s *spec) (kernel, error) {
	if len(s.in) != 1 || len(s.out) != 1 || s.in[0].dt != s.out[0].dt {
		return kernel{}, errors.New("expects one operand and one result of one element type")
	}
	arg, result, ok := strings.Cut(stringAttr(s.op, "einsum_config"), "->")
	if !ok {
		return kernel{}, fmt.Errorf("has einsum_config %q", stringAttr(s.op, "einsum_config"))
	}
	l, err := labels(arg, s.in[0])
	if err != nil {
		return kernel{}, err
	}
	out, err := labels(result, s.out[0])
	if err != nil {
		return kernel{}, err
	}
	var summed []int64
	var kept []rune
	mid := tensor.Shape{}
	for i, c := range l {
		if slices.Contains(out, c) {
			kept = append(kept, c)
			mid = append(mid, s.in[0].shape[i])
		} else {
			summed = append(summed, int64(i))
		}
	}
	if len(kept) != len(out) {
		return kernel{}, errors.New("has a label that the operand lacks")
	}
	perm := make([]int64, len(out))
	for i, c := range out {
		perm[i] = int64(slices.Index(kept, c))
	}
	part := tensorType(s.out[0].dt, mid...)
	sum, err := reduceKernel(s.in[0], tensorType(part.dt), part, summed, &reducer{"add", binaryOps()["add"]})
	if err != nil {
		return kernel{}, err
	}
	move, err := transposeKernel(part, s.out[0], perm)
	if err != nil {
		return kernel{}, err
	}
	return kernel{run: func(in, out []*tensor.Tensor) error {
		t := []*tensor.Tensor{tensor.New(part.dt, mid)}
		if err := sum.run([]*tensor.Tensor{in[0], tensor.New(part.dt, nil)}, t); err != nil {
			return err
		}
		return move.run(t, out)
	}}, nil
}
