package parse

import (
	"bytes"
	"strconv"

	"github.com/hlocb/hlocb/diag"
	"github.com/hlocb/hlocb/ir"
	"github.com/hlocb/hlocb/tensor"
)

// asmParser is the parser as dialects see it. The hooks of an op read with inOp set: as in MLIR, the messages of a few
// methods then name the op.
type asmParser struct {
	*parser
	inOp bool
}

var _ ir.AsmParser = asmParser{}

// Errorf implements ir.AsmParser, as do the methods below.
func (p asmParser) Errorf(format string, args ...any) { p.ErrorfAt(p.pos(), format, args...) }

// ErrorfAt reports a mistake at pos and does not return.
func (p asmParser) ErrorfAt(pos diag.Pos, format string, args ...any) {
	if p.inOp {
		format = "custom op '%s' " + format
		args = append([]any{p.ops.frames[p.ops.level-1].st.Def.Name}, args...)
	}
	p.parser.ErrorfAt(pos, format, args...)
}

// ExpectKeyword consumes the given word.
func (p asmParser) ExpectKeyword(word string) {
	if !p.AcceptKeyword(word) {
		p.Errorf("expected '%s'", word)
	}
}

// ParseKeyword reads a bare word.
func (p asmParser) ParseKeyword() string {
	s := p.ParseOptionalKeyword()
	if s == "" {
		p.Errorf("expected valid keyword")
	}
	return s
}

// ParseEnum reads a bare case of def.
func (p asmParser) ParseEnum(def *ir.EnumDef) int {
	pos, word := p.pos(), p.ParseKeyword()
	code, ok := def.Code(word)
	if !ok {
		p.ErrorfAt(pos, "%s", expectedCase(def))
	}
	return code
}

// ParseInteger reads an integer.
func (p asmParser) ParseInteger() int64 {
	v, ok := p.ParseOptionalInteger()
	if !ok {
		p.Errorf("expected integer value")
	}
	return v
}

// ParseOptionalInteger reads an integer if there is one. As in MLIR, true is -1 and false is 0.
func (p asmParser) ParseOptionalInteger() (value int64, ok bool) {
	neg := false
	switch {
	case p.is('-'):
		neg = true
		p.next()
		if p.tok.kind != tokInteger {
			p.Errorf("expected integer value")
		}
	case p.AcceptKeyword("true"):
		return -1, true
	case p.AcceptKeyword("false"):
		return 0, true
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

// ParseIntegers reads [1, 2, 3].
func (p asmParser) ParseIntegers() []int64 {
	out := []int64{}
	p.ParseList("[", "]", func() { out = append(out, p.ParseInteger()) })
	return out
}

// ParseIntArray reads [1, 2, 3] as an array of elem, an integer type.
func (p asmParser) ParseIntArray(elem ir.Type) ir.Attr {
	start := p.tok.start
	text := p.src[start : start+1+bytes.IndexByte(p.src[start:min(len(p.src), start+longestCached)], ']')]
	if a, ok := p.cache.attrs.get(text, elem); ok {
		p.lexAt(start + len(text))
		return a
	}
	values := p.ParseIntegers()
	if elem == p.ctx.Integer(1, ir.Signless) {
		for i := range values {
			values[i] &= 1
		}
	}
	a := ir.NewDenseArray(elem, values)
	if bytes.IndexByte(text, '/') < 0 { // no comment, which may hold another ']'
		p.cache.attrs.put(text, elem, a)
	}
	return a
}

// ParseString reads a string.
func (p asmParser) ParseString() string {
	s, ok := p.ParseOptionalString()
	if !ok {
		p.Errorf("expected string")
	}
	return s
}

// ParseSymbol reads @name.
func (p asmParser) ParseSymbol() string {
	s, ok := p.ParseOptionalSymbol()
	if !ok {
		p.Errorf("expected valid '@'-identifier for symbol name")
	}
	return s
}

// Context returns the context of the module's types.
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
		p.unexpected("%s", problem)
	}
	p.next()
}

// unexpected reports that the current token is not the expected one. As in MLIR, the position is the
// end of the previous token.
func (p *parser) unexpected(format string, args ...any) {
	if p.tok.kind == tokError {
		p.Errorf("%s", p.problem)
	}
	p.ErrorfAt(diag.At(p.missingAt()), format, args...)
}

// missingAt returns the offset of the end of the text before the current token and the white space and comments before
// it.
func (p *parser) missingAt() int {
	src := p.src
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

// comma consumes a comma if it is next.
func (p *parser) comma() bool {
	if p.is(',') {
		p.next()
		return true
	}
	return false
}

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
		p.unexpected("expected '%s'", punct)
	}
	p.next()
}

// peekKeyword reports whether the current token is the given word.
func (p *parser) peekKeyword(word string) bool {
	return p.tok.kind == tokWord && string(p.text()) == word
}

// AcceptKeyword consumes the given word if it is next.
func (p *parser) AcceptKeyword(word string) bool {
	if p.peekKeyword(word) {
		p.next()
		return true
	}
	return false
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
	return p.ParseOptionalKeyword()
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

// ParseShape reads 2x?x.
func (p *parser) ParseShape() []int64 { return p.dims(nil) }

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

// ParseOptionalString reads a string if there is one.
func (p *parser) ParseOptionalString() (s string, ok bool) {
	if p.tok.kind != tokString {
		return "", false
	}
	s = unquote(p.text())
	p.next()
	return s, true
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
	for more := true; more; more = p.comma() {
		item()
	}
	if open != "" {
		p.Expect(close)
	}
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
func (p *parser) ParseOperand() (o ir.Operand) {
	p.operand(&o)
	return o
}

// ParseOptionalOperand reads %name or %name#1 if there is one.
func (p *parser) ParseOptionalOperand() (o ir.Operand, ok bool) {
	if ok = p.tok.kind == tokPercent; ok {
		p.operand(&o)
	}
	return o, ok
}

// operand reads %name or %name#1 into o, which is zero.
func (p *parser) operand(o *ir.Operand) {
	if p.tok.kind != tokPercent {
		p.unexpected("expected SSA operand")
	}
	o.Name, o.Pos = p.src[p.tok.start+1:p.tok.end], p.pos()
	p.next()
	if p.tok.kind == tokHash {
		n, ok := number(p.text()[1:])
		if !ok {
			p.Errorf("invalid SSA value result number")
		}
		o.Index = n
		p.next()
	}
}

// operands appends uses separated by commas, possibly none, to list.
func (p *parser) operands(list []ir.Operand) []ir.Operand {
	for more := p.tok.kind == tokPercent; more; more = p.comma() {
		list = append(growList(p, list), ir.Operand{})
		p.operand(&list[len(list)-1])
	}
	return list
}

// growList returns list with capacity for one more element. It gives a long list the capacity for all elements up to
// the closing bracket, to avoid the garbage of doubling.
func growList[T any](p *parser, list []T) []T {
	const long = 1 << 10
	if len(list) < cap(list) || len(list) < long {
		return list
	}
	rest := p.src[p.tok.start:]
	if i := bytes.IndexAny(rest, ")]"); i >= 0 {
		rest = rest[:i]
	}
	n := min(bytes.Count(rest, []byte{','}), len(rest)/len("i1,"))
	return append(make([]T, 0, len(list)+max(n+1, len(list)/4)), list...)
}

// ResolveOperands appends the values of operands to st.Operands.
func (p *parser) ResolveOperands(operands []ir.Operand, types []ir.Type, pos diag.Pos, st *ir.OpState) {
	if len(operands) != len(types) {
		p.opParser.ErrorfAt(pos, "number of operands and types do not match: got %d operands and %d types", len(operands), len(types))
	}
	for i := range operands {
		st.Operands = append(st.Operands, p.resolve(&operands[i], types[i]))
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
