package runtime

import (
	"slices"

	"github.com/hlocb/hlocb/hook"
	"github.com/hlocb/hlocb/tensor"
)

// SetResult copies value to result i. If value has another type or shape than the result, SetResult writes nothing
// and returns a *ShapeError.
func (c *Call) SetResult(i int, value *tensor.Tensor) error {
	r := c.Results[i]
	if value.DType() != r.DType() || !value.Shape().Equal(r.Shape()) {
		return &ShapeError{Result: i, Got: hook.TypeOf(value), Want: hook.TypeOf(r)}
	}
	copy(r.Bytes(), value.Peek())
	return nil
}

// MatchOperands returns, for each result, the first operand of its type that no result before it got, or nil.
func (c *Call) MatchOperands() []*tensor.Tensor {
	free := slices.Clone(c.Operands)
	out := make([]*tensor.Tensor, len(c.Results))
	for i, r := range c.Results {
		k := slices.IndexFunc(free, func(o *tensor.Tensor) bool {
			return o.DType() == r.DType() && o.Shape().Equal(r.Shape())
		})
		if k >= 0 {
			out[i] = free[k]
			free = slices.Delete(free, k, k+1)
		}
	}
	return out
}

// SetResultBytes copies data to result i. data holds the elements, row-major and little-endian; any byte except 0 is
// true for i1. If data and the result differ in size, SetResultBytes writes nothing and returns a *SizeError.
func (c *Call) SetResultBytes(i int, data []byte) error {
	r := c.Results[i]
	if len(data) != len(r.Peek()) {
		return &SizeError{Result: i, Got: len(data), Want: len(r.Peek()), Unit: "bytes", Type: hook.TypeOf(r)}
	}
	copy(r.Bytes(), data)
	return nil
}
