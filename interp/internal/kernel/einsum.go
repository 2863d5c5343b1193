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
		diagonal := CopyKernel(NewStridedCopy(Ints(shape), Strides(shape), step), t.DType.Size(), 0, 0)
		o.step(TensorType(t.DType, shape...), diagonal)
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
		sum.Run = func(in, out []*tensor.Tensor) {
			run([]*tensor.Tensor{in[0], tensor.New(t.DType, nil)}, out)
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
func (o *EinsumOperand) Load(t *tensor.Tensor) *tensor.Tensor {
	for i, k := range o.steps {
		next := tensor.New(o.types[i].DType, o.types[i].Shape)
		k.Run([]*tensor.Tensor{t}, []*tensor.Tensor{next})
		t = next
	}
	return t
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
