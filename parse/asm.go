package parse

import (
	"bytes"
	"fmt"
	"strconv"

	"github.com/hlocb/hlocb/diag"
	"github.com/hlocb/hlocb/ir"
	"github.com/hlocb/hlocb/tensor"
)

var _ ir.AsmParser = (*parser)(nil)

// Context implements ir.AsmParser, as do the methods below.
func (p *parser) Context() *ir.Context { return p.ctx }

// Module returns the module that is being read.
func (p *parser) Module() *ir.Module { return p.m }

// Pos returns the position of the current token.
func (p *parser) Pos() diag.Pos { return p.pos() }

// Errorf reports a mistake at the current token and does not return.
func (p *parser) Errorf(format string, args ...any) { p.ErrorfAt(p.pos(), format, args...) }

// ErrorfAt reports a mistake at pos and does not return.
func (p *parser) ErrorfAt(pos diag.Pos, format string, args ...any) {
	panic(bailout{diag.Errorf(p.source, pos, format, args...)})
}

// expectIn consumes punctuation or fails with the given message.
func (p *parser) expectIn(punct byte, problem string) {
	if !p.is(punct) {
		p.wrong("%s", problem)
	}
	p.next()
}

// wrong reports that the current token is not what it must be. As in MLIR the place is the end of the text in front of
// white space and comments: that is where something is missing.
func (p *parser) wrong(format string, args ...any) {
	if p.tok.kind == tokError {
		p.Errorf("%s", p.problem)
	}
	p.ErrorfAt(diag.At(p.missingAt()), format, args...)
}

// missingAt returns the offset behind what stands in front of the current token.
func (p *parser) missingAt() int {
	src := p.lexer.src
	i := p.tok.start
	if p.tok.kind == tokEOF && i > 0 {
		i--
	}
	start := i
	for {
		for i > 0 && (src[i-1] == ' ' || src[i-1] == '\t') {
			i--
		}
		if i == 0 {
			return start
		}
		if src[i-1] != '\n' && src[i-1] != '\r' {
			return i
		}
		for i > 0 && (src[i-1] == '\n' || src[i-1] == '\r') {
			i--
		}
		line := src[bytes.LastIndexByte(src[:i], '\n')+1 : i]
		comment := bytes.Index(line, []byte("//"))
		if comment < 0 {
			if i == 0 {
				return start
			}
			return i
		}
		i -= len(line) - comment
	}
}

// Peek reports whether the current token is the given punctuation.
func (p *parser) Peek(punct string) bool { return p.is(punctCode(punct)) }

// Accept consumes the given punctuation if it is next.
func (p *parser) Accept(punct string) bool {
	if p.is(punctCode(punct)) {
		p.next()
		return true
	}
	return false
}

// Expect consumes the given punctuation.
func (p *parser) Expect(punct string) {
	if !p.is(punctCode(punct)) {
		p.wrong("expected '%s'", punct)
	}
	p.next()
}

// PeekKeyword reports whether the current token is the given word.
func (p *parser) PeekKeyword(word string) bool {
	return p.tok.kind == tokWord && string(p.text()) == word
}

// AcceptKeyword consumes the given word if it is next.
func (p *parser) AcceptKeyword(word string) bool {
	if p.PeekKeyword(word) {
		p.next()
		return true
	}
	return false
}

// ExpectKeyword consumes the given word.
func (p *parser) ExpectKeyword(word string) {
	if !p.AcceptKeyword(word) {
		p.Errorf("expected '%s'", word)
	}
}

// ParseKeyword reads a bare word.
func (p *parser) ParseKeyword() string {
	s := p.ParseOptionalKeyword()
	if s == "" {
		p.Errorf("expected valid keyword")
	}
	return s
}

// ParseOptionalKeyword reads a bare word if there is one.
func (p *parser) ParseOptionalKeyword() string {
	if p.tok.kind != tokWord {
		return ""
	}
	s := str(p.text())
	p.next()
	return s
}

// ParseKeywordOrString reads a bare word or a string.
func (p *parser) ParseKeywordOrString() string {
	if s, ok := p.ParseOptionalString(); ok {
		return s
	}
	if p.tok.kind != tokWord {
		p.Errorf("expected valid keyword or string")
	}
	return p.ParseKeyword()
}

// ParseInteger reads an integer.
func (p *parser) ParseInteger() int64 {
	v, ok := p.ParseOptionalInteger()
	if !ok {
		p.Errorf("expected integer value")
	}
	return v
}

// ParseOptionalInteger reads an integer if there is one. true and false are 1 and 0, as in MLIR.
func (p *parser) ParseOptionalInteger() (value int64, ok bool) {
	neg := false
	switch {
	case p.is('-'):
		neg = true
		p.next()
		if p.tok.kind != tokInteger {
			p.Errorf("expected integer value")
		}
	case p.PeekKeyword("true"), p.PeekKeyword("false"):
		if p.text()[0] == 't' {
			value = 1
		}
		p.next()
		return value, true
	case p.tok.kind != tokInteger:
		return 0, false
	}
	text := p.text()
	if neg && allZeros(text) {
		p.next()
		return 0, true
	}
	bits, ok := tensor.ParseInteger(text, neg, 64, true)
	if !ok {
		p.Errorf("integer value too large")
	}
	p.next()
	return int64(bits), true
}

// unsignedInteger reads digits that fit 31 bits.
func (p *parser) unsignedInteger() (int, bool) {
	if p.tok.kind != tokInteger {
		return 0, false
	}
	n, err := strconv.ParseUint(str(p.text()), 10, 31)
	if err != nil {
		return 0, false
	}
	p.next()
	return int(n), true
}

// ParseIntegers reads [1, 2, 3].
func (p *parser) ParseIntegers() []int64 {
	var out []int64
	p.ParseList("[", "]", func() { out = append(out, p.ParseInteger()) })
	return out
}

// ParseIntArray reads [1, 2, 3] as an attribute.
func (p *parser) ParseIntArray(elem ir.Type) ir.Attr {
	src := p.lexer.src[p.tok.start:]
	n := bytes.IndexByte(src[:min(len(src), 64)], ']') + 1
	for i := range p.arrays.list {
		if a := &p.arrays.list[i]; a.elem == elem && string(a.text) == string(src[:n]) {
			p.lexAt(p.tok.start + n)
			return a.attr
		}
	}
	start := p.tok.start
	v := p.ParseIntegers()
	if v == nil {
		v = []int64{}
	}
	a := readArray{src[:n], elem, ir.NewDenseArray(elem, v)}
	if n > 0 && p.tok.start >= start+n && bytes.IndexByte(a.text, '/') < 0 {
		p.arrays.add(a)
	}
	return a.attr
}

// readArray is a text that ParseIntArray read.
type readArray struct {
	text []byte
	elem ir.Type
	attr ir.Attr
}

// ParseDims reads 4x?x8.
func (p *parser) ParseDims() []int64 {
	src := p.lexer.src
	i := p.tok.start
	var dims []int64
	for {
		start := i
		d := int64(0)
		if i < len(src) && src[i] == '?' {
			d = ir.Dynamic
			i++
		} else {
			for i < len(src) && src[i]-'0' <= 9 && d < 1<<58 {
				d = 10*d + int64(src[i]-'0')
				i++
			}
		}
		if i == start {
			break
		}
		dims = append(dims, d)
		if i == len(src) || src[i] != 'x' {
			break
		}
		i++
	}
	p.lexAt(i)
	return dims
}

// ParseFloat reads a number.
func (p *parser) ParseFloat() float64 {
	neg := p.is('-')
	if neg {
		p.next()
	}
	if p.tok.kind != tokFloat && p.tok.kind != tokInteger {
		p.Errorf("expected floating point literal")
	}
	v, err := strconv.ParseFloat(str(p.text()), 64)
	if err != nil {
		p.Errorf("floating point value too large")
	}
	p.next()
	if neg {
		return -v
	}
	return v
}

// ParseString reads a string.
func (p *parser) ParseString() string {
	s, ok := p.ParseOptionalString()
	if !ok {
		p.Errorf("expected string")
	}
	return s
}

// ParseOptionalString reads a string if there is one.
func (p *parser) ParseOptionalString() (s string, ok bool) {
	if p.tok.kind != tokString {
		return "", false
	}
	s = unquote(p.text())
	p.next()
	return s, true
}

// ParseSymbol reads @name.
func (p *parser) ParseSymbol() string {
	s, ok := p.ParseOptionalSymbol()
	if !ok {
		p.Errorf("expected valid '@'-identifier for symbol name")
	}
	return s
}

// ParseOptionalSymbol reads @name if there is one.
func (p *parser) ParseOptionalSymbol() (name string, ok bool) {
	if p.tok.kind != tokAt {
		return "", false
	}
	name = symbolName(p.text())
	p.next()
	return name, true
}

// ParseList reads items between brackets.
func (p *parser) ParseList(open, close string, item func()) {
	if open != "" {
		p.Expect(open)
		if p.Accept(close) {
			return
		}
	}
	for {
		item()
		if !p.is(',') {
			break
		}
		p.next()
	}
	if open != "" {
		p.Expect(close)
	}
}

// ParseBalanced returns the text from an opening bracket to its closing one.
func (p *parser) ParseBalanced() string {
	if !p.is('<') && !p.is('(') && !p.is('[') && !p.is('{') {
		p.Errorf("expected an opening bracket")
	}
	start := p.tok.start
	end := p.balancedEnd(p.lexer.src[start], start+1)
	p.lexAt(end + 1)
	return string(p.lexer.src[start : end+1])
}

// ParseOptionalAttrDict reads {a = x, b} into st.
func (p *parser) ParseOptionalAttrDict(st *ir.OpState) {
	if p.is('{') {
		p.attrDict(st, false)
	}
}

// ParseOptionalAttrDictWithKeyword reads attributes {...} into st.
func (p *parser) ParseOptionalAttrDictWithKeyword(st *ir.OpState) {
	if p.AcceptKeyword("attributes") {
		p.attrDict(st, false)
	}
}

// ParseOperand reads %name or %name#1.
func (p *parser) ParseOperand() ir.Operand {
	o, ok := p.ParseOptionalOperand()
	if !ok {
		p.wrong("expected SSA operand")
	}
	return o
}

// ParseOptionalOperand reads %name or %name#1 if there is one.
func (p *parser) ParseOptionalOperand() (o ir.Operand, ok bool) {
	if p.tok.kind != tokPercent {
		return o, false
	}
	o = ir.Operand{Name: p.text()[1:], Pos: p.pos()}
	p.next()
	if p.tok.kind == tokHash {
		n, ok := number(p.text()[1:])
		if !ok {
			p.Errorf("invalid SSA value result number")
		}
		o.Index = n
		p.next()
	}
	return o, true
}

// ParseOperands reads uses separated by commas.
func (p *parser) ParseOperands() []ir.Operand { return p.operands(nil) }

func (p *parser) operands(out []ir.Operand) []ir.Operand {
	if p.tok.kind != tokPercent {
		return out
	}
	for {
		o := p.ParseOperand()
		out = append(roomy(p, out), o)
		if !p.is(',') {
			return out
		}
		p.next()
	}
}

// roomy returns out, which a list in brackets is read into, with room for one more element. Where the list is long,
// that is room for as many as commas follow: what a list leaves behind each time it grows can be more than all of it.
func roomy[T any](p *parser, out []T) []T {
	const long = 1 << 10
	if len(out) < cap(out) || len(out) < long {
		return out
	}
	rest := p.lexer.src[p.tok.start:]
	if i := bytes.IndexAny(rest, ")]"); i >= 0 {
		rest = rest[:i]
	}
	n := min(bytes.Count(rest, []byte{','}), len(rest)/len("i1,"))
	return append(make([]T, 0, len(out)+max(n+1, len(out)/4)), out...)
}

// ResolveOperands appends the values of operands to st.Operands.
func (p *parser) ResolveOperands(operands []ir.Operand, types []ir.Type, pos diag.Pos, st *ir.OpState) {
	if len(operands) != len(types) {
		opParser{p}.ErrorfAt(pos, "number of operands and types do not match: got %d operands and %d types", len(operands), len(types))
	}
	for i, o := range operands {
		st.Operands = append(st.Operands, p.ResolveOperand(o, types[i]))
	}
}

// ParseArgument reads the declaration of a region's argument.
func (p *parser) ParseArgument(types, attrs bool) ir.Argument {
	a, ok := p.ParseOptionalArgument(types, attrs)
	if !ok {
		p.Errorf("expected SSA identifier")
	}
	return a
}

// ParseOptionalArgument reads the declaration of a region's argument if there is one.
func (p *parser) ParseOptionalArgument(types, attrs bool) (a ir.Argument, ok bool) {
	a.Operand, ok = p.ParseOptionalOperand()
	if !ok {
		return a, false
	}
	if !types {
		return a, true
	}
	p.expectIn(':', "expected ':'")
	a.Type = p.ParseType()
	if attrs && p.is('{') {
		a.Attrs = p.dictAttr()
	}
	a.Loc = p.ParseOptionalLoc()
	return a, true
}

// opParser is the parser as the hooks of ops see it: what they report, and the words and values they ask for and do not
// get, is said of the op, as MLIR does.
type opParser struct{ *parser }

var _ ir.AsmParser = opParser{}

// Errorf reports a mistake at the current token and does not return.
func (p opParser) Errorf(format string, args ...any) { p.ErrorfAt(p.pos(), format, args...) }

// ErrorfAt reports a mistake at pos and does not return.
func (p opParser) ErrorfAt(pos diag.Pos, format string, args ...any) {
	p.parser.ErrorfAt(pos, "custom op '%s' %s", p.frames[p.level-1].st.Def.Name, fmt.Sprintf(format, args...))
}

// ExpectKeyword consumes the given word.
func (p opParser) ExpectKeyword(word string) {
	if !p.AcceptKeyword(word) {
		p.Errorf("expected '%s'", word)
	}
}

// ParseKeyword reads a bare word.
func (p opParser) ParseKeyword() string {
	s := p.ParseOptionalKeyword()
	if s == "" {
		p.Errorf("expected valid keyword")
	}
	return s
}

// ParseInteger reads an integer.
func (p opParser) ParseInteger() int64 {
	v, ok := p.ParseOptionalInteger()
	if !ok {
		p.Errorf("expected integer value")
	}
	return v
}

// ParseString reads a string.
func (p opParser) ParseString() string {
	s, ok := p.ParseOptionalString()
	if !ok {
		p.Errorf("expected string")
	}
	return s
}

// ParseSymbol reads @name.
func (p opParser) ParseSymbol() string {
	s, ok := p.ParseOptionalSymbol()
	if !ok {
		p.Errorf("expected valid '@'-identifier for symbol name")
	}
	return s
}
