package ir

import (
	"bytes"
	"math/big"
	"slices"
	"strconv"

	"github.com/hlocb/hlocb/internal/mlirtext"
	"github.com/hlocb/hlocb/tensor"
)

func itoa(i int) string { return strconv.Itoa(i) }

// Text writes types, attributes and locations as MLIR prints them. The zero value writes them in full.
type Text struct {
	// AttrAlias and TypeAlias return the alias of an attribute or type (#map, !tuple), or "". LocAlias appends the
	// alias of a location (#loc1) and reports whether there is one. Nil: there are no aliases.
	AttrAlias func(Attr) string
	TypeAlias func(Type) string
	LocAlias  func([]byte, *Loc) ([]byte, bool)
	// ElideLarger replaces dense literals with more elements than this, except splats; 0: never.
	ElideLarger int
	// NoHex writes even large literals as decimal numbers.
	NoHex bool
	// ListBooleans writes even large literals of i1 as true and false.
	ListBooleans bool
	// Piece takes the text so far, between elements, and returns the buffer to go on with and whether to stop. The text
	// of one attribute can be long, because parts of it can be shared. Nil: all text stays in the buffer.
	Piece func([]byte) (rest []byte, stop bool)
}

// comma appends the comma before element i of a list. It reports whether to stop.
func (w *Text) comma(b []byte, i int) ([]byte, bool) {
	if i == 0 {
		return b, false
	}
	b = append(b, ", "...)
	if w.Piece == nil {
		return b, false
	}
	return w.Piece(b)
}

// plain writes without aliases and hooks.
var plain = &Text{}

// elision says when the text of a value omits its type.
type elision uint8

const (
	typeNever elision = iota // always ': type'
	typeMay                  // omitted for the default types i64 and f64
	typeMust                 // no type
)

// AppendAttr appends a, with its type if typed is set.
func (w *Text) AppendAttr(b []byte, a Attr, typed bool) []byte {
	if typed {
		return w.attr(b, a, typeNever)
	}
	return w.attr(b, a, typeMust)
}

// appendNamed appends name = a, or name alone for unit.
func (w *Text) appendNamed(b []byte, name string, a Attr) []byte {
	b = mlirtext.AppendKeyword(b, name)
	if _, ok := a.(*UnitAttr); ok {
		return b
	}
	return w.attr(append(b, " = "...), a, typeNever)
}

// appendDict appends {a = x, b}.
func (w *Text) appendDict(b []byte, entries AttrList) []byte {
	b = append(b, '{')
	for i := range entries {
		var stop bool
		if b, stop = w.comma(b, i); stop {
			return b
		}
		b = w.appendNamed(b, entries[i].Name, entries[i].Attr)
	}
	return append(b, '}')
}

func (w *Text) attr(b []byte, a Attr, e elision) []byte {
	if w.AttrAlias != nil {
		if s := w.AttrAlias(a); s != "" {
			return append(b, s...)
		}
	}
	switch a := a.(type) {
	case *IntegerAttr:
		return w.integer(b, a, e)
	case *FloatAttr:
		b = tensor.AppendFloat(b, a.typ.dtype, a.bits)
		if e == typeMust || e == typeMay && a.typ.dtype == tensor.F64 {
			return b
		}
		return w.colonType(b, a.typ)
	case *StringAttr:
		b = mlirtext.AppendQuoted(b, a.value)
		if a.typ != nil && e != typeMust {
			return w.colonType(b, a.typ)
		}
		return b
	case *UnitAttr:
		return append(b, "unit"...)
	case *ArrayAttr:
		b = append(b, '[')
		for i, x := range a.elems {
			var stop bool
			if b, stop = w.comma(b, i); stop {
				return b
			}
			b = w.attr(b, x, typeMay)
		}
		return append(b, ']')
	case *DictAttr:
		return w.appendDict(b, a.entries)
	case *SymbolRefAttr:
		b = mlirtext.AppendSymbol(b, a.root)
		for _, n := range a.nested {
			b = mlirtext.AppendSymbol(append(b, "::"...), n)
		}
		return b
	case *TypeAttr:
		return w.AppendType(b, a.typ)
	case *DenseArrayAttr:
		b = append(b, "array<"...)
		b = w.AppendType(b, a.elem)
		if len(a.values) > 0 {
			b = append(b, ": "...)
			b = mlirtext.AppendValues(b, ElementDType(a.elem), a.values)
		}
		return append(b, '>')
	case *DenseAttr:
		b = w.dense(b, a)
		if e != typeMust {
			return w.colonType(b, a.typ)
		}
		return b
	case *ResourceAttr:
		b = append(b, "dense_resource<"...)
		b = mlirtext.AppendKeyword(b, a.key)
		b = append(b, '>')
		if e != typeMust {
			return w.colonType(b, a.typ)
		}
		return b
	case *EnumAttr:
		b = append(b, '#')
		b = append(b, a.def.Dialect...)
		open, sep := byte('<'), byte(' ')
		if a.def.Angled {
			open, sep = '.', '<'
		}
		b = append(b, open)
		b = append(b, a.def.Name...)
		b = append(b, sep)
		b = append(b, a.Case()...)
		return append(b, '>')
	case *DialectAttr:
		return appendDialectSymbol(b, '#', a.dialect, a.name, a.Body())
	case *OpaqueAttr:
		return append(b, a.text...)
	case *LocAttr:
		if w.LocAlias != nil {
			if out, ok := w.LocAlias(b, a.loc); ok {
				return out
			}
		}
		return append(w.AppendLocDef(append(b, "loc("...), a.loc), ')')
	}
	return b
}

// appendDialectSymbol appends #dialect.name body, or #dialect body if there is no mnemonic.
func appendDialectSymbol(b []byte, sigil byte, dialect, name, body string) []byte {
	b = append(b, sigil)
	b = append(b, dialect...)
	if name != "" {
		b = append(b, '.')
		b = append(b, name...)
	}
	return append(b, body...)
}

func (w *Text) colonType(b []byte, t Type) []byte {
	if t == nil {
		return b
	}
	if _, none := t.(*NoneType); none {
		return b
	}
	return w.AppendType(append(b, " : "...), t)
}

func (w *Text) integer(b []byte, a *IntegerAttr, e elision) []byte {
	if a.typ == Type(Int(1)) {
		return strconv.AppendBool(b, a.value != 0)
	}
	t, isInt := a.typ.(*IntegerType)
	switch {
	case a.wide != nil:
		v := a.wide
		if isInt && t.sign != Unsigned && v.BitLen() >= t.width && v.Sign() > 0 {
			v = new(big.Int).Sub(v, new(big.Int).Lsh(big.NewInt(1), uint(t.width)))
		}
		b = v.Append(b, 10)
	case isInt && t.sign == Unsigned:
		b = strconv.AppendUint(b, uint64(a.value), 10)
	default:
		b = strconv.AppendInt(b, a.value, 10)
	}
	if e == typeMust || e == typeMay && isInt && t.width == 64 && t.sign == Signless {
		return b
	}
	return w.colonType(b, a.typ)
}

// dense appends dense<...> without the type.
func (w *Text) dense(b []byte, a *DenseAttr) []byte {
	if t, ok := a.typ.(*TensorType); ok && len(a.text) > 2*tensor.HexLarger && w.ElideLarger == 0 && !w.NoHex && t.DType() != tensor.Invalid && !(w.ListBooleans && t.DType() == tensor.I1) {
		if text, ok := tensor.HexText(a.text, t.DType(), t.shape, tensor.HexLarger); ok {
			b = append(slices.Grow(b, len(text)+64), "dense<"...)
			return append(append(b, text...), '>')
		}
	}
	v, splat, err := a.Elements()
	if w.ElideLarger > 0 && err == nil && !splat && v.NumElements() > w.ElideLarger {
		return append(b, "dense_resource<"+Elided+">"...)
	}
	b = append(b, "dense<"...)
	switch {
	case err != nil:
		// Tensors do not model these elements: copy the source text, with MLIR's spacing.
		b = appendSpaced(b, a.text)
	case splat && v.NumElements() == 0:
	default:
		hex := tensor.HexLarger
		if w.NoHex || splat || w.ListBooleans && v.DType() == tensor.I1 {
			hex = -1
		}
		b = tensor.AppendDense(b, v, hex)
	}
	return append(b, '>')
}

// NumElements returns the number of elements of the type, or -1 if it is not static.
func (a *DenseAttr) NumElements() int64 {
	switch t := a.typ.(type) {
	case *TensorType:
		return tensor.Shape(t.shape).NumElements()
	case *ShapedType:
		return tensor.Shape(t.shape).NumElements()
	}
	return -1
}

// appendSpaced appends the text of a list with one space after each comma and no other spaces, also not in parentheses,
// which complex numbers have. Strings stay unchanged.
func appendSpaced(b, text []byte) []byte {
	inString, complex := false, false
	for i := 0; i < len(text); i++ {
		c := text[i]
		switch {
		case inString && c == '\\' && i+1 < len(text):
			b = append(b, c, text[i+1])
			i++
			continue
		case c == '"':
			inString = !inString
		case inString:
		case bytes.IndexByte([]byte(" \t\r\n"), c) >= 0:
			continue
		case c == ',' && !complex:
			b = append(b, ", "...)
			continue
		case c == '(' || c == ')':
			complex = c == '('
		}
		b = append(b, c)
	}
	return b
}

// AppendLocDef appends the text of l inside loc(...) without using l's own alias, for the definition of that alias.
func (w *Text) AppendLocDef(b []byte, l *Loc) []byte { return w.loc(b, l, false) }

// loc appends the text inside loc(...), which is l's alias if alias is set and there is one.
func (w *Text) loc(b []byte, l *Loc, alias bool) []byte {
	if alias && w.LocAlias != nil {
		if out, ok := w.LocAlias(b, l); ok {
			return out
		}
	}
	switch l.Kind() {
	case LocUnknown:
		return append(b, "unknown"...)
	case LocFile:
		b = mlirtext.AppendQuoted(b, l.Name())
		b = append(b, ':')
		b = strconv.AppendUint(b, uint64(l.line), 10)
		b = append(b, ':')
		b = strconv.AppendUint(b, uint64(l.col), 10)
		if l.endLine == 0 && l.endCol == 0 || l.endLine == l.line && l.endCol == l.col {
			return b
		}
		b = append(b, " to "...)
		if l.endLine != l.line {
			b = strconv.AppendUint(b, uint64(l.endLine), 10)
		}
		b = append(b, ':')
		return strconv.AppendUint(b, uint64(l.endCol), 10)
	case LocName:
		b = mlirtext.AppendQuoted(b, l.Name())
		if len(l.Children()) == 1 && l.Children()[0].Kind() != LocUnknown {
			b = append(b, '(')
			b = w.loc(b, l.Children()[0], true)
			b = append(b, ')')
		}
		return b
	case LocCallSite:
		b = append(b, "callsite("...)
		b = w.loc(b, l.Children()[0], true)
		b = append(b, " at "...)
		b = w.loc(b, l.Children()[1], true)
		return append(b, ')')
	case LocFused:
		b = append(b, "fused"...)
		if a := l.Metadata(); a != nil {
			b = append(b, '<')
			b = w.attr(b, a, typeNever)
			b = append(b, '>')
		}
		b = append(b, '[')
		for i, c := range l.Children() {
			var stop bool
			if b, stop = w.comma(b, i); stop {
				return b
			}
			b = w.loc(b, c, true)
		}
		return append(b, ']')
	}
	return b
}

// String returns the location as MLIR prints it: loc("f":1:2).
func (l *Loc) String() string { return string(append(plain.loc([]byte("loc("), l, true), ')')) }

// AppendType appends t.
func (w *Text) AppendType(b []byte, t Type) []byte {
	if w.TypeAlias != nil {
		if s := w.TypeAlias(t); s != "" {
			return append(b, s...)
		}
	}
	switch t := t.(type) {
	case *IntegerType:
		b = append(b, [...]string{Signless: "i", Signed: "si", Unsigned: "ui"}[t.sign]...)
		return strconv.AppendInt(b, int64(t.width), 10)
	case *FloatType:
		if t.name != "" {
			return append(b, t.name...)
		}
		return append(b, t.dtype.String()...)
	case *IndexType:
		return append(b, "index"...)
	case *NoneType:
		return append(b, "none"...)
	case *ComplexType:
		return append(w.AppendType(append(b, "complex<"...), t.elem), '>')
	case *TensorType:
		return w.tensor(b, t)
	case *ShapedType:
		b = append(b, [...]string{MemRef: "memref<", Vector: "vector<"}[t.kind]...)
		b = mlirtext.AppendShape(b, t.shape)
		if _, opaque := t.elem.(*NoneType); !opaque { // rest holds all of it
			b = w.AppendType(b, t.elem)
		}
		return append(append(b, t.rest...), '>')
	case *TupleType:
		return append(w.types(append(b, "tuple<"...), t.elems), '>')
	case *FunctionType:
		return w.appendFunctionType(b, t.inputs, t.results)
	case *DialectType:
		if b = appendDialectSymbol(b, '!', t.dialect, t.name, t.body); t.def != nil {
			b = t.def.AppendText(w, b, t.data)
		}
		return b
	}
	return append(b, "<<NULL TYPE>>"...)
}

// tensor appends a tensor type.
func (w *Text) tensor(b []byte, t *TensorType) []byte {
	if t.text != "" {
		return append(b, t.text...)
	}
	b = append(b, "tensor<"...)
	if !t.ranked {
		b = append(b, "*x"...)
	}
	b = w.AppendType(mlirtext.AppendShape(b, t.shape), t.elem)
	if t.encoding != nil {
		b = w.attr(append(b, ", "...), t.encoding, typeNever)
	}
	return append(b, '>')
}

func (w *Text) types(b []byte, types []Type) []byte {
	for i, t := range types {
		var stop bool
		if b, stop = w.comma(b, i); stop {
			return b
		}
		b = w.AppendType(b, t)
	}
	return b
}

// appendFunctionType appends (inputs) -> results. A single result has no parentheses unless it is a function.
func (w *Text) appendFunctionType(b []byte, inputs, results []Type) []byte {
	b = append(w.types(append(b, '('), inputs), ") -> "...)
	if len(results) == 1 {
		if _, nested := results[0].(*FunctionType); !nested {
			return w.AppendType(b, results[0])
		}
	}
	return append(w.types(append(b, '('), results), ')')
}

func attrString(a Attr) string { return string(plain.attr(nil, a, typeNever)) }

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
func (a *OpaqueAttr) String() string     { return a.text }
func (a *LocAttr) String() string        { return attrString(a) }
