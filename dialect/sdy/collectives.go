package sdy

import (
	"github.com/hlocb/hlocb/dialect/stablehlo/ods"
	"github.com/hlocb/hlocb/dialect/view"
	"github.com/hlocb/hlocb/ir"
)

// AxisList is #sdy<axis_ref_list{"x", "y"}>.
type AxisList struct{ Axes []AxisRef }

// AxisLists is #sdy<list_of_axis_ref_lists[{"x"}, {}]>: axes for each dimension of a tensor.
type AxisLists struct{ Dims [][]AxisRef }

// AllToAllParams is #sdy<all_to_all_param_list[{"x"}: 0->1]>: axes that move from one dimension to another.
type AllToAllParams struct{ Moves []AllToAllMove }

// AllToAllMove is one entry of AllToAllParams.
type AllToAllMove struct {
	Axes     []AxisRef
	Src, Tgt int64
}

func (l *AxisList) text(t *view.Text) { axesText(t, "{", "}", &l.Axes) }

func (l *AxisLists) text(t *view.Text) {
	view.Items(t, "[", "]", &l.Dims, func(d *[]AxisRef) { axesText(t, "{", "}", d) })
}

func (l *AllToAllParams) text(t *view.Text) {
	view.Items(t, "[", "]", &l.Moves, func(m *AllToAllMove) { m.text(t) })
}

// text is {"x"}: 0->1.
func (m *AllToAllMove) text(t *view.Text) {
	axesText(t, "{", "}", &m.Axes)
	t.Lit(": ")
	t.Int(&m.Src)
	t.Lit("->")
	t.Int(&m.Tgt)
}

// short is a directive for an attribute without its name.
func short(row *ir.AttrDef) *ir.Directive {
	return &ir.Directive{
		ByText: true,
		Parse:  func(p ir.AsmParser, _ *ir.OpState, args []ir.DirectiveArg) { args[0].Attr = row.ParseShort(p) },
		Print: func(p ir.AsmPrinter, _ *ir.Op, args []ir.DirectiveArg) {
			if a, ok := args[0].Attr.(*ir.DialectAttr); ok {
				p.Print(row.Print(row, a.Data()))
			}
		},
	}
}

var (
	outSharding = ir.AttrSpec{Name: "out_sharding", Type: ShardingAttr.Constraint()}
	axes        = AxisListAttr.Constraint()
	axisLists   = AxisListsAttr.Constraint()
	moves       = AllToAllAttr.Constraint()
	reductionOp = ir.AttrConstraint{Summary: "reduction op enum", Check: func(a ir.Attr) bool {
		i, ok := a.(*ir.IntegerAttr)
		return ok && i.Type() == ir.Type(ir.Int(32)) && i.Value() >= 0 && i.Value() < int64(len(reductions))
	}}
)

// collective returns the row of an operation that moves a tensor's data between devices without changing the shape that
// the program sees. list is the directive for its parameters, "" if it has none.
func collective(name, doc, attr, list string, c ir.AttrConstraint, verify func(*ir.Op, *ir.Reporter), clauses string) *ir.Def {
	d := &ir.Def{
		Name: "sdy." + name, Doc: doc,
		Operands: []ir.Arg{{Name: "tensor"}},
		Results:  []ir.Arg{{Name: "result"}},
		Attrs:    []ir.AttrSpec{outSharding},
		Infer:    view.InferFirst, Verify: verify,
		Clauses: ir.Clauses(collectiveClauses + clauses),
	}
	params := ""
	if attr != "" {
		d.Attrs = []ir.AttrSpec{{Name: attr, Type: c}, outSharding}
		params = "custom<" + list + ">($" + attr + ") "
	}
	d.Format = params + "$tensor `out_sharding` `` `=` `` $out_sharding attr-dict `:` custom<SameType>(type($tensor), type($result))"
	return d
}

// reduces adds the reduction of partial values to the row of a collective: a number that the generic form writes, and a
// word before the axes otherwise.
func reduces(d *ir.Def) *ir.Def {
	d.Attrs = append(d.Attrs, ods.Late("reduction_op", reductionOp))
	d.Format = "custom<Reduction>($reduction_op) `` " + d.Format
	return d
}

// collectiveClauses apply to every collective.
const collectiveClauses = `
	the operand has a sharding on the mesh of out_sharding
	out_sharding is right for the result, and of the rank of the operand's sharding
	the axes are known to the mesh, and none appears twice
`

// Collectives.
var (
	AllGather = collective("all_gather", "Gathers the shards of a tensor along axes, per dimension.", "gathering_axes", "AxisLists", axisLists,
		collectives(false, false, (*transfer).gather), `
			gathering_axes end the operand's sharding of their dimension; without them it is that of out_sharding
		`)
	AllReduce = reduces(collective("all_reduce", "Combines the partial values of a tensor along axes.", "reduction_axes", "Axes", axes,
		collectives(true, false, (*transfer).reduce), `
			the dimensions of operand and result are sharded alike
			reduction_axes neither shard nor replicate the operand, and are not unreduced in the result
			the operand is unreduced with the same reduction
		`))
	AllSlice = collective("all_slice", "Keeps the device's shard of a tensor along axes, per dimension.", "slicing_axes", "AxisLists", axisLists,
		collectives(true, false, (*transfer).slice), `
			the operand's sharding followed by slicing_axes, per dimension, is that of out_sharding
		`)
	AllToAll = collective("all_to_all", "Moves axes from the sharding of one dimension to that of another.", "params", "Moves", moves,
		collectives(false, false, (*transfer).exchange), `
			there is at least one move; sources rise, and no dimension is in two moves
			the axes of a move end the operand's sharding of the source; appended to the sharding of the target they give out_sharding
		`)
	CollectivePermute = collective("collective_permute", "Moves shards between devices without changing their sizes.", "", "", ir.AttrConstraint{},
		collectives(false, true, (*transfer).permute), `
			the meshes may differ in the order of devices only, and each dimension is in as many shards as before
		`)
	ReduceScatter = reduces(collective("reduce_scatter", "Combines the partial values of a tensor along axes and keeps the device's shard, per dimension.", "reduce_scatter_axes", "AxisLists", axisLists,
		collectives(true, false, (*transfer).reduceScatter), `
			the operand's sharding followed by reduce_scatter_axes, per dimension, is that of out_sharding
			the operand is unreduced with the same reduction
		`))
	ReplicatedToUnreduced = collective("replicated_to_unreduced", "Makes a replicated tensor a sum of partial values along axes.", "axes", "Axes", axes,
		collectives(false, false, (*transfer).replicatedToUnreduced), `
			there is at least one axis, in the order of the mesh, and none that is unreduced already
			the dimensions of operand and result are sharded alike; the axes join the unreduced ones
		`)
	ShardedToUnreduced = collective("sharded_to_unreduced", "Makes a sharded tensor a sum of partial values along axes, per dimension.", "axes", "AxisLists", axisLists,
		collectives(false, false, (*transfer).shardedToUnreduced), `
			the axes end the operand's sharding of their dimension; without them it is that of out_sharding
			the axes join the unreduced ones
		`)
)

// Operations that exist while shardings propagate.
var (
	Constant = &ir.Def{
		Name: "sdy.constant", Doc: "Returns a constant that is never merged with equal ones. Each use can therefore have its own sharding.",
		Results: []ir.Arg{{Name: "output", Type: ods.StaticTensor(ods.FP, ods.Pred, ods.Int, ods.Complex, ods.QTensor, ods.QAxis)}},
		Attrs:   []ir.AttrSpec{{Name: "value", Type: ods.ElemsAttr}},
		Traits:  ir.Pure,
		Format:  "attr-dict custom<Value>($value, type($output))",
	}
	DataFlowEdge = &ir.Def{
		Name: "sdy.data_flow_edge", Doc: "Represents the flow of data into or out of an operation with regions.",
		Operands: []ir.Arg{{Name: "input"}}, Results: []ir.Arg{{Name: "result"}},
		Attrs:  []ir.AttrSpec{{Name: "sharding", Type: outSharding.Type, Optional: true}},
		Format: "$input (`sharding` `` `=` `` $sharding^)? attr-dict `:` custom<SameType>(type($input), type($result))",
		Infer:  view.InferFirst, Verify: verifyEdge,
		Clauses: ir.Clauses(`
			the type is static, and nothing else uses the input
			no operation of this dialect made the input, except for computations
		`),
	}
	FuncDataFlowEdge = &ir.Def{
		Name: "sdy.func_data_flow_edge", Doc: "Represents the flow of data out of a call.",
		Operands: []ir.Arg{{Name: "operand"}}, Results: []ir.Arg{{Name: "result"}},
		Format: "$operand attr-dict `:` custom<SameType>(type($operand), type($result))",
		Infer:  view.InferFirst, Verify: verifyFuncEdge,
		Clauses: ir.Clauses("nothing else uses the operand"),
	}
)

// collectiveOps and collectiveDirectives are this file's contribution to the dialect.
func collectiveOps() []*ir.Def {
	return []*ir.Def{
		AllGather, AllReduce, AllSlice, AllToAll, CollectivePermute, Constant, DataFlowEdge, FuncDataFlowEdge,
		ReduceScatter, ReplicatedToUnreduced, ShardedToUnreduced,
	}
}

func collectiveDirectives() map[string]*ir.Directive {
	return map[string]*ir.Directive{
		"Axes": short(AxisListAttr), "AxisLists": short(AxisListsAttr), "Moves": short(AllToAllAttr), "ManualAxes": short(ManualAxesAttr),
		"Value": {
			Parse: func(p ir.AsmParser, _ *ir.OpState, args []ir.DirectiveArg) {
				pos := p.Pos()
				args[0].Attr = p.ParseAttr(nil)
				switch a := args[0].Attr.(type) {
				case *ir.DenseAttr:
					args[1].Types = []ir.Type{a.Type()}
				case *ir.ResourceAttr:
					args[1].Types = []ir.Type{a.Type()}
				default:
					p.ErrorfAt(pos, "expected elements attribute")
				}
			},
			Print: func(p ir.AsmPrinter, _ *ir.Op, args []ir.DirectiveArg) { p.PrintAttr(args[0].Attr) },
		},
	}
}
