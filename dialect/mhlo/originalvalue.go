package mhlo

import (
	"github.com/hlocb/hlocb/dialect/view"
	"github.com/hlocb/hlocb/ir"
)

// OriginalArray is #mhlo.original_array<...>: an array of the program before XLA's passes, as part of the value of the
// op with the given name.
type OriginalArray struct {
	Name  ir.Attr // a string
	Index []int64
}

// OriginalElement is #mhlo.original_value_element<...>: the original array of a part of a value.
type OriginalElement struct {
	Index []int64
	Array *OriginalArray
}

// OriginalValue is #mhlo.original_value<...>: the original arrays of the parts of a value.
type OriginalValue struct {
	Synthetic bool // the op is a call that XLA made
	Elements  []OriginalElement
}

// The rows of the attributes with which XLA's importer says which value of the original program an op computes.
var (
	OriginalArrayAttr = view.TextAttr(ir.AttrDef{
		Dialect: "mhlo", Name: "original_array", Doc: "An array of the program before XLA's passes.",
		Binary: ir.BinaryData(22, func(c ir.Coder, a *OriginalArray) { c.Attr(&a.Name); c.Ints(&a.Index) }),
		Syntax: `<"name", [0, 1]>`,
	}, (*OriginalArray).text)
	OriginalElementAttr = view.TextAttr(ir.AttrDef{
		Dialect: "mhlo", Name: "original_value_element", Doc: "The original array of a part of a value.",
		Binary: ir.BinaryData(23, codeOriginalElement),
		Syntax: `<[0], <"name", [0, 1]>>`,
	}, (*OriginalElement).text)
	OriginalValueAttr = view.TextAttr(ir.AttrDef{
		Dialect: "mhlo", Name: "original_value", Doc: "The original arrays of the parts of a value.",
		Binary: ir.BinaryData(24, func(c ir.Coder, v *OriginalValue) {
			c.Bool(&v.Synthetic)
			view.CodeParts(c, OriginalElementAttr, &v.Elements)
		}),
		Syntax: `<false, [<[0], <"name", [0, 1]>>, ...]>; true for a call that XLA made`,
	}, (*OriginalValue).text)
)

func (a *OriginalArray) text(t *view.Text) {
	t.Lit("<")
	t.Attr(&a.Name)
	t.Lit(", ")
	t.Ints(&a.Index)
	t.Lit(">")
}

func (e *OriginalElement) text(t *view.Text) {
	t.Lit("<")
	t.Ints(&e.Index)
	t.Lit(", ")
	view.Part(t, OriginalArrayAttr, &e.Array)
	t.Lit(">")
}

func (v *OriginalValue) text(t *view.Text) {
	t.Lit("<")
	if v.Synthetic = t.Opt(v.Synthetic, "true"); !v.Synthetic {
		t.Lit("false")
	}
	t.Lit(", ")
	view.Items(t, "[", "]", &v.Elements, func(e *OriginalElement) {
		p := e
		view.Part(t, OriginalElementAttr, &p)
		if p != nil {
			*e = *p
		}
	})
	t.Lit(">")
}

func codeOriginalElement(c ir.Coder, e *OriginalElement) {
	c.Ints(&e.Index)
	var a ir.Attr
	if e.Array != nil {
		a = OriginalArrayAttr.New(e.Array)
	}
	c.OptionalAttr(&a)
	e.Array = nil
	if a != nil {
		array, ok := ir.DataOf[OriginalArray](a)
		if !ok {
			c.Failf("unexpected attribute %.100s", a)
		}
		e.Array = array
	}
}
