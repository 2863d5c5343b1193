package bytecode

import (
	"reflect"

	"github.com/hlocb/hlocb/ir"
	"github.com/hlocb/hlocb/tensor"
)

// formOf returns the encoding that writers use for data, or nil if there is none.
func formOf(forms []ir.Binary, data any) *ir.Binary {
	for i := range forms {
		if b := &forms[i]; b.Is == nil || b.Is(data) {
			return b
		}
	}
	return nil
}

// readAttr reads an attribute of kind d in encoding b.
func readAttr(c ir.Coder, d *ir.AttrDef, b *ir.Binary) ir.Attr {
	data := reflect.New(d.DataType()).Interface()
	codeAttr(c, d, b, data)
	return d.New(data)
}

// codeAttr reads or writes the data of an attribute of kind d in encoding b.
func codeAttr(c ir.Coder, d *ir.AttrDef, b *ir.Binary, data any) {
	if b.Data != nil {
		b.Data(c, data)
		return
	}
	for i := range d.Fields {
		switch v := d.Value(data, i).(type) {
		case *int64:
			c.Int(v)
		case *[]int64:
			c.Ints(v)
		case *bool:
			c.Bool(v)
		case *float64:
			c.Float64(v)
		case *string:
			if d.Fields[i].Keyword {
				codeTypeName(c, v)
			} else {
				c.String(v)
			}
		case *ir.Attr:
			c.Attr(v)
		default:
			panic(d.Name + "." + d.Fields[i].Name + " has no binary form")
		}
	}
}

// codeTypeName codes a floating-point type by its name.
func codeTypeName(c ir.Coder, name *string) {
	var t ir.Type
	if d, ok := tensor.ParseDType(*name); ok {
		t = ir.ElementOf(d)
	} else if *name != "" {
		t = c.Context().ForeignFloat(*name)
	}
	c.Type(&t)
	*name = t.String()
}

// readType reads a type of kind d in encoding b.
func readType(c ir.Coder, d *ir.TypeDef, b *ir.Binary) ir.Type {
	var data any
	if d.Make != nil {
		data = d.Make()
	}
	if b.Data != nil {
		b.Data(c, data)
	}
	return d.New(c.Context(), data)
}
