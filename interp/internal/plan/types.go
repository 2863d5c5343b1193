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
func TypeOf(t ir.Type) kernel.Type {
	switch t := t.(type) {
	case *ir.TensorType:
		v := kernel.Type{DType: t.DType()}
		if v.DType == tensor.Invalid {
			v.Quant = quantumOf(t.Elem())
			v.DType = v.Quant.Storage
		}
		if !t.Ranked() {
			v.N = -1
			return v
		}
		v.Shape = t.Shape()
		v.N = 1
		if !t.Static() {
			v.N = -1
			v.Bound = stablehlo.BoundsOf(t)
			return v
		}
		n := v.Shape.NumElements()
		kernel.FailIf(n < 0 || n > kernel.MaxElements, "type %s is too large", t)
		v.N = int(n)
		return v
	case *ir.TupleType:
		return kernel.Type{Class: kernel.ClassTuple, Elems: typesOf(t.Elems())}
	case *ir.DialectType:
		if stablehlo.IsToken(t) {
			return kernel.Type{Class: kernel.ClassToken}
		}
		if f, ok := t.Data().(*stablehlo.Future); ok {
			return kernel.Type{Class: kernel.ClassFuture, Elems: typesOf(f.Types)}
		}
		if _, ok := t.Data().(*mhlo.AsyncBundle); ok {
			return kernel.Type{Class: kernel.ClassFuture} // the op that makes it determines its content
		}
	case *ir.ShapedType:
		if t.Kind() == ir.MemRef && t.Rest() == "" {
			if d := ir.ElementDType(t); d != tensor.Invalid {
				if n := tensor.Shape(t.Shape()).NumElements(); n >= 0 && n <= kernel.MaxElements {
					return kernel.TensorType(d, t.Shape()...)
				}
			}
		}
	}
	panic(kernel.Failure{Err: fmt.Errorf("values of type %s are not executed", t)})
}
