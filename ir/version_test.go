package ir_test

import (
	"testing"

	"github.com/hlocb/hlocb/ir"
)

// TestVersion: every way to change a module changes its version, and nothing else does.
func TestVersion(t *testing.T) {
	i32 := func(m *ir.Module) ir.Type { return m.Context().Integer(32, ir.Signless) }
	for _, tt := range []struct {
		name   string
		change bool
		f      func(m *ir.Module, f, op *ir.Op)
	}{
		{"reading", false, func(m *ir.Module, _, op *ir.Op) { m.Walk(func(*ir.Op) bool { return true }); op.Attrs().Get("x") }},
		{"a detached op", false, func(m *ir.Module, _, op *ir.Op) { m.NewOp(op.State()).Erase() }},
		{"an equal attribute", false, func(_ *ir.Module, _, op *ir.Op) { op.SetAttr("x", op.Attr("x")) }},
		{"no attribute", false, func(_ *ir.Module, _, op *ir.Op) { op.RemoveAttr("none") }},
		{"an equal type", false, func(_ *ir.Module, _, op *ir.Op) { op.Result(0).SetType(op.Result(0).Type()) }},
		{"an equal location", false, func(_ *ir.Module, _, op *ir.Op) { op.SetLoc(op.Loc()) }},
		{"an op", true, func(m *ir.Module, _, op *ir.Op) { m.Before(op).Insert(op.State()) }},
		{"a copy", true, func(m *ir.Module, _, op *ir.Op) { m.Before(op).Clone(op, map[*ir.Value]*ir.Value{}) }},
		{"an operand", true, func(_ *ir.Module, f, op *ir.Op) { op.SetOperand(0, f.Region(0).Entry().Arg(1)) }},
		{"operands", true, func(_ *ir.Module, _, op *ir.Op) { op.SetOperands(nil) }},
		{"uses", true, func(_ *ir.Module, f, op *ir.Op) { op.Result(0).ReplaceAllUsesWith(f.Region(0).Entry().Arg(0)) }},
		{"an attribute", true, func(_ *ir.Module, _, op *ir.Op) { op.SetAttr("x", ir.NewString("new")) }},
		{"attributes", true, func(_ *ir.Module, _, op *ir.Op) { op.SetAttrs(nil) }},
		{"an attribute less", true, func(_ *ir.Module, _, op *ir.Op) { op.RemoveAttr("x") }},
		{"a type", true, func(m *ir.Module, _, op *ir.Op) { op.Result(0).SetType(m.Context().Integer(8, ir.Signless)) }},
		{"a location", true, func(_ *ir.Module, _, op *ir.Op) { op.SetLoc(new(ir.LocTable).Name("here", nil)) }},
		{"an argument's location", true, func(_ *ir.Module, f, _ *ir.Op) {
			f.Region(0).Entry().Arg(0).SetLoc(new(ir.LocTable).Name("here", nil))
		}},
		{"an argument", true, func(m *ir.Module, f, _ *ir.Op) { f.Region(0).Entry().AddArg(i32(m), nil) }},
		{"an argument less", true, func(_ *ir.Module, f, _ *ir.Op) { f.Region(0).Entry().RemoveArg(1) }},
		{"a block", true, func(_ *ir.Module, f, _ *ir.Op) { f.Region(0).AddBlock() }},
		{"a block in two", true, func(_ *ir.Module, _, op *ir.Op) { op.Block().SplitBefore(op) }},
		{"blocks of another op", true, func(m *ir.Module, f, _ *ir.Op) { m.NewRegion().TakeBlocks(f.Region(0)) }},
		{"regions", true, func(_ *ir.Module, f, _ *ir.Op) { f.DetachRegions() }},
		{"another place", true, func(_ *ir.Module, _, op *ir.Op) { op.Next().MoveBefore(op) }},
		{"erasing", true, func(_ *ir.Module, f, _ *ir.Op) { f.Erase() }},
		{"resources", true, func(m *ir.Module, _, _ *ir.Op) { m.SetResources([]ir.Resource{{Key: "k"}}) }},
	} {
		m := ir.NewModule(ir.NewContext(nil), nil)
		f := m.AtEnd(m.Body()).Insert(&ir.OpState{Def: m.Def("t.f"), Regions: 1})
		body := f.Region(0).AddBlock(i32(m), i32(m))
		st := &ir.OpState{Def: m.Def("t.op"), Operands: []*ir.Value{body.Arg(0)}, Types: []ir.Type{i32(m)}}
		st.SetAttr("x", ir.NewString("old"))
		op := m.AtEnd(body).Insert(st)
		m.AtEnd(body).Insert(&ir.OpState{Def: m.Def("t.user"), Operands: []*ir.Value{op.Result(0)}})
		before := m.Version()
		tt.f(m, f, op)
		if got := m.Version() != before; got != tt.change {
			t.Errorf("%s: changed is %v", tt.name, got)
		}
		if first, second := m.Version(), m.Version(); first != second {
			t.Errorf("%s: the version grows without a change", tt.name)
		}
	}
}
