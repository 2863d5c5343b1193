// Package densebytes converts dense literals to the bytes that MLIR stores, and back: little endian, one element for a
// splat, i1 packed eight to a byte.
package densebytes

import (
	"strconv"
	"strings"

	"github.com/hlocb/hlocb/ir"
	"github.com/hlocb/hlocb/tensor"
)

// Attr returns the dense attribute of type t, with the given shape and element type, from its stored bytes. If b is
// invalid, problem says why.
func Attr(t ir.Type, shape tensor.Shape, elem ir.Type, b []byte) (a *ir.DenseAttr, problem string) {
	n := shape.NumElements()
	if n < 0 {
		return nil, t.String() + " has too many elements"
	}
	dtype := ir.ElementDType(elem)
	if dtype == tensor.Invalid {
		return foreignDense(t, shape, elem, b)
	}
	size := dtype.Size()
	one := make(tensor.Shape, len(shape))
	for i := range one {
		one[i] = 1
	}
	wrong := func() string {
		return strconv.Itoa(len(b)) + " bytes do not hold the elements of " + t.String()
	}
	if dtype == tensor.I1 {
		switch {
		case len(b) == 1 && (b[0] == 0xff || b[0] == 0):
			v := tensor.New(dtype, one)
			v.Bytes()[0] = b[0] & 1
			return ir.NewDense(t, v, true), ""
		case int64(len(b)) == n:
			v := tensor.New(dtype, shape)
			for i, x := range b {
				if x > 1 {
					return nil, "expected 0 or 1 for an element of type i1"
				}
				v.Bytes()[i] = x
			}
			return ir.NewDense(t, v, false), ""
		case int64(len(b)) == (n+7)/8:
			v := tensor.New(dtype, shape)
			out := v.Bytes()
			for i := range out {
				out[i] = b[i/8] >> (i % 8) & 1
			}
			return ir.NewDense(t, v, false), ""
		}
		return nil, wrong()
	}
	splat := len(b) == size && n != 1
	if splat {
		shape = one
	} else if int64(len(b)) != n*int64(size) || n > int64(len(b)) {
		return nil, wrong()
	}
	v := tensor.New(dtype, shape)
	copy(v.Bytes(), b)
	if dtype.Bits() < 8*size && !narrow(v, dtype) {
		return nil, "an element of " + t.String() + " has more bits than its type"
	}
	return ir.NewDense(t, v, splat || n == 1), ""
}

// narrow converts elements narrower than a byte to the representation in tensors, which sign-extends signed elements.
// It reports whether all elements fit their type.
func narrow(v *tensor.Tensor, dtype tensor.DType) bool {
	w := dtype.Bits()
	for i, x := range v.Bytes() {
		if x>>w != 0 && x>>w != 0xff>>w {
			return false
		}
		if dtype.Kind() == tensor.KindSigned {
			v.Bytes()[i] = byte(int8(x<<(8-w)) >> (8 - w))
		} else {
			v.Bytes()[i] = x << (8 - w) >> (8 - w)
		}
	}
	return true
}

// Of returns the stored bytes of a. ok is false if its elements are not numbers.
func Of(a *ir.DenseAttr) (b []byte, ok bool) {
	v, splat, err := a.Elements()
	if err != nil {
		switch t := a.Type().(type) {
		case *ir.TensorType:
			return foreignBytes(strings.TrimSpace(string(a.Text())), t.Elem(), a.NumElements())
		case *ir.ShapedType:
			return foreignBytes(strings.TrimSpace(string(a.Text())), t.Elem(), a.NumElements())
		}
		return nil, false
	}
	b = v.Peek()
	size := v.DType().Size()
	if !splat && len(b) > size && allEqual(b, size) {
		b, splat = b[:size], true
	}
	if splat && len(b) > size {
		b = b[:size]
	}
	switch d := v.DType(); {
	case d == tensor.I1:
		if len(b) == 1 {
			return []byte{-b[0]}, true
		}
		out := make([]byte, (len(b)+7)/8)
		for i, x := range b {
			out[i/8] |= x << (i % 8)
		}
		return out, true
	case d.Bits() < 8 && d.Kind() == tensor.KindSigned: // tensors extend the sign
		out := make([]byte, len(b))
		for i, x := range b {
			out[i] = x << (8 - d.Bits()) >> (8 - d.Bits())
		}
		return out, true
	}
	return b, true
}

func allEqual(b []byte, size int) bool {
	return string(b[size:]) == string(b[:len(b)-size])
}
