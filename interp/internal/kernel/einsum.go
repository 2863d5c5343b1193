package kernel

import (
	"fmt"
	"slices"
	"strings"

	"github.com/hlocb/hlocb/tensor"
)

// EinsumOperand transforms an operand until its labels are distinct and all needed.
type EinsumOperand struct {
	Labels []rune
	Typ    Type
	steps  []Kernel
	types  []Type // result type of each step
}

// NewEinsumOperand takes the diagonal of dimensions with the same label and sums the dimensions that keep rejects.
func NewEinsumOperand(text string, t Type, keep func(rune) bool) (*EinsumOperand, error) {
	all := []rune(strings.TrimSpace(text))
	if len(all) != len(t.Shape) {
		return nil, fmt.Errorf("has %d labels for %s", len(all), t)
	}
	o := &EinsumOperand{Typ: t}
	st := Strides(t.Shape)
	var shape tensor.Shape
	var step []int
	for i, c := range all {
		at := slices.Index(o.Labels, c)
		if at < 0 {
			o.Labels, shape, step = append(o.Labels, c), append(shape, t.Shape[i]), append(step, st[i])
			continue
		}
		if shape[at] != t.Shape[i] {
			return nil, fmt.Errorf("has label %c for dimensions of sizes %d and %d", c, shape[at], t.Shape[i])
		}
		step[at] += st[i]
	}
	if len(o.Labels) != len(all) {
		o.step(TensorType(t.DType, shape...), diagonalKernel(step))
	}
	var kept []rune
	var summed []int64
	mid := tensor.Shape{}
	for i, c := range o.Labels {
		if keep(c) {
			kept, mid = append(kept, c), append(mid, shape[i])
		} else {
			summed = append(summed, int64(i))
		}
	}
	if len(summed) > 0 {
		part := TensorType(t.DType, mid...)
		sum, err := ReduceKernel(o.Typ, TensorType(t.DType), part, summed, Add, nil)
		if err != nil {
			return nil, err
		}
		run := sum.Run
		sum.Run = func(in, out []*tensor.Tensor) error {
			return run([]*tensor.Tensor{in[0], tensor.New(t.DType, nil)}, out)
		}
		o.step(part, sum)
		o.Labels = kept
	}
	return o, nil
}

func (o *EinsumOperand) step(t Type, k Kernel) {
	o.Typ, o.types, o.steps = t, append(o.types, t), append(o.steps, k)
}

// Scratch returns the bytes that Load allocates.
func (o *EinsumOperand) Scratch() int64 {
	n := int64(0)
	for i, k := range o.steps {
		n += k.Scratch + int64(o.types[i].Bytes())
	}
	return n
}

// Load returns the operand after all steps.
func (o *EinsumOperand) Load(t *tensor.Tensor) (*tensor.Tensor, error) {
	for i, k := range o.steps {
		next := tensor.New(o.types[i].DType, o.types[i].Shape)
		if err := k.Run([]*tensor.Tensor{t}, []*tensor.Tensor{next}); err != nil {
			return nil, err
		}
		t = next
	}
	return t, nil
}

// diagonalKernel returns a kernel that reads its operand with the given stride, in elements, per result dimension.
func diagonalKernel(step []int) Kernel {
	return Kernel{Family: "diagonal", Run: func(in, out []*tensor.Tensor) error {
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

// Labels returns the label of each dimension of a result; each may occur once.
func Labels(text string, t Type) ([]rune, error) {
	out := []rune(strings.TrimSpace(text))
	if len(out) != len(t.Shape) {
		return nil, fmt.Errorf("has %d labels for %s", len(out), t)
	}
	for i, c := range out {
		if slices.Index(out, c) != i {
			return nil, fmt.Errorf("has label %c twice in the result", c)
		}
	}
	return out, nil
}
