package plan

import (
	"fmt"

	"github.com/hlocb/hlocb/ir"
)

// IntsAttr returns an integer list attribute: array<i64: ...>, dense<...> or [...]; nil if it is absent.
func IntsAttr(op *ir.Op, name string) ([]int64, error) {
	switch a := op.Attr(name).(type) {
	case nil:
		return nil, nil
	case *ir.DenseArrayAttr:
		return a.Values(), nil
	case *ir.DenseAttr:
		v, err := a.Int64s()
		if err != nil {
			return nil, fmt.Errorf("attribute %q: %w", name, err)
		}
		return v, nil
	case *ir.ArrayAttr:
		out := make([]int64, len(a.Elems()))
		for i, e := range a.Elems() {
			v, ok := e.(*ir.IntegerAttr)
			if !ok {
				return nil, fmt.Errorf("attribute %q is not a list of integers", name)
			}
			out[i] = v.Value()
		}
		return out, nil
	}
	return nil, fmt.Errorf("attribute %q is not a list of integers", name)
}

// IntsOr returns the list, or n copies of def if the attribute is absent.
func IntsOr(op *ir.Op, name string, n int, def int64) ([]int64, error) {
	v, err := IntsAttr(op, name)
	if err != nil {
		return nil, err
	}
	if v == nil {
		v = make([]int64, n)
		for i := range v {
			v[i] = def
		}
	}
	if len(v) != n {
		return nil, fmt.Errorf("attribute %q has %d entries for %d dimensions", name, len(v), n)
	}
	return v, nil
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
func Data[T any](op *ir.Op, name string) (data T, err error) {
	if a, ok := op.Attr(name).(*ir.DialectAttr); ok {
		if data, ok = a.Data().(T); ok {
			return data, nil
		}
	}
	return data, fmt.Errorf("has no %s", name)
}
