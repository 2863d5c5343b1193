package artifact_test

import (
	"bytes"
	"encoding/binary"
	"io"
	"os"
	"path/filepath"
	"runtime"
	"slices"
	"strconv"
	"strings"
	"testing"

	"github.com/hlocb/hlocb/artifact"
	"github.com/hlocb/hlocb/bytecode"
	"github.com/hlocb/hlocb/diag"
	"github.com/hlocb/hlocb/dialect/all"
	"github.com/hlocb/hlocb/dialect/vhlo"
	"github.com/hlocb/hlocb/internal/label"
	"github.com/hlocb/hlocb/ir"
	"github.com/hlocb/hlocb/parse"
	"github.com/hlocb/hlocb/print"
)

var registry = func() *ir.Registry {
	r, err := all.Registry()
	if err != nil {
		panic(err)
	}
	return r
}()

// files returns the files that match a pattern: in testdata, and in the corpus that HLOCB_BYTECODE names.
func files(t testing.TB, pattern, corpus string) []string {
	t.Helper()
	list, err := filepath.Glob(filepath.Join("..", "testdata", "bytecode", "*", pattern))
	if err != nil || len(list) == 0 {
		t.Fatal("testdata/bytecode is empty")
	}
	if dir := os.Getenv("HLOCB_BYTECODE"); dir != "" {
		more, err := filepath.Glob(filepath.Join(dir, "*", corpus))
		if err != nil {
			t.Fatal(err)
		}
		list = append(list, more...)
	}
	return list
}

func readFile(t testing.TB, path string) []byte {
	t.Helper()
	data, err := os.ReadFile(path)
	if err != nil {
		t.Fatal(err)
	}
	return data
}

func differ(t *testing.T, path, what string, got, want []byte) {
	t.Helper()
	if bytes.Equal(got, want) {
		return
	}
	i := 0
	for i < len(got) && i < len(want) && got[i] == want[i] {
		i++
	}
	t.Errorf("%s: %s: %d bytes, want %d; they differ at %d", path, what, len(got), len(want), i)
}

// TestBytecode reads jaxlib's files of each version of bytecode and writes them again byte for byte. The module equals
// jaxlib's text.
func TestBytecode(t *testing.T) {
	for i, path := range files(t, "v*.bc", "bc/v*.bc") {
		if !label.Part(i%4 == 0) {
			continue
		}
		data := readFile(t, path)
		v, err := strconv.Atoi(strings.TrimSuffix(filepath.Base(path)[1:], ".bc"))
		if err != nil {
			t.Fatal(err)
		}
		m, err := bytecode.Read(diag.NewSource(path, data), ir.NewContext(registry))
		if err != nil {
			t.Error(err)
			continue
		}
		producer, _, _ := bytecode.Producer(data)
		got, err := bytecode.Append(nil, m, bytecode.Options{Version: v, Versioned: true, Producer: producer})
		if err != nil {
			t.Error(err)
			continue
		}
		differ(t, path, "written again", got, data)
		if text := filepath.Join(filepath.Dir(path), "text.mlir"); strings.HasPrefix(path, "..") {
			sameText(t, path, m, text)
		}
	}
}

// sameText compares a module with the text of a file, which is read and printed again: both by hlocb.
func sameText(t *testing.T, path string, m *ir.Module, text string) {
	t.Helper()
	want, err := parse.Parse(diag.NewSource(text, readFile(t, text)), ir.NewContext(registry), parse.Options{})
	if err != nil {
		t.Error(err)
		return
	}
	if a, b := print.String(m, print.Options{Generic: true}), print.String(want, print.Options{Generic: true}); a != b {
		t.Errorf("%s differs from %s:%s", path, text, firstLines(a, b))
	}
}

// TestArtifacts reads portable artifacts of jaxlib and writes them again byte for byte: as VHLO, and by way of
// StableHLO.
func TestArtifacts(t *testing.T) {
	for i, path := range files(t, "*.vhlo", "vhlo/*.bc") {
		if !label.Part(i%4 == 0) {
			continue
		}
		data := readFile(t, path)
		producer, version, _ := bytecode.Producer(data)
		src := diag.NewSource(path, data)
		m, err := artifact.ReadVHLO(src, ir.NewContext(registry))
		if err != nil {
			if !strings.Contains(path, "invalid_vhlo_future") {
				t.Error(err)
			}
			continue
		}
		got, err := bytecode.Append(nil, m, bytecode.Options{Version: version, Versioned: true, Producer: producer})
		if err != nil {
			t.Error(err)
			continue
		}
		differ(t, path, "as VHLO", got, data)
		if m, err = artifact.Read(src, ir.NewContext(registry)); err != nil {
			t.Error(err)
			continue
		}
		name := strings.TrimSuffix(strings.TrimSuffix(filepath.Base(path), ".bc"), ".vhlo")
		v, err := vhlo.ParseVersion(name)
		if err != nil {
			t.Fatal(err)
		}
		if got, _, err = artifact.Append(nil, m, artifact.Options{Target: v, KeepOthers: true}); err != nil {
			t.Error(err)
			continue
		}
		i := bytes.IndexByte(got[5:], 0)
		k := bytes.IndexByte(data[5:], 0)
		if strings.Contains(path, "tests_ops_stablehlo_333") {
			continue // one default precision is a loss of TestLosses
		}
		differ(t, path, "through StableHLO", got[5+i:], data[5+k:])
		if strings.HasPrefix(path, "..") {
			text := strings.TrimSuffix(path, ".vhlo") + ".up.mlir"
			if _, err := os.Stat(text); err != nil {
				text = filepath.Join(filepath.Dir(path), "text.mlir")
			}
			sameText(t, path, m, text)
		}
	}
}

// TestRoutes writes artifacts on the routes of XLA. They hold the module that jaxlib wrote.
func TestRoutes(t *testing.T) {
	for i, path := range files(t, "xla/*.up.mlir", "xla/*.up.mlir") {
		if !label.Part(i%4 == 0) {
			continue
		}
		name := strings.TrimSuffix(filepath.Base(path), ".up.mlir")
		target, mixed := strings.CutSuffix(name, "-mixed")
		v, err := vhlo.ParseVersion(target)
		if err != nil {
			t.Fatal(err)
		}
		o := artifact.Options{Target: v, Route: artifact.XLA}
		if mixed {
			o.Route = artifact.XLAMixed
		}
		text := filepath.Join(filepath.Dir(path), "..", "text.mlir")
		m, err := parse.Parse(diag.NewSource(text, readFile(t, text)), ir.NewContext(registry), parse.Options{})
		if err != nil {
			t.Fatal(err)
		}
		out, _, err := artifact.Append(nil, m, o)
		if err != nil {
			t.Errorf("%s for %s: %v", text, name, err)
			continue
		}
		m, err = artifact.Read(diag.NewSource(path, out), ir.NewContext(registry))
		if err != nil {
			t.Errorf("%s for %s, read again: %v", text, name, err)
			continue
		}
		sameText(t, text+" for "+name, m, path)
	}
}

// TestVHLOText prints the VHLO of artifacts in both forms and reads it again.
func TestVHLOText(t *testing.T) {
	for i, path := range files(t, "*.vhlo", "vhlo/*.bc") {
		if !label.Part(i%4 == 0) {
			continue
		}
		m, err := artifact.ReadVHLO(diag.NewSource(path, readFile(t, path)), ir.NewContext(registry))
		if err != nil {
			continue // TestArtifacts reports it
		}
		for _, o := range []print.Options{{}, {Generic: true}} {
			text := print.String(m, o)
			again, err := parse.Parse(diag.NewSource(path+".mlir", []byte(text)), ir.NewContext(registry), parse.Options{})
			if err != nil {
				t.Error(err)
				continue
			}
			if got := print.String(again, o); got != text {
				t.Errorf("%s: printed, read and printed again:\n%s\n%s", path, got, text)
			}
			if _, err := vhlo.Upgrade(again); err != nil {
				t.Error(err)
			}
		}
	}
}

// TestVHLOTextErrors reads mistakes in the text of VHLO.
func TestVHLOTextErrors(t *testing.T) {
	for _, tt := range []struct{ attr, want string }{
		{`#vhlo.dict_v1<{"a" = #vhlo.array_v1<[]>}>`, `1:37: error: expected a string of VHLO, found "a"`},
		{`#vhlo.result_accuracy_v1<atol = 0.0, rtol = 0.0, ulps = 0, mode = #stablehlo.result_accuracy_mode<DEFAULT>>`,
			"1:48: error: expected the mode of an accuracy of VHLO, found #stablehlo.result_accuracy_mode<DEFAULT>"},
		{`#vhlo.bool_v1<maybe>`, "1:38: error: expected boolean value"},
		{`#vhlo.integer_v1<1.5 : f32>`, "1:41: error: expected an integer of a type that VHLO has"},
		{`#vhlo.float_v1<1.5 : !vhlo.i32_v1>`, "1:45: error: expected a floating-point type of VHLO"},
		{`#vhlo.tensor_v1<dense<0> : tensor<i5>>`, "1:40: error: expected dense elements of a type that VHLO has"},
		{`#vhlo.type_v1<!vhlo.complex_v1<!vhlo.i32_v1>>`, "error: a complex type of i32"},
		{`#vhlo.type_v1<!vhlo.tuple_v1<f32>>`, "expected a type of VHLO, found f32"},
		{`#vhlo.type_v1<f32>`, "expected a type of VHLO, found f32"},
		{`#vhlo.array_v1<["a"]>`, `expected an attribute of VHLO, found "a"`},
		{`#vhlo.array_v1<[[#vhlo.bool_v1<true>]]>`, "expected an attribute of VHLO, found [#vhlo.bool_v1<true>]"},
		{`#vhlo.dict_v1<{#vhlo.string_v1<"a"> = 1 : i32}>`, "expected an attribute of VHLO, found 1 : i32"},
		{`#vhlo.mesh_axis_v1<name = "x", size = 2>`, `expected a string of VHLO, found "x"`},
		{`#vhlo.replica_group_mesh_axes_v1<mesh = "m", axes = #vhlo.array_v1<[]>>`, `expected an attribute of VHLO, found "m"`},
		{`#vhlo.replica_group_mesh_axes_v1<mesh = #vhlo.string_v1<"m">, axes = #vhlo.array_v1<[#vhlo.bool_v1<true>]>>`, "expected an axis of VHLO, found #vhlo.bool_v1<true>"},
		{`#vhlo.type_v1<!vhlo.quant_per_axis_v1<!vhlo.i8_v1:!vhlo.f32_v1, 0, [1.0, 2.0], [0], -128:127, 1>>`, "error: 2 scales and 1 zero points"},
	} {
		text := "module attributes {a = " + tt.attr + "} {}"
		_, err := parse.Parse(diag.NewSource("m.mlir", []byte(text)), ir.NewContext(registry), parse.Options{})
		if err == nil || !strings.Contains(err.Error(), tt.want) {
			t.Errorf("%s: %v, want %q", tt.attr, err, tt.want)
		}
	}
}

// TestMisplaced upgrades VHLO ops whose attributes or types are missing, or not VHLO's, and expects an error, unless
// VHLO has no form for them. Upgrading while a file is read reports the same error.
func TestMisplaced(t *testing.T) {
	const float = `!vhlo.tensor_v1<!vhlo.f32_v1>`
	for _, tt := range []struct{ op, want string }{
		{`"vhlo.floor_v1"(%a) {x.y, x.z = array<i32: 1>} : (` + float + `) -> ` + float, ""},
		{`"vhlo.floor_v1"(%a) {x.y = #vhlo.dict_v1<{#vhlo.string_v1<"a"> = @a::@b}>} : (` + float + `) -> ` + float, ""},
		{`"vhlo.floor_v1"(%a) : (` + float + `) -> tensor<f32, "e">`, ""},
		{`"vhlo.floor_v1"(%a) {x.y = "a"} : (` + float + `) -> ` + float, `the attribute x.y of vhlo.floor_v1: expected an attribute of VHLO, found "a"`},
		{`"vhlo.floor_v1"(%a) {x.y = {}} : (` + float + `) -> ` + float, `the attribute x.y of vhlo.floor_v1: expected an attribute of VHLO, found {}`},
		{`"vhlo.floor_v1"(%a) : (` + float + `) -> tensor<f32>`, "expected a type of VHLO, found tensor<f32>"},
		{`"vhlo.sort_v1"(%a) ({}) {is_stable = #vhlo.bool_v1<false>} : (` + float + `) -> ` + float, "the attribute dimension of vhlo.sort_v1 is missing"},
		{`"vhlo.get_dimension_size_v1"(%a) {dimension = 0 : i64} : (` + float + `) -> ` + float, "the attribute dimension of vhlo.get_dimension_size_v1: expected an attribute of VHLO, found 0 : i64"},
		{`"vhlo.all_reduce_v2"(%a) ({}) {channel_id = #vhlo.string_v1<"1">, replica_groups = #vhlo.tensor_v1<dense<0> : tensor<1x1xi64>>, use_global_device_ids = #vhlo.bool_v1<false>} : (` + float + `) -> ` + float,
			`vhlo.all_reduce_v2: the attribute channel_id is #vhlo.string_v1<"1">: expected an integer`},
	} {
		m := module(t, `vhlo.func_v1 @main(%a: `+float+`) -> () {
  %0 = `+tt.op+`
  "vhlo.return_v1"() : () -> ()
} {arg_attrs = #vhlo.array_v1<[]>, res_attrs = #vhlo.array_v1<[]>, sym_visibility = #vhlo.string_v1<"">}`)
		_, first := vhlo.Upgrade(m)
		data, err := bytecode.Append(nil, m, bytecode.Options{Version: 4, Versioned: true}) // a newer one refuses missing attributes
		if err != nil {
			t.Error(err)
			continue
		}
		_, second := artifact.Read(diag.NewSource("m.vhlo", data), ir.NewContext(registry))
		for _, err := range []error{first, second} {
			if tt.want == "" && err != nil || tt.want != "" && (err == nil || !strings.Contains(err.Error(), tt.want)) {
				t.Errorf("%s: %v, want %q", tt.op, err, tt.want)
			}
		}
	}
}

// TestTruncated cuts files at every byte: each part is refused with an offset in it.
func TestTruncated(t *testing.T) {
	for i, path := range files(t, "*.vhlo", "none") {
		if i%7 != 0 {
			continue
		}
		data := readFile(t, path)
		for n := range data {
			_, err := artifact.Read(diag.NewSource("part.bc", data[:n:n]), ir.NewContext(registry))
			d, ok := err.(*diag.Diagnostic)
			if !ok || d.Pos.Offset() > n {
				t.Fatalf("%s cut at %d: %v", path, n, err)
			}
		}
	}
}

// TestFlipped changes bits: the reader refuses the file or returns a module, and does not panic.
func TestFlipped(t *testing.T) {
	for i, path := range files(t, "v6.bc", "none") {
		data := readFile(t, path)
		for n := i % 3; n < len(data); n += 3 {
			part := bytes.Clone(data)
			part[n] ^= 1 << (n % 8)
			if _, err := artifact.Read(diag.NewSource("flipped.bc", part), ir.NewContext(registry)); err != nil && strings.Contains(err.Error(), "internal error") {
				t.Fatalf("%s with bit %d of byte %d changed: %v", path, n%8, n, err)
			}
		}
	}
}

// TestClaims writes a huge number at each offset of small files, so that each count, size and index is huge once.
// Reading and printing what can be read takes at most 64 MB and 200 times the file.
func TestClaims(t *testing.T) {
	var claims [][]byte
	for _, n := range []uint64{1 << 20, 1 << 31, 1 << 60} { // also as numbers with a flag, and signed
		claims = append(claims, binary.LittleEndian.AppendUint64([]byte{0}, n), binary.LittleEndian.AppendUint64([]byte{0}, n+1))
	}
	var paths []string
	for _, pattern := range []string{"v0.bc", "v3.bc", "v6.bc", "0.9.0.vhlo", "1.17.0.vhlo", "*.jaxexport"} {
		list, err := filepath.Glob(filepath.Join("..", "testdata", "bytecode", "*", pattern))
		if err != nil {
			t.Fatal(err)
		}
		slices.SortFunc(list, func(a, b string) int { return len(readFile(t, a)) - len(readFile(t, b)) })
		paths = append(paths, list[:min(len(list), 3)]...)
	}
	paths = append(paths, filepath.Join("..", "testdata", "bytecode", "add_one.jaxexport"))
	var before, after runtime.MemStats
	for _, path := range paths {
		data := readFile(t, path)
		for i := range data {
			if !label.Part(i%3 == 0) {
				continue
			}
			for _, c := range claims {
				claimed := bytes.Clone(data)
				copy(claimed[i:], c)
				runtime.ReadMemStats(&before)
				m, err := artifact.Read(diag.NewSource(path, claimed), ir.NewContext(registry))
				if err == nil {
					print.Print(io.Discard, m, print.Options{Generic: true})
				}
				runtime.ReadMemStats(&after)
				if n := after.TotalAlloc - before.TotalAlloc; n > 64<<20+200*uint64(len(data)) {
					t.Errorf("%s with %x at %d: %d bytes, %v", path, c, i, n, err)
				}
			}
		}
	}
}

func module(t testing.TB, text string) *ir.Module {
	t.Helper()
	m, err := parse.Parse(diag.NewSource("m.mlir", []byte(text)), ir.NewContext(registry), parse.Options{})
	if err != nil {
		t.Fatal(err)
	}
	return m
}

// TestRefused writes for targets that are too old. The error names the op, the feature and the first version with it.
func TestRefused(t *testing.T) {
	tests := []struct{ body, target, want string }{
		{`func.func @f(%a: tensor<2xf32>) -> tensor<2xf32> { %0 = stablehlo.tan %a : tensor<2xf32> return %0 : tensor<2xf32> }`,
			"1.3.0", "stablehlo.tan needs StableHLO 1.4.0; the target is 1.3.0"},
		{`func.func @f(%a: tensor<2xf8E4M3>) { return }`, "1.6.0", "the type f8E4M3 needs StableHLO 1.7.0; the target is 1.6.0"},
		{`func.func @f(%a: tensor<2xf32>) { stablehlo.custom_call @c(%a) {backend_config = {}, api_version = 4 : i32} : (tensor<2xf32>) -> () return }`,
			"1.2.0", "needs StableHLO 1.3.0; the target is 1.2.0"},
		{`func.func @f() { return }`, "0.8.0", "target 0.8.0 is older than 0.9.0"},
		{`func.func @f() { return }`, "9.0.0", "target 9.0.0 is newer than 1.22.0"},
		{`func.func @f(%a: tensor<2xf32>) -> tensor<2xf32> { %0 = chlo.erf %a : tensor<2xf32> -> tensor<2xf32> return %0 : tensor<2xf32> }`,
			"1.17.0", "VHLO has no form for chlo.erf"},
	}
	for _, tt := range tests {
		v, err := vhlo.ParseVersion(tt.target)
		if err != nil {
			t.Fatal(err)
		}
		_, _, err = artifact.Append(nil, module(t, tt.body), artifact.Options{Target: v})
		if err == nil || !strings.Contains(err.Error(), tt.want) {
			t.Errorf("%s for %s: %v, want %q", tt.body, tt.target, err, tt.want)
		}
	}
}

// TestOldest writes the oldest artifact that can hold a module.
func TestOldest(t *testing.T) {
	_, v, err := artifact.Append(nil, module(t, `func.func @f(%a: tensor<2xf32>) -> tensor<2xf32> { %0 = stablehlo.tan %a : tensor<2xf32> return %0 : tensor<2xf32> }`), artifact.Options{})
	if err != nil || v.String() != "1.4.0" {
		t.Errorf("version %s, %v; want 1.4.0", v, err)
	}
}

// TestUnchanged writes artifacts for many targets and prints the module after each: it stays as it was.
func TestUnchanged(t *testing.T) {
	path := filepath.Join("..", "testdata", "bytecode", "corpus_order_t16_cond", "text.mlir")
	m := module(t, string(readFile(t, path)))
	before := print.String(m, print.Options{Generic: true})
	for _, v := range vhlo.Versions() {
		for _, r := range []artifact.Route{artifact.Strict, artifact.XLA, artifact.XLAMixed} {
			if _, _, err := artifact.Append(nil, m, artifact.Options{Target: v, Route: r}); err != nil && !strings.Contains(err.Error(), "needs StableHLO") {
				t.Error(v, r, err)
			}
		}
	}
	if after := print.String(m, print.Options{Generic: true}); after != before {
		t.Errorf("the module changed:\n%s", after)
	}
}

// firstLines returns the first lines in which two texts differ.
func firstLines(got, want string) string {
	a, b := strings.Split(got, "\n"), strings.Split(want, "\n")
	i := 0
	for i < len(a) && i < len(b) && a[i] == b[i] {
		i++
	}
	line := func(list []string) string {
		if i < len(list) {
			return list[i]
		}
		return "the end"
	}
	return "\nline " + strconv.Itoa(i+1) + " is\n" + line(a) + "\nwant\n" + line(b)
}
