package passes_test

import (
	"encoding/json"
	"strings"
	"testing"

	"github.com/hlocb/hlocb/internal/label"
	"github.com/hlocb/hlocb/internal/peer"
	"github.com/hlocb/hlocb/internal/testkit"
	"github.com/hlocb/hlocb/pass"
	"github.com/hlocb/hlocb/passes"
)

// printedScript reads pipelines and modules, and writes the text that MLIR prints of each pipeline, and the modules
// after it, or its error.
const printedScript = `
import json, sys
from jaxlib.mlir import ir, passmanager
from jax._src.interpreters import mlir as jm
from jaxlib.mlir._mlir_libs import _stablehlo, _mlirHlo
_stablehlo.register_stablehlo_passes()
_mlirHlo.register_mhlo_passes()
job, out = json.load(sys.stdin), {}
with jm.make_ir_context():
    for p in job["Pipelines"]:
        out[p] = {"Printed": str(passmanager.PassManager.parse(p)), "Texts": {}, "Errors": {}}
        if p.startswith("any"):
            continue
        for name, text in job["Modules"].items():
            m = ir.Module.parse(text)
            try:
                passmanager.PassManager.parse(p).run(m.operation)
                out[p]["Texts"][name] = m.operation.get_asm()
            except Exception as e:
                out[p]["Errors"][name] = str(e)
json.dump(out, sys.stdout)
`

// pipelines are passes of MLIR, StableHLO and XLA with values for each of their options. refused is a part of hlocb's
// error, for a value that hlocb does not have.
var pipelines = []struct{ text, refused string }{
	{"builtin.module(canonicalize)", ""},
	{"any(canonicalize,cse)", ""},
	{"builtin.module(canonicalize{max-iterations=0})", ""},
	{"builtin.module(canonicalize{max-iterations=1})", ""},
	{"builtin.module(canonicalize{max-iterations=-1})", ""},
	{"builtin.module(canonicalize{max-num-rewrites=0})", ""},
	{"builtin.module(canonicalize{region-simplify=disabled})", ""},
	{"builtin.module(canonicalize{region-simplify=aggressive})", "hlocb does not do"},
	{"builtin.module(canonicalize{test-convergence=true})", ""},
	{"builtin.module(canonicalize{top-down=false})", ""},
	{"builtin.module(canonicalize{cse-between-iterations=true})", ""},
	{"builtin.module(canonicalize{disable-patterns=no-such-pattern})", "no rule is named"},
	{"builtin.module(cse)", ""},
	{"builtin.module(func.func(canonicalize,cse),symbol-dce)", ""},
	{"builtin.module(inline)", ""},
	{"builtin.module(inline{default-pipeline=})", ""},
	{"builtin.module(inline{default-pipeline= inlining-threshold=0})", ""},
	{"builtin.module(inline{default-pipeline=canonicalize,cse})", ""},
	{"builtin.module(inline{max-iterations=0})", ""},
	{"builtin.module(inline{max-iterations=1 default-pipeline=})", ""},
	{"builtin.module(inline{op-pipelines=func.func(canonicalize{max-iterations=1},cse)})", ""},
	{"builtin.module(inline{default-pipeline= op-pipelines=func.func(cse)})", ""},
	{"builtin.module(symbol-dce)", ""},
	{"builtin.module(sccp)", ""},
	{"builtin.module(remove-dead-values)", ""},
	{"builtin.module(remove-dead-values{canonicalize=false})", ""},
	{"builtin.module(strip-debuginfo)", ""},
	{"builtin.module(loop-invariant-code-motion)", ""},
	{"builtin.module(func.func(chlo-legalize-to-stablehlo,shape-legalize-to-stablehlo))", ""},
	{"builtin.module(func.func(stablehlo-canonicalize-dynamism))", ""},
	{"builtin.module(func.func(stablehlo-check-shape-assertions))", ""},
	{"builtin.module(func.func(stablehlo-check-shape-assertions{enable-shape-assertions=false}))", ""},
	{"builtin.module(stablehlo-compatibility-expander{target=1.0.0})", ""},
	{"builtin.module(stablehlo-compatibility-expander)", "target"},
	{"builtin.module(func.func(stablehlo-complex-math-expander))", ""},
	{"builtin.module(stablehlo-convert-to-signless)", ""},
	{"builtin.module(func.func(stablehlo-legalize-composite-to-call))", ""},
	{"builtin.module(func.func(stablehlo-legalize-composite-to-call{except=a.b,c.d}))", ""},
	{"builtin.module(func.func(stablehlo-legalize-deprecated-ops))", ""},
	{"builtin.module(func.func(stablehlo-legalize-deprecated-ops{fail-on-unused=false}))", ""},
	{"builtin.module(func.func(stablehlo-legalize-qdq-to-quantized-op,stablehlo-legalize-quant-to-math,stablehlo-legalize-quantized-op-to-qdq))", ""},
	{"builtin.module(stablehlo-legalize-to-vhlo)", ""},
	{"builtin.module(stablehlo-legalize-to-vhlo{allow-other-dialects=true})", ""},
	{"builtin.module(stablehlo-legalize-to-vhlo,vhlo-to-version{target=1.0.0})", ""},
	{"builtin.module(stablehlo-legalize-to-vhlo,vhlo-legalize-to-stablehlo)", ""},
	{"builtin.module(stablehlo-refine-arguments{types=tensor<f32>,tensor<2xf32>})", ""},
	{"builtin.module(stablehlo-refine-shapes)", ""},
	{"builtin.module(stablehlo-wrap-in-composite{op-names=stablehlo.add,stablehlo.sine version=3})", ""},
	{"builtin.module(hlo-legalize-to-stablehlo)", ""},
	{"builtin.module(hlo-legalize-to-stablehlo{allow-experimental-features=true})", "allow-experimental-features"},
	{"builtin.module(hlo-legalize-to-stablehlo{allow-xla-features=true})", "allow-xla-features"},
}

// TestPrintedPipelines: hlocb reads the pipelines that jaxlib prints of its passes, with every option, as it reads the
// text that jaxlib was given, and changes modules as jaxlib does. A value that hlocb does not have is refused by the
// name of its option or pass.
func TestPrintedPipelines(t *testing.T) {
	peer.Each(t, label.Part, checkPrintedPipelines)
}

func checkPrintedPipelines(t *testing.T, python *peer.Interpreter) {
	reg := testkit.Registry(t)
	var job struct {
		Pipelines []string
		Modules   map[string]string
	}
	for _, c := range pipelines {
		job.Pipelines = append(job.Pipelines, c.text)
	}
	job.Modules = modulesForOptions
	in, err := json.Marshal(&job)
	if err != nil {
		t.Fatal(err)
	}
	var answers map[string]struct {
		Printed       string
		Texts, Errors map[string]string
	}
	if err := json.Unmarshal(python.Run(t, printedScript, in), &answers); err != nil {
		t.Fatal(err)
	}
	table := passes.Builtin(passes.Host{ParseType: parseType})
	same := 0
	for _, c := range pipelines {
		want := answers[c.text]
		theirs, err := pass.Parse(want.Printed, table)
		ours, ourErr := pass.Parse(c.text, table)
		switch {
		case c.refused != "":
			if err == nil {
				_, err = runPipeline("calls", job.Modules["calls"], want.Printed, reg)
			}
			if err == nil || !strings.Contains(err.Error(), c.refused) {
				t.Errorf("%s: want an error with %q, got %v", want.Printed, c.refused, err)
			}
			continue
		case err != nil || ourErr != nil:
			t.Errorf("%s: %v %v", want.Printed, err, ourErr)
			continue
		case theirs.String() != ours.String():
			t.Errorf("%s\nis read as %s\ninstead of %s", want.Printed, theirs, ours)
		}
		for name, text := range job.Modules {
			got, err := runPipeline(name, text, want.Printed, reg)
			theirs, valid := want.Texts[name]
			switch {
			case strings.HasPrefix(c.text, "any"):
			case strings.Contains(c.text, "inline") && name == "calls":
				// jaxlib does not register the interface of func.call that inlines; see testdata/passes/mlir_options.txtar.
				if strings.Count(theirs, " call @") != strings.Count(text, " call @") {
					t.Errorf("%s: jaxlib inlines functions now; compare the results\n%s", c.text, theirs)
				}
			case python.Differs(c.text+" on "+name) != "":
			case valid != (err == nil):
				t.Errorf("%s on %s: got error %v, jaxlib's error is %q", c.text, name, err, want.Errors[name])
			case valid && got != theirs:
				t.Errorf("%s on %s differs: %s", c.text, name, firstDifference(got, theirs))
			default:
				same++
			}
		}
	}
	t.Logf("%d pipelines, %d results as jaxlib's", len(pipelines), same)
}

// modulesForOptions are changed by most options of pipelines.
var modulesForOptions = map[string]string{
	"calls": `
func.func @main(%x: tensor<f32>) -> tensor<f32> {
  %0 = call @g(%x) : (tensor<f32>) -> tensor<f32>
  %1 = call @g(%0) : (tensor<f32>) -> tensor<f32>
  return %1 : tensor<f32>
}
func.func private @g(%x: tensor<f32>) -> tensor<f32> {
  %0 = stablehlo.sine %x : tensor<f32>
  %1 = stablehlo.sine %x : tensor<f32>
  %2 = stablehlo.add %0, %1 : tensor<f32>
  %3 = stablehlo.cosine %x : tensor<f32>
  %4 = call @h(%2) : (tensor<f32>) -> tensor<f32>
  return %4 : tensor<f32>
}
func.func private @h(%x: tensor<f32>) -> tensor<f32> {
  %c = stablehlo.constant dense<1.0> : tensor<f32>
  %d = stablehlo.constant dense<1.0> : tensor<f32>
  %0 = stablehlo.add %x, %c : tensor<f32>
  %1 = stablehlo.add %0, %d : tensor<f32>
  %2 = stablehlo.cosine %1 : tensor<f32>
  return %1 : tensor<f32>
}`,
	"deprecated": `
func.func @main(%x: tensor<2xf32>, %i: tensor<2xi32>) -> tensor<2xf32> {
  %0 = "stablehlo.map"(%x) <{dimensions = array<i64: 0>}> ({
  ^bb0(%a: tensor<f32>):
    %b = stablehlo.sine %a : tensor<f32>
    stablehlo.return %b : tensor<f32>
  }) : (tensor<2xf32>) -> tensor<2xf32>
  return %0 : tensor<2xf32>
}`,
	"composites": `
func.func @main(%x: tensor<f32>) -> tensor<f32> {
  %0 = stablehlo.composite "a.b" %x {decomposition = @g} : (tensor<f32>) -> tensor<f32>
  %1 = stablehlo.composite "c.d" %0 {decomposition = @g} : (tensor<f32>) -> tensor<f32>
  %2 = stablehlo.composite "e.f" %1 {decomposition = @g} : (tensor<f32>) -> tensor<f32>
  return %2 : tensor<f32>
}
func.func private @g(%x: tensor<f32>) -> tensor<f32> {
  %0 = stablehlo.sine %x : tensor<f32>
  return %0 : tensor<f32>
}`,
	"assertions": `
func.func @main(%x: tensor<2xf32>) -> tensor<2xf32> {
  %p = stablehlo.constant dense<false> : tensor<i1>
  stablehlo.custom_call @shape_assertion(%p) {error_message = "no", has_side_effect = true} : (tensor<i1>) -> ()
  return %x : tensor<2xf32>
}`,
	"arguments": `
func.func @main(%x: tensor<f32>, %y: tensor<?xf32>) -> tensor<?xf32> {
  return %y : tensor<?xf32>
}`,
}
