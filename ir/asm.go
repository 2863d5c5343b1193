package ir

import (
	"fmt"

	"github.com/hlocb/hlocb/diag"
)

// AsmParser is what the Parse hook of a Def and the ParseType and ParseAttr hooks of a Dialect read with. Its
// methods do not return errors: the first mistake is reported with its position and ends the parse.
type AsmParser interface {
	Context() *Context
	// Errorf reports a mistake at the current token and does not return.
	Errorf(format string, args ...any)
}

// AsmPrinter is what the Print hook of a Def writes with.
type AsmPrinter interface {
	Print(s string)
}

// Reporter collects what is found wrong with a module.
type Reporter struct {
	src  *diag.Source
	list diag.List
}

// Errorf reports an error at op. As in MLIR the message starts with the op's name: 'stablehlo.add' op ...
func (r *Reporter) Errorf(op *Op, format string, args ...any) *diag.Diagnostic {
	d := diag.Errorf(r.src, op.pos, "'%s' op %s", op.def.Name, fmt.Sprintf(format, args...))
	r.list.Add(d)
	return d
}
