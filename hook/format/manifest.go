package format

import (
	"strings"

	"github.com/hlocb/hlocb/dialect/hookop"
	"github.com/hlocb/hlocb/dialect/stablehlo"
	"github.com/hlocb/hlocb/dialect/view"
	"github.com/hlocb/hlocb/hook"
	"github.com/hlocb/hlocb/internal/hook/irutil"
	"github.com/hlocb/hlocb/internal/hook/order"
	"github.com/hlocb/hlocb/ir"
	"github.com/hlocb/hlocb/tensor"
)

// ManifestOf lists the hooks of a raised or lowered module in program order, with the order that their chains impose.
// Copies of one hook, which share its id, are one site. It does not change the module.
func ManifestOf(m *ir.Module) (*hook.Manifest, error) {
	out := &hook.Manifest{}
	paths := order.PathsOf(m)
	if len(paths.Hooks) == 0 {
		return out, nil
	}
	out.Sites = make([]hook.Site, 0, len(paths.Hooks))
	listed := make(map[hook.ID]bool, len(paths.Hooks))
	for _, op := range paths.Hooks {
		s, err := siteOf(m, op)
		if err != nil {
			return nil, err
		}
		if !listed[s.ID] {
			out.Sites = append(out.Sites, s)
			listed[s.ID] = true
		}
	}
	out.Edges = paths.Chain()
	return out, nil
}

// siteOf describes the hook op, raised or lowered.
func siteOf(m *ir.Module, op *ir.Op) (s hook.Site, err error) {
	var attrs ir.AttrList // for handlers
	attr := op.Attr
	if h, isHook := hookop.AsHook(op); isHook {
		s = hook.Site{
			ID: h.ID(), Name: h.HookName(), Kind: h.Kind(), Format: h.Format(), SourceID: h.SourceID(),
			Chained: h.Chained(), SideEffect: h.SideEffect(), Aliases: h.Aliases(),
		}
		attrs = h.SourceAttrs().Entries()
	} else {
		attr = irutil.Config(op).Get
		c, err := readOwnCall(m, op)
		if err != nil {
			return s, err
		}
		s = hook.Site{ID: c.id, Name: c.name, Kind: c.kind, Format: OwnName, Chained: c.chained, SideEffect: view.Bool(op.Attr(stablehlo.AttrHasSideEffect))}
		attrs = ownAttrs(irutil.Config(op))
		_, data := irutil.SplitTokens(op.OperandList())
		r := &Raiser{Module: m}
		if s.Aliases, err = r.Aliases(op, data); err != nil {
			return s, err
		}
		if c.chained && !stablehlo.IsToken(op.Operand(0).Type()) {
			s.Aliases = afterChain(s.Aliases[1:])
		}
	}
	if s.Format == OwnName {
		attrs = handlerAttrs(attrs)
	}
	for _, a := range attrs {
		if s.Attrs == nil {
			s.Attrs = map[string]string{}
		}
		s.Attrs[a.Name] = a.Attr.String()
	}
	operands, results := op.OperandList(), op.ResultList()
	if s.Chained {
		operands, results = operands[1:], results[1:]
	}
	s.Loc = LocText(op.Loc())
	place, _ := hook.PlaceOf(s.Loc)
	s.Function, s.Callback = place.Function, place.Callback
	if s.Operands, err = hostTypes(m, op, operands, true); err != nil {
		return s, err
	}
	if s.Results, err = hostTypes(m, op, results, s.Kind == hook.Tap); err != nil {
		return s, err
	}
	err = ordersOf(attr).apply(m, op, &s)
	return s, err
}

// hostTypes returns the types of vals as a handler sees them. Sizes up to a bound are -1. Operands
// may have them, and what a tap forwards.
func hostTypes(m *ir.Module, op *ir.Op, vals []*ir.Value, bounded bool) ([]hook.TensorType, error) {
	out := make([]hook.TensorType, len(vals))
	for i, v := range vals {
		t, ok := v.Type().(*ir.TensorType)
		if !ok || !t.Static() && !(bounded && stablehlo.IsBounded(t)) || t.DType() == tensor.Invalid {
			return nil, m.Errorf(op, "a hook cannot pass a value of type %s to its host", v.Type())
		}
		out[i] = hook.TensorType{DType: t.DType(), Shape: t.Shape()}
	}
	return out, nil
}

// LocText returns a location as MLIR prints it inside loc(...), or "" if it is unknown.
func LocText(l *ir.Loc) string {
	if l.Kind() == ir.LocUnknown {
		return ""
	}
	return strings.TrimSuffix(strings.TrimPrefix(l.String(), "loc("), ")")
}
