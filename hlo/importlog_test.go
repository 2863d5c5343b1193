package hlo_test

import (
	"strings"
	"testing"

	"github.com/hlocb/hlocb/dialect/all"
	"github.com/hlocb/hlocb/dialect/stablehlo"
	"github.com/hlocb/hlocb/dialect/view"
	"github.com/hlocb/hlocb/hlo"
	"github.com/hlocb/hlocb/ir"
)

// logged is a module whose values XLA logs: inside of a fusion, at a parameter, in a loop, and an element of a tuple.
// Several instructions pass on an array, and a reducer has one, which nobody can log.
const logged = `HloModule m, entry_computation_layout={(f32[4]{0})->f32[4]{0}},
debug_attributes={
  {"a"}:({callback_id=7}),
  {"b"}:({log_mode=default,callback_id=6,partitioned=true}),
  {"gone"}:({log_mode=default,callback_id=5}),
  {"sum"}:({log_mode=default,callback_id=9}),
  {"t"}:({log_mode=default,callback_id=3},{log_mode=default,callback_id=8}),
  {"w" {1}}:({log_mode=fusion_debugger,callback_id=4,op_id=2})
}

%f (x: f32[4]) -> f32[4] {
  %x = f32[4]{0} parameter(0), origin={{"a"}}
  %y = f32[4]{0} add(%x, %x), origin={{"t"}}
  ROOT %z = f32[4]{0} multiply(%y, %y), origin={{"u"}}
}

%cond (p: (s32[], f32[4])) -> pred[] {
  %p = (s32[], f32[4]{0}) parameter(0)
  %i = s32[] get-tuple-element(%p), index=0
  %n = s32[] constant(2)
  ROOT %c = pred[] compare(%i, %n), direction=LT
}

%body (p.1: (s32[], f32[4])) -> (s32[], f32[4]) {
  %p.1 = (s32[], f32[4]{0}) parameter(0)
  %i.1 = s32[] get-tuple-element(%p.1), index=0
  %v = f32[4]{0} get-tuple-element(%p.1), index=1
  %one = s32[] constant(1)
  %j = s32[] add(%i.1, %one)
  %w = f32[4]{0} sine(%v), origin={{"b"}}
  ROOT %r = (s32[], f32[4]{0}) tuple(%j, %w)
}

%sum (q: f32[], q.1: f32[]) -> f32[] {
  %q = f32[] parameter(0)
  %q.1 = f32[] parameter(1)
  ROOT %sum.1 = f32[] add(%q, %q.1), origin={{"sum"}}
}

ENTRY %main (a: f32[4]) -> f32[4] {
  %a = f32[4]{0} parameter(0), origin={{"a"}}
  %u = f32[4]{0} fusion(%a), kind=kLoop, calls=%f, origin={{"u"}}
  %zero = s32[] constant(0)
  %s = (s32[], f32[4]{0}) tuple(%zero, %u)
  %loop = (s32[], f32[4]{0}) while(%s), condition=%cond, body=%body, origin={({"w" {0}}, {"w" {1}})}
  %g = f32[4]{0} get-tuple-element(%loop), index=1, origin={{"w" {1}}}
  %k = f32[4]{0} bitcast(%g), origin={{"w" {1}}}
  %nil = f32[] constant(0)
  %total = f32[] reduce(%k, %nil), dimensions={0}, to_apply=%sum
  %all = f32[4]{0} broadcast(%total), dimensions={}
  ROOT %end = f32[4]{0} add(%all, %k)
}

`

// TestLogsOfDebugAttributes restores the calls that XLA removed, and keeps or drops the requests of debug_attributes.
func TestLogsOfDebugAttributes(t *testing.T) {
	reg, err := all.Registry()
	if err != nil {
		t.Fatal(err)
	}
	config := func(op *ir.Op) string {
		if s, _ := op.Attr(stablehlo.AttrCallTargetName).(*ir.StringAttr); op.Is(stablehlo.CustomCall) && s != nil && s.Value() == "xla.debug.Log" {
			return view.String(op.Attr(stablehlo.AttrBackendConfig))
		}
		return ""
	}
	for _, test := range []struct {
		name   string
		change func(m *ir.Module, op *ir.Op)
		keeps  []string // texts of the new module
		drops  []string
	}{
		{"nothing", func(*ir.Module, *ir.Op) {}, []string{logged}, nil},
		{"a call is erased", func(_ *ir.Module, op *ir.Op) {
			if strings.Contains(config(op), `"callback_id":3,`) {
				op.Erase()
			}
		}, []string{"fusion(", `{"t"}:({log_mode=default,callback_id=8})`, `{"b"}:(`, `{"gone"}:(`, `{"a"}:(`}, []string{"custom-call", "callback_id=3,"}},
		{"the log of the loop is erased", func(_ *ir.Module, op *ir.Op) {
			if strings.Contains(config(op), `"callback_id":6,`) {
				op.Erase()
			}
		}, []string{"fusion(", `{"t"}:(`, `"callback_id":4,`}, []string{`{"b"}:(`, `{"w" {1}}:(`}}, // the loop is another one
		{"the fusion dissolves", func(m *ir.Module, op *ir.Op) {
			if op.Is(stablehlo.Multiply) {
				n := m.Before(op).Create(stablehlo.Maximum, op.OperandList(), op.ResultTypes())
				op.ReplaceWith(n.Result(0))
			}
		}, []string{`{"b"}:(`, `{"a"}:(`, `"callback_id":3,"log_mode":"DEFAULT"`, `"callback_id":8,`}, []string{"fusion(", `{"t"}:(`}},
		{"the call's operand is another one", func(m *ir.Module, op *ir.Op) {
			if strings.Contains(config(op), `"callback_id":4,`) {
				op.SetOperand(0, m.Body().First().Region(0).Entry().Arg(0))
			}
		}, []string{`{"b"}:(`, `custom-call(%a), custom_call_target="xla.debug.Log"`}, []string{`{"w" {1}}:(`}},
	} {
		t.Run(test.name, func(t *testing.T) {
			m, err := hlo.Import(read(t, logged), ir.NewContext(reg))
			if err != nil {
				t.Fatal(err)
			}
			var ops []*ir.Op
			got := ""
			m.Walk(func(op *ir.Op) bool {
				if c := config(op); c != "" {
					got += c[strings.Index(c, ":")+1:] + "\n"
				}
				ops = append(ops, op)
				return true
			})
			want := `{"callback_id":7}}
{"callback_id":3,"log_mode":"DEFAULT"}}
{"callback_id":8,"log_mode":"DEFAULT"}}
{"callback_id":6,"log_mode":"DEFAULT","partitioned":true}}
{"callback_id":4,"log_mode":"FUSION_DEBUGGER","op_id":2}}
`
			if got != want {
				t.Errorf("calls\n%swant\n%s", got, want)
			}
			for _, op := range ops {
				test.change(m, op)
			}
			if err := ir.Verify(m); err != nil {
				t.Fatal(err)
			}
			out, err := hlo.Update(m)
			if err != nil {
				t.Fatal(err)
			}
			text := string(out.AppendText(nil, hlo.TextOptions{}))
			for _, s := range test.keeps {
				if !strings.Contains(text, s) {
					t.Errorf("no %s in\n%s", s, text)
				}
			}
			for _, s := range test.drops {
				if strings.Contains(text, s) {
					t.Errorf("%s in\n%s", s, text)
				}
			}
			if _, err := hlo.Import(read(t, text), ir.NewContext(reg)); err != nil {
				t.Errorf("%v\n%s", err, text)
			}
		})
	}
}
