package format

import (
	"github.com/hlocb/hlocb/dialect/hookop"
	"github.com/hlocb/hlocb/dialect/mhlo"
	"github.com/hlocb/hlocb/dialect/stablehlo"
	"github.com/hlocb/hlocb/dialect/view"
	"github.com/hlocb/hlocb/hook"
	"github.com/hlocb/hlocb/internal/hook/irutil"
	"github.com/hlocb/hlocb/ir"
)

// own is the format of hlocb's own call. hlocb also reads it, so rewriting a module twice changes nothing.
var own = &Format{
	Name: OwnName,
	Doc:  "hlocb's own call, a custom call @hlocb_hook of version 1",
	Reader: &Reader{
		Starts: []*ir.Def{stablehlo.CustomCall},
		Read:   readOwn,
		Chains: func(op *ir.Op) bool {
			return irutil.IsTarget(op, hook.Target) && view.Bool(irutil.Config(op).Get("chained"))
		},
	},
	Writer: &Writer{
		Name:    "ffi",
		Doc:     "hlocb's own call, a custom call @hlocb_hook of version 1; runs on every plugin with the FFI extension",
		Ordered: OrderedByAny,
		Places:  true,
		Aliases: true,
		Proof:   true,
		Write:   writeOwn,
	},
}

// OwnName is the name of hlocb's own format.
const OwnName = "hlocb"

func readOwn(r *Raiser, op *ir.Op) (bool, error) {
	if !irutil.IsTarget(op, hook.Target) {
		return false, nil
	}
	c, err := readOwnCall(r.Module, op)
	if err != nil {
		return false, err
	}
	if c.chained && !stablehlo.IsToken(op.Operand(0).Type()) {
		return false, r.Module.Errorf(op, "the chain of the hook could not be followed")
	}
	s, err := r.call(op)
	if err != nil {
		return false, err
	}
	if c.kind == hook.InOut && len(s.Results) > len(s.Tokens) && !allAliased(s.Aliases) {
		return false, r.Module.Errorf(op, "hook is of kind inout, but not every result is aliased to an operand")
	}
	s.Kind, s.Name, s.ID, s.SideEffect = c.kind, c.name, &c.id, view.Bool(op.Attr(stablehlo.AttrHasSideEffect)) || c.chained
	s.Orders, s.Attrs = ordersOf(irutil.Config(op).Get), ownAttrs(irutil.Config(op))
	r.Add(s)
	return true, nil
}

// ownCall is the content of the backend_config of hlocb's own call.
type ownCall struct {
	id      hook.ID
	name    string
	kind    hook.Kind
	chained bool
}

// readOwnCall reads the configuration of hlocb's own call and checks it against the call.
func readOwnCall(m *ir.Module, op *ir.Op) (ownCall, error) {
	var c ownCall
	cfg := irutil.Config(op)
	abi, ok := view.OptionalInt(cfg.Get("abi"))
	if !ok {
		return c, m.Errorf(op, "@%s has no abi in its backend_config", hook.Target)
	}
	if abi != hook.ABI {
		return c, m.Errorf(op, "@%s is of abi %d, but this hlocb reads abi %d", hook.Target, abi, hook.ABI)
	}
	id, ok := view.OptionalInt(cfg.Get("id"))
	if !ok {
		return c, m.Errorf(op, "@%s has no id in its backend_config", hook.Target)
	}
	c.id = hook.ID(id)
	c.name = view.String(cfg.Get(stablehlo.AttrName))
	if c.kind, ok = hook.ParseKind(view.String(cfg.Get(mhlo.AttrKind))); !ok {
		return c, m.Errorf(op, "@%s has no kind tap, inout, call or feed in its backend_config", hook.Target)
	}
	c.chained = view.Bool(cfg.Get("chained"))
	if c.chained {
		if op.NumOperands() == 0 || op.NumResults() == 0 || op.Operand(0).Type() != op.Result(0).Type() {
			return c, m.Errorf(op, "@%s is chained, but operand 0 and result 0 are not a pair of one type", hook.Target)
		}
		if irutil.IsZeroSize(op.Operand(0).Type()) {
			return c, m.Errorf(op, "@%s is chained through a value without elements, which orders nothing", hook.Target)
		}
	}
	return c, nil
}

func writeOwn(w *Lowerer, h hookop.HookOp) error {
	m, ctx := w.Module, w.Module.Context()
	attrs := make(ir.AttrList, 0, 5) // sorted
	attrs = append(attrs, ir.NamedAttr{Name: stablehlo.AttrAPIVersion, Attr: w.four, Inherent: true})
	cfg := make(ir.AttrList, 5)
	cfg[0] = ir.NamedAttr{Name: "abi", Attr: w.abi}
	cfg[1] = ir.NamedAttr{Name: "chained", Attr: ctx.Bool(h.Chained())}
	cfg[2] = ir.NamedAttr{Name: "id", Attr: h.Attr(hookop.AttrID)}
	cfg[3] = ir.NamedAttr{Name: "kind", Attr: h.Attr(hookop.AttrKind)}
	cfg[4] = ir.NamedAttr{Name: stablehlo.AttrName, Attr: h.Attr(hookop.AttrName)}
	if o := ordersOf(h.Attr); o.operands != nil {
		cfg = append(cfg, ir.NamedAttr{Name: hookop.AttrOperandLayouts, Attr: o.operands}, ir.NamedAttr{Name: hookop.AttrResultLayouts, Attr: o.results})
	}
	if list := h.SourceAttrs().Entries(); h.Format() == OwnName { // keep the other entries of the source call
		cfg = append(cfg, list...)
	} else if len(list) > 0 {
		cfg = append(cfg, ir.NamedAttr{Name: hook.AttrAttrs, Attr: h.SourceAttrs()})
	}
	attrs = append(attrs,
		ir.NamedAttr{Name: stablehlo.AttrBackendConfig, Attr: ir.NewDict(cfg), Inherent: true},
		ir.NamedAttr{Name: stablehlo.AttrCallTargetName, Attr: w.target, Inherent: true})
	if h.SideEffect() {
		attrs = append(attrs, ir.NamedAttr{Name: stablehlo.AttrHasSideEffect, Attr: ctx.Bool(true), Inherent: true})
	}
	if list := w.ownAliases(h); len(list) > 0 {
		attrs = append(attrs, ir.NamedAttr{Name: stablehlo.AttrOutputOperandAliases, Attr: ir.NewArray(list), Inherent: true})
	}
	st := &ir.OpState{Def: stablehlo.CustomCall, Operands: h.OperandList(), Types: h.Op.ResultTypes(), Attrs: attrs, Loc: h.Loc(), Pos: h.Pos()}
	if a := h.Attr(mhlo.AttrFrontendAttributes); a != nil {
		st.SetAttr(mhlo.AttrFrontendAttributes, a)
	}
	setFacts(st, h)
	if h.Layouts() || w.Layouts {
		st.SetAttr(stablehlo.AttrOperandLayouts, layouts(ctx, st.Operands))
		st.SetAttr(stablehlo.AttrResultLayouts, layouts(ctx, h.Op.ResultList()))
	}
	op := m.Before(h.Op).Insert(st)
	if err := w.Shard(h, op); err != nil {
		return err
	}
	for i, v := range h.Results() {
		op.Result(i).SetName(v.Name())
		v.ReplaceAllUsesWith(op.Result(i))
	}
	h.Op.Erase()
	return nil
}

// ownAliases returns the aliases of hlocb's own call: first the chain's, then the data's.
func (w *Lowerer) ownAliases(h hookop.HookOp) []ir.Attr {
	list := make([]ir.Attr, 0, h.NumResults())
	add := func(result, operand int) {
		key := aliasKey{result, operand, h.NumResults() > 1}
		a := w.aliases[key]
		if a == nil {
			a = stablehlo.OutputOperandAliasAttr.New(aliasOf(result, operand, h.NumResults()))
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

// aliasKey identifies an alias attribute. Hooks share equal attributes.
type aliasKey struct {
	result, operand int
	several         bool // results
}

// layouts returns the row-major layout of each value. Tokens and scalars have an empty layout.
func layouts(ctx *ir.Context, vals []*ir.Value) ir.Attr {
	list := make([]ir.Attr, len(vals))
	for i, v := range vals {
		list[i] = view.RowMajorLayout(ctx, v.Type())
	}
	return ir.NewArray(list)
}
