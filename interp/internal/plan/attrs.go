package plan

import (
	"fmt"

	"github.com/hlocb/hlocb/interp/internal/kernel"
	"github.com/hlocb/hlocb/ir"
)

// IntsAttr returns an integer list attribute: array<i64: ...>, dense<...> or [...]; nil if it is absent.
func IntsAttr(op *ir.Op, name string) []int64 {
	switch a := op.Attr(name).(type) {
	case nil:
		return nil
	case *ir.DenseArrayAttr:
		return a.Values()
	case *ir.DenseAttr:
		v, err := a.Int64s()
		kernel.FailIf(err != nil, "attribute %q: %w", name, err)
		return v
	case *ir.ArrayAttr:
		out := make([]int64, len(a.Elems()))
		for i, e := range a.Elems() {
			v, ok := e.(*ir.IntegerAttr)
			kernel.FailIf(!ok, "attribute %q is not a list of integers", name)
			out[i] = v.Value()
		}
		return out
	}
	panic(kernel.Failure{Err: fmt.Errorf("attribute %q is not a list of integers", name)})
}

// IntsOr returns the list, or n copies of def if the attribute is absent.
func IntsOr(op *ir.Op, name string, n int, def int64) []int64 {
	v := IntsAttr(op, name)
	if v == nil {
		v = make([]int64, n)
		for i := range v {
			v[i] = def
		}
	}
	kernel.FailIf(len(v) != n, "attribute %q has %d entries for %d dimensions", name, len(v), n)
	return v
}

// EnumAttr returns the spelling of an enumerated attribute, or def if the attribute is absent.
func EnumAttr(op *ir.Op, name, def string) string {
	switch a := op.Attr(name).(type) {
	case *ir.EnumAttr:
		return a.Case()
	case *ir.StringAttr:
		return a.Value()
	}
	return def
}

// Data returns the content of a dialect's attribute.
func Data[T any](op *ir.Op, name string) T {
	data, ok := DataIf[T](op, name)
	kernel.FailIf(!ok, "has no %s", name)
	return data
}

// DataIf returns the content of a dialect's attribute, or false if the op has none.
func DataIf[T any](op *ir.Op, name string) (data T, ok bool) {
	if a, is := op.Attr(name).(*ir.DialectAttr); is {
		data, ok = a.Data().(T)
	}
	return data, ok
}
