package view

import "github.com/hlocb/hlocb/ir"

// CodePart codes *v as a separate attribute of kind d, whose data is a *T.
func CodePart[T any](c ir.Coder, d *ir.AttrDef, v *T) {
	a := ir.Attr(d.New(v))
	c.Attr(&a)
	*v = *dataPart[T](c, a)
}

// CodeParts codes a list of values as a list of attributes of kind d, whose data is a *T.
func CodeParts[T any](c ir.Coder, d *ir.AttrDef, v *[]T) {
	elems := make([]ir.Attr, len(*v))
	for i := range *v {
		elems[i] = d.New(&(*v)[i])
	}
	c.Attrs(&elems)
	*v = nil
	for _, a := range elems {
		*v = append(*v, *dataPart[T](c, a))
	}
}

// CodeArray codes a list of values as one array of attributes of kind d, whose data is a *T.
func CodeArray[T any](c ir.Coder, d *ir.AttrDef, v *[]T) {
	elems := make([]ir.Attr, len(*v))
	for i := range *v {
		elems[i] = d.New(&(*v)[i])
	}
	a := ir.Attr(ir.NewArray(elems))
	c.Attr(&a)
	list, ok := a.(*ir.ArrayAttr)
	if !ok {
		c.Failf("unexpected attribute %.100s", a)
	}
	*v = nil
	for _, e := range list.Elems() {
		*v = append(*v, *dataPart[T](c, e))
	}
}

// dataPart returns the data of an attribute that was read as a part.
func dataPart[T any](c ir.Coder, a ir.Attr) *T {
	v, ok := ir.DataOf[T](a)
	if !ok {
		c.Failf("unexpected attribute %.100s", a)
	}
	return v
}
