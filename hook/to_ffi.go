package hook

import (
	"github.com/hlocb/hlocb/dialect/hlocb"
	"github.com/hlocb/hlocb/ir"
)

// toFFI writes hlocb's own call, version 1.
var toFFI = Output{
	Name:  "ffi",
	Doc:   "hlocb's own call, a custom call @hlocb_hook of version 1; runs on every plugin with the FFI extension",
	needs: needAny,
	lower: lowerFFI,
}

func lowerFFI(w *lowerer, h hlocb.HookOp) error {
	m, ctx := w.m, w.m.Context()
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
	cfg := ir.AttrList{
		{Name: "abi", Attr: ir.NewInteger(hlocb.ABI, ctx.I64())},
		{Name: "chained", Attr: ctx.Bool(h.Chained())},
		{Name: "id", Attr: ir.NewInteger(int64(h.ID()), ctx.I64())},
		{Name: "kind", Attr: ir.NewString(h.Kind().String())},
		{Name: "name", Attr: ir.NewString(h.HookName())},
	}
	if h.Format() == fromHlocb.Name { // what else its own call said stays
		cfg = append(cfg, h.SourceAttrs().Entries()...)
	}
	st.SetAttr("backend_config", ir.NewDict(cfg))
	if list := ownAliases(h); len(list) > 0 {
		st.SetAttr(attrOutputAliases, ir.NewArray(list))
	}
	if h.Layouts() {
		st.SetAttr("operand_layouts", layouts(ctx, st.Operands))
		st.SetAttr("result_layouts", layouts(ctx, resultList(h.Op)))
	}
	if err := carrySharding(m, h, st, w.single); err != nil {
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
		list = append(list, aliasAttr(result, operand, h.NumResults()))
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
