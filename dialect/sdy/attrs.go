package sdy

import (
	"github.com/hlocb/hlocb/dialect/view"
	"github.com/hlocb/hlocb/ir"
)

// The rows of the dialect's attributes.
var (
	MeshAttr = view.TextAttr(ir.AttrDef{
		Dialect: "sdy", Name: "mesh", Summary: "Mesh of axes and a list of devices",
		Binary: ir.BinaryData(2, codeMesh),
		Doc:    "Axes of devices. A mesh without axes and with one device is maximal: a value on it lives on that device.",
		Syntax: `<["x"=2, "y"=4], device_ids=[...]>`,
	}, (*DeviceMesh).text)
	ShardingAttr = view.TextAttr(ir.AttrDef{
		Dialect: "sdy", Name: "sharding", Summary: "Tensor sharding",
		Binary: shardingForms(),
		Doc:    "The axes that shard each dimension of a value.",
		Syntax: `<@mesh, [{"x", ?}p1, {}], replicated={"y"}, unreduced=max{"z"}>; mesh<...> for a mesh in place`,
	}, (*Sharding).text)
	PerValueAttr = view.TextAttr(ir.AttrDef{
		Dialect: "sdy", Name: "sharding_per_value", Summary: "Tensor sharding per operand/result of an op",
		Binary: perValueForms(),
		Doc:    "The sharding of each operand or result.",
		Syntax: "<[<@mesh, [...]>, ...]>",
	}, (*PerValue).text)
	ManualAxesAttr = view.TextAttr(ir.AttrDef{
		Dialect: "sdy", Name: "manual_axes", Summary: "A list of manual axes", Wrapped: true,
		Binary: ir.BinaryData(0, func(c ir.Coder, d *ManualAxes) { codeNames(c, &d.Names) }),
		Doc:    "The axes along which a manual computation is written for one device.",
		Syntax: `{"x", "y"}`,
	}, (*ManualAxes).text)
	RuleAttr = view.TextAttr(ir.AttrDef{
		Dialect: "sdy", Name: "op_sharding_rule", Summary: "Specifies how an operation can be partitioned.",
		Binary: ir.BinaryData(10, codeRule),
		Doc:    "The factors that an operation's operands and results share.",
		Syntax: "<([i, j])->([ij]) {i=2, j=4} reduction={i}, custom>",
	}, (*Rule).text)
	AxisListAttr = view.TextAttr(ir.AttrDef{
		Dialect: "sdy", Name: "axis_ref_list", Summary: "List of axis refs", Wrapped: true,
		Binary: ir.BinaryData(11, func(c ir.Coder, d *AxisList) { view.CodeParts(c, axisRefAttr, &d.Axes) }),
		Doc:    "Axes.",
		Syntax: `{"x", "y":(2)4}`,
	}, (*AxisList).text)
	AxisListsAttr = view.TextAttr(ir.AttrDef{
		Dialect: "sdy", Name: "list_of_axis_ref_lists", Summary: "List of axis ref lists", Wrapped: true,
		Binary: ir.BinaryData(12, codeAxisLists),
		Doc:    "Axes for each dimension of a tensor.",
		Syntax: `[{"x"}, {}]`,
	}, (*AxisLists).text)
	AllToAllAttr = view.TextAttr(ir.AttrDef{
		Dialect: "sdy", Name: "all_to_all_param_list", Summary: "List of all-to-all parameters", Wrapped: true,
		Binary: ir.BinaryData(14, func(c ir.Coder, d *AllToAllParams) { view.CodeParts(c, moveAttr, &d.Moves) }),
		Doc:    "Axes that move from the sharding of one dimension to that of another.",
		Syntax: `[{"x"}: 0->1]`,
	}, (*AllToAllParams).text)
)

var attrs = []*ir.AttrDef{
	AllToAllAttr, AxisListAttr, AxisListsAttr, ManualAxesAttr, MeshAttr, PerValueAttr, PropagationEdgesAttr, RuleAttr, ShardingAttr,
	axisRefAttr, dimMappingAttr, dimShardingAttr, mappingAttr, meshAxisAttr, moveAttr, subAxisAttr,
}
