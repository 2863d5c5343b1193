package runtime

import (
	"fmt"

	"github.com/hlocb/hlocb/hook"
	"github.com/hlocb/hlocb/tensor"
)

// Remote is how a call reaches values in memory that the host cannot read. Backends supply it.
type Remote interface {
	// Read copies the first n elements of operand i to a new vector.
	Read(i, n int) (*tensor.Tensor, error)
}

// Operand returns operand i with its elements. It copies them if they are in memory that the host cannot read and no
// handler of the hook asks for host views.
func (c *Call) Operand(i int) (*tensor.Tensor, error) {
	t := c.Operands[i]
	if c.onHost(t) {
		return t, nil
	}
	v, err := c.Remote.Read(i, int(t.Shape().NumElements()))
	if err != nil {
		return nil, fmt.Errorf("operand %d: %w", i, err)
	}
	return v.Reshape(t.Shape()), nil
}

func (c *Call) onHost(t *tensor.Tensor) bool {
	return c.Remote == nil || len(t.Peek()) > 0 || t.Shape().NumElements() == 0
}

// Head returns the first n elements of operand i in row-major order, or all if it has fewer, as a vector. It copies
// them if they are in memory that the host cannot read and the handler's MemoryUse has a smaller Head.
func (c *Call) Head(i, n int) (*tensor.Tensor, error) {
	t := c.Operands[i]
	n = min(n, int(t.Shape().NumElements()))
	if !c.onHost(t) {
		if i >= len(c.Heads) || c.Heads[i].NumElements() < n {
			v, err := c.Remote.Read(i, n)
			if err != nil {
				return nil, fmt.Errorf("operand %d: %w", i, err)
			}
			return v, nil
		}
		t = c.Heads[i]
	}
	return tensor.FromBytes(t.DType(), tensor.Shape{int64(n)}, t.Peek()[:n*t.DType().Size()])
}

// Statistics returns the statistics of operand i: those that the program computed on its device, for a handler whose
// MemoryUse has Statistics, or else of a host view or a copy.
func (c *Call) Statistics(i int) (Statistics, error) {
	if i < len(c.Stats) && !c.onHost(c.Operands[i]) {
		return c.Stats[i], nil
	}
	t, err := c.Operand(i)
	if err != nil {
		return Statistics{}, err
	}
	return StatisticsOf(t), nil
}

// Return makes t the value of result i, instead of a write to c.Results[i]. t is an operand of the call, which then is
// copied on its device, or another tensor, which must not change before Handle returns. If t has another type or shape
// than the result, Return does nothing and returns a *ShapeError.
func (c *Call) Return(i int, t *tensor.Tensor) error {
	if c.Remote == nil {
		return c.SetResult(i, t)
	}
	if r := c.Results[i]; t.DType() != r.DType() || !t.Shape().Equal(r.Shape()) {
		return &ShapeError{Result: i, Got: hook.TypeOf(t), Want: hook.TypeOf(r)}
	}
	for len(c.returned) <= i {
		c.returned = append(c.returned, nil)
	}
	c.returned[i] = t
	return nil
}

// Returned returns the argument of Return for result i, nil if the handler wrote the result. Backends with a Remote
// call it after Deliver.
func (c *Call) Returned(i int) *tensor.Tensor {
	if i < len(c.returned) {
		return c.returned[i]
	}
	return nil
}
