package viewtest

import (
	"os"
	"path/filepath"
	"strings"
	"testing"

	"github.com/hlocb/hlocb"
	"github.com/hlocb/hlocb/internal/label"
	"github.com/hlocb/hlocb/internal/reader"
	"github.com/hlocb/hlocb/internal/view"
	"github.com/hlocb/hlocb/ir"
	"github.com/hlocb/hlocb/opt"
	"github.com/hlocb/hlocb/passes"
)

// TestHooks: a page marks the hooks before and after their conversion, says that their order is proved, shows the path
// of the proof, and marks aliases.
func TestHooks(t *testing.T) {
	label.Slow(t)
	label.Once(t)
	b := open(t)
	text, err := os.ReadFile("../../testdata/mlir/train_step.mlir")
	if err != nil {
		t.Fatal(err)
	}
	var before *ir.Module
	p, err := hlocb.Parse(t.Context(), "train_step.mlir", text, hlocb.Rewrite(passes.RewriteHooks{}), hlocb.BeforeConversion(func(m *ir.Module) error {
		before = m.Clone()
		return nil
	}))
	if err != nil {
		t.Fatal(err)
	}
	b.show(write(t, &view.Document{Title: "t", Steps: []view.Step{{Name: "before", Module: before}, {Name: "after", Module: p.Module()}},
		Hooks: &view.Hooks{Manifest: p.Manifest(), Aliases: p.Rewritten().Aliases, Origins: p.Rewritten().Origins}}), "")
	if got := eval[string](b, `document.querySelector(".proof.good").textContent`); !strings.Contains(got, "order proved") {
		t.Errorf("the page says %q", got)
	}
	names := `[...document.querySelectorAll("#hooks .hook-name")].map((e) => e.textContent + " " + !e.disabled).join(", ")`
	ops := `[...hlocb.state.step.hookItem.values()].map((i) => hlocb.state.step.opName(i)).join(", ")`
	for _, want := range []string{"stablehlo.custom_call, stablehlo.custom_call", "stablehlo.outfeed, stablehlo.outfeed"} {
		if got := eval[string](b, names); got != "loss true, grad_norm true" {
			t.Errorf("the hooks are %q", got)
		}
		if got := eval[string](b, ops); got != want {
			t.Errorf("the ops of the hooks are %q, want %q", got, want)
		}
		if want != "stablehlo.outfeed, stablehlo.outfeed" {
			if got := eval[string](b, `[...hlocb.state.aliasEdges.values()].join()`); got != "kept,kept" {
				t.Errorf("the aliases are %q", got)
			}
			eval[bool](b, `(() => { document.querySelectorAll("#hooks .edge button")[1].click(); return true; })()`)
			if got := eval[string](b, `hlocb.state.path.map(hlocb.labelOf).join(" ")`); got != "loss grad_norm" {
				t.Errorf("the path of the order is %q", got)
			}
		}
		b.keys("[")
	}
	b.check()
}

// TestSteps: ops keep their places from pass to pass, and the page marks what each pass did, with the rules that fired.
func TestSteps(t *testing.T) {
	label.Slow(t)
	label.Once(t)
	b := open(t)
	dir := t.TempDir()
	input, output := filepath.Join(dir, "in.mlir"), filepath.Join(dir, "out.html")
	if err := os.WriteFile(input, []byte(`module {
  func.func @main(%a: tensor<4xf32>) -> tensor<4xf32> {
    %z = stablehlo.constant dense<0.0> : tensor<4xf32>
    %0 = stablehlo.tanh %a : tensor<4xf32>
    %1 = stablehlo.tanh %a : tensor<4xf32>
    %2 = stablehlo.multiply %0, %1 : tensor<4xf32>
    %3 = stablehlo.transpose %2, dims = [0] : (tensor<4xf32>) -> tensor<4xf32>
    return %3 : tensor<4xf32>
  }
}`), 0o666); err != nil {
		t.Fatal(err)
	}
	var log strings.Builder
	if code := opt.Main([]string{input, "--passes", "cse,dce,func.func(stablehlo-aggressive-simplification),cse", "--html", output, "-o", filepath.Join(dir, "out.mlir")},
		opt.Streams{In: strings.NewReader(""), Out: &log, Err: &log}, opt.Config{Dialects: reader.Registry().Dialects()}); code != 0 {
		t.Fatal(log.String())
	}
	b.show(output, "#step=0")
	state := `JSON.stringify([hlocb.state.step.head.name, hlocb.state.step.head.same || [], (hlocb.state.step.head.rules || []).map((r) => r.name), [...hlocb.state.step.removed].map(hlocb.labelOf)])`
	places := `JSON.stringify([...hlocb.layout.x, ...hlocb.layout.y])`
	first := eval[string](b, places)
	for _, want := range []string{`["in.mlir",[],[],[]]`, `["cse",["dce"],[],["constant 0","tanh"]]`, `["func.func(stablehlo-aggressive-simplification)",["cse"],["transpose"],["transpose"]]`} {
		if got := eval[string](b, state); got != want {
			t.Errorf("the step is %s, want %s", got, want)
		}
		if eval[string](b, places) != first {
			t.Errorf("%s: ops moved", want)
		}
		b.keys("]")
	}
	b.check()
}

// TestPrint: on paper the page is light, and afterwards as before.
func TestPrint(t *testing.T) {
	label.Slow(t)
	label.Once(t)
	b := open(t)
	b.show(write(t, &view.Document{Title: "t", Steps: []view.Step{{Name: "t", Module: parse(t, "t.mlir", tapped)}}}), "#theme=dark")
	state := `document.documentElement.dataset.theme + " " + hlocb.graph.camera.zoom`
	before := eval[string](b, state)
	during := eval[string](b, `(() => { dispatchEvent(new Event("beforeprint")); return document.documentElement.dataset.theme; })()`)
	after := eval[string](b, `(() => { dispatchEvent(new Event("afterprint")); return `+state+`; })()`)
	if during != "light" || after != before {
		t.Errorf("the theme on paper is %s; after printing the page is %q, not %q", during, after, before)
	}
	b.check()
}
