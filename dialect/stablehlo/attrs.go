package stablehlo

import "github.com/hlocb/hlocb/ir"

// parsed returns the constraint of the dialect's own attributes named name, which are read as a T.
func parsed[T any](name, summary string) ir.AttrConstraint {
	return ir.AttrConstraint{Summary: summary, Form: ir.FormParams, FormName: name, Check: func(a ir.Attr) bool {
		d, ok := a.(*ir.DialectAttr)
		if !ok {
			return false
		}
		_, ok = d.Data().(*T)
		return ok
	}}
}
