package ir

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

// BinaryData returns the encoding for data of type *T that fields reads or writes.
func BinaryData[T any](code int, fields func(c Coder, d *T)) []Binary {
	return []Binary{{Code: code, Data: func(c Coder, data any) { fields(c, data.(*T)) }}}
}
