package pjrt

import (
	"strings"
	"testing"

	"github.com/hlocb/hlocb/diag"
	"github.com/hlocb/hlocb/ir"
)

// module builds a module of operations without operands from their names and attributes.
func module(ops ...ir.OpState) *ir.Module {
	m := ir.NewModule(ir.NewContext(), &ir.Registry{}, nil)
	for i := range ops {
		m.AtEnd(m.Body()).Insert(&ops[i])
	}
	return m
}

func TestCheckRefuses(t *testing.T) {
	alias := ir.NewArray([]ir.Attr{ir.NewDialectAttr("stablehlo", "output_operand_alias", "", nil)})
	for _, c := range []struct {
		op   ir.OpState
		want string // empty: accepted
	}{
		{ir.OpState{Def: ir.UnknownDef("stablehlo.outfeed")}, "nothing drains the outfeed"},
		{ir.OpState{Def: ir.UnknownDef("mhlo.infeed")}, "nothing fills the infeed"},
		{ir.OpState{Def: ir.UnknownDef("stablehlo.send")}, "no host answers"},
		{ir.OpState{Def: ir.UnknownDef("stablehlo.recv")}, "no host answers"},
		{ir.OpState{Def: ir.UnknownDef("stablehlo.custom_call"), Attrs: ir.AttrList{{Name: "output_operand_aliases", Attr: alias}}}, "crashes XLA"},
		{ir.OpState{Def: ir.UnknownDef("stablehlo.custom_call"), Attrs: ir.AttrList{{Name: "output_operand_aliases", Attr: ir.NewArray(nil)}}}, ""},
		{ir.OpState{Def: ir.UnknownDef("stablehlo.custom_call")}, ""},
		{ir.OpState{Def: ir.UnknownDef("mine.outfeed")}, ""},
	} {
		err := Check(module(c.op))
		switch {
		case c.want == "" && err != nil:
			t.Errorf("%s: %v, expected to be accepted", c.op.Def.Name, err)
		case c.want != "" && (err == nil || !strings.Contains(err.Error(), c.want)):
			t.Errorf("%s: error is %v, expected %q", c.op.Def.Name, err, c.want)
		}
	}
}

func TestCheckReportsAll(t *testing.T) {
	m := module(ir.OpState{Def: ir.UnknownDef("stablehlo.outfeed")}, ir.OpState{Def: ir.UnknownDef("stablehlo.infeed")})
	list, ok := Check(m).(diag.List)
	if !ok || len(list) != 2 {
		t.Errorf("Check returned %v, expected two diagnostics", list)
	}
}
