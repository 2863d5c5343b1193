package parse

import (
	"bytes"
	"encoding/binary"
	"strings"

	"github.com/hlocb/hlocb/diag"
	"github.com/hlocb/hlocb/ir"
	"github.com/hlocb/hlocb/tensor"
)

// longestCached is the length of type and attribute texts up to which they are kept for quick recognition.
const longestCached = 512

// ParseType implements ir.AsmParser.
func (p *parser) ParseType() ir.Type {
	t, ok := p.ParseOptionalType()
	if !ok {
		p.wrong("expected non-function type")
	}
	return t
}

// ParseOptionalType implements ir.AsmParser.
func (p *parser) ParseOptionalType() (t ir.Type, ok bool) {
	switch p.tok.kind {
	case tokWord:
		return p.wordType()
	case tokBang:
		return p.bangType(), true
	case tokPunct:
		if p.tok.punct == '(' {
			return p.ParseFunctionType(), true
		}
	}
	return nil, false
}

// wordType reads a builtin type.
func (p *parser) wordType() (ir.Type, bool) {
	src := p.lexer.src
	start, end := p.tok.start, p.tok.end
	if end < len(src) && src[end] == '<' {
		// The text of a tensor type rarely nests: find its end and look it up.
		if n := typeEnd(src, end+1); n > 0 {
			slot := &p.recentTypes[typeSlot(src[start:n])]
			if slot.text == string(src[start:n]) {
				p.lexAt(n)
				return slot.typ, true
			}
			if t := p.types[string(src[start:n])]; t != nil {
				*slot = knownType{str(src[start:n]), t}
				p.lexAt(n)
				return t, true
			}
			expanded := p.expanded
			t, ok := p.angleType()
			if ok && p.tok.start >= n && n-start <= longestCached && p.expanded == expanded {
				p.types[str(src[start:n])] = t
			}
			return t, ok
		}
		return p.angleType()
	}
	t := p.scalarType(p.text())
	if t == nil {
		if end := p.skipSpace(end); end < len(src) && src[end] == '<' {
			return p.angleType()
		}
		return nil, false
	}
	p.next()
	return t, true
}

// typeSlot spreads the texts of types, word<...>, over the table of those used last.
func typeSlot(text []byte) int {
	n := len(text)
	if n < 16 {
		return n
	}
	h := binary.LittleEndian.Uint64(text[7:]) ^ binary.LittleEndian.Uint64(text[n-9:])<<1
	h = (h ^ uint64(n)) * 0x9E3779B97F4A7C15
	return int(h >> (64 - 7))
}

// typeEnd returns the offset behind the '>' that closes the '<' in front of i, 0 where it is far or the text in
// between is not simple.
func typeEnd(src []byte, i int) int {
	depth := 1
	for end := min(len(src), i+longestCached); i < end; i++ {
		if class[src[i]]&clsIdent != 0 {
			continue
		}
		switch src[i] {
		case '<':
			depth++
		case '>':
			if depth--; depth == 0 {
				return i + 1
			}
		case '"', '-', '\n', '/':
			return 0
		}
	}
	return 0
}

// scalarType returns the type that a word without parameters names, nil for none.
func (p *parser) scalarType(word []byte) ir.Type {
	if len(word) < 2 {
		return nil
	}
	switch word[0] {
	case 'i', 's', 'u':
		digits, sign := word[1:], ir.Signless
		if word[0] != 'i' && word[1] == 'i' {
			digits = word[2:]
			sign = ir.Signed
			if word[0] == 'u' {
				sign = ir.Unsigned
			}
		}
		if len(digits) > 0 && (word[0] == 'i' || word[1] == 'i') && allDigits(digits) {
			width := int64(0)
			for _, c := range digits {
				if width = 10*width + int64(c-'0'); width > 1<<32-1 {
					p.Errorf("invalid integer width")
				}
			}
			if width > 1<<24-1 {
				p.Errorf("integer bitwidth is limited to 16777215 bits")
			}
			return p.ctx.Integer(int(width), sign)
		}
		if string(word) == "index" {
			return p.ctx.Index()
		}
	case 'f', 'b', 't':
		if d, ok := tensor.ParseDType(str(word)); ok && d.IsFloat() {
			return p.ctx.Float(d)
		}
		switch string(word) {
		case "f80", "f128", "tf32":
			return p.ctx.ForeignFloat(string(word))
		}
	case 'n':
		if string(word) == "none" {
			return p.ctx.None()
		}
	}
	return nil
}

func allDigits(b []byte) bool {
	for _, c := range b {
		if c-'0' > 9 {
			return false
		}
	}
	return true
}

// angleType reads word<...>.
func (p *parser) angleType() (ir.Type, bool) {
	word := p.text()
	switch string(word) {
	case "tensor", "vector", "memref", "complex", "tuple":
	default:
		return nil, false
	}
	p.deeper()
	defer func() { p.depth-- }()
	p.next()
	p.expectIn('<', "expected '<' in "+string(word)+" type")
	var t ir.Type
	switch string(word) {
	case "tensor":
		t = p.tensorType()
	case "complex":
		pos := p.Pos()
		elem := p.ParseType()
		switch elem.(type) {
		case *ir.IntegerType, *ir.FloatType:
		default:
			p.ErrorfAt(pos, "invalid element type for complex")
		}
		t = p.ctx.Complex(elem)
	case "tuple":
		var elems []ir.Type
		if !p.is('>') {
			elems = p.ParseTypes()
		}
		t = p.ctx.Tuple(elems)
	case "vector":
		t = p.shapedType(ir.Vector)
	default:
		t = p.shapedType(ir.MemRef)
	}
	if !p.is('>') {
		p.Errorf("expected '>' in %s type", word)
	}
	p.next()
	return t, true
}

func (p *parser) tensorType() ir.Type {
	pos := p.Pos()
	if p.is('*') {
		p.next()
		if p.tok.kind != tokWord || p.text()[0] != 'x' {
			p.Errorf("expected 'x' in dimension list")
		}
		p.lexAt(p.tok.start + 1)
		return p.ctx.UnrankedTensor(p.elementType())
	}
	dims := p.typeDims()
	elem := p.elementType()
	switch elem.(type) {
	case *ir.IntegerType, *ir.FloatType, *ir.ComplexType, *ir.IndexType, *ir.DialectType, *ir.ShapedType:
	default:
		p.ErrorfAt(pos, "invalid tensor element type: '%s'", elem)
	}
	var encoding ir.Attr
	if p.is(',') {
		p.next()
		pos := p.pos()
		encoding = p.ParseAttr(nil)
		if a, ok := encoding.(*ir.DialectAttr); ok && p.reg != nil {
			if d := p.reg.Dialect(a.Dialect()); d != nil && d.CheckEncoding != nil {
				if problem := d.CheckEncoding(a, dims, elem); problem != "" {
					p.ErrorfAt(pos, "%s", problem)
				}
			}
		}
	}
	return p.ctx.Tensor(dims, elem, encoding)
}

// elementType reads the type behind the dimensions.
func (p *parser) elementType() ir.Type {
	if p.is('(') {
		p.Errorf("expected non-function type")
	}
	t, ok := p.ParseOptionalType()
	if !ok {
		p.Errorf("expected non-function type")
	}
	return t
}

// typeDims reads dimensions, each followed by x, from the current token on: 2x?x in tensor<2x?xf32>.
func (p *parser) typeDims() []int64 {
	src := p.lexer.src
	i := p.tok.start
	var buf [8]int64
	dims := buf[:0]
	for {
		i = p.skipSpace(i)
		if i >= len(src) {
			break
		}
		d := int64(0)
		start := i
		if src[i] == '?' {
			d = ir.Dynamic
			i++
		} else {
			for i < len(src) && src[i]-'0' <= 9 {
				if d > (1<<63-1-9)/10 {
					p.lexAt(start)
					p.Errorf("invalid dimension")
				}
				d = 10*d + int64(src[i]-'0')
				i++
			}
			if i == start {
				break
			}
		}
		i = p.skipSpace(i)
		if i >= len(src) || src[i] != 'x' {
			p.lexAt(i)
			p.Errorf("expected 'x' in dimension list")
		}
		i++
		dims = append(dims, d)
		if len(dims) > maxDepth {
			p.lexAt(i)
			p.Errorf("a shape has more than %d dimensions", maxDepth)
		}
	}
	p.lexAt(i)
	return append([]int64(nil), dims...)
}

// shapedType reads a vector or memref, which are carried but not computed with.
func (p *parser) shapedType(kind ir.ShapedKind) ir.Type {
	src := p.lexer.src
	if p.is('*') || p.is('[') {
		// An unranked memref or a scalable vector: all of it is text.
		end := p.balancedEnd('<', p.tok.start)
		text := string(bytes.TrimSpace(src[p.tok.start:end]))
		p.lexAt(end)
		return p.ctx.Shaped(kind, nil, p.ctx.None(), text)
	}
	dims := p.typeDims()
	if p.is('[') {
		end := p.balancedEnd('<', p.tok.start)
		text := string(ir.AppendShape(nil, dims)) + string(bytes.TrimSpace(src[p.tok.start:end]))
		p.lexAt(end)
		return p.ctx.Shaped(kind, nil, p.ctx.None(), text)
	}
	elem := p.elementType()
	rest := ""
	if p.is(',') {
		end := p.balancedEnd('<', p.tok.start)
		rest = strings.TrimRight(string(src[p.tok.start:end]), " \t\n\r")
		p.lexAt(end)
	}
	return p.ctx.Shaped(kind, dims, elem, rest)
}

// balancedEnd returns the offset of the bracket that closes open, from offset i inside it on: everything in between is
// balanced.
func (p *parser) balancedEnd(open byte, i int) int { return p.balanced(open, i, false) }

// balanced is balancedEnd for a text that may have comparisons, as affine sets have.
func (p *parser) balanced(open byte, i int, comparisons bool) int {
	src := p.lexer.src
	stack := []byte{open} // the brackets to be closed, innermost last
	for i < len(src) {
		c := src[i]
		switch c {
		case '"':
			l := lexer{src: src}
			end := l.stringEnd(i)
			if end == 0 {
				p.tok, p.problem = l.tok, l.problem
				p.Errorf("%s", p.problem)
			}
			i = end
			continue
		case '<', '(', '[', '{':
			stack = append(stack, c)
			if len(stack)-1+p.depth > maxDepth {
				p.tooDeep(diag.At(i))
			}
		case '-':
			if i+1 < len(src) && src[i+1] == '>' {
				i += 2
				continue
			}
		case '>', ')', ']', '}':
			if comparisons && c == '>' && stack[len(stack)-1] != '<' && i+1 < len(src) && src[i+1] == '=' {
				i += 2
				continue
			}
			if open := stack[len(stack)-1]; closer(open) != c {
				p.ErrorfAt(diag.At(i), "unbalanced '%c' character in pretty dialect name", open)
			}
			if stack = stack[:len(stack)-1]; len(stack) == 0 {
				return i
			}
		case '/':
			if i+1 < len(src) && src[i+1] == '/' {
				i = p.skipSpace(i)
				continue
			}
		case 0:
			p.ErrorfAt(diag.At(i), "unexpected nul or EOF in pretty dialect name")
		}
		i++
	}
	p.ErrorfAt(diag.At(len(src)), "unexpected nul or EOF in pretty dialect name")
	panic("unreachable")
}

func closer(open byte) byte {
	switch open {
	case '<':
		return '>'
	case '(':
		return ')'
	case '[':
		return ']'
	}
	return '}'
}

// symbolText splits what the current token (#x.y or !x.y) starts into dialect, mnemonic and the offset behind its
// body; wrapped is set for the form #dialect<...>, alias where it is no dialect's symbol at all.
func (p *parser) symbolText() (dialect, name string, body, end int, wrapped, alias bool) {
	src := p.lexer.src
	text := src[p.tok.start+1 : p.tok.end]
	body, end = p.tok.end, p.tok.end
	angle := end < len(src) && src[end] == '<'
	dot := bytes.IndexByte(text, '.')
	if dot < 0 && !angle {
		return "", "", body, end, false, true
	}
	if angle {
		p.depth++
		end = p.balancedEnd('<', body+1) + 1
		p.depth--
	}
	if dot < 0 {
		return str(text), "", body, end, true, false
	}
	if dot == 0 {
		p.Errorf("invalid dialect namespace '\"\"'")
	}
	return str(text[:dot]), str(text[dot+1:]), body, end, false, false
}

// unnamed returns the text of #dialect.text or !dialect.text as #dialect<text> has it, where the text is no mnemonic
// with or without parameters in angle brackets; MLIR writes it so. Dialects that are known want a mnemonic.
func (p *parser) unnamed(d *ir.Dialect, name string, body, end int) (text string, ok bool) {
	if simpleName(name) {
		return "", false
	}
	if d != nil {
		p.ErrorfAt(diag.At(body-len(name)), "expected valid keyword")
	}
	return "<" + string(p.lexer.src[body-len(name):end]) + ">", true
}

// simpleName reports whether MLIR takes name for a mnemonic: letters, digits, '_' and '.' after a letter.
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

// bangType reads !alias, !dialect.name<...> or !dialect<...>.
func (p *parser) bangType() ir.Type {
	src := p.lexer.src
	start := p.tok.start
	dialect, name, body, end, wrapped, alias := p.symbolText()
	if alias {
		a := p.typeAliases[string(p.text())]
		if a.typ == nil {
			name := p.text()[1:]
			p.next()
			p.Errorf("undefined symbol alias id '%s'", name)
		}
		p.next()
		p.expand(a.size, a.depth)
		return a.typ
	}
	key := src[start:end]
	if t := p.types[string(key)]; t != nil {
		p.lexAt(end)
		return t
	}
	p.deeper()
	defer func() { p.depth-- }()
	expanded := p.expanded
	var t ir.Type
	d := p.dialect(dialect)
	if wrapped {
		p.lexAt(body + 1)
		name = ""
		if p.tok.kind == tokWord && (d != nil || p.tok.start == body+1) { // of unknown dialects all is text
			name = str(p.text())
		}
		body = p.tok.end
	} else if text, ok := p.unnamed(d, name, body, end); ok {
		t = p.ctx.DialectType(dialect, "", text, nil)
		p.lexAt(end)
	}
	if t == nil && d != nil && d.ParseType != nil && name != "" {
		p.lexAt(body)
		t = d.ParseType(p, name)
	}
	switch {
	case t == nil:
		t = p.verbatimType(dialect, name, p.symbolBody(start), body, end, wrapped)
		p.lexAt(end)
	case wrapped:
		p.expectIn('>', "expected '>' in "+dialect+" type")
	}
	if len(key) <= longestCached && p.expanded == expanded {
		p.types[str(key)] = t
	}
	return t
}

func (p *parser) verbatimType(dialect, name string, open, body, end int, wrapped bool) ir.Type {
	src := p.lexer.src
	if wrapped && name == "" {
		return p.ctx.DialectType(dialect, "", string(src[open:end]), nil)
	}
	if wrapped {
		rest, ok := p.angled(body, end-1)
		if !ok || !simpleName(name) {
			return p.ctx.DialectType(dialect, "", string(src[open:end]), nil)
		}
		return p.ctx.DialectType(dialect, name, rest, nil)
	}
	return p.ctx.DialectType(dialect, name, string(src[body:end]), nil)
}

func (p *parser) dialect(name string) *ir.Dialect {
	if p.reg == nil {
		return nil
	}
	return p.reg.Dialect(name)
}

// ParseTypes implements ir.AsmParser.
func (p *parser) ParseTypes() []ir.Type { return p.typeList(nil) }

func (p *parser) typeList(out []ir.Type) []ir.Type {
	for {
		t := p.ParseType()
		out = append(roomy(p, out), t)
		if !p.is(',') {
			return out
		}
		p.next()
	}
}

// ParseParenTypes implements ir.AsmParser.
func (p *parser) ParseParenTypes() []ir.Type { return p.parenTypes(nil) }

func (p *parser) parenTypes(out []ir.Type) []ir.Type {
	p.expectIn('(', "expected '('")
	if !p.is(')') {
		out = p.typeList(out)
	}
	p.expectIn(')', "expected ')'")
	return out
}

// ParseFunctionType implements ir.AsmParser.
func (p *parser) ParseFunctionType() *ir.FunctionType {
	start, expanded := p.tok.start, p.expanded
	src := p.lexer.src
	for i := range p.functions.list {
		if f := &p.functions.list[i]; bytes.HasPrefix(src[start:], f.text) {
			p.lexAt(start + len(f.text))
			return f.typ
		}
	}
	f := p.functionTypeAnew()
	end := p.tok.start
	for class[src[end-1]]&clsSpace != 0 {
		end--
	}
	text := src[start:end]
	if c := src[end-1]; (c == '>' || c == ')') && len(text) <= longestCached && p.expanded == expanded && bytes.IndexByte(text, '/') < 0 {
		p.functions.add(readFunction{text, f})
	}
	return f
}

// readFunction is the text of a function type, which ends with the bracket that closes one of its own.
type readFunction struct {
	text []byte
	typ  *ir.FunctionType
}

func (p *parser) functionTypeAnew() *ir.FunctionType {
	p.deeper()
	defer func() { p.depth-- }()
	mark := len(p.typeStack)
	p.pushTypes()
	n := len(p.typeStack)
	p.expectIn(punctArrow, "expected '->' in function type")
	if p.is('(') {
		p.pushTypes()
	} else {
		t := p.ParseType()
		p.typeStack = append(p.typeStack, t)
	}
	f := p.ctx.Function(p.typeStack[mark:n], p.typeStack[n:])
	p.typeStack = p.typeStack[:mark]
	return f
}

// pushTypes reads types between parentheses onto the stack.
func (p *parser) pushTypes() {
	p.expectIn('(', "expected '('")
	if !p.is(')') {
		for {
			t := p.ParseType()
			p.typeStack = append(p.typeStack, t)
			if !p.is(',') {
				break
			}
			p.next()
		}
	}
	p.expectIn(')', "expected ')'")
}
