package ir

import (
	"fmt"
	"math"
	"reflect"
	"strconv"
	"strings"

	"github.com/hlocb/hlocb/internal/mlirtext"
	"github.com/hlocb/hlocb/tensor"
)

// AttrDef describes one attribute of a dialect, such as #stablehlo.gather<...>. The reader, the printer, the constraint
// on op attributes and the documentation derive from it. NewAttrDef makes AttrDefs; they never change.
type AttrDef struct {
	Dialect string
	Name    string // the mnemonic: "gather"
	Doc     string // one sentence: the attribute's meaning
	Summary string // MLIR's term for it in messages about constraints
	// Partial allows the text to omit parameters. The printer omits a parameter that is zero, unless its tag says
	// always. Without Partial all parameters are required, as in MLIR's struct directive.
	Partial bool
	// Wrapped: the attribute is written #dialect<name...> instead of #dialect.name...
	Wrapped bool
	Fields  []Field // the parameters in order, from the tags of the data's struct
	// Parse and Print read and write the parameters if their syntax is not <name = value, ...>; Syntax then describes
	// that syntax. Parse returns the data, or nil to keep the text verbatim. Print includes the brackets.
	Parse  func(p AsmParser, d *AttrDef) any
	Print  func(d *AttrDef, data any) string
	Syntax string
	// Check returns an error if the parameters are invalid. If Check is nil, all parameters are valid.
	Check func(data any) error
	// As is the AttrDef of the attribute to return instead, if this one is an alternative spelling.
	As *AttrDef
	// Base is the AttrDef in another dialect that this one mirrors: #stablehlo.gather for #mhlo.gather.
	Base *AttrDef
	// Binary lists the bytecode encodings of the attribute; nil: stored as text. Readers accept every encoding. Writers
	// use the first one that can represent the data.
	Binary []Binary
	// Lazy attributes build their text on each request. Use it for attributes that are rarely printed.
	Lazy bool

	data reflect.Type // the struct that the data points to
}

// Field is one parameter of an attribute. It comes from a field of the attribute's data with a tag:
// `attr:"offset_dims"`, or `attr:"operand_index,always"`.
type Field struct {
	Name string
	// Type is the type of the data's field: int64, []int64, bool, float64, string, Attr, a Param or a pointer to one, nil
	// if absent. An attribute with a field of another type needs Parse and Print.
	Type    reflect.Type
	Keyword bool // a string that is written without quotes, with ",keyword" in its tag
	Always  bool // written even if it is zero
	index   []int
}

// Param is a parameter with its own syntax.
type Param interface {
	// ParseParam reads a parameter of an attribute of kind d.
	ParseParam(p AsmParser, d *AttrDef)
	// ParamText returns the parameter's text.
	ParamText(d *AttrDef) string
}

// NewAttrDef completes d for an attribute whose data is a *T. It panics if a tag of T is not one of Field's, or if a
// field needs Parse and Print and d has none.
func NewAttrDef[T any](d AttrDef) *AttrDef {
	d.data = reflect.TypeFor[T]()
	var fields []reflect.StructField
	if d.data.Kind() == reflect.Struct {
		fields = reflect.VisibleFields(d.data)
	}
	for _, f := range fields { // including those of embedded structs
		tag, ok := f.Tag.Lookup("attr")
		if !ok {
			continue
		}
		name, option, _ := strings.Cut(tag, ",")
		keyword := option == "keyword" && f.Type == reflect.TypeFor[string]()
		if option != "" && option != "always" && !keyword {
			panic(fmt.Sprintf("%s.%s: unknown tag %q", d.data, f.Name, tag))
		}
		if d.Parse == nil && !hasSyntax(f.Type) {
			panic(fmt.Sprintf("%s.%s: no syntax for a %s", d.data, f.Name, f.Type))
		}
		d.Fields = append(d.Fields, Field{Name: name, Type: f.Type, Keyword: keyword, Always: option == "always" || !d.Partial, index: f.Index})
	}
	return &d
}

// hasSyntax reports whether a Field of type t needs no Parse and Print.
func hasSyntax(t reflect.Type) bool {
	switch t {
	case reflect.TypeFor[int64](), reflect.TypeFor[[]int64](), reflect.TypeFor[bool](), reflect.TypeFor[float64](), reflect.TypeFor[string](), reflect.TypeFor[Attr]():
		return true
	}
	return t.Implements(reflect.TypeFor[Param]()) || reflect.PointerTo(t).Implements(reflect.TypeFor[Param]())
}

// Mirror returns the AttrDef of the same attribute in another dialect.
func (d *AttrDef) Mirror(dialect string) *AttrDef {
	m := *d
	m.Dialect, m.Base, m.As, m.Binary = dialect, d, nil, nil
	return &m
}

// DataType returns the struct that the attribute's data points to.
func (d *AttrDef) DataType() reflect.Type { return d.data }

// New returns the attribute that holds data, a pointer to a struct of type DataType. It keeps data.
func (d *AttrDef) New(data any) *DialectAttr {
	a := &DialectAttr{dialect: d.Dialect, name: d.Name, data: data, def: d}
	if d.Wrapped {
		a.name = ""
	}
	if !d.Lazy {
		a.body = d.text(data)
	}
	return a
}

// text returns the text after the mnemonic, or after the dialect's name if the attribute is wrapped.
func (d *AttrDef) text(data any) string {
	if d.Wrapped {
		return "<" + d.Name + d.body(data) + ">"
	}
	return d.body(data)
}

// body returns the parameters of data in brackets.
func (d *AttrDef) body(data any) string {
	if d.Print != nil {
		return d.Print(d, data)
	}
	return "<" + d.fieldText(data) + ">"
}

// Is reports whether a is an attribute of kind d, or of a kind that mirrors d.
func (d *AttrDef) Is(a Attr) bool {
	x, ok := a.(*DialectAttr)
	return ok && x != nil && x.def != nil && (x.def == d || x.def.Base == d || d.Base != nil && (x.def == d.Base || x.def.Base == d.Base))
}

// Constraint accepts the attributes of kind d. Formats write such an attribute as its parameters alone.
func (d *AttrDef) Constraint() AttrConstraint {
	return AttrConstraint{Summary: d.Summary, Check: d.Is, Form: FormParams, FormName: d.Name, Attr: d}
}

// DataOf returns the data of a if a has an AttrDef and its data is a *T.
func DataOf[T any](a Attr) (*T, bool) {
	d, ok := a.(*DialectAttr)
	if !ok {
		return nil, false
	}
	v, ok := d.data.(*T)
	return v, ok
}

// ParseParams reads the parameters of an attribute of kind d, the text after the mnemonic. It returns nil if the text
// is to be kept verbatim.
func (d *AttrDef) ParseParams(p AsmParser) *DialectAttr {
	pos := p.Pos()
	var data any
	if d.Parse != nil {
		if data = d.Parse(p, d); data == nil {
			return nil
		}
	} else {
		data = reflect.New(d.data).Interface()
		d.parseFields(p, data)
	}
	if d.Check != nil {
		if err := d.Check(data); err != nil {
			p.ErrorfAt(pos, "%s", err)
		}
	}
	if d.As != nil {
		d = d.As
	}
	return d.New(data)
}

// ParseShort reads an attribute at a place that allows only kind d: its parameters alone, the whole attribute, or an
// alias.
func (d *AttrDef) ParseShort(p AsmParser) Attr {
	pos := p.Pos()
	a, ok := p.ParseOptionalHash()
	if !ok {
		a = d.ParseParams(p)
	}
	if !d.Is(a) {
		p.ErrorfAt(pos, "invalid kind of attribute specified")
	}
	return a
}

// parseFields reads <name = value, ...> into data. The parameters may come in any order.
func (d *AttrDef) parseFields(p AsmParser, data any) {
	seen := make([]bool, len(d.Fields))
	p.Expect("<")
	for n := 0; !p.Accept(">"); n++ {
		if n > 0 && !p.Accept(",") {
			p.Expect(">")
			break
		}
		if n > 0 && d.Partial && p.Accept(">") {
			break // a trailing comma
		}
		pos := p.Pos()
		name := p.ParseOptionalKeyword()
		f := d.field(name)
		switch {
		case f < 0 && d.Partial:
			names := make([]string, len(d.Fields))
			for i := range d.Fields {
				names[i] = "`" + d.Fields[i].Name + "`"
			}
			p.ErrorfAt(pos, "expected one of: %s", strings.Join(names, ", "))
		case f >= 0 && seen[f] && d.Partial:
			p.ErrorfAt(pos, "duplicated `%s` entry", name)
		case name == "":
			p.ErrorfAt(pos, "expected valid keyword")
		case f < 0 || seen[f]:
			p.ErrorfAt(pos, "duplicate or unknown struct parameter name: %s", name)
		}
		seen[f] = true
		p.Expect("=")
		d.ParseField(p, data, f)
	}
	for i := range d.Fields {
		if !seen[i] && !d.Partial {
			p.Errorf("struct is missing required parameter: %s", d.Fields[i].Name)
		}
	}
}

func (d *AttrDef) field(name string) int {
	for i := range d.Fields {
		if d.Fields[i].Name == name {
			return i
		}
	}
	return -1
}

// Value returns a pointer to field i of data: *int64 for an int64.
func (d *AttrDef) Value(data any, i int) any {
	return reflect.ValueOf(data).Elem().FieldByIndex(d.Fields[i].index).Addr().Interface()
}

// ParseField reads the value of field i into data.
func (d *AttrDef) ParseField(p AsmParser, data any, i int) {
	switch v := d.Value(data, i).(type) {
	case *int64:
		*v = p.ParseInteger()
	case *[]int64:
		*v = p.ParseIntegers()
	case *bool:
		if *v = p.AcceptKeyword("true"); !*v && !p.AcceptKeyword("false") {
			p.Errorf("expected boolean value")
		}
	case *float64:
		*v = p.ParseFloat()
	case *string:
		if d.Fields[i].Keyword {
			*v = p.ParseKeyword()
		} else {
			*v = p.ParseString()
		}
	case *Attr:
		*v = p.ParseAttr(nil)
	case Param:
		v.ParseParam(p, d)
	default: // a pointer to a pointer to a Param
		f := reflect.ValueOf(v).Elem()
		f.Set(reflect.New(f.Type().Elem()))
		f.Interface().(Param).ParseParam(p, d)
	}
}

// fieldText returns the text of data's parameters: name = value, ...
func (d *AttrDef) fieldText(data any) string {
	var b []byte
	v := reflect.ValueOf(data).Elem()
	for i := range d.Fields {
		f := &d.Fields[i]
		x := v.FieldByIndex(f.index)
		if empty := x.IsZero() || x.Kind() == reflect.Slice && x.Len() == 0; empty && (!f.Always || x.Kind() == reflect.Pointer) {
			continue
		}
		if len(b) > 0 {
			b = append(b, ", "...)
		}
		b = append(append(b, f.Name...), " = "...)
		switch v := x.Addr().Interface().(type) {
		case *int64:
			b = strconv.AppendInt(b, *v, 10)
		case *[]int64:
			b = mlirtext.AppendInts(b, *v)
		case *bool:
			b = strconv.AppendBool(b, *v)
		case *float64:
			b = tensor.AppendFloat(b, tensor.F64, math.Float64bits(*v))
		case *string:
			if f.Keyword {
				b = append(b, *v...)
			} else {
				b = mlirtext.AppendQuoted(b, *v)
			}
		case *Attr:
			b = append(b, (*v).String()...)
		case Param:
			b = append(b, v.ParamText(d)...)
		default:
			b = append(b, x.Interface().(Param).ParamText(d)...)
		}
	}
	return string(b)
}

// EnumDef describes an enumerated attribute. It is written #dialect<name CASE>; formats write the case alone.
type EnumDef struct {
	Dialect string
	Name    string   // the mnemonic: comparison_direction
	Doc     string   // one sentence: what the cases choose
	Cases   []string // the spelling by code; "" for an unused code
	Angled  bool     // written #dialect.name<CASE> instead
	Base    *EnumDef // the EnumDef in another dialect that this one mirrors
	Binary  []Binary // the bytecode encodings, by the case's code; nil: stored as text
}

// Mirror returns the EnumDef of the same enumeration in another dialect.
func (d *EnumDef) Mirror(dialect string) *EnumDef {
	m := *d
	m.Dialect, m.Base, m.Binary = dialect, d, nil
	return &m
}

// Code returns the code of the case spelled s.
func (d *EnumDef) Code(s string) (code int, ok bool) {
	for i, c := range d.Cases {
		if c == s && s != "" {
			return i, true
		}
	}
	return 0, false
}

// TypeDef describes one type of a dialect, such as !stablehlo.token.
type TypeDef struct {
	Dialect string
	Name    string // the mnemonic: "token"
	Doc     string // one sentence: the meaning of values of the type
	// Parse reads the text after the mnemonic and returns the type's data, or nil to keep the text verbatim. Print
	// returns the parameters with their brackets. Syntax describes them. If Parse is nil, the type has no parameters.
	Parse  func(p AsmParser) any
	Print  func(data any) string
	Syntax string
	// Parts returns the parameters of a type that has only lists of types, such as a tuple. The type stores no text,
	// because types that contain it would repeat the text. AppendText replaces Print.
	Parts      func(data any) [][]Type
	AppendText func(w *Text, b []byte, data any) []byte
	// Base is the TypeDef in another dialect that this one mirrors.
	Base *TypeDef
	// Binary lists the bytecode encodings of the type; nil: stored as text. Make returns the data of a type with
	// parameters.
	Binary []Binary
	Make   func() any
}

// Mirror returns the TypeDef of the same type in another dialect.
func (d *TypeDef) Mirror(dialect string) *TypeDef {
	m := *d
	m.Dialect, m.Base, m.Binary = dialect, d, nil
	return &m
}

// New returns the type that holds data; data is nil for a type without parameters.
func (d *TypeDef) New(c *Context, data any) *DialectType {
	if d.Parts != nil {
		key := typeKey("!" + d.Dialect + "." + d.Name)
		for _, list := range d.Parts(data) {
			key = key.typs(list)
		}
		return intern(c, key, func() *DialectType { return &DialectType{dialect: d.Dialect, name: d.Name, data: data, def: d} })
	}
	body := ""
	if d.Print != nil {
		body = d.Print(data)
	}
	return c.DialectType(d.Dialect, d.Name, body, data)
}

// Is reports whether t is a type of kind d.
func (d *TypeDef) Is(t Type) bool {
	x, ok := t.(*DialectType)
	return ok && x.name == d.Name && x.dialect == d.Dialect
}
