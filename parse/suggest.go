package parse

import (
	"strings"

	"github.com/hlocb/hlocb/diag"
)

// unknownOp fails for a name that no definition has, and suggests a similar name.
func (p *parser) unknownOp(name, tried string) {
	d := diag.Errorf(p.source, p.pos(), "custom op '%s' is unknown%s", name, tried)
	if p.reg != nil {
		full := name
		if strings.IndexByte(name, '.') < 0 {
			full = p.ops.defaults[len(p.ops.defaults)-1] + "." + name
		}
		dialect, _, _ := strings.Cut(full, ".")
		var known []string
		for _, d := range p.reg.Dialects() {
			for _, def := range d.Ops {
				known = append(known, def.Name)
			}
		}
		if s := diag.Closest(full, known); s != "" {
			d.Note(p.pos(), "did you mean '%s'?", s)
		} else if p.reg.Dialect(dialect) == nil {
			d.Note(p.pos(), "operations of dialects that are not known are read in generic form: \"%s\"(...)", full)
		}
	}
	panic(bailout{d})
}
