package hlo_test

import (
	"os"
	"strings"
	"testing"

	"google.golang.org/protobuf/encoding/protowire"

	"github.com/hlocb/hlocb/diag"
	"github.com/hlocb/hlocb/hlo"
	"github.com/hlocb/hlocb/internal/testkit"
)

func protoText(t *testing.T, name string, data []byte) string {
	t.Helper()
	m, err := hlo.ParseProto(diag.NewSource(name, data))
	if err != nil {
		t.Fatalf("%s: %v", name, err)
	}
	return string(m.AppendText(nil, hlo.TextOptions{}))
}

// TestProtoText reads a proto in text form, which XLA wrote beside the binary form.
func TestProtoText(t *testing.T) {
	var texts []string
	for _, name := range []string{"unoptimized.txt", "unoptimized.pb"} {
		data, err := os.ReadFile(testkit.Testdata("snapshots", name))
		if err != nil {
			t.Fatal(err)
		}
		texts = append(texts, protoText(t, name, data))
	}
	if texts[0] != texts[1] {
		t.Errorf("the text form gives\n%s\nthe binary form\n%s", texts[0], texts[1])
	}
}

// negate is a module in text form with the freedoms that protobuf's readers allow.
const negate = `# proto-message: HloModuleProto
name: 'neg' "ate\n\x41\101" entry_computation_id: 2,
computations < name: "main"; id: 0x2 root_id: 03
  instructions { name: "p" opcode: "parameter" shape: { element_type: F32 dimensions: [2, 3] layout { minor_to_major: 1 minor_to_major: 0 } } id: 1 }
  instructions { name: "k" opcode: "constant" shape { element_type: 11 layout {} } literal { shape { element_type: F32 } f32s: -2.5e+00f } id: 2 }
  instructions { name: "b" opcode: "broadcast" shape { element_type: F32 dimensions: 2 dimensions: 3 layout { minor_to_major: [1, 0] } } operand_ids: [2] id: 4 }
  instructions { name: "n" opcode: "add" shape { element_type: F32 dimensions: 2 dimensions: 3 layout { minor_to_major: 1 minor_to_major: 0 } } operand_ids: 1 operand_ids: 4 id: 3
    frontend_attributes { map { key: "a" value: "b" } } }
>
is_dynamic: false [type.googleapis.com/x.Y] { a: [ { b: "}" } ] c: -1 }
`

func TestProtoTextForms(t *testing.T) {
	got := protoText(t, "negate.txt", []byte(negate))
	for _, want := range []string{"HloModule neg_ate_AA,", "%k = f32[] constant(-2.5)", "ROOT %n = f32[2,3]{1,0} add(%p, %b), frontend_attributes={a=\"b\"}"} {
		if want = strings.Replace(want, "neg_ate", "negate", 1); !strings.Contains(got, want) {
			t.Errorf("expected %q in\n%s", want, got)
		}
	}
	for old, tt := range map[string][2]string{
		"id: 0x2":                              {"id: two", `negate.txt:3:34: error: expected an integer, found 'two'`},
		"is_dynamic":                           {"is_dynamo", `negate.txt:10:1: error: HloModuleProto has no field 'is_dynamo'`},
		"false":                                {"no", `negate.txt:10:13: error: expected true or false, found 'no'`},
		"F32 dimensions: [":                    {"F33 dimensions: [", `negate.txt:4:71: error: expected a case or a number, found 'F33'`},
		"-2.5e+00f":                            {"x", `negate.txt:5:128: error: expected a number, found 'x'`},
		`value: "b" } } }`:                     {`value: "b } } }`, `negate.txt:8:49: error: the string does not end on its line`},
		"[1, 0]":                               {"[1 0]", `negate.txt:6:130: error: expected ',' or ']'`},
		">\nis":                                {"is", `negate.txt:9:1: error: HloComputationProto has no field 'is_dynamic'`},
		"operand_ids: [2]":                     {"operand_ids: [9]", `error: instruction b of computation main names an instruction 9 that does not exist`},
		"instructions { name: \"p\"":           {"instructions \"p\"", `negate.txt:4:16: error: expected '{'`},
		"shape { element_type: 11 layout {} }": {"shape { element_type: 11 dimensions: 1 layout {} }", `error: a layout of 0 dimensions for 1 dimensions`},
	} {
		text := strings.Replace(negate, old, tt[0], 1)
		if _, err := hlo.ParseProto(diag.NewSource("negate.txt", []byte(text))); err == nil || !strings.Contains(err.Error(), tt[1]) {
			t.Errorf("%q: %v, want %s", tt[0], err, tt[1])
		}
	}
	deep := `name: "a" spmd_output_sharding {` + strings.Repeat("tuple_shardings {", 5000)
	if _, err := hlo.ParseProto(diag.NewSource("deep.txt", []byte(deep))); err == nil || !strings.Contains(err.Error(), "nested deeper") {
		t.Error(err)
	}
}

// TestNamesOfProtos writes modules whose names HLO's text cannot express: they are read again.
func TestNamesOfProtos(t *testing.T) {
	for _, name := range []string{"x*x, sqrt(x)", "a b", "1a", "", "<lambda>", "\xff\xfe", "é", "\x01", "f32", "__x", "p"} {
		text := strings.NewReplacer(`"p"`, quoted(name), `"main"`, quoted(name), `'neg' "ate\n\x41\101"`, quoted("m"+name)).Replace(negate)
		out := protoText(t, name, []byte(text))
		again, err := hlo.Parse(diag.NewSource("again", []byte(out)))
		if err != nil {
			t.Errorf("%q: %v\n%s", name, err, out)
			continue
		}
		if got := string(again.AppendText(nil, hlo.TextOptions{})); got != out {
			t.Errorf("%q: read again, the text is\n%s\nit was\n%s", name, got, out)
		}
	}
}

func quoted(s string) string {
	var b strings.Builder
	for _, c := range []byte(s) {
		b.WriteString("\\x" + string("0123456789abcdef"[c>>4]) + string("0123456789abcdef"[c&15]))
	}
	return `"` + b.String() + `"`
}

// TestElidedProto: a literal without elements is a constant whose elements are left out, of any rank.
func TestElidedProto(t *testing.T) {
	for old, want := range map[string]string{
		"f32s: -2.5e+00f": "%k = f32[] constant({...})",
	} {
		out := protoText(t, "elided", []byte(strings.Replace(negate, old, "", 1)))
		if !strings.Contains(out, want) {
			t.Errorf("expected %s in\n%s", want, out)
		}
		again, err := hlo.Parse(diag.NewSource("again", []byte(out)))
		if err != nil {
			t.Fatal(err)
		}
		data, err := again.AppendProto(nil)
		if err == nil {
			t.Errorf("a proto of %d bytes was written without the elements", len(data))
		}
	}
}

// TestRawArguments damages the arguments after the message of an HloUnoptimizedSnapshot.
func TestRawArguments(t *testing.T) {
	data, err := os.ReadFile(testkit.Testdata("snapshots", "unoptimized.pb"))
	if err != nil {
		t.Fatal(err)
	}
	_, n := protowire.ConsumeVarint(data)
	for i := range 40 {
		if _, err := hlo.ParseProto(diag.NewSource("cut", data[:len(data)-1-7*i])); err == nil {
			t.Errorf("%d bytes fewer are read", 1+7*i)
		}
	}
	if _, err := hlo.ParseProto(diag.NewSource("more", append(data[:len(data):len(data)], 0))); err == nil || !strings.Contains(err.Error(), "1 bytes after the last argument") {
		t.Error(err)
	}
	size, _ := protowire.ConsumeVarint(data)
	raw := n + int(size)
	for i := raw; i < len(data); i++ {
		bad := append([]byte{}, data...)
		bad[i] ^= 0xff
		_, _ = hlo.ParseProto(diag.NewSource("flipped", bad)) // no panic
	}
}
