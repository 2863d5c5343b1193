package ir

import (
	"fmt"
	"strconv"
	"strings"
)

func itoa(i int) string { return strconv.Itoa(i) }

// Quote returns s as an MLIR string literal: printable ASCII as it is, a backslash and a quote escaped, every
// other byte as \XX.
func Quote(s string) string {
	var b strings.Builder
	b.WriteByte('"')
	for i := 0; i < len(s); i++ {
		switch c := s[i]; {
		case c == '\\':
			b.WriteString(`\\`)
		case c == '"' || c < ' ' || c >= 0x7f:
			fmt.Fprintf(&b, `\%02X`, c)
		default:
			b.WriteByte(c)
		}
	}
	b.WriteByte('"')
	return b.String()
}

func (a *IntegerAttr) String() string {
	if a.IsBool() {
		return strconv.FormatBool(a.value != 0)
	}
	s := strconv.FormatInt(a.value, 10)
	if t, ok := a.typ.(*IntegerType); ok && t.sign == Unsigned {
		s = strconv.FormatUint(uint64(a.value), 10)
	}
	if a.wide != nil {
		s = a.wide.String()
	}
	return s + " : " + a.typ.String()
}
func (a *FloatAttr) String() string    { return fmt.Sprintf("0x%X : %s", a.bits, a.typ) }
func (a *UnitAttr) String() string     { return "unit" }
func (a *TypeAttr) String() string     { return a.typ.String() }
func (a *OpaqueAttr) String() string   { return a.text }
func (a *ResourceAttr) String() string { return "dense_resource<" + a.key + "> : " + a.typ.String() }
func (a *EnumAttr) String() string {
	return "#" + a.def.Dialect + "<" + a.def.Name + " " + a.Case() + ">"
}
func (a *DialectAttr) String() string { return "#" + a.dialect + "." + a.name + a.body }
func (a *LocAttr) String() string     { return "loc(...)" }
func (a *DenseAttr) String() string   { return "dense<" + string(a.text) + "> : " + a.typ.String() }

func (a *StringAttr) String() string {
	if a.typ != nil {
		return Quote(a.value) + " : " + a.typ.String()
	}
	return Quote(a.value)
}

func (a *ArrayAttr) String() string {
	parts := make([]string, len(a.elems))
	for i, e := range a.elems {
		parts[i] = e.String()
	}
	return "[" + strings.Join(parts, ", ") + "]"
}

func (a *DictAttr) String() string {
	parts := make([]string, len(a.entries))
	for i, e := range a.entries {
		parts[i] = e.Name + " = " + e.Attr.String()
	}
	return "{" + strings.Join(parts, ", ") + "}"
}

func (a *SymbolRefAttr) String() string {
	s := "@" + a.root
	for _, n := range a.nested {
		s += "::@" + n
	}
	return s
}

func (a *DenseArrayAttr) String() string {
	parts := make([]string, len(a.values))
	for i, v := range a.values {
		parts[i] = strconv.FormatInt(v, 10)
	}
	return "array<" + a.elem.String() + ": " + strings.Join(parts, ", ") + ">"
}
