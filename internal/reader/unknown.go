package reader

import (
	"fmt"

	"github.com/hlocb/hlocb/diag"
	"github.com/hlocb/hlocb/ir"
)

// Warnings returns the warnings about a module that was read: UnknownOps and Misspelled.
func Warnings(m *ir.Module) diag.List { return append(UnknownOps(m), Misspelled(m)...) }

// UnknownOps returns a warning for the first op of each kind that its dialect, which hlocb knows, does not have. MLIR
// refuses such ops, as RefuseUnknownOps does. All other functions carry them, because a newer version of the dialect
// may have the op.
func UnknownOps(m *ir.Module) diag.List {
	var found diag.List
	seen := map[*ir.Def]bool{}
	m.Walk(func(o *ir.Op) bool {
		row := o.Def()
		if row.Known() || seen[row] {
			return true
		}
		seen[row] = true
		d := m.Registry().Dialect(row.Dialect())
		if d == nil || d.OpenOps || m.Registry().Lookup(row.Name) != nil {
			return true
		}
		message := fmt.Sprintf("unregistered operation '%s' found in dialect ('%s') that does not allow unknown operations", row.Name, d.Name)
		names := make([]string, len(d.Ops))
		for i, known := range d.Ops {
			names[i] = known.Name
		}
		if s := diag.Closest(row.Name, names); s != "" {
			message += "; did you mean '" + s + "'?"
		}
		found.Add(&diag.Diagnostic{Source: m.Source(), Pos: o.Pos(), Severity: diag.Warning, Message: message})
		return len(found) < MaxErrors
	})
	return found[:min(len(found), MaxErrors)]
}

// RefuseUnknownOps returns the warnings of UnknownOps as errors.
func RefuseUnknownOps(m *ir.Module) error {
	list := UnknownOps(m)
	for _, d := range list {
		d.Severity = diag.Error
	}
	return list.Err()
}
