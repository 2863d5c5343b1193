package hlo

import (
	"slices"
	"strings"
	"testing"

	"github.com/hlocb/hlocb/diag"
)

// TestProtoSize: a proto holds a shared constant, string or literal of a call once for each use. More than 2 GiB of
// them are refused at the instruction that goes beyond, before memory for them is needed.
func TestProtoSize(t *testing.T) {
	const size = 1 << 20
	large := strings.Repeat("a", size)
	for name, text := range map[string]string{
		"constants": "c = s8[8] constant({1,2,3,4,5,6,7,8})",
		"configs":   "c = f32[] custom-call(), custom_call_target=\"t\", backend_config=\"b\"",
		"targets":   "c = f32[] custom-call(), custom_call_target=\"t\"",
		"literals":  "c = f32[] custom-call(), custom_call_target=\"t\", literal=s8[] 3",
		"frontend":  "c = f32[] sine(p), frontend_attributes={a=\"b\"}",
	} {
		m, err := Parse(diag.NewSource("m.hlo", []byte("HloModule m\n\nENTRY e {\n  p = f32[] parameter(0)\n  "+text+"\n  ROOT r = f32[] sine(p)\n}\n")))
		if err != nil {
			t.Fatalf("%s: %v", name, err)
		}
		in := m.entry.instrs[1]
		enlarge := func(l *literal) *literal { return &literal{shape: array(l.shape.elem, size), data: []byte(large)} }
		if in.literal != nil {
			in.literal = enlarge(in.literal)
		}
		in.attrs = slices.Clone(in.attrs)
		for i, a := range in.attrs {
			switch v := a.value.(type) {
			case string:
				if name == "targets" || a.spec == cConfig {
					in.attrs[i].value = large
				}
			case *literal:
				in.attrs[i].value = enlarge(v)
			case []pair:
				in.attrs[i].value = []pair{{v[0].key, large}}
			}
		}
		if err := m.checkProto(); err != nil {
			t.Errorf("%s: %v", name, err)
		}
		for range 2047 {
			copied := *in
			copied.pos = diag.Pos(7)
			m.entry.instrs = append(m.entry.instrs, &copied)
		}
		_, err = m.AppendProto(nil)
		if want := "a proto has at most 2 GiB; the constants and strings up to here have "; err == nil || !strings.Contains(err.Error(), want) || !strings.HasPrefix(err.Error(), "m.hlo:1:") {
			t.Errorf("%s: %v", name, err)
		}
		m.entry.instrs = m.entry.instrs[:len(m.entry.instrs)-2]
		if err := m.checkProto(); err != nil {
			t.Errorf("%s: below the limit: %v", name, err)
		}
	}
}
