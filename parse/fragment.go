package parse

import (
	"github.com/hlocb/hlocb/diag"
	"github.com/hlocb/hlocb/ir"
)

// Attr reads a text that is one attribute. The error is a *diag.Diagnostic.
func Attr(src *diag.Source, ctx *ir.Context) (ir.Attr, error) {
	return fragment(src, ctx, func(p *parser) ir.Attr { return p.ParseAttr(nil) })
}

// Type reads a text that is one type. The error is a *diag.Diagnostic.
func Type(src *diag.Source, ctx *ir.Context) (ir.Type, error) {
	return fragment(src, ctx, (*parser).ParseType)
}

// fragment reads a text with f.
func fragment[T any](src *diag.Source, ctx *ir.Context, f func(p *parser) T) (v T, err error) {
	p := newParser(src, ctx)
	p.errors.max = 1
	err = p.read(func() {
		v = f(p)
		if p.tok.kind != tokEOF {
			p.Errorf("expected the end of the text")
		}
		p.finishLocs()
	})
	if err != nil {
		var none T
		return none, err
	}
	return v, nil
}
