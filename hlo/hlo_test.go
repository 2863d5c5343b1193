package hlo_test

import (
	"bufio"
	"bytes"
	"encoding/json"
	"fmt"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"

	"google.golang.org/protobuf/encoding/protowire"

	"github.com/hlocb/hlocb/diag"
	"github.com/hlocb/hlocb/dialect/all"
	"github.com/hlocb/hlocb/hlo"
	"github.com/hlocb/hlocb/ir"
	"github.com/hlocb/hlocb/parse"
	"github.com/hlocb/hlocb/print"
)

func read(t testing.TB, text string) *hlo.Module {
	t.Helper()
	m, err := hlo.Parse(diag.NewSource("test.hlo", []byte(text)))
	if err != nil {
		t.Fatal(err)
	}
	return m
}

func proto(t testing.TB, m *hlo.Module) []byte {
	t.Helper()
	data, err := m.AppendProto(nil)
	if err != nil {
		t.Fatal(err)
	}
	return data
}

// canonical is a module as XLA prints it: reading and printing it must not change a byte.
const canonical = `HloModule m, is_scheduled=true, input_output_alias={ {0}: (0, {}, may-alias) }, entry_computation_layout={(f32[2,3]{0,1:T(8,128)S(1)}, s32[])->(f32[2,3]{0,1}, pred[])}, num_partitions=2, frontend_attributes={a="b",c={x = 1}}

%add (x: f32[], y: f32[]) -> f32[] {
  %x = f32[] parameter(0)
  %y = f32[] parameter(1)
  ROOT %add.1 = f32[] add(%x, %y)
}

ENTRY %main (p: f32[2,3], n: s32[]) -> (f32[2,3], pred[]) {
  %p = f32[2,3]{0,1:T(8,128)S(1)} parameter(0), sharding={devices=[2,1]<=[2]}, metadata={op_name="p"}
  %n = s32[] parameter(1)
  %c = f32[2,2]{1,0} constant({ { 1, -0.0 }, { nan, 3.40282347e+38 } })
  %all = f32[2,3]{0,1} all-reduce(%p), channel_id=1, replica_groups=[1,2]<=[2], use_global_device_ids=true, to_apply=%add
  %less = pred[] compare(%n, %n), direction=LT, control-predecessors={%all}, backend_config={"k":[1]}
  ROOT %out = (f32[2,3]{0,1}, pred[]) tuple(%all, %less)
}, execution_thread="t"

`

// collectives is canonical: collectives, asynchronous pairs, transfers, and attributes with structure.
const collectives = `HloModule n, entry_computation_layout={(f32[4,2]{1,0}, f32[8]{0})->f32[4,2]{1,0}}, replica_count=2

%add (x: f32[], y: f32[]) -> f32[] {
  %x = f32[] parameter(0)
  %y = f32[] parameter(1)
  ROOT %sum = f32[] add(%x, %y)
}

ENTRY %e (p: f32[4,2], q: f32[8]) -> f32[4,2] {
  %p = f32[4,2]{1,0} parameter(0)
  %q = f32[8]{0} parameter(1)
  %gather = f32[4,4]{1,0} all-gather(%p), replica_groups={{0,1}}, dimensions={1}
  %permute-start = (f32[8]{0}, f32[8]{0}) collective-permute-start(%q), channel_id=2, source_target_pairs={{0,1},{1,0}}
  %permute-done = f32[8]{0} collective-permute-done(%permute-start)
  %tuple-exchange = (f32[8]{0}, f32[8]{0}) all-to-all(%q, %permute-done), replica_groups={{0,1}}
  %zero = f32[] constant(0)
  %window = f32[7]{0} reduce-window(%q, %zero), window={size=2}, to_apply=%add
  %ready = token[] after-all()
  %send = (f32[8]{0}, u32[], token[]) send(%q, %ready), channel_id=3, is_host_transfer=true, frontend_attributes={_xla_host_transfer_rendezvous="r"}
  %send-done = token[] send-done(%send), channel_id=3, is_host_transfer=true
  %sharded = f32[4,2]{1,0} copy(%p), sharding={mesh['x'=2], [{'x'}, {}]}, statistics={visualizing_index=0,n=1}, origin={{"a" {0}}}
  ROOT %out = f32[4,2]{1,0} custom-call(%sharded), custom_call_target="f", operand_layout_constraints={f32[4,2]{1,0}}, output_to_operand_aliasing={{}: (0, {})}, backend_config={a = 1 : i64}
}

`

// literals is canonical: constants of several types.
const literals = `HloModule l, entry_computation_layout={()->(s4[3]{0:E(4)}, f8e4m3fn[2]{0}, c64[1,1]{1,0}, bf16[], pred[2]{0}, /*index=5*/u64[], f32[2,0]{1,0})}

ENTRY %e () -> (s4[3], f8e4m3fn[2], c64[1,1], bf16[], pred[2], /*index=5*/u64[], f32[2,0]) {
  %a = s4[3]{0:E(4)} constant({1, -8, 7})
  %b = f8e4m3fn[2]{0} constant({nan, 448})
  %c = c64[1,1]{1,0} constant({ {(1, -0.0)} })
  %d = bf16[] constant(nan(0x3))
  %f = pred[2]{0} constant({1, 0})
  %g = u64[] constant(18446744073709551615)
  %h = f32[2,0]{1,0} constant({ {}, {} })
  ROOT %out = (s4[3]{0:E(4)}, f8e4m3fn[2]{0}, c64[1,1]{1,0}, bf16[], pred[2]{0}, /*index=5*/u64[], f32[2,0]{1,0}) tuple(%a, %b, %c, %d, %f, /*index=5*/%g, %h)
}

`

func TestCanonicalTextStays(t *testing.T) {
	for _, want := range []string{canonical, scheduled, collectives, literals} {
		if diff := cmp.Diff(want, string(read(t, want).AppendText(nil, hlo.TextOptions{}))); diff != "" {
			t.Error(diff)
		}
	}
}

func TestProtoRoundTrip(t *testing.T) {
	m := read(t, canonical)
	data := proto(t, m)
	if !hlo.IsProto(data) || !hlo.IsProto(data[:40]) || hlo.IsProto([]byte(canonical)) {
		t.Error("a proto is not told from text")
	}
	back, err := hlo.ParseProto(diag.NewSource("m.pb", data))
	if err != nil {
		t.Fatal(err)
	}
	// The number of partitions has no place in the proto.
	want := strings.Replace(canonical, ", num_partitions=2", "", 1)
	if diff := cmp.Diff(want, string(back.AppendText(nil, hlo.TextOptions{}))); diff != "" {
		t.Error(diff)
	}
}

// TestSpellings reads forms that XLA reads but does not print.
func TestSpellings(t *testing.T) {
	for _, test := range []struct{ name, text, want string }{
		{"inferred types", "HloModule m\nENTRY e { a = f32[2] parameter(0)\n ROOT b = add(a, a) }", "%b = f32[2]{0} add(%a, %a)"},
		{"nested operands", "HloModule m\nENTRY e { a = f32[2] parameter(0) ROOT b = f32[2] add(f32[2] negate(a), a) }", "%b = f32[2]{0} add(%negate.anon, %a)"},
		{"single instruction", "f32[2] add(f32[2] x, f32[2] y)", "ROOT %_ = f32[2]{0} add(%x, %y)"},
		{"no header", "ENTRY e { ROOT a = f32[] parameter(0) }", "HloModule module_e"},
		{"anonymous computation", "HloModule m\nENTRY e { a = f32[2] parameter(0) z = f32[] constant(0) ROOT r = f32[] reduce(a, z), dimensions={0}, to_apply={ x = f32[] parameter(0) y = f32[] parameter(1) ROOT s = f32[] add(x, y) } }", "to_apply=%_"},
		{"forward reference", "HloModule m\nENTRY e { a = f32[] parameter(0) ROOT c = f32[] call(a), to_apply=f }\nf { ROOT p = f32[] parameter(0) }", "%f (p: f32[]) -> f32[] {"},
		{"strings", `HloModule m, frontend_attributes={a='x\x41\''}` + "\nENTRY e { ROOT a = f32[] parameter(0) }", `frontend_attributes={a="xA\'"}`},
		{"asynchronous sugar", "HloModule m\nENTRY e { a = f32[2] parameter(0) s = ((f32[2]), f32[2], u32[]) negate-start(a) ROOT d = f32[2] negate-done(s) }", "negate-start(%a)"},
	} {
		t.Run(test.name, func(t *testing.T) {
			if got := string(read(t, test.text).AppendText(nil, hlo.TextOptions{})); !strings.Contains(got, test.want) {
				t.Errorf("%q is not in\n%s", test.want, got)
			}
		})
	}
}

func TestMistakes(t *testing.T) {
	for _, test := range []struct{ text, want string }{
		{"HloModule m\nENTRY e { a = f32[2] parameter(0)\n b = f32[2] substract(a, a) }", "test.hlo:3:13: error: unknown opcode substract; did you mean subtract?"},
		{"HloModule m\nENTRY e { a = f32[2] negate(b) }", "test.hlo:2:29: error: instruction b does not exist"},
		{"HloModule m\nENTRY e { a = u8[] constant(256) }", "test.hlo:2:29: error: value 256 is out of range for u8"},
		{"HloModule m\nENTRY e { a = f32[2] parameter(1) }", "test.hlo:2:11: error: parameter number 1 is defined, but parameter number 0 is not"},
		{"HloModule m\nENTRY e { a = f32[2] parameter(0), foo=1 }", "test.hlo:2:36: error: parameter has no attribute foo; it may have backend_config, control-predecessors, frontend_attributes, metadata, origin, parameter_replication, sharding, statistics"},
		{"HloModule m\nENTRY e { a = f32[] parameter(0) ROOT c = f32[] call(a), to_apply=e }", "test.hlo:2:7: error: computation e calls itself"},
		{"f32[2] reduce(f32[2,2] a, f32[] b), dimensions={0}, to_apply=A", "test.hlo:1:62: error: computation A does not exist"},
		{"a = ((), f32[2]) negate-start()", "test.hlo:1:18: error: negate-start has 0 operands, expected 1"},
		{"HloModule m /*", "test.hlo:1:13: error: expected a name, found a comment that does not end"},
	} {
		_, err := hlo.Parse(diag.NewSource("test.hlo", []byte(test.text)))
		if err == nil || !strings.HasPrefix(err.Error(), test.want) {
			t.Errorf("%s\n got %v\nwant %s", test.text, err, test.want)
		}
	}
}

func TestElided(t *testing.T) {
	text := "HloModule m\nENTRY e { ROOT c = f32[100] constant({...}) }"
	m := read(t, text)
	if got := string(m.AppendText(nil, hlo.TextOptions{})); !strings.Contains(got, "constant({...})") {
		t.Errorf("the elided constant is not kept:\n%s", got)
	}
	if err := m.CheckElided(); err == nil || !strings.Contains(err.Error(), "test.hlo:2:16: error: the elements of this constant are elided") {
		t.Errorf("got %v", err)
	}
	reg, err := all.Registry()
	if err != nil {
		t.Fatal(err)
	}
	out, err := hlo.Import(m, ir.NewContext(reg))
	if err != nil {
		t.Fatal(err)
	}
	if same, err := hlo.Update(out); err != nil || !strings.Contains(string(same.AppendText(nil, hlo.TextOptions{})), "constant({...})") {
		t.Errorf("the elided constant is not kept: %v", err)
	}
	if _, err := m.AppendProto(nil); err == nil || !strings.Contains(err.Error(), "--xla_dump_large_constants") {
		t.Errorf("got %v", err)
	}
}

// TestWireType: a shape is refused if its field is a number, even one with the bytes of a shape that was read before.
func TestWireType(t *testing.T) {
	shape := []byte{2 << 3, 11, 3 << 3, 2, 3 << 3, 3, 3 << 3, 4} // f32[2,3,4]; each tag has the wire type of a varint, 0
	message := func(num protowire.Number, parts ...[]byte) []byte {
		return protowire.AppendBytes(protowire.AppendTag(nil, num, protowire.BytesType), slices.Concat(parts...))
	}
	number := func(num protowire.Number, v uint64) []byte {
		return protowire.AppendVarint(protowire.AppendTag(nil, num, protowire.VarintType), v)
	}
	param := func(i uint64, shape []byte) []byte {
		return message(2, message(1, []byte{'p', '0' + byte(i)}), message(2, []byte("parameter")), shape, number(9, i), number(35, i+1))
	}
	for _, test := range []struct {
		second []byte
		want   string
	}{
		{message(3, shape), ""},
		{append(protowire.AppendTag(nil, 3, protowire.Fixed64Type), shape...), "field 3 has wire type 1, expected 2"},
	} {
		comp := message(3, message(1, []byte("e")), param(0, message(3, shape)), param(1, test.second), number(5, 1), number(6, 1))
		_, err := hlo.ParseProto(diag.NewSource("m.pb", slices.Concat(message(1, []byte("m")), message(2, []byte("e")), comp)))
		if test.want == "" && err != nil || test.want != "" && (err == nil || !strings.Contains(err.Error(), test.want)) {
			t.Errorf("found %v, want %q", err, test.want)
		}
	}
}

// TestNoProto writes modules that a proto cannot express.
func TestNoProto(t *testing.T) {
	for _, test := range []struct{ text, want string }{
		{"p = f32[2] parameter(0)\nROOT g = f32[2] all-reduce(p), channel_id=0, to_apply={ x = f32[] parameter(0) y = f32[] parameter(1) ROOT z = f32[] add(x, y) }",
			"test.hlo:4:6: error: a proto cannot hold all-reduce: it does not distinguish channel_id=0 from no channel_id"},
		{"p = (f32[], u32[], token[]) parameter(0)\nROOT d = token[] send-done(p), channel_id=1", "test.hlo:4:6: error: a proto cannot hold send-done: its operand must be a send"},
		{"p = f32[] parameter(0)\nROOT d = f32[] call(p), is_composite=true, to_apply={ ROOT x = f32[] parameter(0) }",
			"test.hlo:4:6: error: a proto cannot hold call: a composite must have the frontend attribute composite.attributes"},
	} {
		_, err := read(t, "HloModule m\nENTRY e {\n"+test.text+"\n}").AppendProto(nil)
		if err == nil || !strings.HasPrefix(err.Error(), test.want) {
			t.Errorf("%s\n got %v\nwant %s", test.text, err, test.want)
		}
	}
}

// TestTruncated reads every prefix of a module and of its proto: an error, never a panic.
func TestTruncated(t *testing.T) {
	data := proto(t, read(t, canonical))
	for i := range canonical {
		_, _ = hlo.Parse(diag.NewSource("test.hlo", []byte(canonical[:i])))
	}
	for i := range data {
		_, _ = hlo.ParseProto(diag.NewSource("test.pb", data[:i]))
	}
}

// seeds are texts for the fuzz tests.
var seeds = []string{canonical, scheduled, "f32[2] add(f32[2] x, f32[2] y)", collectives, literals}

// FuzzText reads text. The printed text reads back to the same text, in the long and in the short form.
func FuzzText(f *testing.F) {
	for _, s := range seeds {
		f.Add(s)
	}
	f.Fuzz(func(t *testing.T, text string) {
		m, err := hlo.Parse(diag.NewSource("fuzz.hlo", []byte(text)))
		if err != nil {
			return
		}
		fixpoint(t, m, hlo.TextOptions{})
		fixpoint(t, m, hlo.TextOptions{Short: true})
	})
}

func fixpoint(t *testing.T, m *hlo.Module, o hlo.TextOptions) {
	once := m.AppendText(nil, o)
	again, err := hlo.Parse(diag.NewSource("again.hlo", once))
	if err != nil {
		t.Fatalf("own text is refused: %v\n%s", err, once)
	}
	if twice := again.AppendText(nil, o); string(twice) != string(once) {
		t.Fatalf("printing is not a fixpoint:\n%s\n%s", once, twice)
	}
}

// FuzzProto reads protos. The written proto reads back to the same module.
func FuzzProto(f *testing.F) {
	for _, s := range seeds {
		f.Add(proto(f, read(f, s)))
	}
	f.Fuzz(func(t *testing.T, data []byte) {
		m, err := hlo.ParseProto(diag.NewSource("fuzz.pb", data))
		if err != nil {
			return
		}
		m.AppendText(nil, hlo.TextOptions{})
		once, err := m.AppendProto(nil)
		if err != nil {
			return
		}
		again, err := hlo.ParseProto(diag.NewSource("again.pb", once))
		if err != nil {
			t.Fatalf("own proto is refused: %v", err)
		}
		if twice := proto(t, again); !bytes.Equal(twice, once) {
			t.Fatalf("writing is not a fixpoint:\n%s", m.AppendText(nil, hlo.TextOptions{}))
		}
	})
}

// FuzzExport translates StableHLO to HLO. The result is HLO that reads back.
func FuzzExport(f *testing.F) {
	files, err := filepath.Glob("../testdata/*/*.mlir")
	if err != nil || len(files) == 0 {
		f.Fatalf("%d files, %v", len(files), err)
	}
	for _, file := range files {
		if data, err := os.ReadFile(file); err == nil && len(data) < 4<<10 {
			f.Add(string(data))
		}
	}
	for _, typ := range []string{"tensor<4x!quant.uniform<i8:f32, 1.0>>", "index", "tensor<*xf32>", "tensor<?xi3>", "memref<4xf32>", "vector<4xf32>", "tuple<tensor<4xf32>, i1>"} {
		f.Add("func.func @main(%a: " + typ + ") -> " + typ + " { return %a : " + typ + " }")
	}
	reg, err := all.Registry()
	if err != nil {
		f.Fatal(err)
	}
	f.Fuzz(func(t *testing.T, text string) {
		m, err := parse.Parse(diag.NewSource("fuzz.mlir", []byte(text)), ir.NewContext(reg), parse.Options{})
		if err != nil || ir.Verify(m) != nil {
			return
		}
		out, err := hlo.Export(m)
		if err != nil {
			if !strings.Contains(err.Error(), "fuzz.mlir:") {
				t.Fatalf("an error without a position: %v", err)
			}
			return
		}
		fixpoint(t, out, hlo.TextOptions{})
		if data, err := out.AppendProto(nil); err == nil {
			if _, err := hlo.ParseProto(diag.NewSource("fuzz.pb", data)); err != nil {
				t.Fatalf("own proto is refused: %v\n%s", err, text)
			}
		}
	})
}

// FuzzRoundTrip translates text to StableHLO and back, and to a proto and back. A module that nothing changed stays as
// it is.
func FuzzRoundTrip(f *testing.F) {
	for _, s := range seeds {
		f.Add(s)
	}
	reg, err := all.Registry()
	if err != nil {
		f.Fatal(err)
	}
	f.Fuzz(func(t *testing.T, text string) {
		m, err := hlo.Parse(diag.NewSource("fuzz.hlo", []byte(text)))
		if err != nil {
			return
		}
		if data, err := m.AppendProto(nil); err == nil {
			if _, err := hlo.ParseProto(diag.NewSource("fuzz.pb", data)); err != nil {
				t.Fatalf("own proto is refused: %v\n%s", err, text)
			}
		}
		out, err := hlo.Import(m, ir.NewContext(reg))
		if err != nil || ir.Verify(out) != nil {
			return
		}
		same, err := hlo.Update(out)
		if err != nil {
			t.Fatalf("an unchanged module is refused: %v", err)
		}
		if got, want := same.AppendText(nil, hlo.TextOptions{}), m.AppendText(nil, hlo.TextOptions{}); string(got) != string(want) {
			t.Fatalf("an unchanged module differs:\n%s\n%s", got, want)
		}
		_, _ = hlo.Export(out)
	})
}

func TestImport(t *testing.T) {
	reg, err := all.Registry()
	if err != nil {
		t.Fatal(err)
	}
	m := read(t, `HloModule loop
body { p = (s32[], f32[2]) parameter(0)
  i = s32[] get-tuple-element(p), index=0
  x = f32[2] get-tuple-element(p), index=1
  one = s32[] constant(1)
  j = s32[] add(i, one)
  y = f32[2] fusion(x), kind=kLoop, calls={ q = f32[2] parameter(0) ROOT s = f32[2] multiply(q, q) }
  ROOT r = (s32[], f32[2]) tuple(j, y) }
cond { p = (s32[], f32[2]) parameter(0)
  i = s32[] get-tuple-element(p), index=0
  n = s32[] constant(3)
  ROOT c = pred[] compare(i, n), direction=LT }
ENTRY main { a = f32[2] parameter(0), metadata={op_name="jit(f)" source_file="f.py" source_line=3}
  z = s32[] constant(0)
  t = (s32[], f32[2]) tuple(z, a)
  w = (s32[], f32[2]) while(t), condition=cond, body=body
  ROOT out = f32[2] get-tuple-element(w), index=1 }`)
	out, err := hlo.Import(m, ir.NewContext(reg))
	if err != nil {
		t.Fatal(err)
	}
	if err := ir.Verify(out); err != nil {
		t.Fatal(err)
	}
	text := string(print.Append(nil, out, print.Options{}))
	for _, want := range []string{"func.func public @main(%arg0: tensor<2xf32>) -> tensor<2xf32>", "stablehlo.while(", "stablehlo.multiply"} {
		if !strings.Contains(text, want) {
			t.Errorf("%q is not in\n%s", want, text)
		}
	}
	back, err := hlo.Export(out)
	if err != nil {
		t.Fatal(err)
	}
	read(t, string(back.AppendText(nil, hlo.TextOptions{})))
}

// TestCorpus reads and prints the texts and protos of a folder that HLOCB_HLO names (index.jsonl and, beside each file,
// what XLA prints for it). Canonical text must come back unchanged. Other text must be a fixpoint after one round. Text
// that XLA refuses must be refused.
func TestCorpus(t *testing.T) {
	dir := os.Getenv("HLOCB_HLO")
	if dir == "" {
		t.Skip("skip: HLOCB_HLO names no folder with XLA's test files")
	}
	index, err := os.Open(filepath.Join(dir, "index.jsonl"))
	if err != nil {
		t.Fatal(err)
	}
	defer index.Close()
	reg, err := all.Registry()
	if err != nil {
		t.Fatal(err)
	}
	list, err := os.ReadFile(filepath.Join(dir, "lenient.txt"))
	if err != nil {
		t.Fatal(err)
	}
	lenient := map[string]bool{}
	for _, name := range strings.Fields(string(list)) {
		lenient[name] = true
	}
	counts := map[string]int{}
	for lines := bufio.NewScanner(index); lines.Scan(); {
		var row struct{ File, Want, Stablehlo string }
		if err := json.Unmarshal(lines.Bytes(), &row); err != nil {
			t.Fatal(err)
		}
		text, err := os.ReadFile(filepath.Join(dir, row.File))
		if err != nil {
			t.Fatal(err)
		}
		src := diag.NewSource(row.File, text)
		isProto := strings.HasSuffix(row.File, ".pb")
		m, err := hlo.Parse(src)
		if isProto {
			m, err = hlo.ParseProto(src)
		}
		switch {
		case lenient[row.File]:
			continue
		case row.Want == "refused":
			// XLA writes the version that a call does not state, and does not read it.
			if err == nil && !bytes.Contains(text, []byte("api_version=API_VERSION_UNSPECIFIED")) {
				t.Errorf("%s: accepted, but XLA refuses it", row.File)
			}
			counts["refused"]++
			continue
		case row.Want == "elided":
			counts["elided"]++
			continue
		case err != nil:
			t.Error(err)
			continue
		}
		counts["read"]++
		once := m.AppendText(nil, hlo.TextOptions{})
		want, err := os.ReadFile(filepath.Join(dir, row.File+".want"))
		if err != nil {
			t.Fatal(err)
		}
		if trim := strings.TrimSpace; !isProto && trim(string(text)) == trim(string(want)) {
			counts["canonical"]++
			if trim(string(once)) != trim(string(want)) {
				t.Errorf("%s is canonical but does not come back as it is", row.File)
			}
		}
		if len(once) > 4<<20 {
			continue
		}
		again, err := hlo.Parse(diag.NewSource(row.File+" again", once))
		if err != nil {
			t.Error(err)
			continue
		}
		if string(again.AppendText(nil, hlo.TextOptions{})) != string(once) {
			t.Errorf("%s: printing is not a fixpoint", row.File)
		}
		if row.Stablehlo != "ok" {
			continue
		}
		if out, err := hlo.Import(m, ir.NewContext(reg)); err != nil {
			counts["without StableHLO"]++
		} else if err := ir.Verify(out); err != nil {
			counts["StableHLO refused"]++
		} else {
			counts["StableHLO"]++
		}
	}
	t.Log(counts)
	if counts["without StableHLO"]*50 > counts["StableHLO"] || counts["StableHLO refused"]*100 > counts["StableHLO"] {
		t.Error("too many texts that XLA translates have no StableHLO here")
	}
}

// TestPayloads reads a proto whose instruction names its backend config by its index among the module's payloads.
func TestPayloads(t *testing.T) {
	m := read(t, `HloModule m
ENTRY e { ROOT c = f32[] custom-call(), custom_call_target="t", metadata={op_name="n" metadata_payload="cd"}, backend_config="ab" }`)
	data := proto(t, m)
	for _, field := range []struct{ inline, named string }{
		{"\xda\x02\x02ab", "\x9a\x06\x02\x10\x01"},                 // field 43 becomes field 99 with the index 1
		{"\xa2\x01\x04\x0a\x02cd", "\xa2\x01\x04\x10\x80\x80\x00"}, // the text in field 20 of the metadata becomes the index 0
	} {
		if !bytes.Contains(data, []byte(field.inline)) {
			t.Fatalf("the proto does not contain %q", field.inline)
		}
		data = bytes.Replace(data, []byte(field.inline), []byte(field.named), 1)
	}
	data = append(data, "\xb2\x01\x05first\xb2\x01\x06second"...)
	back, err := hlo.ParseProto(diag.NewSource("m.pb", data))
	if err != nil {
		t.Fatal(err)
	}
	for _, text := range []string{
		string(back.AppendText(nil, hlo.TextOptions{})),
		string(reread(t, back).AppendText(nil, hlo.TextOptions{})),
	} {
		if !strings.Contains(text, `backend_config="second"`) || !strings.Contains(text, `metadata_payload="first"`) {
			t.Errorf("the payload is lost:\n%s", text)
		}
	}
	data = bytes.Replace(data, []byte("\x9a\x06\x02\x10\x01"), []byte("\x9a\x06\x02\x10\x09"), 1)
	if _, err := hlo.ParseProto(diag.NewSource("m.pb", data)); err == nil || !strings.Contains(err.Error(), "payload 9 does not exist; the module has 2") {
		t.Errorf("got %v", err)
	}
}

// reread writes m as a proto and reads it again.
func reread(t *testing.T, m *hlo.Module) *hlo.Module {
	t.Helper()
	back, err := hlo.ParseProto(diag.NewSource("again.pb", proto(t, m)))
	if err != nil {
		t.Fatal(err)
	}
	return back
}

// TestImportMistakes translates instructions that StableHLO cannot express. Each error has the instruction's position.
func TestImportMistakes(t *testing.T) {
	reg, err := all.Registry()
	if err != nil {
		t.Fatal(err)
	}
	for _, test := range []struct{ text, want string }{
		{`ROOT c = f32[] custom-call(), custom_call_target="t", api_version=API_VERSION_TYPED_FFI, backend_config="no dictionary"`, "test.hlo:3:6: error: attribute no dictionary:"},
		{"p = f32[] parameter(0)\nt = token[] after-all()\nROOT s = (f32[], u32[], token[]) send(p, t), channel_id=1", "test.hlo:5:6: error: send uses a part of an asynchronous instruction"},
		{"p = (f32[], f32[], u32[]) parameter(0)\nq = f32[] parameter(1)\ns = (f32[], u32[], token[]) bitcast(q)\nROOT d = f32[] copy-done(s)", "test.hlo:6:6: error: the operand of copy-done must be copy-start, found bitcast"},
		{"p = f32[2,3] parameter(0)\nROOT c = f32[3,2] copy(p)", "test.hlo:4:6: error: copy: the result has type f32[3,2], expected f32[2,3]"},
		{"p = f32[] parameter(0)\nROOT c = pred[] compare(p, p), direction=LT, type=UNSIGNED", "test.hlo:4:6: error: compare of f32[] with type UNSIGNED, expected FLOAT"},
		{"p = f32[2] parameter(0)\nROOT f = f32[3] fusion(p), kind=kLoop, calls={ q = f32[2] parameter(0) ROOT n = f32[2] negate(q) }", "test.hlo:4:6: error: fusion: the result of _ has type f32[2], expected f32[3]"},
		{"p = f32[2] parameter(0)\ns = ((f32[2]), f32[2], u32[]) negate-start(p)\nROOT r = f32[2] add(p, p)", "test.hlo:4:1: error: negate-start must have one user, the update or done; found 0"},
		{"p = f32[2] parameter(0)\nROOT g = f32[6] all-gather(p), dimensions={0}, replica_groups={{0,1}}", "test.hlo:4:6: error: all-gather in groups of 2 turns size 2 into size 6"},
		{`ROOT c = u1[] constant(1)`, "test.hlo:3:6: error: type u1 has no equivalent in StableHLO"},
	} {
		_, err := hlo.Import(read(t, "HloModule m\nENTRY e {\n"+test.text+"\n}"), ir.NewContext(reg))
		if err == nil || !strings.HasPrefix(err.Error(), test.want) {
			t.Errorf("%s\n got %v\nwant %s", test.text, err, test.want)
		}
	}
}

// TestCallsOfCalls refuses a module of a few lines whose computations, translated in place, have billions of
// instructions.
func TestCallsOfCalls(t *testing.T) {
	reg, err := all.Registry()
	if err != nil {
		t.Fatal(err)
	}
	text := "HloModule m\ng0 { ROOT p = f32[] parameter(0) }\n"
	for i := range 60 {
		text += fmt.Sprintf("g%d { p = f32[] parameter(0) a = f32[] fusion(p), kind=kLoop, calls=g%d ROOT b = f32[] fusion(a), kind=kLoop, calls=g%d }\n", i+1, i, i)
	}
	_, err = hlo.Import(read(t, text+"ENTRY e { p = f32[] parameter(0) ROOT r = f32[] fusion(p), kind=kLoop, calls=g60 }"), ir.NewContext(reg))
	if err == nil || !strings.Contains(err.Error(), "the module calls its computations too often") {
		t.Errorf("got %v", err)
	}
}

// TestNames reads names that end in the same number, names without a number and names of several computations.
func TestNames(t *testing.T) {
	var b strings.Builder
	b.WriteString("HloModule m\nf { x.7 = f32[] parameter(0) ROOT y = f32[] negate(x.7) }\nENTRY e {\n")
	b.WriteString("x0.7 = f32[] parameter(0)\n")
	for i := 1; i < 50; i++ {
		fmt.Fprintf(&b, "x%d.7 = f32[] add(x%d.7, x%d.7)\ny%d = f32[] call(x%d.7), to_apply=f\n", i, i-1, i/2, i, i)
	}
	text := b.String()
	m := read(t, text+"x.007 = f32[] negate(y49)\nx.7 = f32[] negate(x.007)\nROOT y = f32[] add(x.7, x30.7) }")
	if got := string(m.AppendText(nil, hlo.TextOptions{})); !strings.Contains(got, "ROOT %y = f32[] add(%x.7, %x30.7)") {
		t.Errorf("wrong names:\n%s", got)
	}
	for _, name := range []string{"x1.7", "x30.7", "y3"} {
		_, err := hlo.Parse(diag.NewSource("test.hlo", []byte(text+name+" = f32[] negate(x0.7) }")))
		if err == nil || !strings.Contains(err.Error(), "instruction "+name+" is defined twice") {
			t.Errorf("%s: got %v", name, err)
		}
	}
}

// TestMeshGroups translates replica groups over the axes of a mesh and the same groups as tiles or as a list.
func TestMeshGroups(t *testing.T) {
	reg, err := all.Registry()
	if err != nil {
		t.Fatal(err)
	}
	translated := func(groups string) string {
		m := read(t, "HloModule m, num_partitions=8\na { x = f32[] parameter(0) y = f32[] parameter(1) ROOT z = f32[] add(x, y) }\n"+
			"ENTRY e { p = f32[4] parameter(0) ROOT c = f32[4] all-reduce(p), channel_id=1, use_global_device_ids=true, to_apply=a, replica_groups="+groups+" }")
		out, err := hlo.Import(m, ir.NewContext(reg))
		if err != nil {
			t.Fatal(err)
		}
		return print.String(out, print.Options{})
	}
	for _, test := range []struct{ mesh, same string }{
		{"mesh['x'=2,'y'=4] {'y'}", "[2,4]<=[8]"},
		{"mesh['x'=2,'y'=4] {'x'}", "[4,2]<=[2,4]T(1,0)"},
		{"mesh['x'=2,'y'=4] {'y','x'}", "[1,8]<=[2,4]T(1,0)"},
		{"mesh['x'=2,'y'=4] {'y':(1)2}", "{{0,2},{1,3},{4,6},{5,7}}"},
		{"mesh['x'=2,'y'=4] {'y':(2)2,'x'}", "{{0,4,1,5},{2,6,3,7}}"},
		{"mesh['x'=2,'y'=4], device_ids=([4,2]T(1,0)) {'y'}", "{{0,2,4,6},{1,3,5,7}}"},
		{"mesh['x'=2,'y'=2], device_ids=(3,1,0,2) {'x'}", "{{3,0},{1,2}}"},
	} {
		if got, want := translated(test.mesh), translated(test.same); got != want {
			t.Errorf("%s:\n%swant:\n%s", test.mesh, got, want)
		}
	}
}
