package ir

import (
	"strconv"

	"github.com/hlocb/hlocb/tensor"
)

// Aliases gives names to attributes, types and locations that are printed by alias (#map, !t, #loc3). A nil
// Aliases names nothing.
type Aliases interface {
	// AttrAlias, TypeAlias and LocAlias return the alias with its sigil, "" where there is none.
	AttrAlias(a Attr) string
	TypeAlias(t Type) string
	LocAlias(l *Loc) string
}

// Writer appends types, attributes and locations to a buffer as MLIR prints them. It is the only place that
// knows their text; String methods and package print both use it.
type Writer struct {
	Aliases Aliases // nil: no aliases
	// HexLarger is the number of elements above which a dense literal that is no splat is written in
	// hexadecimal; negative: never.
	HexLarger int
	// ElideLarger is the number of elements above which a dense literal that is no splat is written as
	// dense_resource<__elided__>; negative: never.
	ElideLarger int
	// PrintAttr and PrintType write an attribute or type of a dialect in its own way; they return false to
	// have its canonical text written. Both may be nil.
	PrintAttr func(b []byte, a *DialectAttr) ([]byte, bool)
	PrintType func(b []byte, t *DialectType) ([]byte, bool)
}

// plainWriter returns what String methods write with.
func plainWriter() *Writer { return &Writer{HexLarger: tensor.HexLarger, ElideLarger: -1} }

func itoa(i int) string { return strconv.Itoa(i) }

// elision says whether the ': type' after a number or literal may be left out.
type elision uint8

const (
	elideNever elision = iota
	elideMay           // where the type is the default one: i64, f64
	elideMust
)

// AppendQuoted appends s as an MLIR string literal: printable ASCII as it is, a backslash doubled, every other
// byte and the quote as \XX.
func AppendQuoted(b []byte, s string) []byte {
	const hex = "0123456789ABCDEF"
	b = append(b, '"')
	for i := 0; i < len(s); i++ {
		switch c := s[i]; {
		case c == '\\':
			b = append(b, '\\', '\\')
		case c == '"' || c < ' ' || c >= 0x7f:
			b = append(b, '\\', hex[c>>4], hex[c&15])
		default:
			b = append(b, c)
		}
	}
	return append(b, '"')
}

// Quote returns s as an MLIR string literal.
func Quote(s string) string { return string(AppendQuoted(nil, s)) }

// IsIdentifier reports whether s can be written bare as an attribute name or a symbol: a letter or underscore,
// then letters, digits, '_', '$' and '.'.
func IsIdentifier(s string) bool {
	for i := 0; i < len(s); i++ {
		c := s[i]
		letter := c >= 'a' && c <= 'z' || c >= 'A' && c <= 'Z' || c == '_'
		if !letter && (i == 0 || c != '$' && c != '.' && (c < '0' || c > '9')) {
			return false
		}
	}
	return s != ""
}

// AppendKeyword appends s bare where it is an identifier, else quoted.
func AppendKeyword(b []byte, s string) []byte {
	if IsIdentifier(s) {
		return append(b, s...)
	}
	return AppendQuoted(b, s)
}

// AppendSymbol appends @s, quoted where it must be.
func AppendSymbol(b []byte, s string) []byte { return AppendKeyword(append(b, '@'), s) }

// Type appends t.
func (w *Writer) Type(b []byte, t Type) []byte {
	if w.Aliases != nil {
		if name := w.Aliases.TypeAlias(t); name != "" {
			return append(b, name...)
		}
	}
	return w.TypeBody(b, t)
}

// TypeBody appends t itself, never its own alias.
func (w *Writer) TypeBody(b []byte, t Type) []byte {
	switch t := t.(type) {
	case *IntegerType:
		b = append(b, [...]string{Signless: "i", Signed: "si", Unsigned: "ui"}[t.sign]...)
		return strconv.AppendInt(b, int64(t.width), 10)
	case *FloatType:
		return append(b, t.dtype.String()...)
	case *IndexType:
		return append(b, "index"...)
	case *NoneType:
		return append(b, "none"...)
	case *ComplexType:
		return append(w.Type(append(b, "complex<"...), t.elem), '>')
	case *TensorType:
		b = append(b, "tensor<"...)
		if !t.ranked {
			b = append(b, "*x"...)
		}
		b = w.Type(AppendShape(b, t.shape), t.elem)
		if t.encoding != nil {
			b = w.Attr(append(b, ", "...), t.encoding)
		}
		return append(b, '>')
	case *ShapedType:
		b = append(b, [...]string{MemRef: "memref<", Vector: "vector<"}[t.kind]...)
		b = w.Type(AppendShape(b, t.shape), t.elem)
		return append(append(b, t.rest...), '>')
	case *TupleType:
		return append(w.Types(append(b, "tuple<"...), t.elems), '>')
	case *FunctionType:
		return w.FunctionType(b, t.inputs, t.results)
	case *DialectType:
		b = append(append(append(append(b, '!'), t.dialect...), '.'), t.name...)
		if w.PrintType != nil {
			if out, ok := w.PrintType(b, t); ok {
				return out
			}
		}
		return append(b, t.body...)
	}
	return append(b, "<<null type>>"...)
}

// Types appends types separated by commas.
func (w *Writer) Types(b []byte, types []Type) []byte {
	for i, t := range types {
		if i > 0 {
			b = append(b, ", "...)
		}
		b = w.Type(b, t)
	}
	return b
}

// FunctionType appends (inputs) -> results; one result that is no function type has no parentheses.
func (w *Writer) FunctionType(b []byte, inputs, results []Type) []byte {
	b = append(w.Types(append(b, '('), inputs), ") -> "...)
	if len(results) == 1 {
		if _, nested := results[0].(*FunctionType); !nested {
			return w.Type(b, results[0])
		}
	}
	return append(w.Types(append(b, '('), results), ')')
}

// AppendShape appends the dimensions as types spell them: 2x?x3x.
func AppendShape(b []byte, shape []int64) []byte {
	for _, d := range shape {
		if d == Dynamic {
			b = append(b, '?')
		} else {
			b = strconv.AppendInt(b, d, 10)
		}
		b = append(b, 'x')
	}
	return b
}

// Attr appends a with its type.
func (w *Writer) Attr(b []byte, a Attr) []byte { return w.attr(b, a, elideNever) }

// AttrWithoutType appends a without its trailing ': type'.
func (w *Writer) AttrWithoutType(b []byte, a Attr) []byte { return w.attr(b, a, elideMust) }

func (w *Writer) attr(b []byte, a Attr, e elision) []byte {
	if w.Aliases != nil {
		if name := w.Aliases.AttrAlias(a); name != "" {
			return append(b, name...)
		}
	}
	return w.attrBody(b, a, e)
}

// AttrBody appends a itself, never its own alias.
func (w *Writer) AttrBody(b []byte, a Attr) []byte { return w.attrBody(b, a, elideNever) }

func (w *Writer) attrBody(b []byte, a Attr, e elision) []byte {
	switch a := a.(type) {
	case *IntegerAttr:
		return w.integer(b, a, e)
	case *FloatAttr:
		b = tensor.AppendFloat(b, a.typ.dtype, a.bits)
		if e == elideMay && a.typ.dtype == tensor.F64 {
			return b
		}
		return w.typed(b, a.typ, e)
	case *StringAttr:
		b = AppendQuoted(b, a.value)
		if a.typ == nil {
			return b
		}
		return w.typed(b, a.typ, e)
	case *UnitAttr:
		return append(b, "unit"...)
	case *TypeAttr:
		return w.Type(b, a.typ)
	case *ArrayAttr:
		b = append(b, '[')
		for i, x := range a.elems {
			if i > 0 {
				b = append(b, ", "...)
			}
			b = w.attr(b, x, elideMay)
		}
		return append(b, ']')
	case *DictAttr:
		return append(w.Entries(append(b, '{'), a.entries), '}')
	case *SymbolRefAttr:
		b = AppendSymbol(b, a.root)
		for _, n := range a.nested {
			b = AppendSymbol(append(b, "::"...), n)
		}
		return b
	case *DenseArrayAttr:
		return w.denseArray(b, a)
	case *DenseAttr:
		return w.typed(w.dense(b, a), a.typ, e)
	case *ResourceAttr:
		b = append(AppendKeyword(append(b, "dense_resource<"...), a.key), '>')
		return w.typed(b, a.typ, e)
	case *EnumAttr:
		b = append(append(append(b, '#'), a.def.Dialect...), '<')
		b = append(append(append(b, a.def.Name...), ' '), a.Case()...)
		return append(b, '>')
	case *DialectAttr:
		b = append(append(append(append(b, '#'), a.dialect...), '.'), a.name...)
		return w.DialectAttrBody(b, a)
	case *LocAttr:
		return w.Loc(b, a.loc)
	case *OpaqueAttr:
		return append(b, a.text...)
	}
	return append(b, "<<null attribute>>"...)
}

// DialectAttrBody appends the parameters of a with their brackets, without #dialect.name.
func (w *Writer) DialectAttrBody(b []byte, a *DialectAttr) []byte {
	if w.PrintAttr != nil {
		if out, ok := w.PrintAttr(b, a); ok {
			return out
		}
	}
	return append(b, a.body...)
}

// typed appends ' : t' unless e forbids it.
func (w *Writer) typed(b []byte, t Type, e elision) []byte {
	if e == elideMust {
		return b
	}
	return w.Type(append(b, " : "...), t)
}

func (w *Writer) integer(b []byte, a *IntegerAttr, e elision) []byte {
	if a.IsBool() {
		return strconv.AppendBool(b, a.value != 0)
	}
	t, isInt := a.typ.(*IntegerType)
	switch {
	case a.wide != nil:
		b = a.wide.Append(b, 10)
	case isInt && t.sign == Unsigned:
		b = strconv.AppendUint(b, uint64(a.value), 10)
	default:
		b = strconv.AppendInt(b, a.value, 10)
	}
	if e == elideMay && isInt && t.sign == Signless && t.width == 64 {
		return b
	}
	return w.typed(b, a.typ, e)
}

func (w *Writer) denseArray(b []byte, a *DenseArrayAttr) []byte {
	b = w.Type(append(b, "array<"...), a.elem)
	for i, v := range a.values {
		b = append(b, [...]string{": ", ", "}[min(i, 1)]...)
		b = AppendArrayElement(b, a.elem, v)
	}
	return append(b, '>')
}

// AppendArrayElement appends one value of a dense array with elements of type elem.
func AppendArrayElement(b []byte, elem Type, v int64) []byte {
	switch t := elem.(type) {
	case *FloatType:
		return tensor.AppendFloat(b, t.dtype, uint64(v))
	case *IntegerType:
		if t.width == 1 {
			return strconv.AppendBool(b, v != 0)
		}
		if t.sign == Unsigned {
			return strconv.AppendUint(b, uint64(v), 10)
		}
	}
	return strconv.AppendInt(b, v, 10)
}

// dense appends dense<...>. Literals that cannot be decoded (elements of foreign types) keep their source text.
func (w *Writer) dense(b []byte, a *DenseAttr) []byte {
	v, splat, err := a.Elements()
	if err != nil || v == nil {
		return append(append(append(b, "dense<"...), a.text...), '>')
	}
	if !splat && w.ElideLarger >= 0 && v.NumElements() > w.ElideLarger {
		return append(b, "dense_resource<__elided__>"...)
	}
	b = append(b, "dense<"...)
	if splat {
		if shapedElements(a.typ) != 0 {
			b = tensor.AppendElement(b, v, 0)
		}
	} else {
		b = tensor.AppendDense(b, v, w.HexLarger)
	}
	return append(b, '>')
}

// shapedElements returns the number of elements of a shaped type of static shape.
func shapedElements(t Type) int64 {
	switch t := t.(type) {
	case *TensorType:
		return tensor.Shape(t.shape).NumElements()
	case *ShapedType:
		return tensor.Shape(t.shape).NumElements()
	}
	return -1
}

// Entries appends name = attr, ... without braces.
func (w *Writer) Entries(b []byte, entries AttrList) []byte {
	for i := range entries {
		if i > 0 {
			b = append(b, ", "...)
		}
		b = w.Entry(b, &entries[i])
	}
	return b
}

// Entry appends name = attr, or the name alone where the attribute is unit.
func (w *Writer) Entry(b []byte, n *NamedAttr) []byte {
	b = AppendKeyword(b, n.Name)
	if _, unit := n.Attr.(*UnitAttr); unit {
		return b
	}
	return w.Attr(append(b, " = "...), n.Attr)
}

// Loc appends loc(...).
func (w *Writer) Loc(b []byte, l *Loc) []byte {
	return append(w.locInner(append(b, "loc("...), l), ')')
}

// LocBody appends loc(...) with l itself, never its own alias.
func (w *Writer) LocBody(b []byte, l *Loc) []byte {
	return append(w.locText(append(b, "loc("...), l), ')')
}

// locInner appends what stands between the parentheses of loc(...), or of a location within another.
func (w *Writer) locInner(b []byte, l *Loc) []byte {
	if w.Aliases != nil {
		if name := w.Aliases.LocAlias(l); name != "" {
			return append(b, name...)
		}
	}
	return w.locText(b, l)
}

func (w *Writer) locText(b []byte, l *Loc) []byte {
	switch l.Kind() {
	case LocFile:
		b = append(AppendQuoted(b, l.name), ':')
		b = strconv.AppendUint(b, uint64(l.line), 10)
		b = strconv.AppendUint(append(b, ':'), uint64(l.col), 10)
		if l.endLine == 0 && l.endCol == 0 {
			return b
		}
		b = append(b, " to "...)
		if l.endLine != l.line {
			b = strconv.AppendUint(b, uint64(l.endLine), 10)
		}
		return strconv.AppendUint(append(b, ':'), uint64(l.endCol), 10)
	case LocName:
		b = AppendQuoted(b, l.name)
		if len(l.children) == 0 || l.children[0].Kind() == LocUnknown {
			return b
		}
		return append(w.locInner(append(b, '('), l.children[0]), ')')
	case LocCallSite:
		b = w.locInner(append(b, "callsite("...), l.children[0])
		b = w.locInner(append(b, " at "...), l.children[1])
		return append(b, ')')
	case LocFused:
		b = append(b, "fused"...)
		if l.metadata != nil {
			b = append(w.Attr(append(b, '<'), l.metadata), '>')
		}
		b = append(b, '[')
		for i, c := range l.children {
			if i > 0 {
				b = append(b, ", "...)
			}
			b = w.locInner(b, c)
		}
		return append(b, ']')
	case LocOpaque:
		return append(b, l.name...)
	}
	return append(b, "unknown"...)
}

// String returns the location as MLIR prints it: loc("f":1:2).
func (l *Loc) String() string { return string(plainWriter().Loc(nil, l)) }

func (t *IntegerType) String() string  { return string(plainWriter().TypeBody(nil, t)) }
func (t *FloatType) String() string    { return t.dtype.String() }
func (t *IndexType) String() string    { return "index" }
func (t *NoneType) String() string     { return "none" }
func (t *ComplexType) String() string  { return string(plainWriter().TypeBody(nil, t)) }
func (t *TensorType) String() string   { return string(plainWriter().TypeBody(nil, t)) }
func (t *ShapedType) String() string   { return string(plainWriter().TypeBody(nil, t)) }
func (t *TupleType) String() string    { return string(plainWriter().TypeBody(nil, t)) }
func (t *FunctionType) String() string { return string(plainWriter().TypeBody(nil, t)) }
func (t *DialectType) String() string  { return string(plainWriter().TypeBody(nil, t)) }

func (a *IntegerAttr) String() string    { return attrString(a) }
func (a *FloatAttr) String() string      { return attrString(a) }
func (a *StringAttr) String() string     { return attrString(a) }
func (a *UnitAttr) String() string       { return attrString(a) }
func (a *ArrayAttr) String() string      { return attrString(a) }
func (a *DictAttr) String() string       { return attrString(a) }
func (a *SymbolRefAttr) String() string  { return attrString(a) }
func (a *TypeAttr) String() string       { return attrString(a) }
func (a *DenseArrayAttr) String() string { return attrString(a) }
func (a *DenseAttr) String() string      { return attrString(a) }
func (a *ResourceAttr) String() string   { return attrString(a) }
func (a *EnumAttr) String() string       { return attrString(a) }
func (a *DialectAttr) String() string    { return attrString(a) }
func (a *OpaqueAttr) String() string     { return attrString(a) }
func (a *LocAttr) String() string        { return attrString(a) }

func attrString(a Attr) string { return string(plainWriter().AttrBody(nil, a)) }
