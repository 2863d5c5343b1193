package parse

import (
	"bytes"
	"slices"
	"strings"

	"github.com/hlocb/hlocb/diag"
	"github.com/hlocb/hlocb/internal/mlirtext"
	"github.com/hlocb/hlocb/ir"
	"github.com/hlocb/hlocb/tensor"
)

// ParseType implements ir.AsmParser.
func (p *parser) ParseType() ir.Type {
	t, ok := p.ParseOptionalType()
	if !ok {
		p.unexpected("expected non-function type")
	}
	return t
}

// ParseOptionalType implements ir.AsmParser.
func (p *parser) ParseOptionalType() (t ir.Type, ok bool) {
	switch p.tok.kind {
	case tokWord:
		return p.wordType()
	case tokBang:
		return p.dialectType(), true
	case tokPunct:
		if p.tok.punct == '(' {
			return p.ParseFunctionType(), true
		}
	}
	return nil, false
}

// wordType reads a builtin type.
func (p *parser) wordType() (ir.Type, bool) {
	src := p.src
	start, end := p.tok.start, p.tok.end
	if end < len(src) && src[end] == '<' {
		n := end + 1 + bytes.IndexByte(src[end:min(len(src), end+longestCached)], '>')
		if t, ok := p.cache.types.get(src[start:n], nil); ok { // most types have no brackets inside
			p.lexAt(n)
			return t, true
		}
		if n = typeEnd(src, end+1); n == 0 {
			return p.angleType()
		}
		if t, ok := p.cache.types.get(src[start:n], nil); ok {
			p.lexAt(n)
			return t, true
		}
		expanded := p.expanded
		t, ok := p.angleType()
		if ok && p.tok.start >= n && p.expanded == expanded {
			p.cache.types.put(src[start:n], nil, t)
		}
		return t, ok
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

// typeEnd returns the offset after the '>' that closes the '<' before i. It returns 0 if the '>' is far away, or if
// strings, comments, arrows or line breaks come before it.
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

// scalarType returns the type that a word without parameters names, nil if it names none.
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
			return ir.Float(d)
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
	if !p.is('<') {
		p.unexpected("expected '<' in %s type", word)
	}
	p.next()
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

// tensorType reads the parameters of a tensor type.
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
	var room [8]int64
	dims := p.dims(room[:0])
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
				if problem := d.CheckEncoding(a, slices.Clone(dims), elem); problem != "" {
					p.ErrorfAt(pos, "%s", problem)
				}
			}
		}
	}
	return p.ctx.Tensor(dims, elem, encoding)
}

// elementType reads the type after the dimensions.
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

// dims reads dimensions, each followed by x, from the current token on, and appends them to dims: 2x?x in
// tensor<2x?xf32>.
func (p *parser) dims(dims []int64) []int64 {
	src := p.src
	i := p.tok.start
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
	return dims
}

// shapedType reads a vector or memref. hlocb keeps such types and does not compute with them.
func (p *parser) shapedType(kind ir.ShapedKind) ir.Type {
	src := p.src
	if p.is('*') || p.is('[') {
		// An unranked memref or a scalable vector: all of it is text.
		end := p.balancedEnd('<', p.tok.start)
		text := string(bytes.TrimSpace(src[p.tok.start:end]))
		p.lexAt(end)
		return p.ctx.Shaped(kind, nil, p.ctx.None(), text)
	}
	dims := p.dims(nil)
	if p.is('[') {
		end := p.balancedEnd('<', p.tok.start)
		text := string(mlirtext.AppendShape(nil, dims)) + string(bytes.TrimSpace(src[p.tok.start:end]))
		p.lexAt(end)
		return p.ctx.Shaped(kind, nil, p.ctx.None(), text)
	}
	elem := p.elementType()
	rest := ""
	for kind == ir.MemRef && p.is(',') { // its layout and memory space, as written except for aliases
		p.next()
		start := p.tok.start
		a := p.ParseAttr(nil)
		text := strings.TrimRight(string(src[start:p.tok.start]), " \t\n\r")
		if text[0] == '#' {
			text = a.String()
		}
		rest += ", " + text
	}
	if p.is(',') {
		end := p.balancedEnd('<', p.tok.start)
		rest = strings.TrimRight(string(src[p.tok.start:end]), " \t\n\r")
		p.lexAt(end)
	}
	return p.ctx.Shaped(kind, dims, elem, rest)
}

// balancedEnd returns the offset of the bracket that closes open, which is before offset i. All brackets in between
// must be balanced.
func (p *parser) balancedEnd(open byte, i int) int { return p.balanced(open, i, false) }

// balanced is balancedEnd for a text that may have comparisons, like an affine set.
func (p *parser) balanced(open byte, i int, comparisons bool) int {
	src := p.src
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
			if open := stack[len(stack)-1]; closing[open] != c {
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

// closing maps an opening bracket to its closing one.
var closing = [128]byte{'(': ')', '[': ']', '{': '}', '<': '>'}

// ParseTypes implements ir.AsmParser.
func (p *parser) ParseTypes() []ir.Type { return p.typeList(nil) }

// typeList appends types separated by commas, at least one, to out.
func (p *parser) typeList(out []ir.Type) []ir.Type {
	for more := true; more; more = p.comma() {
		t := p.ParseType()
		out = append(growList(p, out), t)
	}
	return out
}

// parenTypes appends the types in parentheses, possibly none, to out.
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
	line, known := p.functionLine()
	if known != nil {
		return known
	}
	start, expanded := p.tok.start, p.expanded
	p.deeper()
	defer func() { p.depth-- }()
	mark := len(p.ops.types)
	p.pushTypes()
	n := len(p.ops.types)
	p.expectIn(punctArrow, "expected '->' in function type")
	if p.is('(') {
		p.pushTypes()
	} else {
		t := p.ParseType()
		p.ops.types = append(p.ops.types, t)
	}
	f := p.ctx.Function(p.ops.types[mark:n], p.ops.types[n:])
	p.ops.types = p.ops.types[:mark]
	// A type that goes on in the next line is more than the line says.
	if line != nil && p.skipSpace(start+len(line)) == p.tok.start && p.expanded == expanded {
		p.cache.types.put(line, nil, f)
	}
	return f
}

// functionLine returns the rest of the line if it may be a function type, and the type if it was read before. It moves
// to the next line if it returns a type. Most ops end with their function type, and many types repeat: functionLine
// saves 6 % of the instructions that read testdata/transformer_grad.mlir.
func (p *parser) functionLine() (line []byte, known *ir.FunctionType) {
	rest := p.src[p.tok.start:min(len(p.src), p.tok.start+longestCached)]
	n := bytes.IndexByte(rest, '\n')
	if n <= 0 || rest[n-1] != '>' {
		return nil, nil
	}
	if t, ok := p.cache.types.get(rest[:n], nil); ok {
		p.lexAt(p.tok.start + n)
		return nil, t.(*ir.FunctionType)
	}
	return rest[:n], nil
}

// pushTypes reads types between parentheses onto the stack.
func (p *parser) pushTypes() {
	p.expectIn('(', "expected '('")
	for more := !p.is(')'); more; more = p.comma() {
		t := p.ParseType()
		p.ops.types = append(growList(p, p.ops.types), t)
	}
	p.expectIn(')', "expected ')'")
}
