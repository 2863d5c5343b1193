package parse

import (
	"bytes"
	"slices"
	"strings"

	"github.com/hlocb/hlocb/diag"
	"github.com/hlocb/hlocb/ir"
)

// dialectType reads !alias, !dialect.name<...> or !dialect<...>.
func (p *parser) dialectType() ir.Type {
	s := p.symbol()
	if s.alias {
		return p.useAlias().typ
	}
	return readSymbol(p, s, &p.cache.types, symbolReader[ir.Type]{
		noun:   "type",
		known:  func(d *ir.Dialect, name string) ir.Type { return registeredType(p.typeParser, d, name) },
		opaque: func(dialect, name, text string) ir.Type { return p.ctx.DialectType(dialect, name, text, nil) },
	})
}

// dialectAttr reads #alias, #dialect.name<...> or #dialect<...>.
func (p *parser) dialectAttr() ir.Attr {
	s := p.symbol()
	if s.alias {
		return p.useAlias().attr
	}
	return readSymbol(p, s, &p.cache.attrs, symbolReader[ir.Attr]{
		noun:   "attribute",
		known:  func(d *ir.Dialect, name string) ir.Attr { return registeredAttr(p.typeParser, d, name) },
		opaque: func(dialect, name, text string) ir.Attr { return ir.NewDialectAttr(dialect, name, text, nil) },
	})
}

// symbol is the text of a dialect's type or attribute, without the character before it: dialect.name<...> or
// dialect<...>.
type symbol struct {
	alias         bool // a name without dialect; nothing else is set
	dialect, name string
	start, end    int  // offsets of the text, the first character included
	body          int  // offset after dialect.name or dialect
	wrapped       bool // dialect<...>, without a name
}

// symbol returns the extent of the symbol that the current token starts.
func (p *parser) symbol() symbol {
	text := p.src[p.tok.start+1 : p.tok.end]
	s := symbol{start: p.tok.start, body: p.tok.end, end: p.tok.end}
	angle := s.end < len(p.src) && p.src[s.end] == '<'
	dot := bytes.IndexByte(text, '.')
	if dot < 0 && !angle {
		s.alias = true
		return s
	}
	if angle {
		p.depth++
		s.end = p.balancedEnd('<', s.body+1) + 1
		p.depth--
	}
	switch {
	case dot < 0:
		s.dialect, s.wrapped = str(text), true
	default:
		s.dialect, s.name = str(text[:dot]), str(text[dot+1:])
	}
	if !isNamespace(s.dialect) {
		p.Errorf("invalid dialect namespace '%q'", s.dialect)
	}
	return s
}

// isNamespace reports whether types and attributes can be of a dialect with this name (MLIR, isValidNamespace).
func isNamespace(name string) bool {
	for i := range len(name) {
		switch c := name[i]; {
		case 'a' <= c && c <= 'z' || 'A' <= c && c <= 'Z' || c == '_':
		case i > 0 && ('0' <= c && c <= '9' || c == '$'):
		default:
			return false
		}
	}
	return name != ""
}

// symbolReader makes types or attributes of dialects.
type symbolReader[T comparable] struct {
	noun   string
	known  func(d *ir.Dialect, name string) T // reads the parameters; the zero value if the dialect has no such name
	opaque func(dialect, name, text string) T // keeps the text
}

// readSymbol reads the type or attribute whose text is s.
func readSymbol[T comparable](p *parser, s symbol, cache *textCache[T], r symbolReader[T]) T {
	key := p.src[s.start:s.end]
	if v, ok := cache.get(key, nil); ok {
		p.lexAt(s.end)
		return v
	}
	p.deeper()
	defer func() { p.depth-- }()
	expanded := p.expanded
	var d *ir.Dialect
	if p.reg != nil {
		d = p.reg.Dialect(s.dialect)
	}
	name, body := s.name, s.body
	if s.wrapped {
		p.lexAt(body + 1)
		if p.tok.kind == tokWord && (d != nil || p.tok.start == body+1) { // the parser keeps an unknown dialect's text
			name = str(p.text())
		}
		body = p.tok.end
	} else if d != nil && !simpleName(name) {
		p.ErrorfAt(diag.At(body-len(name)), "expected valid keyword")
	}
	var v, none T
	if d != nil && name != "" {
		p.lexAt(body)
		v = r.known(d, name)
	}
	switch {
	case v == none:
		name, text := p.opaqueText(s, name, body)
		v = r.opaque(s.dialect, name, text)
		p.lexAt(s.end)
	case s.wrapped:
		p.expectIn('>', "expected '>' in "+s.dialect+" "+r.noun)
	}
	if p.expanded == expanded {
		cache.put(key, nil, v)
	}
	return v
}

// opaqueText returns name and text of a symbol that no dialect reads, as MLIR prints them: a simple name with nothing
// or one pair of angle brackets after it, or no name and everything in angle brackets. body is the offset after name.
func (p *parser) opaqueText(s symbol, name string, body int) (string, string) {
	if !s.wrapped {
		if simpleName(name) {
			return name, string(p.src[body:s.end])
		}
		return "", "<" + string(p.src[body-len(name):s.end]) + ">"
	}
	if name != "" && simpleName(name) {
		if rest, ok := p.angleText(body, s.end-1); ok {
			return name, rest
		}
	}
	return "", string(p.src[s.body:s.end])
}

// angleText returns the balanced text between two offsets without the spaces around it. ok is false if it is more than
// one pair of angle brackets. MLIR looks at the first and the last character only, and prints a text that it cannot
// read: #a<b<1>2<3>> becomes #a.b<1>2<3>.
func (p *parser) angleText(from, to int) (text string, ok bool) {
	text = strings.Trim(string(p.src[from:to]), " \t\n\v\f\r")
	if text == "" {
		return "", true
	}
	from += strings.Index(string(p.src[from:to]), text)
	return text, text[0] == '<' && p.balancedEnd('<', from+1) == from+len(text)-1
}

// simpleName reports whether MLIR accepts name as a mnemonic: letters, digits, '_' and '.' after a letter.
func simpleName(name string) bool {
	for i := range len(name) {
		c := name[i]
		letter := c|0x20 >= 'a' && c|0x20 <= 'z'
		if !letter && (i == 0 || c-'0' > 9 && c != '_' && c != '.') {
			return false
		}
	}
	return name != ""
}

// registeredAttr reads the text after the mnemonic of an attribute of d. It returns nil if the mnemonic or the
// parameters are unknown; the caller then keeps the text verbatim.
func registeredAttr(p ir.AsmParser, d *ir.Dialect, name string) ir.Attr {
	if i := slices.IndexFunc(d.Attrs, func(a *ir.AttrDef) bool { return a.Name == name }); i >= 0 {
		if a := d.Attrs[i].ParseParams(p); a != nil {
			return a
		}
		return nil
	}
	i := slices.IndexFunc(d.Enums, func(e *ir.EnumDef) bool { return e.Name == name })
	if i < 0 {
		return nil
	}
	e := d.Enums[i]
	if !e.Angled {
		return ir.NewEnum(e, p.ParseEnum(e))
	}
	p.Expect("<")
	code := p.ParseEnum(e)
	p.Expect(">")
	return ir.NewEnum(e, code)
}

// registeredType is like registeredAttr, for a type.
func registeredType(p ir.AsmParser, d *ir.Dialect, name string) ir.Type {
	i := slices.IndexFunc(d.Types, func(t *ir.TypeDef) bool { return t.Name == name })
	if i < 0 {
		if d.ClosedTypes {
			p.Errorf("unknown %s type: %s", d.Name, name)
		}
		return nil
	}
	t := d.Types[i]
	var data any
	if t.Parse != nil {
		if data = t.Parse(p); data == nil {
			return nil
		}
	}
	return t.New(p.Context(), data)
}
