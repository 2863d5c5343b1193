package order

import (
	"slices"

	"github.com/hlocb/hlocb/dialect/hookop"
	"github.com/hlocb/hlocb/dialect/stablehlo"
	"github.com/hlocb/hlocb/dialect/view"
	"github.com/hlocb/hlocb/hook"
	"github.com/hlocb/hlocb/internal/hook/irutil"
	"github.com/hlocb/hlocb/ir"
	"github.com/hlocb/hlocb/tensor"
)

// hookOf returns the id of the hook op, raised or lowered, and whether operand 0 and result 0 are its chain.
func hookOf(op *ir.Op) (id hook.ID, chained, ok bool) {
	if h, isHook := hookop.AsHook(op); isHook {
		return h.ID(), h.Chained(), true
	}
	if !isLowered(op) {
		return 0, false, false
	}
	c, _ := op.Attr(stablehlo.AttrBackendConfig).(*ir.DictAttr)
	return hook.ID(view.Int(c.Get("id"))), view.Bool(c.Get("chained")), true
}

// isLowered reports whether op is a hook written as hlocb's own call.
func isLowered(op *ir.Op) bool {
	return op.IsOrMirrors(stablehlo.CustomCall) && irutil.IsTarget(op, hook.Target)
}

// isState reports whether t is the type of a state chain.
func isState(t ir.Type) bool {
	tt, ok := t.(*ir.TensorType)
	return ok && tt.Rank() == 0 && tt.DType() == tensor.UI64
}

// isZero reports whether op is an integer constant whose elements are all zero.
func isZero(op *ir.Op) bool {
	vals, ok := irutil.Integers(op.Result(0))
	return ok && !slices.ContainsFunc(vals, func(v int64) bool { return v != 0 })
}

// element returns the index of the element that a get_tuple_element extracts.
func element(op *ir.Op) int {
	i, _ := op.Attr(stablehlo.AttrIndex).(*ir.IntegerAttr)
	if i == nil {
		return -1
	}
	return int(i.Value())
}
