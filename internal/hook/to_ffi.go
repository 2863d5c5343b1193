package hooks

import (
	"github.com/hlocb/hlocb/dialect/hookop"
	"github.com/hlocb/hlocb/dialect/stablehlo"
	"github.com/hlocb/hlocb/ir"
)

// toFFI writes hlocb's own call, version 1.
var toFFI = Output{
	Name:   "ffi",
	Doc:    "hlocb's own call, a custom call @hlocb_hook of version 1; runs on every plugin with the FFI extension",
	needs:  needAny,
	places: true,
	lower:  lowerFFI,
}

func lowerFFI(w *lowerer, h hookop.HookOp) error {
	m, ctx := w.m, w.m.Context()
	sideEffect := h.SideEffect()
	attrs := make(ir.AttrList, 0, 5) // sorted
	attrs = append(attrs, ir.NamedAttr{Name: "api_version", Attr: w.four, Inherent: true})
	cfg := make(ir.AttrList, 5)
	cfg[0] = ir.NamedAttr{Name: "abi", Attr: w.abi}
	cfg[1] = ir.NamedAttr{Name: "chained", Attr: ctx.Bool(h.Chained())}
	cfg[2] = ir.NamedAttr{Name: "id", Attr: h.Attr(hookop.AttrID)}
	cfg[3] = ir.NamedAttr{Name: "kind", Attr: h.Attr(hookop.AttrKind)}
	cfg[4] = ir.NamedAttr{Name: "name", Attr: h.Attr(hookop.AttrName)}
	if h.Format() == fromHlocb.Name { // what else its own call said stays
		cfg = append(cfg, h.SourceAttrs().Entries()...)
	}
	attrs = append(attrs,
		ir.NamedAttr{Name: "backend_config", Attr: ir.NewDict(cfg), Inherent: true},
		ir.NamedAttr{Name: "call_target_name", Attr: w.target, Inherent: true})
	if sideEffect {
		attrs = append(attrs, ir.NamedAttr{Name: "has_side_effect", Attr: ctx.Bool(true), Inherent: true})
	}
	if list := w.ownAliases(h); len(list) > 0 {
		attrs = append(attrs, ir.NamedAttr{Name: attrOutputAliases, Attr: ir.NewArray(list), Inherent: true})
	}
	st := &ir.OpState{Def: m.Def("stablehlo.custom_call"), Operands: h.OperandList(), Types: typesOf(h.Op), Attrs: attrs, Loc: h.Loc(), Pos: h.Pos()}
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
func (w *lowerer) ownAliases(h hookop.HookOp) []ir.Attr {
	list := make([]ir.Attr, 0, h.NumResults())
	add := func(result, operand int) {
		key := aliasKey{result, operand, h.NumResults() > 1}
		a := w.aliases[key]
		if a == nil {
			a = aliasAttr(result, operand, h.NumResults())
			w.aliases[key] = a
		}
		list = append(list, a)
	}
	skip := 0
	if h.Chained() {
		skip = 1
		if !stablehlo.IsToken(h.Operand(0).Type()) {
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

// aliasKey says which alias an attribute is: hooks share theirs.
type aliasKey struct {
	result, operand int
	several         bool // results
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
