package conformance_test

import (
	"fmt"
	"maps"
	"math/rand"
	"os"
	"path/filepath"
	"regexp"
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
	"github.com/hlocb/hlocb/internal/peer"
	"github.com/hlocb/hlocb/internal/testkit"
	"github.com/hlocb/hlocb/ir"
	"github.com/hlocb/hlocb/print"
)

// TestBytecodeOfJaxlib has jaxlib write a sample of every operation that it and hlocb know in every version of
// bytecode. The files must hold the modules that jaxlib prints, and hlocb must write them again byte for byte.
func TestBytecodeOfJaxlib(t *testing.T) {
	reg := testkit.Registry(t)
	texts := map[string]string{}
	sample := func(name, text string) {
		m, err := read(t, reg, text)
		if err != nil {
			t.Fatalf("%s: %v", name, err)
		}
		n := 0
		m.Walk(func(op *ir.Op) bool {
			p := op.Parent()
			if p == nil || p.Name() != "func.func" || op.Has(ir.Terminator) || op.Name() == "func.call" || op.Name() == "func.constant" {
				return true
			}
			if one := alone(m, op); one != "" {
				n++
				texts[fmt.Sprintf("%s, no. %d of %s", op.Name(), n, name)] = one
			}
			return true
		})
		texts[name] = text
	}
	for _, name := range testkit.Glob(t, "ops/*.mlir", "../internal/conformance/testdata/bytecode/*.mlir") {
		text, err := os.ReadFile(name)
		if err != nil {
			t.Fatal(err)
		}
		sample(name, string(text))
		if strings.HasPrefix(filepath.Base(name), "stablehlo_") && filepath.Base(name) != "stablehlo_newer.mlir" {
			m, err := read(t, reg, string(text))
			if err != nil {
				t.Fatal(err)
			}
			sample("mhlo of "+name, testkit.MHLO(print.String(m, print.Options{Generic: true})))
		}
	}
	for name := range texts { // jaxlib knows the dialects of all other texts
		m, err := read(t, reg, texts[name])
		if err != nil {
			t.Fatal(err)
		}
		if !m.Op().Walk(func(op *ir.Op) bool { return !unknownThere[op.Def().Dialect()] }) {
			delete(texts, name)
		}
	}
	peer.Each(t, label.Part, func(t *testing.T, p *peer.Interpreter) { compareBytecode(t, p, reg, texts) })
}

func compareBytecode(t *testing.T, p *peer.Interpreter, reg *ir.Registry, texts map[string]string) {
	written, ours := map[string]bool{}, map[string][]byte{}
	for name, want := range p.WriteBytecode(t, texts) {
		if want.Error != "" {
			if t.Logf("%s: jaxlib does not read it: %s", name, want.Error); strings.Contains(name, "testdata/bytecode/") {
				t.Fail()
			}
			continue
		}
		for _, w := range opNames.FindAllStringSubmatch(want.Generic, -1) {
			written[w[1]] = true
		}
		if p.Differs("bytecode of "+filepath.Base(name)) != "" {
			continue
		}
		text, err := read(t, reg, want.Generic) // MLIR names its aliases in another order
		if err != nil {
			t.Error(err)
			continue
		}
		for v, data := range want.Files {
			m, err := bytecode.Read(diag.NewSource(name, data), ir.NewContext(reg))
			if err != nil {
				t.Errorf("version %d: %v", v, err)
				continue
			}
			if ours[name], err = bytecode.Append(nil, m, bytecode.Options{}); err != nil {
				t.Error(err)
			}
			located := print.Options{Generic: true, DebugInfo: true, OwnLocs: true, LocalScope: true}
			same(t, name, print.String(m, located), strings.ReplaceAll(print.String(text, located), " loc(unknown)", ""))
			producer, _, _ := bytecode.Producer(data)
			again, err := bytecode.Append(nil, m, bytecode.Options{Version: v, Versioned: true, Late: p.Version() == peer.TodayVersion, Producer: producer})
			if err != nil {
				t.Error(err)
				continue
			}
			if string(again) != string(data) {
				t.Errorf("%s: version %d: %d bytes, jaxlib wrote %d", name, v, len(again), len(data))
			}
		}
	}
	for name := range ours {
		if filepath.Base(name) == "resources.mlir" {
			delete(ours, name) // it needs an alignment that Python's bytes do not have
		}
	}
	for name, message := range p.ReadBytecode(t, ours) {
		t.Errorf("%s: jaxlib does not read hlocb's bytecode: %s", name, message)
	}
	lacking := map[string]bool{}
	for _, d := range all.Dialects() {
		for _, def := range slices.Concat(d.Ops, d.Foreign) {
			if !written[def.Name] && !unknownThere[d.Name] && d.Name != "vhlo" {
				lacking[def.Name] = true
			}
		}
	}
	for _, name := range notInJaxlib[p.Version()] {
		if !lacking[name] {
			t.Errorf("jaxlib writes %s", name)
		}
		delete(lacking, name)
	}
	for _, name := range slices.Sorted(maps.Keys(lacking)) {
		t.Errorf("%s: jaxlib wrote no sample", name)
	}
}

var opNames = regexp.MustCompile(`"([a-z]+\.[-a-z_.0-9]+)"`)

// notInJaxlib lists the operations that a version of jaxlib does not know.
var notInJaxlib = map[string][]string{peer.MainVersion: {"mhlo.collective_reduce", "mhlo.exp2", "mhlo.log2", "stablehlo.collective_reduce"}}

// TestPropertiesOfJaxlib compares the inherent attributes of every operation with the Python bindings that MLIR
// generates: their names, and whether an operation may omit them.
func TestPropertiesOfJaxlib(t *testing.T) { peer.Each(t, nil, compareProperties) }

func compareProperties(t *testing.T, p *peer.Interpreter) {
	dir := strings.TrimSpace(string(p.Run(t, `import jaxlib.mlir.dialects as d; print(d.__path__[0])`, nil)))
	number := 0
	for _, d := range all.Dialects() {
		text, err := os.ReadFile(filepath.Join(dir, "_"+d.Name+"_ops_gen.py"))
		if err != nil {
			continue // shape and tensor have no bindings
		}
		want := map[string]string{}
		for _, class := range regexp.MustCompile(`\nclass \w+\(_ods_ir\.OpView\)`).Split(string(text), -1)[1:] {
			class, _, _ = strings.Cut(class, "(_ods_ir.OpAdaptor)")
			name := regexp.MustCompile(`OPERATION_NAME = "([^"]+)"`).FindStringSubmatch(class)[1]
			_, class, _ = strings.Cut(class, "def __init__")
			class, _, _ = strings.Cut(class, "super()")
			var attrs []string
			for _, a := range regexp.MustCompile(`( if [^\n]*: ?)?attributes\["([^"]+)"\] = `).FindAllStringSubmatch(class, -1) {
				attrs = append(attrs, a[2]+strings.Repeat("?", min(len(a[1]), 1)))
			}
			slices.Sort(attrs)
			want[name] = strings.Join(attrs, " ")
		}
		for _, def := range slices.Concat(d.Ops, d.Foreign) {
			var attrs []string
			for _, a := range def.Attrs {
				if a.Late && p.Version() == peer.MainVersion || a.Name == "operandSegmentSizes" || a.Name == "resultSegmentSizes" {
					continue
				}
				if a.Optional || a.Default != nil {
					a.Name += "?"
				}
				attrs = append(attrs, a.Name)
			}
			slices.Sort(attrs)
			got := strings.Join(attrs, " ")
			if w, ok := want[def.Name]; !ok {
				if !slices.Contains(notInJaxlib[p.Version()], def.Name) {
					t.Errorf("%s: jaxlib does not have it", def.Name)
				}
			} else if got != w && p.Differs("attributes of "+def.Name) == "" {
				t.Errorf("%s has %q, jaxlib %q", def.Name, got, w)
			}
			delete(want, def.Name)
			number++
		}
		for name := range want {
			if p.Differs("attributes of "+name) != "" {
				continue
			}
			t.Errorf("%s: hlocb does not know its attributes", name)
		}
	}
	if number < 440 {
		t.Errorf("%d operations", number)
	}
}

// mixed returns a random module in which operations of StableHLO and of an unknown dialect use each other's values.
func mixed(seed int64) string {
	r := rand.New(rand.NewSource(seed))
	var b strings.Builder
	const typ = "tensor<4xf32>"
	n := 0
	var body func(values []string, depth int) string
	body = func(values []string, depth int) string {
		for range 2 + r.Intn(5) {
			v, x, y := "%v"+strconv.Itoa(n), values[r.Intn(len(values))], values[r.Intn(len(values))]
			n++
			switch k := r.Intn(20); {
			case k < 7:
				fmt.Fprintf(&b, "%s = stablehlo.add %s, %s : %s\n", v, x, y, typ)
			case k < 9:
				fmt.Fprintf(&b, "%s = stablehlo.tan %s : %s\n", v, x, typ)
			case k < 14 || depth == 2:
				fmt.Fprintf(&b, "%s = \"foo.op\"(%s, %s) : (%s, %s) -> %s\n", v, x, y, typ, typ, typ)
			case k < 17:
				fmt.Fprintf(&b, "%s = \"foo.region\"(%s) ({\n", v, x)
				fmt.Fprintf(&b, "\"foo.yield\"(%s) : (%s) -> ()\n}) : (%s) -> %s\n", body(values, depth+1), typ, typ, typ)
			default:
				fmt.Fprintf(&b, "%%c%s = stablehlo.constant dense<true> : tensor<i1>\n%s = \"stablehlo.if\"(%%c%s) ({\n", v[1:], v, v[1:])
				fmt.Fprintf(&b, "stablehlo.return %s : %s\n}, {\n", body(values, depth+1), typ)
				fmt.Fprintf(&b, "stablehlo.return %s : %s\n}) : (tensor<i1>) -> %s\n", body(values, depth+1), typ, typ)
			}
			values = append(values[:len(values):len(values)], v)
		}
		return values[len(values)-1]
	}
	fmt.Fprintf(&b, "func.func @main(%%a: %s, %%b: %s) -> %s {\n", typ, typ, typ)
	fmt.Fprintf(&b, "return %s : %s\n}\n", body([]string{"%a", "%b"}, 0), typ)
	return b.String()
}

// TestMixedArtifacts writes random modules of mixed dialects as artifacts. At least 95 of 100 have the bytes of
// jaxlib's artifact. Jaxlib's artifacts are read and written again: at least 98 of 100 are equal byte for byte.
func TestMixedArtifacts(t *testing.T) {
	peer.Each(t, label.Part, checkMixedArtifacts)
}

func checkMixedArtifacts(t *testing.T, python *peer.Interpreter) {
	reg := testkit.Registry(t)
	texts := map[string]string{}
	for i := range 100 {
		texts[fmt.Sprint(i)] = mixed(int64(i))
	}
	for _, target := range []string{"1.17.0", "1.8.0"} { // the other form of tan since 1.10.0
		v, err := vhlo.ParseVersion(target)
		if err != nil {
			t.Fatal(err)
		}
		o := artifact.Options{Target: v, KeepOthers: true, StripLocations: true}
		equal, again := 0, 0
		for name, want := range python.WriteArtifacts(t, target, texts) {
			m, err := read(t, reg, texts[name])
			if err != nil {
				t.Fatal(err)
			}
			got, _, err := artifact.Append(nil, m, o)
			if err != nil {
				t.Fatal(err)
			}
			if string(got) == string(want) {
				equal++
			}
			back, err := artifact.Read(diag.NewSource(name, want), ir.NewContext(reg))
			if err != nil {
				t.Fatal(err)
			}
			same(t, name, print.String(back, print.Options{Generic: true}), print.String(m, print.Options{Generic: true}))
			if got, _, err = artifact.Append(nil, back, o); err != nil {
				t.Fatal(err)
			}
			if string(got) == string(want) {
				again++
			}
		}
		t.Logf("%s: %d of %d are equal to jaxlib's, %d are written again byte for byte", target, equal, len(texts), again)
		if equal < 95 || again < 98 {
			t.Errorf("%s: %d and %d of %d", target, equal, again, len(texts))
		}
	}
}
