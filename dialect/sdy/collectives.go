package sdy

import (
	"strconv"
	"strings"

	hlo "github.com/hlocb/hlocb/dialect/stablehlo"
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

func (l *AxisList) String() string { return "{" + axisList(l.Axes) + "}" }

func (l *AxisLists) String() string {
	parts := make([]string, len(l.Dims))
	for i, d := range l.Dims {
		parts[i] = "{" + axisList(d) + "}"
	}
	return "[" + strings.Join(parts, ", ") + "]"
}

func (l *AllToAllParams) String() string {
	parts := make([]string, len(l.Moves))
	for i, m := range l.Moves {
		parts[i] = "{" + axisList(m.Axes) + "}: " + strconv.FormatInt(m.Src, 10) + "->" + strconv.FormatInt(m.Tgt, 10)
	}
	return "[" + strings.Join(parts, ", ") + "]"
}

// listNames are the mnemonics of the attributes that collectives take.
const (
	axisListName  = "axis_ref_list"
	axisListsName = "list_of_axis_ref_lists"
	allToAllName  = "all_to_all_param_list"
)

// parseList reads the parameters of an attribute of the given mnemonic.
func parseList(p ir.AsmParser, name string) ir.Attr {
	switch name {
	case axisListName:
		l := &AxisList{parseAxes(p)}
		return listAttr(name, l.String(), l)
	case axisListsName:
		l := &AxisLists{}
		p.ParseList("[", "]", func() { l.Dims = append(l.Dims, parseAxes(p)) })
		return listAttr(name, l.String(), l)
	case allToAllName:
		l := &AllToAllParams{}
		p.ParseList("[", "]", func() {
			m := AllToAllMove{Axes: parseAxes(p)}
			p.Expect(":")
			m.Src = p.ParseInteger()
			p.Expect("->")
			m.Tgt = p.ParseInteger()
			l.Moves = append(l.Moves, m)
		})
		return listAttr(name, l.String(), l)
	}
	return nil
}

// listAttr returns #sdy<name...>.
func listAttr(name, body string, data any) *ir.DialectAttr {
	return ir.NewDialectAttr("sdy", "", "<"+name+body+">", data)
}

// listDirective reads and writes an attribute without its mnemonic.
func listDirective(name string) *ir.Directive {
	return &ir.Directive{
		Parse: func(p ir.AsmParser, _ *ir.OpState, args []ir.DirectiveArg) { args[0].Attr = parseList(p, name) },
		Print: func(p ir.AsmPrinter, _ *ir.Op, args []ir.DirectiveArg) {
			if a, ok := args[0].Attr.(*ir.DialectAttr); ok {
				p.Print(strings.TrimSuffix(strings.TrimPrefix(a.Body(), "<"+name), ">"))
			}
		},
	}
}

func isData[T any](a ir.Attr) bool {
	d, ok := a.(*ir.DialectAttr)
	if !ok {
		return false
	}
	_, ok = d.Data().(*T)
	return ok
}

var (
	outSharding = ir.AttrSpec{Name: "out_sharding", Type: ir.AttrConstraint{Summary: "Tensor sharding", Check: isData[Sharding], Form: ir.FormParams, FormName: "sharding"}}
	axes        = ir.AttrConstraint{Summary: "List of axis refs", Check: isData[AxisList]}
	axisLists   = ir.AttrConstraint{Summary: "List of axis ref lists", Check: isData[AxisLists]}
	moves       = ir.AttrConstraint{Summary: "List of all-to-all parameters", Check: isData[AllToAllParams]}
)

// collective returns the row of an operation that moves a tensor's data between devices; the shape that the
// program sees stays. list is the directive of its parameters, "" where it has none.
func collective(name, doc, attr, list string, c ir.AttrConstraint) *ir.Def {
	d := &ir.Def{
		Name: "sdy." + name, Doc: doc,
		Operands: []ir.Arg{{Name: "tensor"}},
		Results:  []ir.Arg{{Name: "result"}},
		Attrs:    []ir.AttrSpec{outSharding},
		Traits:   ir.Pure,
		Infer:    inferSame, Verify: verifySame,
	}
	params := ""
	if attr != "" {
		d.Attrs = []ir.AttrSpec{{Name: attr, Type: c}, outSharding}
		params = "custom<" + list + ">($" + attr + ") "
	}
	d.Format = params + "$tensor `out_sharding` `` `=` `` $out_sharding attr-dict `:` custom<SameType>(type($tensor), type($result))"
	return d
}

func verifySame(op *ir.Op, r *ir.Reporter) {
	if op.Operand(0).Type() != op.Result(0).Type() {
		r.Errorf(op, "requires the same type for all operands and results")
	}
}

// Collectives.
var (
	AllGather             = collective("all_gather", "Gathers the shards of a tensor along axes, per dimension.", "gathering_axes", "AxisLists", axisLists)
	AllReduce             = collective("all_reduce", "Adds up the partial values of a tensor along axes.", "reduction_axes", "Axes", axes)
	AllSlice              = collective("all_slice", "Keeps of a tensor the shard of the device along axes, per dimension.", "slicing_axes", "AxisLists", axisLists)
	AllToAll              = collective("all_to_all", "Moves axes from the sharding of one dimension to that of another.", "params", "Moves", moves)
	CollectivePermute     = collective("collective_permute", "Moves shards between devices without changing their sizes.", "", "", ir.AttrConstraint{})
	ReduceScatter         = collective("reduce_scatter", "Adds up the partial values of a tensor along axes and keeps the device's shard, per dimension.", "reduce_scatter_axes", "AxisLists", axisLists)
	ReplicatedToUnreduced = collective("replicated_to_unreduced", "Makes a replicated tensor a sum of partial values along axes.", "axes", "Axes", axes)
	ShardedToUnreduced    = collective("sharded_to_unreduced", "Makes a sharded tensor a sum of partial values along axes, per dimension.", "axes", "AxisLists", axisLists)
)

// Operations that stand while shardings propagate.
var (
	Constant = &ir.Def{
		Name: "sdy.constant", Doc: "Gives a constant that is not merged with others, so that each use may have its sharding.",
		Results: []ir.Arg{{Name: "output", Type: hlo.StaticTensor(hlo.FP, hlo.Pred, hlo.Int, hlo.Complex, hlo.QTensor, hlo.QAxis)}},
		Attrs:   []ir.AttrSpec{{Name: "value", Type: hlo.ElemsAttr}},
		Traits:  ir.Pure,
		Format:  "attr-dict custom<Value>($value, type($output))",
	}
	DataFlowEdge = &ir.Def{
		Name: "sdy.data_flow_edge", Doc: "Stands for the flow of data into or out of an operation with regions.",
		Operands: []ir.Arg{{Name: "input"}}, Results: []ir.Arg{{Name: "result"}},
		Attrs:  []ir.AttrSpec{{Name: "sharding", Type: outSharding.Type, Optional: true}},
		Traits: ir.Pure,
		Format: "$input (`sharding` `` `=` `` $sharding^)? attr-dict `:` custom<SameType>(type($input), type($result))",
		Infer:  inferSame, Verify: verifyEdge("input"),
	}
	FuncDataFlowEdge = &ir.Def{
		Name: "sdy.func_data_flow_edge", Doc: "Stands for the flow of data out of a call.",
		Operands: []ir.Arg{{Name: "operand"}}, Results: []ir.Arg{{Name: "result"}},
		Traits: ir.Pure,
		Format: "$operand attr-dict `:` custom<SameType>(type($operand), type($result))",
		Infer:  inferSame, Verify: verifyEdge("operand"),
	}
)

// verifyEdge checks that nothing but the edge uses its operand.
func verifyEdge(name string) func(*ir.Op, *ir.Reporter) {
	return func(op *ir.Op, r *ir.Reporter) {
		if !op.Operand(0).HasOneUse() {
			r.Errorf(op, "expected %s of %s to have a single user", name, op.Name())
			return
		}
		verifySame(op, r)
	}
}

// collectiveOps and collectiveDirectives are what this file adds to the dialect.
func collectiveOps() []*ir.Def {
	return []*ir.Def{
		AllGather, AllReduce, AllSlice, AllToAll, CollectivePermute, Constant, DataFlowEdge, FuncDataFlowEdge,
		ReduceScatter, ReplicatedToUnreduced, ShardedToUnreduced,
	}
}

func collectiveDirectives() map[string]*ir.Directive {
	return map[string]*ir.Directive{
		"Axes": listDirective(axisListName), "AxisLists": listDirective(axisListsName), "Moves": listDirective(allToAllName),
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
