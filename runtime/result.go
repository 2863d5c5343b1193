package runtime

import (
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
