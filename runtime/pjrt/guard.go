package pjrt

import (
	"strings"

	"github.com/hlocb/hlocb/diag"
	"github.com/hlocb/hlocb/ir"
)

// Check looks for what a PJRT plugin must not be given: programs that would block for ever, because nothing
// feeds or drains them through the PJRT C API, and calls that crash XLA's compiler. The error is a diag.List with
// the positions.
//
// Programs that hlocb rewrote pass; it is those run as written that do not.
func Check(m *ir.Module) error {
	var list diag.List
	m.Walk(func(o *ir.Op) bool {
		dialect, name, _ := strings.Cut(o.Name(), ".")
		if dialect != "stablehlo" && dialect != "mhlo" {
			return true
		}
		switch name {
		case "outfeed":
			list.Add(m.Errorf(o, "'%s' op would block for ever: nothing drains the outfeed through the PJRT C API", o.Name()))
		case "infeed":
			list.Add(m.Errorf(o, "'%s' op would block for ever: nothing fills the infeed through the PJRT C API", o.Name()))
		case "send", "recv":
			list.Add(m.Errorf(o, "'%s' op would block for ever: no host answers transfers to it through the PJRT C API", o.Name()))
		case "custom_call":
			if a, ok := o.Attr("output_operand_aliases").(*ir.ArrayAttr); ok && len(a.Elems()) > 0 && o.NumResults() == 0 {
				list.Add(m.Errorf(o, "'%s' op has output_operand_aliases but no results, which crashes XLA", o.Name()))
			}
		}
		return true
	})
	return list.Err()
}
