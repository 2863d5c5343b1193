package endtoend

import (
	"encoding/json"
	"os"
	"path/filepath"
	"strings"
	"testing"

	"github.com/hlocb/hlocb/internal/cli"
	"github.com/hlocb/hlocb/internal/label"
	"github.com/hlocb/hlocb/internal/peer"
)

// exportScript reads {name: [path of MLIR, path of our HLO proto]} and writes {name: difference}. It compares jaxlib's
// translation with ours in XLA's canonical form, which numbers computations and has no metadata and no names of
// instructions. It skips files that jaxlib does not translate.
const exportScript = `
import json, os, re, sys
from jaxlib import _hlo, _jax
job = json.load(sys.stdin)
os.dup2(os.open(os.devnull, os.O_WRONLY), 2)
options = _hlo.HloPrintOptions.canonical()
options.print_large_constants = True
options.print_metadata = False
def text(proto):
    lines = _hlo.HloModule.from_serialized_hlo_module_proto(proto).to_string(options).split("\n")[1:]
    names = {}
    for l in lines:
        if m := re.match(r"(?:ENTRY )?([\w.-]+) \{", l):
            names[m[1]] = f"computation{len(names)}"
    return [re.sub(r"[A-Za-z_][\w.-]*", lambda m: names.get(m[0], m[0]), l) for l in lines]
out = {}
for name, (theirs, ours) in job.items():
    try:
        want = _jax.mlir.mlir_module_to_xla_computation(open(theirs).read(), False, False).as_serialized_hlo_module_proto()
    except Exception:
        continue
    try:
        w, g = text(want), text(open(ours, "rb").read())
        at = next((i for i, (a, b) in enumerate(zip(w, g)) if a != b), min(len(w), len(g)))
        out[name] = "" if w == g else f"line {at}: {g[at:at+1]}, jaxlib {w[at:at+1]}"[:400]
    except Exception as e:
        out[name] = str(e)
json.dump(out, sys.stdout)
`

// unlikeJaxlib are the modules whose translations differ, up to their element types. The functions are expanded to
// loops or to complex numbers, which XLA folds further.
var unlikeJaxlib = []string{"cosh_complex", "igamma_", "igammac_", "random_gamma_", "regularized_incomplete_beta_", "sinh_complex"}

// TestExportAsJaxlib translates StableHLO's testdata to HLO. The instructions must equal jaxlib's translation.
func TestExportAsJaxlib(t *testing.T) {
	label.Once(t)
	peer.Each(t, label.Part, checkExportAsJaxlib)
}

func checkExportAsJaxlib(t *testing.T, python *peer.Interpreter) {
	dir := os.Getenv("HLOCB_UPSTREAM")
	if dir == "" {
		t.Skip("skip: HLOCB_UPSTREAM names no folder with StableHLO's test files")
	}
	files, err := filepath.Glob(filepath.Join(dir, "stablehlo", "testdata", "*.mlir"))
	if err != nil || len(files) == 0 {
		t.Fatalf("%d files of testdata: %v", len(files), err)
	}
	files = sample(files, 20)
	differences := exportDifferences(t, python, files)
	equal := 0
	for name, d := range differences {
		if d == "" || python.Differs("translation of "+name) != "" {
			equal++
		} else if !hasPrefix(name, unlikeJaxlib) {
			t.Errorf("%s: %s", name, d)
		}
	}
	t.Logf("%d of %d are equal", equal, len(differences))
	if equal*100 < 97*len(differences) || len(differences)*100 < 99*len(files) {
		t.Errorf("%d of %d translations are equal; jaxlib translates %d", equal, len(files), len(differences))
	}
}

// TestExportOfAttributes: the instructions of constants have shardings and no frontend attributes, as jaxlib's.
func TestExportOfAttributes(t *testing.T) {
	peer.Each(t, label.Part, checkExportOfAttributes)
}

func checkExportOfAttributes(t *testing.T, python *peer.Interpreter) {
	file := filepath.Join(t.TempDir(), "attributes.mlir")
	const attrs = `{mhlo.sharding = "{devices=[2]<=[2]}", mhlo.frontend_attributes = {a = "b"}}`
	text := `module @m attributes {mhlo.num_partitions = 2 : i32} {
  func.func @main(%x: tensor<4xf32>) -> tensor<4xf32> {
    %list = stablehlo.constant ATTRS dense<[1.0, 2.0, 3.0, 4.0]> : tensor<4xf32>
    %splat = stablehlo.constant ATTRS dense<1.0> : tensor<4xf32>
    %iota = stablehlo.iota dim = 0 ATTRS : tensor<4xf32>
    %0 = stablehlo.add %x, %list ATTRS : tensor<4xf32>
    %1 = stablehlo.multiply %0, %splat : tensor<4xf32>
    %2 = stablehlo.subtract %1, %iota : tensor<4xf32>
    return %2 : tensor<4xf32>
  }
}
`
	if err := os.WriteFile(file, []byte(strings.ReplaceAll(text, "ATTRS", attrs)), 0o666); err != nil {
		t.Fatal(err)
	}
	if d := exportDifferences(t, python, []string{file}); len(d) != 1 || d["attributes.mlir"] != "" {
		t.Errorf("differences: %v", d)
	}
}

// exportDifferences translates files to HLO and returns how the translations differ from jaxlib's, by the names of the
// files that jaxlib translates.
func exportDifferences(t *testing.T, python *peer.Interpreter, files []string) map[string]string {
	t.Helper()
	job := map[string][2]string{}
	out := t.TempDir()
	for _, f := range files {
		name := filepath.Base(f)
		proto := filepath.Join(out, name+".pb")
		var stderr strings.Builder
		if code := cli.Run(t.Context(), []string{"translate", f, "-o", proto}, strings.NewReader(""), &stderr, &stderr); code != 0 {
			t.Errorf("%s: %s", name, stderr.String())
			continue
		}
		job[name] = [2]string{f, proto}
	}
	in, err := json.Marshal(job)
	if err != nil {
		t.Fatal(err)
	}
	var differences map[string]string
	if err := json.Unmarshal(python.Run(t, exportScript, in), &differences); err != nil {
		t.Fatal(err)
	}
	return differences
}

func hasPrefix(name string, prefixes []string) bool {
	for _, p := range prefixes {
		if strings.HasPrefix(name, p) {
			return true
		}
	}
	return false
}
