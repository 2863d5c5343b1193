package parse

import (
	"bytes"

	"github.com/hlocb/hlocb/ir"
)

// extent is the size of the text of an alias if all aliases in it are written out.
type extent struct {
	size  int64 // bytes of text
	depth int32 // of nesting
}

// alias is the meaning of #name, an attribute, or !name, a type.
type alias struct {
	attr ir.Attr
	typ  ir.Type
	extent
}

// aliasDef reads #name = attribute or !name = type.
func (p *parser) aliasDef() {
	name, kind := p.text(), "attribute"
	if p.tok.kind == tokBang {
		kind = "type"
	}
	if bytes.IndexByte(name, '.') >= 0 {
		p.Errorf("%s names with a '.' are reserved for dialect-defined names", kind)
	}
	if _, dup := p.aliases[string(name)]; dup {
		p.Errorf("redefinition of %s alias id '%s'", kind, name[1:])
	}
	p.next()
	p.expectIn('=', "expected '=' in "+kind+" alias definition")
	var a alias
	start, expanded := p.tok.start, p.expanded
	p.deepest = 0
	if kind == "type" {
		a.typ = p.ParseType()
	} else {
		a.attr = p.ParseAttr(nil)
	}
	a.extent = extent{int64(p.tok.start-start) + p.expanded - expanded, int32(p.deepest)}
	l, isLoc := a.attr.(*ir.LocAttr)
	if isLoc {
		a.size = int64(l.Loc().Size())
	}
	if a.size > p.maxExpansion() {
		p.tooLong()
	}
	p.aliases[string(name)] = a
	if f := p.locs.forward[string(name)]; f != nil {
		if !isLoc {
			p.ErrorfAt(f.pos, "expected location, but found '%s'", name)
		}
		f.def = l.Loc()
	}
}

// useAlias returns the meaning of the current token, #name or !name.
func (p *parser) useAlias() alias {
	a, ok := p.aliases[string(p.text())]
	if !ok {
		p.undefinedAlias()
	}
	p.next()
	p.expand(a.extent)
	return a
}

// undefinedAlias fails for the alias that the current token, #name or !name, names.
func (p *parser) undefinedAlias() {
	name := p.text()[1:]
	p.next()
	p.Errorf("undefined symbol alias id '%s'", name)
}
