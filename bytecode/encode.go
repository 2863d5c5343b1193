package bytecode

import (
	"math"
	"math/big"
	"strconv"
	"strings"

	"github.com/hlocb/hlocb/diag"
	"github.com/hlocb/hlocb/internal/densebytes"
	"github.com/hlocb/hlocb/ir"
	"github.com/hlocb/hlocb/parse"
)

// encoder writes attributes and types. It implements ir.Coder. While the writer assigns ids, the encoder writes keys:
// parts as ids and strings in full, so equal attributes have equal keys. Later it writes the bytes of the file.
type encoder struct {
	w    *writer
	buf  []byte
	key  bool
	refs []int32 // parts of a key
}

// keyEncoder returns an encoder for a key. Return it with release.
func (w *writer) keyEncoder() *encoder {
	if n := len(w.free); n > 0 {
		e := w.free[n-1]
		w.free = w.free[:n-1]
		e.buf, e.refs = e.buf[:0], e.refs[:0]
		return e
	}
	return &encoder{w: w, key: true}
}

// addAttr assigns an id to the attribute or location in it. e holds its key.
func (w *writer) addAttr(e *encoder, it item) int32 {
	defer func() { w.free = append(w.free, e) }()
	n, old := w.attrKeys.number(e.buf)
	if old {
		return w.keyed[n]
	}
	it.refs, it.numRefs = int32(len(w.refs)), int32(len(e.refs))
	w.refs = append(w.refs, e.refs...)
	id := int32(len(w.attrs))
	w.attrs = append(w.attrs, it)
	w.keyed = append(w.keyed, id)
	return id
}

// attrID returns the id of an attribute.
func (w *writer) attrID(a ir.Attr) int32 {
	if id, ok := w.attrIDs[a]; ok {
		return id
	}
	var id int32
	switch a := a.(type) {
	case *ir.LocAttr:
		id = w.locID(a.Loc())
	case *ir.StringAttr:
		if a.Type() == nil {
			id = w.nameID(a.Value())
		} else {
			id = w.newAttr(a)
		}
	default:
		id = w.newAttr(a)
	}
	w.attrIDs[a] = id
	return id
}

func (w *writer) newAttr(a ir.Attr) int32 {
	e := w.keyEncoder()
	it := item{x: a}
	it.dialect = w.dialectID(attrDialect(a))
	e.buf = appendUint(e.buf, uint64(it.dialect))
	e.attribute(&it)
	return w.addAttr(e, it)
}

// nameID returns the id of a string attribute without a type.
func (w *writer) nameID(s string) int32 {
	if id, ok := w.stringAttrs[s]; ok {
		return id
	}
	id := w.newAttr(ir.NewString(s))
	w.stringAttrs[s] = id
	return id
}

// dictID returns the id of a dictionary attribute.
func (w *writer) dictID(list ir.AttrList) int32 { return w.newAttr(ir.NewDict(list)) }

// locID returns the id of a location. Nil is the unknown location.
func (w *writer) locID(l *ir.Loc) int32 {
	if l == nil || w.strip {
		if w.unknown > 0 {
			return w.unknown - 1
		}
		l = &ir.Loc{}
	}
	if l == w.lastLoc {
		return w.lastLocID
	}
	var id int32
	if l.Kind() == ir.LocFile {
		id = w.fileLocID(l)
	} else if known, ok := w.locIDs[l]; ok {
		id = known
	} else {
		e := w.keyEncoder()
		it := item{x: l, dialect: w.builtin, coded: true}
		e.buf = appendUint(e.buf, uint64(it.dialect))
		e.attribute(&it)
		id = w.addAttr(e, it)
		w.locIDs[l] = id
	}
	if w.lastLoc, w.lastLocID = l, id; l.Kind() == ir.LocUnknown {
		w.unknown = id + 1
	}
	return id
}

// fileLocID returns the id of a place in a file. Almost every op has its own place.
func (w *writer) fileLocID(l *ir.Loc) int32 {
	name := w.fileID(l.Name())
	id, old := w.fileLocs.number(l, w.attrs)
	if !old {
		w.attrs = append(w.attrs, item{x: l, refs: int32(len(w.refs)), numRefs: 1, dialect: w.builtin, coded: true})
		w.refs = append(w.refs, name<<1)
	}
	return id
}

// fileID is nameID for the name of a file. Most locations are in one file.
func (w *writer) fileID(s string) int32 {
	if !w.named || s != w.lastName {
		w.named, w.lastName, w.lastNameID = true, s, w.nameID(s)
	}
	return w.lastNameID
}

// typeID returns the id of a type.
func (w *writer) typeID(t ir.Type) int32 {
	if id, ok := w.typeIDs[t]; ok {
		return id
	}
	e := w.keyEncoder()
	it := item{x: t, dialect: w.builtin}
	if t, ok := t.(*ir.DialectType); ok {
		it.dialect = w.dialectID(t.Dialect())
	}
	it.coded = e.typ(t)
	it.refs, it.numRefs = int32(len(w.refs)), int32(len(e.refs))
	w.refs = append(w.refs, e.refs...)
	id := int32(len(w.types))
	w.types = append(w.types, it)
	w.typeIDs[t] = id
	w.free = append(w.free, e)
	return id
}

func attrDialect(a ir.Attr) string {
	switch a := a.(type) {
	case *ir.EnumAttr:
		return a.Enum().Dialect
	case *ir.DialectAttr:
		return a.Dialect()
	}
	return "builtin"
}

// attribute writes the attribute or location in it and records whether it has a binary form of its own.
func (e *encoder) attribute(it *item) {
	if l, ok := it.x.(*ir.Loc); ok {
		e.location(l)
		return
	}
	a := it.x.(ir.Attr)
	if it.coded = e.builtin(a) || e.row(a); !it.coded {
		e.text(a.String())
	}
}

// row writes an attribute of a dialect in the form that its row defines, and reports whether the row defines one.
func (e *encoder) row(a ir.Attr) bool {
	switch a := a.(type) {
	case *ir.DialectAttr:
		row := a.Def()
		if row == nil {
			return false
		}
		b := formOf(row.Binary, a.Data())
		if b == nil {
			return false
		}
		e.code(b.Code)
		codeAttr(e, row, b, a.Data())
		return true
	case *ir.EnumAttr:
		if forms := a.Enum().Binary; forms != nil {
			e.code(forms[0].Code)
			e.uint(uint64(a.Code()))
			return true
		}
	}
	return false
}

func (e *encoder) text(s string) {
	if e.key {
		e.buf = append(e.buf, 0xff) // longer than any code
	}
	e.buf = append(append(e.buf, s...), 0)
}

func (e *encoder) code(code int)                    { e.buf = appendUint(e.buf, uint64(code)) }
func (e *encoder) uint(v uint64)                    { e.buf = appendUint(e.buf, v) }
func (e *encoder) Context() *ir.Context             { return e.w.ctx }
func (e *encoder) Failf(format string, args ...any) { e.w.fail(e.w.m.Op(), format, args...) }
func (e *encoder) Int(v *int64)                     { e.buf = appendInt(e.buf, *v) }
func (e *encoder) Uint(v *uint64)                   { e.buf = appendUint(e.buf, *v) }
func (e *encoder) Len(v *int)                       { e.buf = appendUint(e.buf, uint64(*v)) }
func (e *encoder) Float64(v *float64)               { e.buf = appendInt(e.buf, int64(math.Float64bits(*v))) }
func (e *encoder) Attr(v *ir.Attr)                  { e.uint(e.attrRef(e.w.attrID(*v))) }
func (e *encoder) Type(v *ir.Type)                  { e.uint(e.typeRef(*v)) }
func (e *encoder) String(v *string)                 { e.string(*v) }

func (e *encoder) Bool(v *bool) {
	b := byte(0)
	if *v {
		b = 1
	}
	e.buf = append(e.buf, b)
}

func (e *encoder) Bytes(v *[]byte) {
	e.buf = append(appendUint(e.buf, uint64(len(*v))), *v...)
}

func (e *encoder) OptionalAttr(v *ir.Attr) {
	if *v == nil {
		e.uint(0)
		return
	}
	e.buf = appendFlagged(e.buf, e.attrRef(e.w.attrID(*v)), true)
}

func (e *encoder) Bits(v *uint64, width int) {
	if width <= 8 {
		e.buf = append(e.buf, byte(*v))
		return
	}
	e.buf = appendInt(e.buf, int64(*v))
}

func (e *encoder) Ints(v *[]int64) {
	e.uint(uint64(len(*v)))
	for _, x := range *v {
		e.buf = appendInt(e.buf, x)
	}
}

func (e *encoder) Attrs(v *[]ir.Attr) {
	e.uint(uint64(len(*v)))
	for i := range *v {
		e.Attr(&(*v)[i])
	}
}

func (e *encoder) Types(v *[]ir.Type) {
	e.uint(uint64(len(*v)))
	for i := range *v {
		e.Type(&(*v)[i])
	}
}

func (e *encoder) string(s string) {
	if e.key {
		e.buf = append(appendUint(e.buf, uint64(len(s))), s...)
		return
	}
	e.uint(e.w.stringID(s))
}

// attrRef returns the number that represents an attribute: its id in a key, and its number in the file otherwise.
func (e *encoder) attrRef(id int32) uint64 {
	if e.key {
		e.refs = append(e.refs, id<<1)
		return uint64(id)
	}
	return uint64(e.w.attrs[id].number)
}

func (e *encoder) typeRef(t ir.Type) uint64 {
	id := e.w.typeID(t)
	if e.key {
		e.refs = append(e.refs, id<<1|1)
		return uint64(id)
	}
	return uint64(e.w.types[id].number)
}

// name writes a string attribute.
func (e *encoder) name(s string) { e.uint(e.attrRef(e.w.nameID(s))) }

func (e *encoder) loc(l *ir.Loc) { e.uint(e.attrRef(e.w.locID(l))) }

func (e *encoder) location(l *ir.Loc) {
	switch l.Kind() {
	case ir.LocUnknown:
		e.code(codeUnknownLoc)
	case ir.LocFile:
		line, col := l.Start()
		endLine, endCol := l.End()
		if endLine == 0 && endCol == 0 && (col != 0 || line == 0) {
			e.code(codeFileLoc)
			e.uint(e.attrRef(e.w.fileID(l.Name())))
			e.uint(uint64(line))
			e.uint(uint64(col))
			return
		}
		e.code(codeFileRange)
		e.uint(e.attrRef(e.w.fileID(l.Name())))
		list := []uint32{line, col, endLine, endCol}
		switch {
		case endLine == 0:
			list = list[:1]
		case endLine == line && endCol == col:
			list = list[:2]
		case endLine == line:
			list = []uint32{line, col, endCol}
		}
		e.uint(uint64(len(list)))
		for _, v := range list {
			e.uint(uint64(v))
		}
	case ir.LocName:
		e.code(codeNameLoc)
		e.name(l.Name())
		var child *ir.Loc
		if c := l.Children(); len(c) > 0 {
			child = c[0]
		}
		e.loc(child)
	case ir.LocCallSite:
		e.code(codeCallSite)
		for _, c := range l.Children() {
			e.loc(c)
		}
	case ir.LocFused:
		meta := l.Metadata()
		e.code(codeFused)
		if meta != nil {
			e.buf[len(e.buf)-1] = codeFusedMetadata<<1 | 1
		}
		e.uint(uint64(len(l.Children())))
		for _, c := range l.Children() {
			e.loc(c)
		}
		if meta != nil {
			e.Attr(&meta)
		}
	}
}

// builtin writes a builtin attribute and reports whether it has a form other than text.
func (e *encoder) builtin(a ir.Attr) bool {
	switch a := a.(type) {
	case *ir.ArrayAttr:
		e.code(codeArray)
		list := a.Elems()
		e.Attrs(&list)
	case *ir.DictAttr:
		e.code(codeDict)
		e.uint(uint64(len(a.Entries())))
		for _, n := range a.Entries() {
			e.name(n.Name)
			e.Attr(&n.Attr)
		}
	case *ir.StringAttr:
		if t := a.Type(); t != nil {
			e.code(codeTypedString)
			e.string(a.Value())
			e.uint(e.typeRef(t))
			return true
		}
		e.code(codeString)
		e.string(a.Value())
	case *ir.SymbolRefAttr:
		if len(a.Nested()) == 0 {
			e.code(codeFlatSymbol)
			e.name(a.Root())
			return true
		}
		e.code(codeSymbol)
		e.name(a.Root())
		e.uint(uint64(len(a.Nested())))
		for _, n := range a.Nested() {
			e.uint(e.attrRef(e.w.newAttr(ir.NewSymbolRef(n))))
		}
	case *ir.TypeAttr:
		e.code(codeTypeAttr)
		e.uint(e.typeRef(a.Type()))
	case *ir.UnitAttr:
		e.code(codeUnit)
	case *ir.IntegerAttr:
		e.integer(a)
	case *ir.FloatAttr:
		e.code(codeFloat)
		e.uint(e.typeRef(a.Type()))
		bits := a.Bits()
		e.Bits(&bits, a.Type().DType().Bits())
	case *ir.DenseArrayAttr:
		e.denseArray(a)
	case *ir.DenseAttr:
		return e.dense(a)
	case *ir.ResourceAttr:
		e.code(codeResource)
		e.uint(e.typeRef(a.Type()))
		e.resource(a)
	case *ir.OpaqueAttr:
		return e.opaque(a)
	default:
		return false
	}
	return true
}

func (e *encoder) integer(a *ir.IntegerAttr) {
	e.code(codeInteger)
	e.uint(e.typeRef(a.Type()))
	w := 64
	if t, ok := a.Type().(*ir.IntegerType); ok {
		w = t.Width()
	}
	if w <= 64 {
		bits := uint64(a.Value()) << (64 - w) >> (64 - w)
		e.Bits(&bits, w)
		return
	}
	v := a.Wide()
	if v == nil {
		v = big.NewInt(a.Value())
	}
	if v.Sign() < 0 {
		v = new(big.Int).Add(v, new(big.Int).Lsh(big.NewInt(1), uint(w)))
	}
	e.wide(v)
}

// wide writes a number of more than 64 bits.
func (e *encoder) wide(v *big.Int) {
	var words []uint64
	for mask := new(big.Int).SetUint64(math.MaxUint64); v.Sign() > 0; v = new(big.Int).Rsh(v, 64) {
		words = append(words, new(big.Int).And(v, mask).Uint64())
	}
	if words == nil {
		words = []uint64{0}
	}
	e.uint(uint64(len(words)))
	for _, x := range words {
		e.buf = appendInt(e.buf, int64(x))
	}
}

func (e *encoder) denseArray(a *ir.DenseArrayAttr) {
	e.code(codeDenseArray)
	e.uint(e.typeRef(a.Elem()))
	e.uint(uint64(len(a.Values())))
	w := 0
	switch t := a.Elem().(type) {
	case *ir.IntegerType:
		w = (t.Width() + 7) / 8
	case *ir.FloatType:
		w = t.DType().Size()
	}
	b := make([]byte, 0, len(a.Values())*w)
	for _, v := range a.Values() {
		for k := range w {
			b = append(b, byte(v>>(8*k)))
		}
	}
	e.Bytes(&b)
}

// dense writes dense elements: numbers, or strings, which exist only as text.
func (e *encoder) dense(a *ir.DenseAttr) bool {
	if b, ok := densebytes.Of(a); ok {
		e.code(codeDense)
		e.uint(e.typeRef(a.Type()))
		e.Bytes(&b)
		return true
	}
	text := string(a.Text())
	if !strings.Contains(text, `"`) {
		return false
	}
	list := quoted(text)
	e.code(codeDenseString)
	e.uint(e.typeRef(a.Type()))
	e.uint(map[bool]uint64{true: 1}[len(list) == 1])
	for _, s := range list {
		e.string(s)
	}
	return true
}

// quoted returns the strings of a list.
func quoted(text string) []string {
	var out []string
	for {
		i := strings.IndexByte(text, '"')
		if i < 0 {
			return out
		}
		end := i + 1
		for end < len(text) && text[end] != '"' {
			if text[end] == '\\' {
				end++
			}
			end++
		}
		if end >= len(text) {
			return out
		}
		a, err := parse.Attr(diag.NewSource("", []byte(text[i:end+1])), ir.NewContext(nil))
		if s, ok := a.(*ir.StringAttr); err == nil && ok {
			out = append(out, s.Value())
		}
		text = text[end+1:]
	}
}

// opaque writes attributes that the model keeps as text but that have another form in bytecode.
func (e *encoder) opaque(a *ir.OpaqueAttr) bool {
	switch text := a.String(); {
	case strings.HasPrefix(text, "distinct["):
		i := strings.IndexByte(text, '<')
		inner, ok := e.parseAttr(strings.TrimSuffix(text[i+1:], ">"))
		if !ok {
			return false
		}
		e.code(codeDistinct)
		e.Attr(&inner)
		if e.key { // two such attributes with equal content are distinct
			e.buf = append(e.buf, text[:i]...)
		}
		return true
	case strings.HasPrefix(text, "sparse<"):
		end := strings.LastIndex(text, "> : ")
		whole, _ := e.parseType(text[end+4:])
		t, ok := whole.(*ir.TensorType)
		indices, values, both := splitList(text[len("sparse<"):end])
		if !ok || !t.Static() || !both {
			return false
		}
		n := int64(1 + strings.Count(strings.Trim(indices, " []"), "["))
		if strings.TrimSpace(values) == "" || indices == "" {
			n = 0
		} else if !strings.HasPrefix(indices, "[[") && strings.HasPrefix(indices, "[") && t.Rank() == 1 {
			n = int64(1 + strings.Count(indices, ","))
		}
		x, ok := e.parseAttr("dense<" + indices + "> : " + e.w.ctx.Tensor([]int64{n, int64(t.Rank())}, ir.Int(64), nil).String())
		y, both := e.parseAttr("dense<" + values + "> : " + e.w.ctx.Tensor([]int64{n}, t.Elem(), nil).String())
		if !ok || !both {
			return false
		}
		e.code(codeSparse)
		e.uint(e.typeRef(t))
		e.Attr(&x)
		e.Attr(&y)
		return true
	}
	t, bits := densebytes.ForeignFloat(a, e.w.ctx)
	if t == nil {
		return false
	}
	e.code(codeFloat)
	e.uint(e.typeRef(t))
	if w := densebytes.ForeignBits(t); w <= 64 {
		v := bits.Uint64()
		e.Bits(&v, w)
	} else {
		e.wide(bits)
	}
	return true
}

// parseAttr parses a part of the text of an attribute or type.
func (e *encoder) parseAttr(text string) (ir.Attr, bool) {
	a, err := parse.Attr(diag.NewSource("", []byte(text)), e.w.ctx)
	return a, err == nil
}

// parseType is parseAttr for a type.
func (e *encoder) parseType(text string) (ir.Type, bool) {
	t, err := parse.Type(diag.NewSource("", []byte(text)), e.w.ctx)
	return t, err == nil
}

// splitList splits a text at its first comma outside brackets.
func splitList(text string) (first, rest string, ok bool) {
	depth := 0
	for i := 0; i < len(text); i++ {
		switch text[i] {
		case '"':
			for i++; i < len(text) && text[i] != '"'; i++ {
				if text[i] == '\\' {
					i++
				}
			}
		case '-':
			if strings.HasPrefix(text[i:], "->") {
				i++
			}
		case '[', '(', '<':
			depth++
		case ']', ')', '>':
			depth--
		case ',':
			if depth == 0 {
				return strings.TrimSpace(text[:i]), strings.TrimSpace(text[i+1:]), true
			}
		}
	}
	return strings.TrimSpace(text), "", false
}

// typ writes a type and reports whether it has a form other than text.
func (e *encoder) typ(t ir.Type) bool {
	switch t := t.(type) {
	case *ir.IntegerType:
		e.code(codeIntegerType)
		e.uint(uint64(t.Width())<<2 | uint64(t.Signedness()))
	case *ir.IndexType:
		e.code(codeIndex)
	case *ir.NoneType:
		e.code(codeNone)
	case *ir.FloatType:
		code, ok := floatCodes[t.DType()]
		if !ok {
			code = foreignCodes[t.String()]
		}
		if code >= codeTF32 && e.w.textFloats {
			e.text(t.String())
			return false
		}
		e.code(code)
	case *ir.FunctionType:
		e.code(codeFunction)
		in, out := t.Inputs(), t.Results()
		e.Types(&in)
		e.Types(&out)
	case *ir.ComplexType:
		e.code(codeComplex)
		e.uint(e.typeRef(t.Elem()))
	case *ir.TupleType:
		e.code(codeTuple)
		elems := t.Elems()
		e.Types(&elems)
	case *ir.TensorType:
		shape := t.Shape()
		switch enc := t.Encoding(); {
		case !t.Ranked():
			e.code(codeUnrankedTensor)
		case enc != nil:
			e.code(codeTensorEncoded)
			e.Attr(&enc)
			e.Ints(&shape)
		default:
			e.code(codeTensor)
			e.Ints(&shape)
		}
		e.uint(e.typeRef(t.Elem()))
	case *ir.ShapedType:
		return e.shaped(t)
	case *ir.DialectType:
		if d := e.w.dialects[e.w.dialectID(t.Dialect())].known; d != nil {
			for _, row := range d.Types {
				if !row.Is(t) || row.Make != nil && t.Data() == nil {
					continue
				}
				if b := formOf(row.Binary, t.Data()); b != nil {
					e.code(b.Code)
					if b.Data != nil {
						b.Data(e, t.Data())
					}
					return true
				}
			}
		}
		e.text(t.String())
		return false
	}
	return true
}

// shaped writes a memref or vector. It parses the parts that the model keeps as text.
func (e *encoder) shaped(t *ir.ShapedType) bool {
	text := func() bool { e.text(t.String()); return false }
	_, whole := t.Elem().(*ir.NoneType)
	if t.Kind() == ir.Vector {
		if !whole {
			shape := t.Shape()
			e.code(codeVector)
			e.Ints(&shape)
			e.uint(e.typeRef(t.Elem()))
			return true
		}
		return e.scalable(t.Rest()) || text()
	}
	rest := t.Rest()
	var elem ir.Type
	if whole {
		first, after, more := splitList(strings.TrimPrefix(rest, "*x"))
		var ok bool
		if elem, ok = e.parseType(first); !ok {
			return text()
		}
		if rest = ""; more {
			rest = ", " + after
		}
	}
	var layout, space ir.Attr
	for rest = strings.TrimSpace(strings.TrimPrefix(rest, ",")); rest != ""; {
		first, after, _ := splitList(rest)
		a, ok := e.parseAttr(first)
		if !ok {
			return text()
		}
		if strings.HasPrefix(first, "affine_map") || strings.HasPrefix(first, "strided") {
			layout = a
		} else {
			space = a
		}
		rest = after
	}
	switch {
	case whole && space != nil:
		e.code(codeUnrankedMemRefSpace)
		e.Attr(&space)
		e.uint(e.typeRef(elem))
		return true
	case whole:
		e.code(codeUnrankedMemRef)
		e.uint(e.typeRef(elem))
		return true
	case space != nil:
		e.code(codeMemRefSpace)
		e.Attr(&space)
	default:
		e.code(codeMemRef)
	}
	if layout == nil {
		layout = ir.NewOpaque(identityMap(len(t.Shape())))
	}
	shape := t.Shape()
	e.Ints(&shape)
	e.uint(e.typeRef(t.Elem()))
	e.Attr(&layout)
	return true
}

// scalable writes a vector with scalable dimensions, [4]x2xf32, and reports whether the text is one.
func (e *encoder) scalable(text string) bool {
	var shape []int64
	var flags []bool
	for {
		i := strings.IndexByte(text, 'x')
		if i < 0 {
			break
		}
		dim, scales := strings.CutPrefix(strings.TrimSpace(text[:i]), "[")
		n, err := strconv.ParseInt(strings.TrimSuffix(dim, "]"), 10, 64)
		if err != nil {
			break
		}
		shape, flags = append(shape, n), append(flags, scales)
		text = text[i+1:]
	}
	elem, ok := e.parseType(text)
	if !ok {
		return false
	}
	e.code(codeScalableVector)
	e.uint(uint64(len(flags)))
	for i := range flags {
		e.Bool(&flags[i])
	}
	e.Ints(&shape)
	e.uint(e.typeRef(elem))
	return true
}
