package parse

import (
	"bytes"

	"github.com/hlocb/hlocb/ir"
)

// aliases holds the definitions #name = attribute and !name = type by their names, '#' and '!' included.
type aliases struct {
	attrs map[string]attrAlias
	types map[string]typeAlias
}

// extent is the size of the text of an alias if all aliases in it are written out.
type extent struct {
	size  int64 // bytes of text
	depth int32 // of nesting
}

type attrAlias struct {
	attr ir.Attr
	extent
}

type typeAlias struct {
	typ ir.Type
	extent
}

// attrAlias reads #name = attribute.
func (p *parser) attrAlias() {
	name := p.text()
	if bytes.IndexByte(name, '.') >= 0 {
		p.Errorf("attribute names with a '.' are reserved for dialect-defined names")
	}
	if _, dup := p.aliases.attrs[string(name)]; dup {
		p.Errorf("redefinition of attribute alias id '%s'", name[1:])
	}
	p.next()
	p.expectIn('=', "expected '=' in attribute alias definition")
	var a ir.Attr
	x := p.measure(func() { a = p.ParseAttr(nil) })
	l, isLoc := a.(*ir.LocAttr)
	if isLoc {
		x.size = int64(l.Loc().Size())
	}
	if p.aliases.attrs == nil {
		p.aliases.attrs = map[string]attrAlias{}
	}
	p.aliases.attrs[string(name)] = attrAlias{a, x}
	if f := p.locs.forward[string(name)]; f != nil {
		if !isLoc {
			p.ErrorfAt(f.pos, "expected location, but found '%s'", name)
		}
		f.def = l.Loc()
	}
}

// typeAlias reads !name = type.
func (p *parser) typeAlias() {
	name := p.text()
	if bytes.IndexByte(name, '.') >= 0 {
		p.Errorf("type names with a '.' are reserved for dialect-defined names")
	}
	if _, dup := p.aliases.types[string(name)]; dup {
		p.Errorf("redefinition of type alias id '%s'", name[1:])
	}
	p.next()
	p.expectIn('=', "expected '=' in type alias definition")
	var t ir.Type
	x := p.measure(func() { t = p.ParseType() })
	if p.aliases.types == nil {
		p.aliases.types = map[string]typeAlias{}
	}
	p.aliases.types[string(name)] = typeAlias{t, x}
}

// measure calls read, which reads the right-hand side of a definition, and returns its extent.
func (p *parser) measure(read func()) extent {
	start, expanded := p.tok.start, p.expanded
	p.deepest = 0
	read()
	return extent{int64(p.tok.start-start) + p.expanded - expanded, int32(p.deepest)}
}

// undefinedAlias fails for the alias that the current token, #name or !name, names.
func (p *parser) undefinedAlias() {
	name := p.text()[1:]
	p.next()
	p.Errorf("undefined symbol alias id '%s'", name)
}
