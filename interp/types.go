package interp

import (
	"fmt"

	"github.com/hlocb/hlocb/dialect/mhlo"
	"github.com/hlocb/hlocb/dialect/stablehlo"
	"github.com/hlocb/hlocb/ir"
	"github.com/hlocb/hlocb/tensor"
)

// class is the kind of content that a slot may hold.
type class uint8

const (
	classTensor class = iota
	classToken
	classTuple
	classFuture
)

// vtype is the static type of a value, as kernels see it.
type vtype struct {
	class class
	dt    tensor.DType
	shape tensor.Shape
	n     int      // number of elements; -1 if the shape is unknown before the run
	bound []int64  // bounds of the unknown sizes, ir.Dynamic for a size without bound; nil if there are no bounds
	quant *quantum // maps the stored integers to reals; nil for ordinary tensors
	elems []vtype  // the types in a tuple or future
}

// dynamic reports whether the shape, or the shape of an element of a tuple or future, is known only at run time.
func (t vtype) dynamic() bool {
	for _, e := range t.elems {
		if e.dynamic() {
			return true
		}
	}
	return t.class == classTensor && t.n < 0
}

func (t vtype) String() string {
	switch t.class {
	case classToken:
		return "!stablehlo.token"
	case classTuple, classFuture:
		return "tuple"
	}
	b := append([]byte("tensor<"), ir.AppendShape(nil, t.shape)...)
	b = append(b, t.dt.String()...)
	if t.bound != nil {
		b = append(append(b, ", "...), stablehlo.BoundsAttr.New(&stablehlo.Bounds{Bounds: t.bound}).String()...)
	}
	return string(b) + ">"
}

// zero sets all elements of x, of type t, to constant(0, element_type): for quantized elements the zero point, for
// f8E8M0FNU, which has no zero, NaN.
func (t vtype) zero(x *tensor.Tensor) {
	switch {
	case t.quant != nil:
		for i := range x.NumElements() {
			_, zero := t.quant.at(x.Shape(), i)
			x.SetBits(i, uint64(zero))
		}
	case t.dt == tensor.F8E8M0FNU:
		nan := byte(tensor.EncodeFloat(t.dt, 0))
		for i := range x.Bytes() {
			x.Bytes()[i] = nan
		}
	default:
		clear(x.Bytes())
	}
}

// beyond returns the first dimension of shape that is larger than t's bound for it, or -1 if there is none.
func (t vtype) beyond(shape tensor.Shape) int {
	for i, b := range t.bound {
		if i < len(shape) && b >= 0 && shape[i] > b {
			return i
		}
	}
	return -1
}

func (t vtype) bytes() int { return t.n * t.dt.Size() }

// tensorType returns the type of a tensor of static shape.
func tensorType(dt tensor.DType, shape ...int64) vtype {
	return vtype{dt: dt, shape: shape, n: int(tensor.Shape(shape).NumElements())}
}

// maxElements limits the elements of one tensor. Sizes in bytes then never overflow.
const maxElements = 1 << 55

// typeOf translates an IR type.
func typeOf(t ir.Type) (vtype, error) {
	switch t := t.(type) {
	case *ir.TensorType:
		v := vtype{dt: t.DType()}
		if v.dt == tensor.Invalid {
			q, err := quantumOf(t.Elem())
			if err != nil {
				return v, err
			}
			v.quant, v.dt = q, q.storage
		}
		if !t.Ranked() {
			v.n = -1
			return v, nil
		}
		v.shape = t.Shape()
		v.n = 1
		if !t.Static() {
			v.n = -1
			v.bound = stablehlo.BoundsOf(t)
			return v, nil
		}
		n := v.shape.NumElements()
		if n < 0 || n > maxElements {
			return v, fmt.Errorf("type %s is too large", t)
		}
		v.n = int(n)
		return v, nil
	case *ir.TupleType:
		return compound(classTuple, t.Elems())
	case *ir.DialectType:
		if stablehlo.IsToken(t) {
			return vtype{class: classToken}, nil
		}
		if f, ok := t.Data().(*stablehlo.Future); ok {
			return compound(classFuture, f.Types)
		}
		if _, ok := t.Data().(*mhlo.AsyncBundle); ok {
			return vtype{class: classFuture}, nil // the op that makes it determines its content
		}
	case *ir.ShapedType:
		if t.Kind() == ir.MemRef && t.Rest() == "" {
			if d := ir.ElementDType(t); d != tensor.Invalid {
				if n := tensor.Shape(t.Shape()).NumElements(); n >= 0 && n <= maxElements {
					return tensorType(d, t.Shape()...), nil
				}
			}
		}
	}
	return vtype{}, fmt.Errorf("values of type %s are not executed", t)
}

func compound(c class, elems []ir.Type) (vtype, error) {
	v := vtype{class: c}
	for _, e := range elems {
		et, err := typeOf(e)
		if err != nil {
			return v, err
		}
		v.elems = append(v.elems, et)
	}
	return v, nil
}

// strides returns the row-major strides of a shape, in elements.
func strides(shape tensor.Shape) []int {
	s := make([]int, len(shape))
	n := 1
	for i := len(shape) - 1; i >= 0; i-- {
		s[i] = n
		n *= int(shape[i])
	}
	return s
}

func ints(s []int64) []int {
	out := make([]int, len(s))
	for i, v := range s {
		out[i] = int(v)
	}
	return out
}

func product(s []int) int {
	n := 1
	for _, d := range s {
		n *= d
	}
	return n
}
