package runtime

import (
	"github.com/hlocb/hlocb/hook"
	"github.com/hlocb/hlocb/tensor"
)

// SetResult gives result i a value, which is copied. It returns a *ShapeError, and writes nothing, where the value has
// not the type and shape that the program takes.
func (c *Call) SetResult(i int, value *tensor.Tensor) error {
	r := c.Results[i]
	if value.DType() != r.DType() || !value.Shape().Equal(r.Shape()) {
		return &ShapeError{Result: i, Got: typeOf(value), Want: typeOf(r)}
	}
	copy(r.Bytes(), value.Peek())
	return nil
}

// SetResultBytes gives result i its elements as bytes, row-major and little-endian, which are copied. It returns a
// *SizeError, and writes nothing, where they are more or fewer than the result has.
func (c *Call) SetResultBytes(i int, data []byte) error {
	r := c.Results[i]
	if len(data) != len(r.Peek()) {
		return &SizeError{Result: i, Got: len(data), Want: len(r.Peek()), Unit: "bytes", Type: typeOf(r)}
	}
	copy(r.Bytes(), data)
	return nil
}

// typeOf returns a tensor's type; the shape is the tensor's own, which backends never change.
func typeOf(t *tensor.Tensor) hook.TensorType {
	return hook.TensorType{DType: t.DType(), Shape: t.Shape()}
}
