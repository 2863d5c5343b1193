package hook

import (
	"github.com/hlocb/hlocb/dialect/hlocb"
	"github.com/hlocb/hlocb/ir"
)

// Lower replaces every hlocb.hook of m by hlocb's own call, version 1, and takes away what only its source
// needed: meshes and private functions that nothing names any more.
func Lower(m *ir.Module) error {
	single := partitions(m) == 1
	var hooks []hlocb.HookOp
	m.Walk(func(op *ir.Op) bool {
		if h, ok := hlocb.AsHook(op); ok {
			hooks = append(hooks, h)
		}
		return true
	})
	for _, h := range hooks {
		if err := lowerFFI(m, h, single); err != nil {
			return err
		}
	}
	if len(hooks) > 0 {
		dropPIDs(m)
		dropMeshes(m)
	}
	return nil
}

func lowerFFI(m *ir.Module, h hlocb.HookOp, single bool) error {
	ctx := m.Context()
	if h.Chained() && isZeroSize(h.Operand(0).Type()) {
		return m.Errorf(h.Op, "a chain without elements would not keep the order")
	}
	st := &ir.OpState{
		Def:      m.Def("stablehlo.custom_call"),
		Operands: h.OperandList(),
		Types:    typesOf(h.Op),
		Loc:      h.Loc(),
		Pos:      h.Pos(),
	}
	st.SetAttr("call_target_name", ir.NewString(hlocb.Target))
	st.SetAttr("api_version", ir.NewInteger(4, ctx.I32()))
	if h.SideEffect() {
		st.SetAttr("has_side_effect", ctx.Bool(true))
	}
	st.SetAttr("backend_config", ir.NewDict(ir.AttrList{
		{Name: "abi", Attr: ir.NewInteger(hlocb.ABI, ctx.I64())},
		{Name: "chained", Attr: ctx.Bool(h.Chained())},
		{Name: "id", Attr: ir.NewInteger(int64(h.ID()), ctx.I64())},
		{Name: "kind", Attr: ir.NewString(h.Kind().String())},
		{Name: "name", Attr: ir.NewString(h.HookName())},
	}))
	if list := ownAliases(h); len(list) > 0 {
		st.SetAttr(attrOutputAliases, ir.NewArray(list))
	}
	if h.Layouts() {
		st.SetAttr("operand_layouts", layouts(ctx, st.Operands))
		st.SetAttr("result_layouts", layouts(ctx, resultList(h.Op)))
	}
	if err := carrySharding(m, h, st, single); err != nil {
		return err
	}
	op := m.Before(h.Op).Insert(st)
	for i, v := range h.Results() {
		op.Result(i).SetName(v.Name())
		v.ReplaceAllUsesWith(op.Result(i))
	}
	h.Op.Erase()
	return nil
}

// ownAliases returns the aliases of hlocb's own call: the chain's, then those of the data.
func ownAliases(h hlocb.HookOp) []ir.Attr {
	var list []ir.Attr
	add := func(result, operand int) {
		a := outputAlias{output: []int64{int64(result)}, operand: int64(operand)}
		if h.NumResults() == 1 {
			a.output = nil // with one result the path indexes into it
		}
		list = append(list, a.attr())
	}
	skip := 0
	if h.Chained() {
		skip = 1
		if !ir.IsToken(h.Operand(0).Type()) {
			add(0, 0)
		}
	}
	for i, o := range h.Aliases() {
		if o >= 0 {
			add(skip+i, skip+o)
		}
	}
	return list
}

// layouts returns the row-major layout of each value; tokens and scalars have the empty one.
func layouts(ctx *ir.Context, vals []*ir.Value) ir.Attr {
	list := make([]ir.Attr, len(vals))
	for i, v := range vals {
		rank := 0
		if t, ok := v.Type().(*ir.TensorType); ok {
			rank = t.Rank()
		}
		list[i] = rowMajorLayout(ctx, rank)
	}
	return ir.NewArray(list)
}
