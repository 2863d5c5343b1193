package ir

import (
	"reflect"

	"github.com/hlocb/hlocb/tensor"
)

// Coder reads or writes the fields of an attribute or type in the order of its binary form. A reader stores through the
// pointers; a writer loads from them. If the data is invalid, the methods of a reader do not return.
type Coder interface {
	Context() *Context
	// Int is a signed number, Uint an unsigned number, Bool one byte.
	Int(v *int64)
	Uint(v *uint64)
	Bool(v *bool)
	Float64(v *float64)
	String(v *string)
	// Bytes is a length followed by the bytes. The caller must not change them.
	Bytes(v *[]byte)
	Attr(v *Attr)
	// OptionalAttr is a number whose lowest bit says whether the attribute is present.
	OptionalAttr(v *Attr)
	Type(v *Type)
	// Len is the length of a list, whose elements follow. Ints, Attrs and Types are whole lists.
	Len(v *int)
	Ints(v *[]int64)
	Attrs(v *[]Attr)
	Types(v *[]Type)
	// Bits is a number of the given width: one byte up to 8 bits, else a varint.
	Bits(v *uint64, width int)
	// Failf reports invalid data and does not return.
	Failf(format string, args ...any)
}

// Binary is one bytecode encoding of the attributes or types that share a definition.
type Binary struct {
	Code int // identifies the definition within its dialect; attributes and types have separate codes
	// Data reads or writes the data. If it is nil, the encoding is the fields in order; for an enumeration, the case's
	// code.
	Data func(c Coder, data any)
	// Is reports whether the encoding can represent data. Nil: it can represent all data.
	Is func(data any) bool
}

// BinaryCode returns the encoding that stores the fields in order.
func BinaryCode(code int) []Binary { return []Binary{{Code: code}} }

// BinaryData returns the encoding for data of type *T that fields reads or writes.
func BinaryData[T any](code int, fields func(c Coder, d *T)) []Binary {
	return []Binary{{Code: code, Data: func(c Coder, data any) { fields(c, data.(*T)) }}}
}

// ReadBinary reads an attribute of kind d in encoding b.
func (d *AttrDef) ReadBinary(c Coder, b *Binary) Attr {
	data := reflect.New(d.data).Interface()
	d.code(c, b, data)
	return d.New(data)
}

// WriteBinary writes the data of an attribute of kind d in encoding b.
func (d *AttrDef) WriteBinary(c Coder, b *Binary, a *DialectAttr) { d.code(c, b, a.data) }

// BinaryOf returns the encoding that writers use for data, or nil if there is none.
func BinaryOf(forms []Binary, data any) *Binary {
	for i := range forms {
		if b := &forms[i]; b.Is == nil || b.Is(data) {
			return b
		}
	}
	return nil
}

func (d *AttrDef) code(c Coder, b *Binary, data any) {
	if b.Data != nil {
		b.Data(c, data)
		return
	}
	for i := range d.Fields {
		switch v := d.value(data, i).(type) {
		case *int64:
			c.Int(v)
		case *[]int64:
			c.Ints(v)
		case *bool:
			c.Bool(v)
		case *float64:
			c.Float64(v)
		case *string:
			if d.Fields[i].Kind == FieldKeyword {
				codeTypeName(c, v)
			} else {
				c.String(v)
			}
		case *Attr:
			c.Attr(v)
		default:
			panic(d.Name + "." + d.Fields[i].Name + " has no binary form")
		}
	}
}

// codeTypeName codes a floating-point type by its name.
func codeTypeName(c Coder, name *string) {
	var t Type
	if d, ok := tensor.ParseDType(*name); ok {
		t = c.Context().Element(d)
	} else if *name != "" {
		t = c.Context().ForeignFloat(*name)
	}
	c.Type(&t)
	*name = t.String()
}

// CodePart codes *v as a separate attribute of kind d, whose data is a *T.
func CodePart[T any](c Coder, d *AttrDef, v *T) {
	a := Attr(d.New(v))
	c.Attr(&a)
	*v = *dataPart[T](c, a)
}

// CodeParts codes a list of values as a list of attributes of kind d, whose data is a *T.
func CodeParts[T any](c Coder, d *AttrDef, v *[]T) {
	elems := make([]Attr, len(*v))
	for i := range *v {
		elems[i] = d.New(&(*v)[i])
	}
	c.Attrs(&elems)
	*v = nil
	for _, a := range elems {
		*v = append(*v, *dataPart[T](c, a))
	}
}

// dataPart returns the data of an attribute that was read as a part.
func dataPart[T any](c Coder, a Attr) *T {
	v, ok := DataOf[T](a)
	if !ok {
		c.Failf("unexpected attribute %.100s", a)
	}
	return v
}

// ReadBinary reads a type of kind d in encoding b.
func (d *TypeDef) ReadBinary(c Coder, b *Binary) Type {
	var data any
	if d.Make != nil {
		data = d.Make()
	}
	if b.Data != nil {
		b.Data(c, data)
	}
	return d.New(c.Context(), data)
}

// WriteBinary writes the data of a type of kind d in encoding b.
func (d *TypeDef) WriteBinary(c Coder, b *Binary, t *DialectType) {
	if b.Data != nil {
		b.Data(c, t.data)
	}
}
