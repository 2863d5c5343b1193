package passes_test

import (
	"context"
	"encoding/json"
	"io/fs"
	"os"
	"path/filepath"
	"regexp"
	"slices"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"

	"github.com/hlocb/hlocb/dialect/fn"
	"github.com/hlocb/hlocb/internal/peer"
	"github.com/hlocb/hlocb/internal/testkit"
	"github.com/hlocb/hlocb/ir"
	"github.com/hlocb/hlocb/pass"
	"github.com/hlocb/hlocb/passes"
	"github.com/hlocb/hlocb/print"
)

// peerScript reads {"pipeline": text, "texts": {name: text}} as JSON and writes {name: text} with the texts that MLIR's
// pass manager makes of the texts. It leaves out what MLIR does not read.
const peerScript = `
import json, sys
from jaxlib.mlir import ir, passmanager
from jax._src.interpreters import mlir as jm
from jaxlib.mlir._mlir_libs import _stablehlo
_stablehlo.register_stablehlo_passes()
ctx = jm.make_ir_context()
job = json.load(sys.stdin)
out = {}
with ctx:
    pm = passmanager.PassManager.parse(job["pipeline"])
    for name, text in job["texts"].items():
        try:
            m = ir.Module.parse(text)
        except Exception:
            continue
        try:
            pm.run(m.operation)
            out[name] = m.operation.get_asm(enable_debug_info=job["debug"])
        except Exception as e:
            out[name] = "error: " + str(e)
json.dump(out, sys.stdout)
`

// peerTexts returns the modules of testdata and of StableHLO's tests, by name: all of them in a long run, else a part.
func peerTexts(t *testing.T) map[string]string {
	t.Helper()
	roots := []string{testkit.Testdata()}
	if dir := os.Getenv("HLOCB_UPSTREAM"); dir != "" {
		roots = append(roots, filepath.Join(dir, "stablehlo", "tests"), filepath.Join(dir, "stablehlo", "testdata"))
	}
	comment := regexp.MustCompile(`(?m)^ *//.*$`)
	out := map[string]string{}
	for _, root := range roots {
		err := filepath.WalkDir(root, func(path string, d fs.DirEntry, err error) error {
			if err != nil || d.IsDir() || !strings.HasSuffix(path, ".mlir") {
				return err
			}
			text, err := os.ReadFile(path)
			if err != nil || len(text) > 1<<20 {
				return err
			}
			rel, err := filepath.Rel(root, path)
			for i, chunk := range regexp.MustCompile(`(?m)^// -----.*$`).Split(string(text), -1) {
				out[rel+"#"+string(rune('0'+i%10))+strings.Repeat("+", i/10)] = comment.ReplaceAllString(chunk, "")
			}
			return err
		})
		if err != nil {
			t.Fatal(err)
		}
	}
	for name, text := range out {
		if m, err := testkit.TryParse(name, text); err != nil || ir.Verify(m) != nil {
			delete(out, name) // an invalid one can crash MLIR
		}
	}
	if os.Getenv("HLOCB_LONG") == "" && len(roots) > 1 {
		names := slices.Sorted(func(yield func(string) bool) {
			for n := range out {
				if !yield(n) {
					return
				}
			}
		})
		for i, n := range names {
			if i%8 != 0 {
				delete(out, n)
			}
		}
	}
	return out
}

// unlike lists the modules for which a pass gives something other than MLIR's, with the reason.
var unlike = map[string]map[string]string{"canonicalize": unlikeEffects, "cse": unlikeEffects, "inline": unlikeEffects, "sccp": unlikeSCCP}

var unlikeSCCP = map[string]string{}

var unlikeEffects = map[string]string{
	"ops/mhlo.mlir#0":                   "MHLO's rows of CHLO's functions do not state there that they have no side effects",
	"ops/stablehlo_distribution.mlir#0": "cross-replica-sum has no side effects there, unlike the other collectives",
}

// peerPipelines are the pipelines that MLIR runs too.
var peerPipelines = []string{"canonicalize", "cse", "symbol-dce", "inline", "sccp"}

// TestPassesAsMLIR compares with what MLIR's own passes give: the same text, after both are read and printed again.
func TestPassesAsMLIR(t *testing.T) {
	py := peer.Python(t)
	texts := peerTexts(t)
	table := passes.Builtin(passes.Host{})
	for _, pipeline := range peerPipelines {
		t.Run(pipeline, func(t *testing.T) {
			in, err := json.Marshal(map[string]any{"pipeline": "builtin.module(" + pipeline + ")", "texts": texts, "debug": false})
			if err != nil {
				t.Fatal(err)
			}
			var theirs map[string]string
			if err := json.Unmarshal(py.Run(t, peerScript, in), &theirs); err != nil {
				t.Fatal(err)
			}
			p, err := pass.Parse(pipeline, table)
			if err != nil {
				t.Fatal(err)
			}
			compared, failed := 0, 0
			for _, name := range slices.Sorted(func(yield func(string) bool) {
				for n := range theirs {
					if !yield(n) {
						return
					}
				}
			}) {
				m, err := testkit.TryParse(name, texts[name])
				if err != nil {
					t.Fatal(err)
				}
				if pipeline == "inline" && calls(m) {
					continue // jaxlib's build leaves func.call, whose inliner it does not register
				}
				var got string
				if err := (&pass.Driver{Verify: ir.Verify}).Run(pass.NewContext(context.Background(), m), p); err != nil {
					got = "error: " + err.Error()
				} else {
					got = again(t, name, print.String(m, print.Options{}))
				}
				want := theirs[name]
				if !strings.HasPrefix(want, "error: ") {
					want = again(t, name, want)
				}
				compared++
				d := cmp.Diff(want, got)
				_, listed := unlike[pipeline][name]
				switch {
				case d != "" && !listed:
					if failed++; failed <= 5 {
						t.Errorf("%s (-MLIR +here):\n%s", name, d)
					}
				case d == "" && listed:
					t.Errorf("%s is listed as different, but is the same", name)
				}
			}
			t.Logf("%d modules compared, %d differ", compared, failed)
			if compared < 50 {
				t.Errorf("only %d modules are compared", compared)
			}
		})
	}
}

// calls reports whether m has calls of functions.
func calls(m *ir.Module) bool {
	return !m.Op().Walk(func(op *ir.Op) bool { return !op.Is(fn.Call) })
}

// again reads a text and prints it, which names values by their order.
func again(t *testing.T, name, text string) string {
	t.Helper()
	m, err := testkit.TryParse(name, text)
	if err != nil {
		t.Errorf("%s: %v\n%s", name, err, text)
		return "error: " + err.Error()
	}
	return print.String(m, print.Options{})
}
