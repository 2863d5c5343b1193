package sdy

import (
	"slices"

	"github.com/hlocb/hlocb/dialect/view"
	"github.com/hlocb/hlocb/ir"
)

// Rows of attributes that are nested in other attributes in text but separate in bytecode (SdyBytecode.cpp).
var (
	meshAxisAttr    = partAttr("mesh_axis", 1, func(c ir.Coder, d *MeshAxis) { c.String(&d.Name); c.Int(&d.Size) }, (*MeshAxis).text)
	subAxisAttr     = partAttr("sub_axis_info", 3, func(c ir.Coder, d *subAxis) { c.Int(&d.pre); c.Int(&d.size) }, (*subAxis).text)
	axisRefAttr     = partAttr("axis_ref", 4, codeAxisRef, (*AxisRef).text)
	dimShardingAttr = partAttr("dim_sharding", 5, codeDimSharding, (*DimSharding).text)
	dimMappingAttr  = partAttr("dim_mapping", 8, func(c ir.Coder, d *dimMapping) { c.Ints(&d.factors) },
		func(d *dimMapping, t *view.Text) { factorsText(t, &d.factors) })
	mappingAttr = partAttr("tensor_mapping", 9, codeMapping, (*Mapping).text)
	moveAttr    = partAttr("all_to_all_param", 13, func(c ir.Coder, d *AllToAllMove) {
		view.CodeParts(c, axisRefAttr, &d.Axes)
		c.Int(&d.Src)
		c.Int(&d.Tgt)
	}, (*AllToAllMove).text)
)

// subAxis and dimMapping are attributes only in bytecode.
type (
	subAxis    struct{ pre, size int64 }
	dimMapping struct{ factors []int64 }
)

// text is (2)4.
func (s *subAxis) text(t *view.Text) {
	t.Lit("(")
	t.Int(&s.pre)
	t.Lit(")")
	t.Int(&s.size)
}

// partAttr returns the row of an attribute without a reader, because its text occurs only inside other attributes.
func partAttr[T any](name string, code int, fields func(c ir.Coder, d *T), text func(d *T, t *view.Text)) *ir.AttrDef {
	return ir.NewAttrDef[T](ir.AttrDef{
		Dialect: "sdy", Name: name, Binary: ir.BinaryData(code, fields),
		Doc:   "A part of other attributes that is an attribute only in bytecode.",
		Parse: func(ir.AsmParser, *ir.AttrDef) any { return nil },
		Print: func(_ *ir.AttrDef, data any) string { return "<" + view.Written(data.(*T), text) + ">" },
	})
}

func codeAxisRef(c ir.Coder, d *AxisRef) {
	c.String(&d.Name)
	var a ir.Attr
	if d.part() {
		a = subAxisAttr.New(&subAxis{d.Pre, d.Size})
	}
	if c.OptionalAttr(&a); a != nil {
		s, ok := ir.DataOf[subAxis](a)
		if !ok {
			c.Failf("unexpected attribute %.100s", a)
		}
		d.Pre, d.Size = s.pre, s.size
	}
}

func codeDimSharding(c ir.Coder, d *DimSharding) {
	view.CodeParts(c, axisRefAttr, &d.Axes)
	closed := !d.Open
	c.Bool(&closed)
	d.Open = !closed
	p := uint64(0) // the lowest bit reports if a priority is present
	if d.Priority >= 0 {
		p = uint64(d.Priority)<<1 | 1
	}
	c.Uint(&p)
	if d.Priority = -1; p&1 != 0 {
		d.Priority = int64(p >> 1)
	}
}

func codeMesh(c ir.Coder, d *DeviceMesh) {
	view.CodeParts(c, meshAxisAttr, &d.Axes)
	if c.Ints(&d.DeviceIDs); len(d.DeviceIDs) == 0 {
		d.DeviceIDs = nil
	}
}

// shardingForms returns the forms of shardings: without unreduced axes, with axes that a sum reduces, and with axes and
// their reduction.
func shardingForms() []ir.Binary {
	form := func(code int, unreduced, reduction bool) ir.Binary {
		return ir.BinaryData(code, func(c ir.Coder, d *Sharding) {
			var mesh ir.Attr = ir.NewSymbolRef(d.Mesh)
			if d.Inline != nil {
				mesh = MeshAttr.New(d.Inline)
			}
			c.Attr(&mesh)
			if ref, ok := mesh.(*ir.SymbolRefAttr); ok {
				d.Mesh = ref.Root()
			} else if d.Inline, ok = ir.DataOf[DeviceMesh](mesh); !ok {
				c.Failf("expected a mesh, found the attribute %.100s", mesh)
			}
			view.CodeParts(c, dimShardingAttr, &d.Dims)
			view.CodeParts(c, axisRefAttr, &d.Replicated)
			if unreduced {
				view.CodeParts(c, axisRefAttr, &d.Unreduced)
			}
			if reduction {
				op := int64(d.Reduction)
				if c.Int(&op); op < 0 || op >= int64(len(reductions)) {
					c.Failf("unknown reduction %d", op)
				}
				d.Reduction = Reduction(op)
			}
		})[0]
	}
	plain, sum := form(6, false, false), form(15, true, false)
	plain.Is = func(data any) bool { return len(data.(*Sharding).Unreduced) == 0 }
	sum.Is = func(data any) bool { return data.(*Sharding).Reduction == ReduceSum }
	return []ir.Binary{plain, sum, form(17, true, true)}
}

// perValueForms returns the forms of lists of shardings, which have a code of their own if one has unreduced axes.
func perValueForms() []ir.Binary {
	plain, unreduced := ir.BinaryData(7, codePerValue)[0], ir.BinaryData(16, codePerValue)[0]
	plain.Is = func(data any) bool {
		return !slices.ContainsFunc(data.(*PerValue).Shardings, func(s *Sharding) bool { return len(s.Unreduced) > 0 })
	}
	return []ir.Binary{plain, unreduced}
}

func codePerValue(c ir.Coder, d *PerValue) {
	list := make([]Sharding, len(d.Shardings))
	for i, s := range d.Shardings {
		list[i] = *s
	}
	view.CodeParts(c, ShardingAttr, &list)
	d.Shardings = nil
	for i := range list {
		d.Shardings = append(d.Shardings, &list[i])
	}
}

func codeMapping(c ir.Coder, d *Mapping) {
	dims := make([]dimMapping, len(*d))
	for i, f := range *d {
		dims[i].factors = f
	}
	view.CodeParts(c, dimMappingAttr, &dims)
	*d = make(Mapping, len(dims))
	for i, f := range dims {
		(*d)[i] = f.factors
	}
}

func codeRule(c ir.Coder, d *Rule) {
	c.Ints(&d.Sizes)
	view.CodeParts(c, mappingAttr, &d.Operands)
	view.CodeParts(c, mappingAttr, &d.Results)
	c.Ints(&d.Reduction)
	c.Ints(&d.NeedReplication)
	c.Ints(&d.Permutation)
	c.Ints(&d.Blocked)
	c.Bool(&d.Custom)
}

func codeAxisLists(c ir.Coder, d *AxisLists) {
	dims := make([]AxisList, len(d.Dims))
	for i, axes := range d.Dims {
		dims[i].Axes = axes
	}
	view.CodeParts(c, AxisListAttr, &dims)
	d.Dims = make([][]AxisRef, len(dims))
	for i, l := range dims {
		d.Dims[i] = l.Axes
	}
}

// codeNames codes a list of strings as a list of attributes.
func codeNames(c ir.Coder, v *[]string) {
	var elems []ir.Attr
	for _, s := range *v {
		elems = append(elems, ir.NewString(s))
	}
	c.Attrs(&elems)
	*v = nil
	for _, a := range elems {
		s, ok := a.(*ir.StringAttr)
		if !ok {
			c.Failf("expected a string, found the attribute %.100s", a)
		}
		*v = append(*v, s.Value())
	}
}
