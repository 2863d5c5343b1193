package ir

import (
	"strings"

	"github.com/hlocb/hlocb/diag"
)

// Misspelt returns a warning for each attribute of m that is probably a misspelt attribute of its op: one that the kind of
// the op does not have, in no dialect's namespace, whose name is nearly that of an attribute that the kind has and the op
// lacks. MLIR takes such attributes without a word, as it takes any other, and Verify does as well.
func Misspelt(m *Module) diag.List {
	var found diag.List
	m.Walk(func(o *Op) bool {
		if o.def.unknown {
			return true
		}
		for _, a := range o.attrs {
			if a.Inherent || len(a.Name) < shortestMisspelt || strings.IndexByte(a.Name, '.') >= 0 {
				continue
			}
			var lacking []string
			for i := range o.def.Attrs {
				if name := o.def.Attrs[i].Name; o.Attr(name) == nil || o.isDefault(&o.def.Attrs[i]) {
					lacking = append(lacking, name)
				}
			}
			if meant := diag.Closest(a.Name, lacking); meant != "" {
				found.Add(&diag.Diagnostic{Source: m.source, Pos: o.pos, Severity: diag.Warning,
					Message: "'" + a.Name + "' is no attribute of '" + o.def.Name + "', and says nothing to it; did you mean '" + meant + "'?"})
			}
		}
		return true
	})
	return found
}

// shortestMisspelt is the length of names from which on one that is near another is not just another.
const shortestMisspelt = 4

// isDefault reports whether the attribute of s has the value that reading an op without it sets.
func (o *Op) isDefault(s *AttrSpec) bool {
	return s.Default != nil && EqualAttrs(o.Attr(s.Name), s.Default)
}
