package viewtest

import (
	"context"
	"flag"
	"os"
	"path/filepath"
	"testing"

	"github.com/chromedp/cdproto/cdp"
	"github.com/chromedp/cdproto/page"
	"github.com/chromedp/chromedp"
	"github.com/chromedp/chromedp/kb"

	"github.com/hlocb/hlocb/internal/peer"
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
		if out, err := peer.Command("go", append([]string{"run", "../../cmd/hlocb"}, args...)...).CombinedOutput(); err != nil {
			t.Fatalf("%v: %v\n%s", args, err, out)
		}
	}
	at := func(name string) string { return filepath.Join(dir, name) }
	const train, transformer = "../../testdata/mlir/train_step.mlir", "../../testdata/transformer_grad_loc.mlir"
	hlocb("record", train, "--fill", "iota", "-o", at("monday.jsonl"))
	hlocb("record", train, "--fill", "random:3", "-o", at("friday.jsonl"))
	hlocb("view", train, "--recording", at("monday.jsonl"), "--recording", at("friday.jsonl"), "-o", at("hooks.html"))
	hlocb("opt", transformer, "--passes", "inline,symbol-dce,canonicalize,cse,func.func(stablehlo-aggressive-simplification),dce", "--html", at("passes.html"), "-o", at("out.mlir"))
	hlocb("view", transformer, "-o", at("transformer.html"))

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
}
