package plan

import (
	"fmt"

	"github.com/hlocb/hlocb/dialect/mhlo"
	"github.com/hlocb/hlocb/dialect/stablehlo"
	"github.com/hlocb/hlocb/interp/internal/kernel"
	"github.com/hlocb/hlocb/ir"
	"github.com/hlocb/hlocb/tensor"
)

// plain reports whether values of the type are tensors of static shape that are not quantized.
func plain(t kernel.Type) bool {
	return t.Class == kernel.ClassTensor && !t.Dynamic() && t.Quant == nil
}

// TypeOf translates an IR type.
func TypeOf(t ir.Type) (kernel.Type, error) {
	switch t := t.(type) {
	case *ir.TensorType:
		v := kernel.Type{DType: t.DType()}
		if v.DType == tensor.Invalid {
			q, err := quantumOf(t.Elem())
			if err != nil {
				return v, err
			}
			v.Quant, v.DType = q, q.Storage
		}
		if !t.Ranked() {
			v.N = -1
			return v, nil
		}
		v.Shape = t.Shape()
		v.N = 1
		if !t.Static() {
			v.N = -1
			v.Bound = stablehlo.BoundsOf(t)
			return v, nil
		}
		n := v.Shape.NumElements()
		if n < 0 || n > kernel.MaxElements {
			return v, fmt.Errorf("type %s is too large", t)
		}
		v.N = int(n)
		return v, nil
	case *ir.TupleType:
		return compound(kernel.ClassTuple, t.Elems())
	case *ir.DialectType:
		if stablehlo.IsToken(t) {
			return kernel.Type{Class: kernel.ClassToken}, nil
		}
		if f, ok := t.Data().(*stablehlo.Future); ok {
			return compound(kernel.ClassFuture, f.Types)
		}
		if _, ok := t.Data().(*mhlo.AsyncBundle); ok {
			return kernel.Type{Class: kernel.ClassFuture}, nil // the op that makes it determines its content
		}
	case *ir.ShapedType:
		if t.Kind() == ir.MemRef && t.Rest() == "" {
			if d := ir.ElementDType(t); d != tensor.Invalid {
				if n := tensor.Shape(t.Shape()).NumElements(); n >= 0 && n <= kernel.MaxElements {
					return kernel.TensorType(d, t.Shape()...), nil
				}
			}
		}
	}
	return kernel.Type{}, fmt.Errorf("values of type %s are not executed", t)
}

func compound(c kernel.Class, elems []ir.Type) (kernel.Type, error) {
	types, err := typesOf(elems)
	return kernel.Type{Class: c, Elems: types}, err
}
