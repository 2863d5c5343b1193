package viewtest

import (
	"context"
	"flag"
	"os"
	"path/filepath"
	"strings"
	"testing"

	"github.com/chromedp/cdproto/cdp"
	"github.com/chromedp/cdproto/page"
	"github.com/chromedp/chromedp"
	"github.com/chromedp/chromedp/kb"
)

var update = flag.Bool("update", false, "take the pictures of docs/view.md again")

// TestPictures takes the pictures of docs/view.md, with -update. A person looks at them: that is the test.
func TestPictures(t *testing.T) {
	if !*update {
		t.Skip("skip: pictures: -update takes them")
	}
	b := open(t)
	dir := t.TempDir()
	hlocb := func(args ...string) {
		t.Helper()
		command(t, 0, args...)
	}
	at := func(name string) string { return filepath.Join(dir, name) }
	const train, transformer = "../../testdata/mlir/train_step.mlir", "../../testdata/transformer_grad_loc.mlir"
	hlocb("record", train, "--fill", "iota", "-o", at("monday.jsonl"))
	hlocb("record", train, "--fill", "random:3", "-o", at("friday.jsonl"))
	hlocb("view", train, "--recording", at("monday.jsonl"), "--recording", at("friday.jsonl"), "-o", at("hooks.html"))
	hlocb("opt", transformer, "--passes", "inline,symbol-dce,canonicalize,cse,func.func(stablehlo-aggressive-simplification),dce", "--html", at("passes.html"), "-o", at("out.mlir"))
	hlocb("view", transformer, "-o", at("transformer.html"))
	hlocb("opt", transformer, "--passes", "inline,symbol-dce,canonicalize,cse", "-o", at("before.mlir"))
	hlocb("opt", at("before.mlir"), "--passes", "func.func(stablehlo-aggressive-simplification)", "-o", at("after.mlir"))

	take := func(name string) {
		t.Helper()
		b.check()
		quality := int64(82)
		shot, err := chromedp.Run(b.ctx, func(ctx context.Context, t *chromedp.Target) (page.CaptureScreenshotResult, error) {
			return cdp.Call(ctx, t, page.CaptureScreenshot, page.CaptureScreenshotParams{Format: "webp", Quality: &quality})
		})
		if err != nil {
			t.Fatal(err)
		}
		if err := os.MkdirAll("../../docs/view", 0o777); err != nil {
			t.Fatal(err)
		}
		if err := os.WriteFile("../../docs/view/"+name+".webp", shot.Data, 0o666); err != nil {
			t.Fatal(err)
		}
	}
	wait := func() {
		eval[bool](b, `new Promise((done) => setTimeout(() => { hlocb.graph.paintNow(); done(true); }, 500))`)
	}
	b.run(chromedp.EmulateViewport(1600, 820))
	b.show(at("hooks.html"), "#theme=light&view=gx")
	eval[bool](b, `(() => { hlocb.goto(hlocb.state.step.hookItem.get(0)); hlocb.graph.camera.zoom = 0.72; hlocb.graph.centre(hlocb.state.step.hookItem.get(0)); hlocb.graph.camera.y -= 60; hlocb.graph.camera.x += 60; return true; })()`)
	wait()
	take("hooks")

	b.show(at("passes.html"), "#theme=dark&step=3&view=gx")
	eval[bool](b, `(() => { const s = hlocb.state.step; hlocb.goto(s.items.find((i, r) => s.state[r] === 1)); return true; })()`)
	wait()
	take("passes")

	b.show(at("transformer.html"), "#theme=light")
	b.focus("query")
	b.keys("dot_general", kb.Enter)
	eval[bool](b, `(() => { const f = hlocb.search.found; hlocb.search.path(f[0], f[6], false); hlocb.graph.camera.zoom = 0.7; hlocb.graph.centre(f[3]); return true; })()`)
	wait()
	take("transformer")

	hlocb("view", at("before.mlir"), at("after.mlir"), "-o", at("beside.html"))
	b.show(at("beside.html"), "#theme=light&view=gx")
	eval[bool](b, `(() => { const s = hlocb.state.step; hlocb.goto(s.items.find((i, r) => hlocb.state.marks.stateOf(i) === 1 && hlocb.state.step.opName(i).startsWith("stablehlo"))); hlocb.graph.camera.zoom = 0.8; hlocb.graph.centre(hlocb.state.item); return true; })()`)
	wait()
	take("beside")

	module, steps := at("step.mlir"), []string{"--steps", "40", "--carry", "0=0", "--fill", "iota", "--backend", "engine", "--tap", "^%loss$=record", "--tap", "^%g$=record"}
	for name, rate := range map[string]string{"slow": "0.02", "fast": "0.3"} {
		if err := os.WriteFile(module, []byte(strings.ReplaceAll(descent, "RATE", rate)), 0o666); err != nil {
			t.Fatal(err)
		}
		hlocb(append([]string{"run", module, "--events", at(name + ".jsonl"), "--results", at("r.npz")}, steps...)...)
	}
	hlocb("view", module, "--recording", at("slow.jsonl"), "--recording", at("fast.jsonl"), "-o", at("recordings.html"))
	b.show(at("recordings.html"), "#theme=dark")
	b.run(chromedp.Click(chromedp.CSS("#beside")))
	eval[bool](b, `(() => { const s = document.getElementById("scrub-at"); s.value = 12; s.dispatchEvent(new Event("input")); return true; })()`)
	wait()
	take("recordings")
}

// descent is a step of gradient descent.
const descent = `func.func @main(%x: tensor<64xf32>) -> (tensor<64xf32>, tensor<f32>) {
  %rate = stablehlo.constant dense<RATE> : tensor<64xf32>
  %zero = stablehlo.constant dense<0.0> : tensor<f32>
  %g = stablehlo.tanh %x : tensor<64xf32> loc("train.py":8:5)
  %s = stablehlo.multiply %rate, %g : tensor<64xf32> loc("train.py":9:5)
  %n = stablehlo.subtract %x, %s : tensor<64xf32> loc("train.py":9:5)
  %q = stablehlo.multiply %n, %n : tensor<64xf32> loc("train.py":10:5)
  %loss = stablehlo.reduce(%q init: %zero) applies stablehlo.add across dimensions = [0] : (tensor<64xf32>, tensor<f32>) -> tensor<f32> loc("train.py":10:5)
  return %n, %loss : tensor<64xf32>, tensor<f32>
}
`
