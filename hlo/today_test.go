package hlo_test

import (
	"bytes"
	"encoding/json"
	"fmt"
	"strings"
	"testing"

	"github.com/hlocb/hlocb/diag"
	"github.com/hlocb/hlocb/hlo"
	"github.com/hlocb/hlocb/internal/peer"
)

// todayTexts are texts that XLA reads since 0.11 or 0.12, each with a sibling that XLA refuses.
func todayTexts() []string {
	var texts []string
	entry := func(head, format string, bodies ...string) {
		for _, b := range bodies {
			texts = append(texts, "HloModule m"+head+"\nadd { x = f32[] parameter(0)\n y = f32[] parameter(1)\n ROOT z = f32[] add(x, y) }\n"+
				"ENTRY e {\n  p = f32[4,8] parameter(0)\n  q = f32[8,4] parameter(1)\n  r = (f32[4,8], (s32[2], s32[2])) parameter(2)\n"+
				"  s = f32[4,4] parameter(3)\n  i = s32[1] parameter(4)\n  n = s8[4] parameter(5)\n  "+fmt.Sprintf(format, b)+"\n}\n")
		}
	}
	entry("", "ROOT o = f32[4,8] tanh(p), sharding={%s}", "single_device[device_id=0]", "maximal_mesh[device_id=3]",
		`single_device[device_id=2], metadata={{op_name="a"}}`, "single_device[device=2]", "single_device[]", "single_device",
		`mesh['x'=2], [{'x'}, {}], metadata={{op_name="a"}, {op_name="b"}}`, "mesh['x'=2,'y'=2], [], unreduced={'x','y'}",
		"mesh['x'=2,'y'=2], [], manual={'x','y'}", "mesh['x'=2,'y'=2], [{}, {}], unreduced=max{'x'}", "mesh['x'=2], unreduced=min",
		"mesh['x'=2], [{}, {}], unreduced=prod{'x'}")
	entry("", "%s", "ROOT o = f32[4,8] tanh(r#0)", "ROOT o = f32[4,8] tanh(%r#0)", "ROOT o = s32[2] negate(%r#1#0)",
		"a = s32[2] negate(%r#1#0)\n  ROOT o = s32[2] add(r#1#0, s32[2] r#1#1)", "ROOT o = tuple(r#0, r#1)", "ROOT o = f32[4,8] tanh(r #0)",
		"a = (f32[4,8], (s32[2], s32[2])) copy(r)\n  r_0 = f32[4,8] tanh(a#0)\n  ROOT o = f32[4,8] add(r_0, r#0)",
		"ROOT o = f32[4,8] tanh(p#0)", "ROOT o = f32[4,8] tanh(r#2)", "ROOT o = f32[4,8] tanh(r#-1)", "ROOT o = f32[4,8] tanh(f32[5] r#0)",
		"ROOT o = f32[4,8] tanh(r#)", "ROOT o = f32[4,8] tanh(p), control-predecessors={r#0}")
	entry("", "ROOT o = f32[4,8] collective-reduce(%s, to_apply=add", "p), replica_groups={{0}}", "p, i), replica_groups={{0,1}}, has_dynamic_root=true, channel_id=4",
		"p), channel_id=3, use_global_device_ids=true, constrain_layout=true, replica_groups={{0,1}}", "p), replica_groups={{0}}, dimensions={0}")
	entry("", "ROOT o = %s", "collective-reduce(p), replica_groups={{0}}, to_apply=add", "f32[4,8] collective-reduce(p), replica_groups={{0}}",
		"f32[4,8] collective-broadcast(p, i), replica_groups={{0,1}}, has_dynamic_root=true", "f32[4,8] collective-broadcast(p), replica_groups={{0,1}}, has_dynamic_root=false")
	entry("", "ROOT o = shuffle(p), %s", "dimensions={0}, mode=rotate, shifts={1}", "shifts={1,-2}, mode=rotate, dimensions={1,0}", "dimensions={0}, mode=rotate",
		"dimensions={0,1}, mode=rotate, shifts={1}", "dimensions={1,1}, mode=rotate, shifts={1,2}", "dimensions={5}, mode=rotate, shifts={1}",
		"dimensions={}, mode=rotate, shifts={}", "dimensions={0}, shifts={1}", "mode=rotate, shifts={1}", "dimensions={0}, mode=flip, shifts={1}")
	entry("", "ROOT o = pred[4,8] compare(p, p), direction=LT%s", ", order=TOTAL", ", order=PARTIAL", ", type=TOTALORDER", ", order=TOTAL, type=FLOAT", ", order=total", ", order=NONE")
	entry("", "ROOT o = pred[4] compare(n, n), direction=LT%s", ", order=TOTAL", ", order=PARTIAL", ", type=SIGNED")
	entry("", "ROOT o = f32[4,4] dot(%s, lhs_contracting_dims={1}, rhs_contracting_dims={0}", "p, q), algorithm=dot_bf16_bf16_fp8x3", "p, q), algorithm=dot_bf16_bf16_fp8x4",
		"p, q), algorithm=dot_bf16_bf16_fp8x5", "p, q, s), sparsity_config={lhs={sparsity=2x4 dimension=1 stride=1 idx=2}}",
		"p, q, s), block_scaling_config={lhs={scale_idx=2}}", "p, q, s), block_scaling_config={rhs={zero_idx=2 strides=1x2 steps=3} lhs={}}",
		"p, q, s, s), block_scaling_config={lhs={scale_idx=2 zero_idx=3}}", "p, q, s)", "p), sparsity_config={}", "p, q, s), block_scaling_config={lhs={scale=2}}")
	entry("", "ROOT o = %s", "f32[4,8] exp2(p)", "log2(p), result_accuracy={mode=highest}", "log2(n)", "f32[4,8] exp2(p, p)", "topk(s), k=2", "topk(s), k=2, largest=false, is_stable=false",
		"topk(s), k=2, is_stable=true")
	entry("", `ROOT o = f32[4,8] tanh(p), origin={%s}`, `{"z"},["main/f"]`, `({"a"},{"b"}), ["x"]`, `["x"]`, `{"a"} ["x"]`, `{"a"},[x]`)
	for _, attrs := range []string{`backend_config={"a":1}`, `backend_config="b"`, `debug_attributes={{"t" {0}}:({log_mode=default,callback_id=3,op_id=1},{partitioned=true})}`,
		`debug_attributes={{"z"}:({callback_id=1}), {"a" {1}}:({log_mode=fusion_debugger}), {"a" {0}}:({op_id=-2})}`, `debug_attributes={}`, `debug_attributes={{"z"}:()}`,
		`debug_attributes={{"z"}:({log_mode=loud})}`, `debug_attributes={{"z"}:({size=1})}`, `debug_attributes={"z":({op_id=1})}`, `debug_attributes={{"z"}({op_id=1})}`} {
		entry(", "+attrs, "ROOT o = f32[4,8] tanh(%s)", "p")
	}
	texts = append(texts, "HloModule m\nENTRY e {\n  ROOT p = f32[] parameter(0)\n}, backend_config={\"b\":2}\n",
		"HloModule m\nENTRY e {\n  ROOT p = f32[] parameter(0)\n}, execution_thread=\"t\", backend_config={\"b\":2}\n",
		"HloModule m\nENTRY e {\n  ROOT p = f32[] parameter(0)\n}, name=\"t\"\n")
	return texts
}

// TestToday reads texts in the forms of XLA 0.12 and compares with XLA: what it refuses, and what it reads from hlocb's
// print. Protos of the same modules are compared in both directions.
func TestToday(t *testing.T) {
	p := peer.Today(t)
	texts := todayTexts()
	compareWithXLA(t, p, texts)
	var protos []protoPair
	if err := json.Unmarshal(p.Run(t, todayScript, mustJSON(t, texts)), &protos); err != nil {
		t.Fatal(err)
	}
	var back [][]byte
	read := 0
	for i, x := range protos {
		if x.Proto == nil {
			back = append(back, nil)
			continue
		}
		read++
		m, err := hlo.ParseProto(diag.NewSource("xla.pb", x.Proto))
		if err != nil {
			t.Errorf("XLA's proto: %v\n%s", err, texts[i])
			back = append(back, nil)
			continue
		}
		// A text that is read back as the same module prints the same.
		again, err := hlo.Parse(diag.NewSource("again.hlo", m.AppendText(nil, hlo.TextOptions{})))
		if err != nil || !bytes.Equal(again.AppendText(nil, hlo.TextOptions{}), m.AppendText(nil, hlo.TextOptions{})) {
			t.Errorf("print of XLA's proto: %v\n%s", err, m.AppendText(nil, hlo.TextOptions{}))
		}
		b, err := m.AppendProto(nil)
		if err != nil {
			t.Errorf("%v\n%s", err, texts[i])
		}
		back = append(back, b)
	}
	if read < 40 {
		t.Errorf("XLA read only %d of %d texts", read, len(texts))
	}
	var prints []string
	if err := json.Unmarshal(p.Run(t, todayPrint, mustJSON(t, back)), &prints); err != nil {
		t.Fatal(err)
	}
	for i, got := range prints {
		if back[i] != nil && got != protos[i].Text {
			t.Errorf("XLA reads another module from hlocb's proto:\n%s\nits own:\n%s", got, protos[i].Text)
		}
	}
}

type protoPair struct {
	Text  string
	Proto []byte
}

func mustJSON(t *testing.T, v any) []byte {
	b, err := json.Marshal(v)
	if err != nil {
		t.Fatal(err)
	}
	return b
}

// todayScript writes XLA's proto of each text, and what XLA prints for this proto; nothing for texts that it refuses.
const todayScript = `
import base64, json, sys
from jaxlib import _hlo
out = []
for text in json.load(sys.stdin):
    try:
        b = _hlo.hlo_module_from_text(text).as_serialized_hlo_module_proto()
        out.append({"Text": _hlo.HloModule.from_serialized_hlo_module_proto(b).to_string(), "Proto": base64.b64encode(b).decode()})
    except Exception:
        out.append({})
json.dump(out, sys.stdout)
`

// todayPrint writes XLA's print of each proto, its error, or nothing for null.
const todayPrint = `
import base64, json, sys
from jaxlib import _hlo
out = []
for b in json.load(sys.stdin):
    try:
        out.append(_hlo.HloModule.from_serialized_hlo_module_proto(base64.b64decode(b)).to_string() if b else "")
    except Exception as e:
        out.append(str(e))
json.dump(out, sys.stdout)
`

// TestElementNames gives operands such as p#1 names that the text does not use, before or after them.
func TestElementNames(t *testing.T) {
	m, err := hlo.Parse(diag.NewSource("m.hlo", []byte("HloModule m\nENTRY e {\n p = (f32[], f32[]) parameter(0)\n a = f32[] add(p#1, p#0)\n p_1 = f32[] negate(p#1)\n ROOT t = tuple(a, p_1)\n}")))
	if err != nil {
		t.Fatal(err)
	}
	got := string(m.AppendText(nil, hlo.TextOptions{Short: true}))
	for _, want := range []string{"p_1.1 = f32[] get-tuple-element(p), index=1", "p_0 = f32[] get-tuple-element(p), index=0", "a = f32[] add(p_1.1, p_0)", "p_1 = f32[] negate(p_1.1)"} {
		if !strings.Contains(got, want) {
			t.Errorf("no %s in\n%s", want, got)
		}
	}
}

// TestDebugAttributes reads the debug attributes that XLA writes only into protos, and gives them back.
func TestDebugAttributes(t *testing.T) {
	text := `HloModule m, debug_attributes={{"t" {0}}:({log_mode=guaranteed,callback_id=3,partitioned=true,op_id=7},{log_mode=no_fusion})}
ENTRY e {
  ROOT p = f32[] parameter(0)
}`
	m, err := hlo.Parse(diag.NewSource("m.hlo", []byte(text)))
	if err != nil {
		t.Fatal(err)
	}
	b, err := m.AppendProto(nil)
	if err != nil {
		t.Fatal(err)
	}
	if m, err = hlo.ParseProto(diag.NewSource("m.pb", b)); err != nil {
		t.Fatal(err)
	}
	want := `[{t [0] [{guaranteed 3 7 true  <nil>} {no_fusion 0 0 false  <nil>}]}]`
	if got := fmt.Sprint(m.DebugAttributes()); got != want {
		t.Errorf("%s\nwant %s", got, want)
	}
	if got := string(m.AppendText(nil, hlo.TextOptions{})); !strings.Contains(got, "({log_mode=guaranteed,callback_id=3,partitioned=true,op_id=7},{log_mode=no_fusion})") {
		t.Error(got)
	}
}
