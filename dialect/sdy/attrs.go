package sdy

import (
	"github.com/hlocb/hlocb/internal/dialect/view"
	"github.com/hlocb/hlocb/ir"
)

// The rows of the dialect's attributes.
var (
	MeshAttr = attr(ir.AttrDef{
		Name: "mesh", Summary: "Mesh of axes and a list of devices",
		Binary: ir.BinaryData(2, codeMesh),
		Doc:    "Axes of devices. A mesh without axes and with one device is maximal: a value on it lives on that device.",
		Syntax: `<["x"=2, "y"=4], device_ids=[...]>`,
	}, parseMesh)
	ShardingAttr = attr(ir.AttrDef{
		Name: "sharding", Summary: "Tensor sharding",
		Binary: shardingForms(),
		Doc:    "The axes that shard each dimension of a value.",
		Syntax: `<@mesh, [{"x", ?}p1, {}], replicated={"y"}, unreduced={"z"}>; mesh<...> for a mesh in place`,
	}, parseSharding)
	PerValueAttr = attr(ir.AttrDef{
		Name: "sharding_per_value", Summary: "Tensor sharding per operand/result of an op",
		Binary: ir.BinaryData(7, codePerValue),
		Doc:    "The sharding of each operand or result.",
		Syntax: "<[<@mesh, [...]>, ...]>",
	}, func(p ir.AsmParser) *PerValue {
		p.Expect("<")
		v := ParsePerValue(p)
		p.Expect(">")
		return v
	})
	ManualAxesAttr = attr(ir.AttrDef{
		Name: "manual_axes", Summary: "A list of manual axes", Wrapped: true,
		Binary: ir.BinaryData(0, func(c ir.Coder, d *ManualAxes) { codeNames(c, &d.Names) }),
		Doc:    "The axes along which a manual computation is written for one device.",
		Syntax: `{"x", "y"}`,
	}, parseManualAxes)
	RuleAttr = attr(ir.AttrDef{
		Name: "op_sharding_rule", Summary: "Specifies how an operation can be partitioned.",
		Binary: ir.BinaryData(10, codeRule),
		Doc:    "The factors that an operation's operands and results share.",
		Syntax: "<([i, j])->([ij]) {i=2, j=4} reduction={i}, custom>",
	}, parseRule)
	AxisListAttr = attr(ir.AttrDef{
		Name: "axis_ref_list", Summary: "List of axis refs", Wrapped: true,
		Binary: ir.BinaryData(11, func(c ir.Coder, d *AxisList) { view.CodeParts(c, axisRefAttr, &d.Axes) }),
		Doc:    "Axes.",
		Syntax: `{"x", "y":(2)4}`,
	}, func(p ir.AsmParser) *AxisList { return &AxisList{parseAxes(p)} })
	AxisListsAttr = attr(ir.AttrDef{
		Name: "list_of_axis_ref_lists", Summary: "List of axis ref lists", Wrapped: true,
		Binary: ir.BinaryData(12, codeAxisLists),
		Doc:    "Axes for each dimension of a tensor.",
		Syntax: `[{"x"}, {}]`,
	}, func(p ir.AsmParser) *AxisLists {
		l := &AxisLists{}
		p.ParseList("[", "]", func() { l.Dims = append(l.Dims, parseAxes(p)) })
		return l
	})
	AllToAllAttr = attr(ir.AttrDef{
		Name: "all_to_all_param_list", Summary: "List of all-to-all parameters", Wrapped: true,
		Binary: ir.BinaryData(14, func(c ir.Coder, d *AllToAllParams) { view.CodeParts(c, moveAttr, &d.Moves) }),
		Doc:    "Axes that move from the sharding of one dimension to that of another.",
		Syntax: `[{"x"}: 0->1]`,
	}, parseMoves)
)

var attrs = []*ir.AttrDef{
	AllToAllAttr, AxisListAttr, AxisListsAttr, ManualAxesAttr, MeshAttr, PerValueAttr, PropagationEdgesAttr, RuleAttr, ShardingAttr,
	axisRefAttr, dimMappingAttr, dimShardingAttr, mappingAttr, meshAxisAttr, moveAttr, subAxisAttr,
}

// attr returns the row of an attribute whose data is a *T. Its String method writes the attribute.
func attr[T any, P interface {
	*T
	String() string
}](d ir.AttrDef, parse func(ir.AsmParser) P) *ir.AttrDef {
	d.Dialect = "sdy"
	d.Parse = func(p ir.AsmParser, _ *ir.AttrDef) any { return parse(p) }
	d.Print = func(_ *ir.AttrDef, data any) string { return data.(P).String() }
	return ir.NewAttrDef[T](d)
}

// bareText returns the parameters of a as ops write them, without a mnemonic.
func bareText(a ir.Attr) string {
	if d, ok := a.(*ir.DialectAttr); ok {
		switch v := d.Data().(type) {
		case *PerValue:
			return v.List()
		case interface{ String() string }:
			return v.String()
		}
	}
	return ""
}
