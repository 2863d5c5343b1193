package reader

import (
	"strings"

	"github.com/hlocb/hlocb/diag"
	"github.com/hlocb/hlocb/dialect/mhlo"
	"github.com/hlocb/hlocb/ir"
)

// Misspelled returns a warning for each attribute of m that is probably a misspelled attribute of its op, at most
// MaxErrors of them: the op's kind does not have it, it is in no dialect's namespace, and its name is close to the name
// of an attribute that the kind has and the op lacks. MLIR and Verify accept such attributes silently, like any other
// unknown attribute.
func Misspelled(m *ir.Module) diag.List {
	var found diag.List
	m.Walk(func(o *ir.Op) bool {
		if !o.Def().Known() {
			return true
		}
		for _, a := range o.Attrs() {
			if a.Inherent || len(a.Name) < shortestMisspelled || strings.IndexByte(a.Name, '.') >= 0 || a.Name == mhlo.AttrOutputOperandAliasing && o.Is(mhlo.Fusion) {
				continue
			}
			var absent []string
			for _, s := range o.Def().Attrs {
				if v := o.Attr(s.Name); v == nil || s.Default != nil && ir.EqualAttrs(v, s.Default) {
					absent = append(absent, s.Name)
				}
			}
			if similar := diag.Closest(a.Name, absent); similar != "" {
				found.Add(&diag.Diagnostic{Source: m.Source(), Pos: o.Pos(), Severity: diag.Warning,
					Message: "'" + a.Name + "' is not an attribute of '" + o.Name() + "'; did you mean '" + similar + "'?"})
			}
		}
		return len(found) < MaxErrors
	})
	return found[:min(len(found), MaxErrors)]
}

// shortestMisspelled is the length of the shortest name that counts as a misspelled one: shorter names are near each
// other by chance.
const shortestMisspelled = 4
