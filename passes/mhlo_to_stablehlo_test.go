package passes_test

import (
	"context"
	"encoding/json"
	"os"
	"path/filepath"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"

	"github.com/hlocb/hlocb/diag"
	"github.com/hlocb/hlocb/dialect/all"
	"github.com/hlocb/hlocb/internal/label"
	"github.com/hlocb/hlocb/internal/peer"
	"github.com/hlocb/hlocb/internal/testkit"
	"github.com/hlocb/hlocb/ir"
	"github.com/hlocb/hlocb/parse"
	"github.com/hlocb/hlocb/pass"
	"github.com/hlocb/hlocb/passes"
	"github.com/hlocb/hlocb/print"
)

// legalizeScript reads {name: text} as JSON and writes the result of XLA's pass for each text.
const legalizeScript = `
import json, sys
from jaxlib.mlir import ir, passmanager
from jax._src.interpreters import mlir as jm
import jaxlib.mlir.dialects.mhlo as mhlo
mhlo.register_mhlo_passes()
ctx = jm.make_ir_context()
mhlo.register_mhlo_dialect(ctx)
out = {}
with ctx:
    for name, text in json.load(sys.stdin).items():
        try:
            m = ir.Module.parse(text)
            passmanager.PassManager.parse("builtin.module(hlo-legalize-to-stablehlo)").run(m.operation)
            out[name] = m.operation.get_asm()
        except Exception as e:
            out[name] = "error: " + str(e)
json.dump(out, sys.stdout)
`

// TestMHLOToStableHLO writes the samples of StableHLO's operations as MHLO and back, and compares the result with XLA's
// pass.
func TestMHLOToStableHLO(t *testing.T) {
	peer.Each(t, label.Part, checkMHLOToStableHLO)
}

func checkMHLOToStableHLO(t *testing.T, python *peer.Interpreter) {
	read := func(name, text string) *ir.Module {
		m := testkit.Parse(t, name, text)
		if err := ir.Verify(m); err != nil {
			t.Fatal(err)
		}
		return m
	}
	inputs, results := map[string]string{}, map[string]string{}
	for _, f := range testkit.Glob(t, "ops/stablehlo_*.mlir") {
		name := filepath.Base(f)
		if name == "stablehlo_newer.mlir" {
			continue // MHLO lacks it
		}
		text, err := os.ReadFile(f)
		if err != nil {
			t.Fatal(err)
		}
		want := read(name, string(text))
		inputs[name] = testkit.MHLO(print.String(want, print.Options{Generic: true}))
		got := read(name, inputs[name])
		if err := (passes.MHLOToStableHLO{}).Run(pass.NewContext(context.Background(), got), got); err != nil {
			t.Fatal(err)
		}
		if err := ir.Verify(got); err != nil {
			t.Fatal(err)
		}
		results[name] = print.String(got, print.Options{})
		if d := cmp.Diff(print.String(want, print.Options{}), results[name]); d != "" {
			t.Errorf("%s (-before +after):\n%s", name, d)
		}
	}
	delete(inputs, "stablehlo_quantized.mlir") // jaxlib lacks the type
	in, err := json.Marshal(inputs)
	if err != nil {
		t.Fatal(err)
	}
	var theirs map[string]string
	if err := json.Unmarshal(python.Run(t, legalizeScript, in), &theirs); err != nil {
		t.Fatal(err)
	}
	for name, text := range theirs {
		if d := cmp.Diff(strings.TrimSpace(text), strings.TrimSpace(results[name])); d != "" {
			t.Errorf("%s (-XLA +here):\n%s", name, d)
		}
	}
}

// TestMHLOsOwnOperations: MHLO's own operations become CHLO's if CHLO has them; the other operations stay.
func TestMHLOsOwnOperations(t *testing.T) {
	reg, err := all.Registry()
	if err != nil {
		t.Fatal(err)
	}
	text, err := os.ReadFile("../testdata/ops/mhlo.mlir")
	if err != nil {
		t.Fatal(err)
	}
	m, err := parse.Parse(diag.NewSource("mhlo.mlir", text), ir.NewContext(reg), parse.Options{})
	if err != nil {
		t.Fatal(err)
	}
	if err := (passes.MHLOToStableHLO{}).Run(pass.NewContext(context.Background(), m), m); err != nil {
		t.Fatal(err)
	}
	if err := ir.Verify(m); err != nil {
		t.Fatal(err)
	}
	counts := map[string]int{}
	m.Walk(func(op *ir.Op) bool {
		if d := op.Def().Dialect(); d == "mhlo" || d == "chlo" {
			counts[op.Name()]++
		}
		return true
	})
	want := map[string]int{}
	for _, name := range strings.Fields("acos acosh asin asinh atanh cosh erf mulhi ragged_dot scan sinh top_k") {
		want["chlo."+name] = 1
	}
	for _, name := range strings.Fields("add_dependency async_done async_start async_update bitcast copy domain fusion minimum_broadcast_shapes return stochastic_convert trace xla.rng_get_and_update_state") {
		want["mhlo."+name] = 1
	}
	if d := cmp.Diff(want, counts); d != "" {
		t.Errorf("what is left of the dialects (-want +got):\n%s", d)
	}
}
