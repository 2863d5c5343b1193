package hlo_test

import (
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"

	"github.com/hlocb/hlocb/dialect/all"
	"github.com/hlocb/hlocb/dialect/stablehlo"
	"github.com/hlocb/hlocb/hlo"
	"github.com/hlocb/hlocb/ir"
)

// scheduled is a module with facts that StableHLO cannot express: a schedule, layouts, a fusion, an asynchronous pair,
// control predecessors, backend configs and names.
const scheduled = `HloModule m, is_scheduled=true, entry_computation_layout={(f32[2,3]{0,1:T(8,128)S(1)})->(s32[], f32[2,3]{0,1})}

%fused (q: f32[2,3]) -> f32[2,3] {
  %q = f32[2,3]{0,1} parameter(0)
  %double = f32[2,3]{0,1} add(%q, %q)
  ROOT %root = f32[2,3]{0,1} multiply(%double, %q)
}

%body (state: (s32[], f32[2,3])) -> (s32[], f32[2,3]) {
  %state = (s32[], f32[2,3]{0,1}) parameter(0)
  %i = s32[] get-tuple-element(%state), index=0
  %x = f32[2,3]{0,1} get-tuple-element(%state), index=1
  %one = s32[] constant(1)
  %j = s32[] add(%i, %one)
  %y = f32[2,3]{0,1} fusion(%x), kind=kLoop, calls=%fused, metadata={op_name="y"}
  %z = f32[2,3]{0,1} sine(%y), control-predecessors={%j}, metadata={op_name="z"}, backend_config={"k":[1]}
  ROOT %next = (s32[], f32[2,3]{0,1}) tuple(%j, %z)
}

%cond (state.1: (s32[], f32[2,3])) -> pred[] {
  %state.1 = (s32[], f32[2,3]{0,1}) parameter(0)
  %i.1 = s32[] get-tuple-element(%state.1), index=0
  %n = s32[] constant(3)
  ROOT %less = pred[] compare(%i.1, %n), direction=LT
}

ENTRY %main (p: f32[2,3]) -> (s32[], f32[2,3]) {
  %p = f32[2,3]{0,1:T(8,128)S(1)} parameter(0)
  %zero = s32[] constant(0)
  %start = ((f32[2,3]{0,1}), f32[2,3]{0,1}) negate-start(%p)
  %done = f32[2,3]{0,1} negate-done(%start)
  %copy = f32[2,3]{0,1} copy(%done)
  %init = (s32[], f32[2,3]{0,1}) tuple(%zero, %copy)
  ROOT %loop = (s32[], f32[2,3]{0,1}) while(%init), condition=%cond, body=%body, backend_config={"known_trip_count":{"n":"3"}}
}

`

func TestUpdate(t *testing.T) {
	reg, err := all.Registry()
	if err != nil {
		t.Fatal(err)
	}
	for _, test := range []struct {
		name   string
		change func(*ir.Module)
		want   *strings.Replacer
	}{
		{"nothing", func(*ir.Module) {}, strings.NewReplacer()},
		{"an op in the loop", func(m *ir.Module) {
			m.Walk(func(op *ir.Op) bool {
				if op.Is(stablehlo.Sine) {
					x := op.Operand(0)
					n := m.Before(op).Create(stablehlo.Abs, []*ir.Value{x}, []ir.Type{x.Type()})
					op.SetOperand(0, n.Result(0))
				}
				return true
			})
		}, strings.NewReplacer("%z = f32[2,3]{0,1} sine(%y)", "%abs.1 = f32[2,3]{0,1} abs(%y), metadata={op_name=\"z\"}\n  %z = f32[2,3]{0,1} sine(%abs.1)")},
		{"the op of an asynchronous pair is gone", func(m *ir.Module) {
			m.Walk(func(op *ir.Op) bool {
				if op.Is(stablehlo.Negate) {
					op.ReplaceWith(op.Operand(0))
				}
				return true
			})
		}, strings.NewReplacer(`  %start = ((f32[2,3]{0,1}), f32[2,3]{0,1}) negate-start(%p)
  %done = f32[2,3]{0,1} negate-done(%start)
  %copy = f32[2,3]{0,1} copy(%done)
  %init = (s32[], f32[2,3]{0,1}) tuple(%zero, %copy)
`, `  %copy = f32[2,3]{0,1} copy(%p)
  %init = (s32[], f32[2,3]{0,1}) tuple(%zero, %copy)
`)},
	} {
		t.Run(test.name, func(t *testing.T) {
			old := read(t, scheduled)
			m, err := hlo.Import(old, ir.NewContext(reg))
			if err != nil {
				t.Fatal(err)
			}
			test.change(m)
			out, err := hlo.Update(m)
			if err != nil {
				t.Fatal(err)
			}
			text := string(out.AppendText(nil, hlo.TextOptions{}))
			if diff := cmp.Diff(test.want.Replace(scheduled), text); diff != "" {
				t.Error(diff)
			}
			again, err := hlo.Import(read(t, text), ir.NewContext(reg))
			if err != nil {
				t.Fatal(err)
			}
			if err := ir.Verify(again); err != nil {
				t.Error(err)
			}
		})
	}
}
