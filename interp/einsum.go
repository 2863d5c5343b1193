package interp

import (
	"errors"
	"fmt"
	"slices"
	"strings"

	"github.com/hlocb/hlocb/dialect/stablehlo"
	"github.com/hlocb/hlocb/tensor"
)

// makeEinsum compiles the old op einsum, "ab,bc->ac". Labels in both operands and the result are batch dimensions.
// Labels in both operands but not in the result are contracted. Labels in only one operand and not in the result are
// summed first. A label repeated within one operand selects the diagonal of its dimensions.
func makeEinsum(s *spec) (kernel, error) {
	if len(s.in) != 2 || len(s.out) != 1 {
		return kernel{}, errors.New("expects two operands and one result")
	}
	args, result, ok := strings.Cut(stringAttr(s.op, stablehlo.AttrEinsumConfig), "->")
	left, right, ok2 := strings.Cut(args, ",")
	if !ok || !ok2 {
		return kernel{}, fmt.Errorf("has einsum_config %q", stringAttr(s.op, stablehlo.AttrEinsumConfig))
	}
	out, err := labels(result, s.out[0])
	if err != nil {
		return kernel{}, err
	}
	inOther := func(other string) func(c rune) bool {
		return func(c rune) bool { return strings.ContainsRune(other, c) || slices.Contains(out, c) }
	}
	x, err := newEinsumOperand(left, s.in[0], inOther(right))
	if err != nil {
		return kernel{}, err
	}
	y, err := newEinsumOperand(right, s.in[1], inOther(left))
	if err != nil {
		return kernel{}, err
	}
	l, r := x.labels, y.labels
	d := &dotDimensions{}
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
		size[c] = x.typ.shape[i]
	}
	for i, c := range r {
		size[c] = y.typ.shape[i]
	}
	if len(order) != len(out) {
		return kernel{}, errors.New("has a result label that no operand has")
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
	dot, err := dotKernel(x.typ, y.typ, product, d)
	if err != nil {
		return kernel{}, err
	}
	move, err := transposeKernel(product, s.out[0], perm)
	if err != nil {
		return kernel{}, err
	}
	return kernel{scratch: int64(product.bytes()) + dot.scratch + move.scratch + x.scratch() + y.scratch(), run: func(in, out []*tensor.Tensor) error {
		t := []*tensor.Tensor{tensor.New(product.dt, mid)}
		operands := make([]*tensor.Tensor, 2)
		for i, o := range []*einsumOperand{x, y} {
			var err error
			if operands[i], err = o.load(in[i]); err != nil {
				return err
			}
		}
		if err := dot.run(operands, t); err != nil {
			return err
		}
		return move.run(t, out)
	}}, nil
}

// einsumOperand transforms an operand until its labels are distinct and all needed.
type einsumOperand struct {
	labels []rune
	typ    vtype
	steps  []kernel
	types  []vtype // result type of each step
}

// newEinsumOperand takes the diagonal of dimensions with the same label and sums the dimensions that keep rejects.
func newEinsumOperand(text string, t vtype, keep func(rune) bool) (*einsumOperand, error) {
	all := []rune(strings.TrimSpace(text))
	if len(all) != len(t.shape) {
		return nil, fmt.Errorf("has %d labels for %s", len(all), t)
	}
	o := &einsumOperand{typ: t}
	st := strides(t.shape)
	var shape tensor.Shape
	var step []int
	for i, c := range all {
		at := slices.Index(o.labels, c)
		if at < 0 {
			o.labels, shape, step = append(o.labels, c), append(shape, t.shape[i]), append(step, st[i])
			continue
		}
		if shape[at] != t.shape[i] {
			return nil, fmt.Errorf("has label %c for dimensions of sizes %d and %d", c, shape[at], t.shape[i])
		}
		step[at] += st[i]
	}
	if len(o.labels) != len(all) {
		o.step(tensorType(t.dt, shape...), diagonalKernel(step))
	}
	var kept []rune
	var summed []int64
	mid := tensor.Shape{}
	for i, c := range o.labels {
		if keep(c) {
			kept, mid = append(kept, c), append(mid, shape[i])
		} else {
			summed = append(summed, int64(i))
		}
	}
	if len(summed) > 0 {
		part := tensorType(t.dt, mid...)
		sum, err := reduceKernel(o.typ, tensorType(t.dt), part, summed, opAdd)
		if err != nil {
			return nil, err
		}
		run := sum.run
		sum.run = func(in, out []*tensor.Tensor) error { return run([]*tensor.Tensor{in[0], tensor.New(t.dt, nil)}, out) }
		o.step(part, sum)
		o.labels = kept
	}
	return o, nil
}

func (o *einsumOperand) step(t vtype, k kernel) {
	o.typ, o.types, o.steps = t, append(o.types, t), append(o.steps, k)
}

// scratch returns the bytes that load allocates.
func (o *einsumOperand) scratch() int64 {
	n := int64(0)
	for i, k := range o.steps {
		n += k.scratch + int64(o.types[i].bytes())
	}
	return n
}

// load returns the operand after all steps.
func (o *einsumOperand) load(t *tensor.Tensor) (*tensor.Tensor, error) {
	for i, k := range o.steps {
		next := tensor.New(o.types[i].dt, o.types[i].shape)
		if err := k.run([]*tensor.Tensor{t}, []*tensor.Tensor{next}); err != nil {
			return nil, err
		}
		t = next
	}
	return t, nil
}

// diagonalKernel returns a kernel that reads its operand with the given stride, in elements, per result dimension.
func diagonalKernel(step []int) kernel {
	return kernel{run: func(in, out []*tensor.Tensor) error {
		size, shape := in[0].DType().Size(), out[0].Shape()
		from, to := in[0].Bytes(), out[0].Bytes()
		at := make([]int, len(shape))
		for i := range out[0].NumElements() {
			offset := 0
			for d, k := range at {
				offset += k * step[d]
			}
			copy(to[i*size:(i+1)*size], from[offset*size:])
			for d := len(at) - 1; d >= 0; d-- {
				if at[d]++; at[d] < int(shape[d]) {
					break
				}
				at[d] = 0
			}
		}
		return nil
	}}
}

// labels returns the label of each dimension of a result; each may occur once.
func labels(text string, t vtype) ([]rune, error) {
	out := []rune(strings.TrimSpace(text))
	if len(out) != len(t.shape) {
		return nil, fmt.Errorf("has %d labels for %s", len(out), t)
	}
	for i, c := range out {
		if slices.Index(out, c) != i {
			return nil, fmt.Errorf("has label %c twice in the result", c)
		}
	}
	return out, nil
}

// makeUnaryEinsum compiles the old op unary_einsum, such as "ab->ba" or "ab->a", which sums and permutes dimensions.
func makeUnaryEinsum(s *spec) (kernel, error) {
	if len(s.in) != 1 || len(s.out) != 1 || s.in[0].dt != s.out[0].dt {
		return kernel{}, errors.New("expects one operand and one result of one element type")
	}
	arg, result, ok := strings.Cut(stringAttr(s.op, stablehlo.AttrEinsumConfig), "->")
	if !ok {
		return kernel{}, fmt.Errorf("has einsum_config %q", stringAttr(s.op, stablehlo.AttrEinsumConfig))
	}
	out, err := labels(result, s.out[0])
	if err != nil {
		return kernel{}, err
	}
	x, err := newEinsumOperand(arg, s.in[0], func(c rune) bool { return slices.Contains(out, c) })
	if err != nil {
		return kernel{}, err
	}
	if len(x.labels) != len(out) {
		return kernel{}, errors.New("has a label that the operand lacks")
	}
	perm := make([]int64, len(out))
	for i, c := range out {
		perm[i] = int64(slices.Index(x.labels, c))
	}
	move, err := transposeKernel(x.typ, s.out[0], perm)
	if err != nil {
		return kernel{}, err
	}
	return kernel{scratch: x.scratch() + move.scratch, run: func(in, out []*tensor.Tensor) error {
		t, err := x.load(in[0])
		if err != nil {
			return err
		}
		return move.run([]*tensor.Tensor{t}, out)
	}}, nil
}
