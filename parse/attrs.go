package parse

import (
	"bytes"
	"fmt"
	"math/big"
	"slices"
	"strings"

	"github.com/hlocb/hlocb/diag"
	"github.com/hlocb/hlocb/internal/densebytes"
	"github.com/hlocb/hlocb/ir"
	"github.com/hlocb/hlocb/tensor"
)

// ParseAttr implements ir.AsmParser.
func (p *parser) ParseAttr(want ir.Type) ir.Attr {
	a, ok := p.ParseOptionalAttr(want)
	if !ok {
		p.unexpected("expected attribute value")
	}
	return a
}

// ParseOptionalHash implements ir.AsmParser.
func (p *parser) ParseOptionalHash() (ir.Attr, bool) {
	if p.tok.kind != tokHash {
		return nil, false
	}
	return p.dialectAttr(), true
}

// ParseOptionalAttr implements ir.AsmParser.
func (p *parser) ParseOptionalAttr(want ir.Type) (ir.Attr, bool) {
	switch p.tok.kind {
	case tokWord:
		return p.wordAttr(want)
	case tokHash:
		return p.dialectAttr(), true
	case tokAt:
		return p.symbolRef(), true
	case tokString:
		s := unquote(p.text())
		p.next()
		if p.is(':') && want == nil {
			p.next()
			return ir.NewTypedString(s, p.ParseType()), true
		}
		return ir.NewString(s), true
	case tokInteger, tokFloat:
		return p.numberAttr(want, false), true
	case tokBang:
		return ir.NewTypeAttr(p.ParseType()), true
	case tokPunct:
		switch p.tok.punct {
		case '-':
			p.next()
			if p.tok.kind != tokInteger && p.tok.kind != tokFloat {
				p.Errorf("expected constant integer or floating point value")
			}
			return p.numberAttr(want, true), true
		case '[':
			return p.arrayAttr(), true
		case '{':
			return p.dictAttr(), true
		case '(':
			return ir.NewTypeAttr(p.ParseType()), true
		}
	}
	return nil, false
}

// arrayAttr reads [a, b].
func (p *parser) arrayAttr() ir.Attr {
	p.deeper()
	defer func() { p.depth-- }()
	p.next()
	var elems []ir.Attr
	for more := !p.is(']'); more; more = p.comma() {
		elems = append(elems, p.ParseAttr(nil))
	}
	p.expectIn(']', "expected ',' or ']'")
	return ir.NewArray(elems)
}

// dictAttr reads {a = x, b}.
func (p *parser) dictAttr() *ir.DictAttr {
	p.deeper()
	defer func() { p.depth-- }()
	mark := p.entries()
	d := ir.NewDict(slices.Clone(p.ops.attrs[mark:]))
	p.ops.attrs = p.ops.attrs[:mark]
	return d
}

// symbolRef reads @a::@b.
func (p *parser) symbolRef() ir.Attr {
	root := symbolName(p.text())
	p.next()
	var nested []string
	for p.is(punctColons) {
		p.next()
		if p.tok.kind != tokAt {
			p.Errorf("expected nested symbol reference identifier")
		}
		nested = append(nested, symbolName(p.text()))
		p.next()
	}
	return ir.NewSymbolRef(root, nested...)
}

// symbolName returns the name of a token @name or @"name".
func symbolName(text []byte) string {
	if text[1] == '"' {
		return unquote(text[1:])
	}
	return str(text[1:])
}

// numberAttr reads a number and its type; the sign was read before.
func (p *parser) numberAttr(want ir.Type, neg bool) ir.Attr {
	tok := p.tok
	text := p.text()
	p.next()
	t := want
	if want == nil {
		if p.is(':') {
			p.next()
			t = p.ParseType()
		} else if tok.kind == tokFloat {
			t = ir.Float(tensor.F64)
		} else {
			t = ir.Int(64)
		}
	}
	at := diag.At(tok.start)
	switch t := t.(type) {
	case *ir.FloatType:
		if tok.kind == tokInteger && !(len(text) > 1 && text[1] == 'x') {
			d := diag.Errorf(p.source, at, "unexpected decimal integer literal for a floating point value")
			panic(bailout{d.Note(at, "add a trailing dot to make the literal a float")})
		}
		if neg && tok.kind == tokInteger {
			p.ErrorfAt(at, "hexadecimal float literal should not have a leading minus")
		}
		if t.DType() == tensor.Invalid {
			number := string(text)
			if neg {
				number = "-" + number
			}
			bits, ok := densebytes.ParseForeign(number, t)
			if !ok {
				p.ErrorfAt(at, "expected a number of type %s", t)
			}
			return densebytes.NewForeignFloat(bits, t)
		}
		bits, err := tensor.ParseFloat(text, t.DType())
		if err != nil {
			p.ErrorfAt(at, "%s", err)
		}
		if neg {
			bits = negate(bits, t.DType())
		}
		return ir.NewFloatBits(bits, t)
	case *ir.IntegerType:
		if tok.kind == tokFloat {
			p.Errorf("floating point value not valid for specified type")
		}
		if neg && t.Signedness() == ir.Unsigned {
			p.ErrorfAt(at, "negative integer literal not valid for unsigned integer type")
		}
		return p.integerAttr(text, neg, t.Width(), t.Signedness(), t, at)
	case *ir.IndexType:
		if tok.kind == tokFloat {
			p.Errorf("floating point value not valid for specified type")
		}
		return p.integerAttr(text, neg, 64, ir.Signed, t, at)
	}
	p.ErrorfAt(at, "integer literal not valid for specified type")
	panic("unreachable")
}

// negate flips the sign of a float; FNUZ types have no negative zero.
func negate(bits uint64, d tensor.DType) uint64 {
	return tensor.EncodeFloat(d, -tensor.DecodeFloat(d, bits))
}

// integerAttr returns the integer of type t whose digits are text at the position at.
func (p *parser) integerAttr(text []byte, neg bool, width int, sign ir.Signedness, t ir.Type, at diag.Pos) ir.Attr {
	if width == 0 {
		if len(bytes.TrimLeft(text, "0")) > 0 || neg {
			p.ErrorfAt(at, "integer constant out of range for attribute")
		}
		return ir.NewInteger(0, t)
	}
	if width <= 64 {
		bits, ok := tensor.ParseInteger(text, neg, width, sign == ir.Signed)
		if !ok {
			p.ErrorfAt(at, "integer constant out of range for attribute")
		}
		v := int64(bits)
		switch {
		case width == 1 && sign == ir.Signless:
			v &= 1
		case sign == ir.Unsigned:
		default:
			v = v << (64 - width) >> (64 - width)
		}
		return ir.NewInteger(v, t)
	}
	if len(text) > 6000 {
		p.ErrorfAt(at, "integer constant out of range for attribute")
	}
	v, ok := new(big.Int).SetString(string(text), 0)
	if !ok {
		v, ok = new(big.Int).SetString(string(text), 10)
	}
	limit := width
	if sign == ir.Signed {
		limit--
	}
	if !ok || v.BitLen() > limit {
		p.ErrorfAt(at, "integer constant out of range for attribute")
	}
	if neg {
		v.Neg(v)
	}
	return ir.NewWideInteger(v, t)
}

// wordAttr reads the attributes that start with a word, and types.
func (p *parser) wordAttr(want ir.Type) (ir.Attr, bool) {
	switch string(p.text()) {
	case "true", "false":
		v := p.text()[0] == 't'
		p.next()
		return p.ctx.Bool(v), true
	case "unit":
		p.next()
		return unit, true
	case "dense":
		if p.followedBy('<') {
			return p.denseAttr(want), true
		}
	case "dense_resource":
		return p.resourceAttr(want), true
	case "array":
		if p.followedBy('<') {
			return p.denseArray(), true
		}
	case "loc":
		p.next()
		return ir.NewLocAttr(p.parenLoc("inline location", false)), true
	case "affine_map", "affine_set", "strided", "distinct", "sparse":
		return p.opaqueAttr(want), true
	}
	t, ok := p.ParseOptionalType()
	if !ok {
		return nil, false
	}
	return ir.NewTypeAttr(t), true
}

// followedBy reports whether the next token is c.
func (p *parser) followedBy(c byte) bool {
	i := p.skipSpace(p.tok.end)
	return i < len(p.src) && p.src[i] == c
}

// opaqueAttr reads an attribute that is carried as text: word, brackets, and for sparse a type.
func (p *parser) opaqueAttr(want ir.Type) ir.Attr {
	src := p.src
	word := string(p.text())
	start := p.tok.start
	p.next()
	if word == "distinct" && p.is('[') {
		end := p.balancedEnd('[', p.tok.end)
		p.lexAt(end + 1)
	}
	if !p.is('<') {
		p.Errorf("expected '<' in %s", word)
	}
	end := p.balanced('<', p.tok.end, strings.HasPrefix(word, "affine_")) + 1
	text := strings.Join(strings.Fields(string(src[start:end])), " ")
	if strings.HasPrefix(word, "affine_") {
		text = affineText(text)
	}
	p.lexAt(end)
	if word == "sparse" {
		t := want
		if t == nil {
			p.expectIn(':', "expected ':'")
			t = p.ParseType()
		}
		text += " : " + t.String()
	}
	return ir.NewOpaque(text)
}

// typeAfterColon returns want, or reads ': type'.
func (p *parser) typeAfterColon(want ir.Type) ir.Type {
	if want != nil {
		return want
	}
	p.expectIn(':', "expected ':'")
	return p.ParseType()
}

// denseAttr reads dense<...> : type. The payload is checked but not decoded.
func (p *parser) denseAttr(want ir.Type) ir.Attr {
	src := p.src
	attrPos := p.Pos()
	p.next() // <
	start := p.tok.end
	end := p.denseEnd(start)
	p.lexAt(end + 1)
	t := p.typeAfterColon(want)
	text := src[start:end]
	if len(text) <= longestCached {
		if a, ok := p.cache.attrs.get(text, t); ok {
			return a
		}
	}
	var shape []int64
	var elem ir.Type
	switch t := t.(type) {
	case *ir.TensorType:
		if !t.Static() {
			p.ErrorfAt(attrPos, "elements literal type must have static shape")
		}
		shape, elem = t.Shape(), t.Elem()
	case *ir.ShapedType:
		shape, elem = t.Shape(), t.Elem()
	default:
		p.ErrorfAt(attrPos, "elements literal must be a shaped type")
	}
	dtype := ir.ElementDType(elem)
	var a *ir.DenseAttr
	if dtype != tensor.Invalid {
		n := tensor.Shape(shape).NumElements()
		if n < 0 {
			p.ErrorfAt(attrPos, "elements literal type has too many elements")
		}
		// Printing takes the elements of a list, but copies hexadecimal text: that is only checked.
		if bytes.HasPrefix(text, []byte("[")) {
			v, splat, err := tensor.DecodeDense(text, dtype, shape)
			if err != nil {
				p.checkDense(err.(*tensor.LiteralError), attrPos, start)
			}
			a = ir.NewDense(t, v, splat)
		} else {
			p.checkDense(tensor.CheckDense(text, dtype, shape), attrPos, start)
		}
	}
	if a == nil {
		a = ir.NewLazyDense(t, text, decodeDense)
	}
	if dtype == tensor.Invalid && densebytes.ForeignSize(elem) > 0 { // print these as MLIR does
		if b, ok := densebytes.Of(a); ok {
			if again, problem := densebytes.Attr(t, shape, elem, b); problem == "" {
				a = again
			}
		}
	}
	p.cache.attrs.put(text, t, a)
	return a
}

// checkDense reports err, a mistake in a literal, if it is not nil. The literal's text starts at offset start, its
// attribute at pos.
func (p *parser) checkDense(err *tensor.LiteralError, pos diag.Pos, start int) {
	if err == nil {
		return
	}
	if err.Off >= 0 {
		pos = diag.At(start + err.Off)
	}
	p.ErrorfAt(pos, "%s", err.Message)
}

// denseEnd returns the offset of the '>' that ends the payload starting at i.
func (p *parser) denseEnd(i int) int {
	src := p.src
	if bytes.HasPrefix(src[i:], []byte(`"0x`)) {
		// Hexadecimal data may be long; its digits are checked later.
		if n := bytes.IndexByte(src[i+1:], '"'); n > 0 && i+n+2 < len(src) && src[i+n+2] == '>' {
			return i + n + 2
		}
	}
	for {
		n := bytes.IndexByte(src[i:], '>')
		text := src[i:]
		if n >= 0 {
			text = text[:n]
		}
		q := bytes.IndexByte(text, '"')
		if q >= 0 {
			l := lexer{src: src}
			end := l.stringEnd(i + q)
			if end == 0 {
				p.tok, p.problem = l.tok, l.problem
				p.Errorf("%s", p.problem)
			}
			i = end
			continue
		}
		if n < 0 {
			p.ErrorfAt(diag.At(len(src)), "expected '>'")
		}
		return i + n
	}
}

// decodeDense decodes the payload of a dense attribute that the parser made.
func decodeDense(a *ir.DenseAttr) (*tensor.Tensor, bool, error) {
	var shape []int64
	var elem ir.Type
	switch t := a.Type().(type) {
	case *ir.TensorType:
		shape, elem = t.Shape(), t.Elem()
	case *ir.ShapedType:
		shape, elem = t.Shape(), t.Elem()
	}
	d := ir.ElementDType(elem)
	if d == tensor.Invalid {
		return nil, false, fmt.Errorf("hlocb does not compute with elements of type %s", elem)
	}
	return tensor.DecodeDense(a.Text(), d, shape)
}

// resourceAttr reads dense_resource<key> : type.
func (p *parser) resourceAttr(want ir.Type) ir.Attr {
	p.next()
	p.expectIn('<', "expected '<' after 'dense_resource'")
	key := p.ParseKeywordOrString()
	p.expectIn('>', "expected '>'")
	return ir.NewResource(key, p.typeAfterColon(want))
}

// denseArray reads array<elem: values>.
func (p *parser) denseArray() ir.Attr {
	src := p.src
	start := p.tok.start
	text := src[start : start+1+bytes.IndexByte(src[start:min(len(src), start+longestCached)], '>')]
	if a, ok := p.cache.attrs.get(text, nil); ok {
		p.lexAt(start + len(text))
		return a
	}
	p.next()
	p.next()
	pos := p.Pos()
	elem := p.ParseType()
	var values []int64
	if p.is(':') {
		p.next()
		values = p.arrayValues(elem, pos)
	}
	if !p.is('>') {
		p.Errorf("expected '>' to close an array attribute")
	}
	end := p.tok.end
	p.next()
	a := ir.NewDenseArray(elem, values)
	if end == start+len(text) {
		p.cache.attrs.put(text, nil, a)
	}
	return a
}

// arrayValues reads numbers of type elem separated by commas.
func (p *parser) arrayValues(elem ir.Type, pos diag.Pos) []int64 {
	dtype := ir.ElementDType(elem)
	width, signed := 0, false
	if it, ok := elem.(*ir.IntegerType); ok {
		width, signed = it.Width(), it.Signedness() == ir.Signed
	}
	if !(dtype.IsFloat() || width == 1 || width == 8 || width == 16 || width == 32 || width == 64) {
		p.ErrorfAt(pos, "expected integer or float type, got: '%s'", elem)
	}
	var values []int64
	for more := true; more; more = p.comma() {
		switch {
		case width == 1 && p.tok.kind == tokWord && (string(p.text()) == "true" || string(p.text()) == "false"):
			v := int64(0)
			if p.text()[0] == 't' {
				v = 1
			}
			values = append(values, v)
			p.next()
		case width == 1:
			p.Errorf("expected 'true' or 'false' values for i1 type")
		default:
			neg := p.is('-')
			if neg {
				p.next()
			}
			values = append(values, p.arrayValue(dtype, width, signed, neg))
		}
	}
	return values
}

// arrayValue reads a number of a dense array after its sign.
func (p *parser) arrayValue(dtype tensor.DType, width int, signed, neg bool) int64 {
	if dtype.IsFloat() {
		if p.tok.kind != tokFloat && p.tok.kind != tokInteger {
			p.Errorf("expected floating point literal")
		}
		bits, err := tensor.ParseFloat(p.text(), dtype)
		if err != nil {
			p.Errorf("%s", err)
		}
		if neg {
			bits = negate(bits, dtype)
		}
		p.next()
		return int64(bits)
	}
	if p.tok.kind != tokInteger {
		p.Errorf("expected integer literal")
	}
	bits, ok := tensor.ParseInteger(p.text(), neg, width, signed)
	if !ok && neg && allZeros(p.text()) {
		ok = true
	}
	if !ok {
		p.Errorf("integer literal out of range")
	}
	p.next()
	v := int64(bits)
	if width == 1 {
		return v & 1
	}
	if dtype.Kind() != tensor.KindUnsigned {
		v = v << (64 - width) >> (64 - width)
	}
	return v
}

func allZeros(b []byte) bool { return len(bytes.Trim(b, "0")) == 0 }
