package endtoend

import (
	"bytes"
	"fmt"
	"os"
	"path/filepath"
	"regexp"
	"slices"
	"strings"
	"testing"

	"github.com/hlocb/hlocb/diag"
	"github.com/hlocb/hlocb/dialect/mhlo"
	"github.com/hlocb/hlocb/dialect/sdy"
	"github.com/hlocb/hlocb/hlo"
	"github.com/hlocb/hlocb/internal/reader"
	"github.com/hlocb/hlocb/internal/shardy"
	"github.com/hlocb/hlocb/internal/testkit"
	"github.com/hlocb/hlocb/ir"
	"github.com/hlocb/hlocb/passes"
	"github.com/hlocb/hlocb/print"
	"github.com/hlocb/hlocb/runtime"
	"github.com/hlocb/hlocb/tensor"
)

func readModule(t *testing.T, name string, text []byte) *ir.Module {
	t.Helper()
	m, err := reader.Read(diag.NewSource(name, text))
	if err != nil {
		t.Fatalf("%v\n%s", err, text)
	}
	return m
}

func hloOf(t *testing.T, m *ir.Module) string {
	t.Helper()
	h, err := reader.ToHLO(t.Context(), m)
	if err != nil {
		t.Fatal(err)
	}
	return string(h.AppendText(nil, hlo.TextOptions{}))
}

// TestShardyInHLO translates a program with a manual computation to HLO, rewrites the HLO, and runs the rewritten HLO.
// Like JAX's text, the HLO does not state the number of partitions.
func TestShardyInHLO(t *testing.T) {
	const file = "sharded_shardy.mlir"
	m := testkit.ParseFile(t, testkit.Testdata("mlir", file))
	text := strings.Replace(hloOf(t, m), ", num_partitions=4", "", 1)
	if !strings.Contains(text, "xla.sdy.LocalToGlobalShape") || strings.Contains(text, "num_partitions") {
		t.Fatalf("not as JAX writes it:\n%s", text)
	}
	m = readModule(t, "sharded.hlo", []byte(text))
	r, err := passes.Rewrite(t.Context(), m, passes.RewriteHooks{Targets: []string{"probe"}})
	if err != nil {
		t.Fatal(err)
	}
	var rewritten bytes.Buffer
	if err := reader.Write(t.Context(), &rewritten, ".hlo", m, print.Options{}); err != nil {
		t.Fatal(err)
	}
	again := readModule(t, "rewritten.hlo", rewritten.Bytes())
	for _, backend := range []string{"interp", "cpu"} {
		t.Run(backend, func(t *testing.T) {
			p := &runtime.Program{Module: again, Manifest: r.Manifest}
			runShardedProgram(t, open(t, backend), p, file, 3, count(tensor.Shape{8, 2}, 1), count(nil, 3))
		})
	}
}

// TestShardyWithoutPartitions: a module in XLA's form that states no number of partitions has as many as its mesh has
// devices.
func TestShardyWithoutPartitions(t *testing.T) {
	m := testkit.ParseFile(t, testkit.Testdata("mlir", "sharded_shardy.mlir"))
	if err := shardy.Export(m, nil); err != nil {
		t.Fatal(err)
	}
	m.Op().RemoveAttr(mhlo.AttrNumReplicas)
	m.Op().RemoveAttr(mhlo.AttrNumPartitions)
	m = readModule(t, "sharded.mlir", []byte(print.String(m, print.Options{})))
	if _, partitions := mhlo.Devices(m); partitions != 4 {
		t.Errorf("%d partitions, want 4", partitions)
	}
}

// TestShardyInHLOStays: HLO with manual computations that is read and written again is the same to the byte.
func TestShardyInHLOStays(t *testing.T) {
	files := testkit.Glob(t, "hooks/hlo/*shardmap*")
	text := []byte(hloOf(t, testkit.ParseFile(t, testkit.Testdata("mlir", "sharded_shardy.mlir"))))
	texts := map[string][]byte{"sharded.hlo": text}
	for _, f := range files {
		texts[f] = readFile(t, f)
	}
	if dir := os.Getenv("HLOCB_HLO"); dir != "" {
		more, err := filepath.Glob(filepath.Join(dir, "*", "*"))
		if err != nil {
			t.Fatal(err)
		}
		for _, f := range more {
			if text := readFile(t, f); !strings.HasSuffix(f, ".want") && bytes.Contains(text, []byte("xla.sdy.LocalToGlobalShape")) {
				texts[f] = text
			}
		}
	}
	for name, text := range texts {
		src := diag.NewSource(name, text)
		old, err := reader.ReadHLO(src)
		if err != nil {
			t.Fatal(err)
		}
		m := readModule(t, name, text)
		found := false
		m.Walk(func(op *ir.Op) bool {
			found = found || op.Is(sdy.ManualComputation)
			return true
		})
		if !found {
			t.Errorf("%s: found no manual computation", name)
		}
		if !bytes.Contains(text, []byte("inlineable")) {
			continue // a hand-written test of XLA without the attributes that XLA writes
		}
		if got, want := hloOf(t, m), string(old.AppendText(nil, hlo.TextOptions{})); got != want {
			t.Errorf("%s: written again:\n%s\nwant\n%s", name, got, want)
		}
	}
}

// TestShardyHeaderChanges: a number of partitions that was stated after reading is written; that of the mesh follows.
func TestShardyHeaderChanges(t *testing.T) {
	text := hloOf(t, testkit.ParseFile(t, testkit.Testdata("mlir", "sharded_shardy.mlir")))
	text = strings.Replace(text, ", num_partitions=4", "", 1)
	for n, stated := range map[int64]bool{4: false, 8: true} {
		m := readModule(t, "sharded.hlo", []byte(text))
		m.Op().SetAttr(mhlo.AttrNumPartitions, ir.NewInteger(n, ir.Int(32)))
		if got := strings.Contains(hloOf(t, m), fmt.Sprintf("num_partitions=%d", n)); got != stated {
			t.Errorf("%d partitions: stated in the header: %v, want %v", n, got, stated)
		}
		if _, now := mhlo.Devices(m); int64(now) != n {
			t.Errorf("writing changed %d partitions to %d", n, now)
		}
	}
}

var shardedInstr = regexp.MustCompile(`(?m)^ *(?:ROOT )?%?[\w.-]+ = \(?\S.*? ([a-z][\w-]*)\(.*?(, sharding=\{.*?\})?(?:, frontend_attributes=(\{.*?"?\}))?(?:, metadata|, backend_config|$)`)

// TestShardingsInHLO translates JAX's modules to HLO and compares the shardings and Shardy's attributes of their
// instructions with those of JAX's translation. The elements of tuples, which inherit them in XLA, are left out.
func TestShardingsInHLO(t *testing.T) {
	shardings := func(text string) []string {
		var out []string
		for _, m := range shardedInstr.FindAllStringSubmatch(text, -1) {
			if m[2]+m[3] != "" && m[1] != "get-tuple-element" && m[1] != "call" {
				out = append(out, fmt.Sprintf("%s%s %s", m[1], m[2], m[3]))
			}
		}
		slices.Sort(out)
		return out
	}
	total := 0
	for _, f := range testkit.Glob(t, "hooks/jax_*.mlir") {
		name := strings.TrimSuffix(filepath.Base(f), ".mlir")
		m := testkit.ParseFile(t, f)
		twin := testkit.Testdata("hooks", "hlo", name+".hlo.txt")
		text, err := filepath.Glob(twin)
		if err != nil || len(text) == 0 || !strings.Contains(print.String(m, print.Options{}), "sdy.mesh") {
			continue
		}
		got, want := shardings(hloOf(t, m)), shardings(string(readFile(t, twin)))
		if !slices.Equal(got, want) {
			t.Errorf("%s: shardings\n%s\nJAX's\n%s", name, strings.Join(got, "\n"), strings.Join(want, "\n"))
		}
		total += len(want)
	}
	if total < 50 {
		t.Errorf("%d shardings compared, expected at least 50", total)
	}
}
