package viewtest

import (
	"bufio"
	"context"
	"flag"
	"fmt"
	"os"
	"path/filepath"
	"regexp"
	"strings"
	"testing"
	"time"

	"github.com/chromedp/chromedp"

	"github.com/hlocb/hlocb"
	"github.com/hlocb/hlocb/internal/label"
	"github.com/hlocb/hlocb/internal/launch"
	"github.com/hlocb/hlocb/internal/peer"
)

var built = flag.String("built", "", "use the command and the libraries in this folder, and build none")

// training is a program of JAX that trains until the file that it is told exists.
const training = `
import os, sys, time
import jax, jax.numpy as jnp

@jax.jit
def train_step(w, x, y):
    def loss(w):
        return jnp.mean((jnp.tanh(x @ w) - y) ** 2)
    v, g = jax.value_and_grad(loss)(w)
    return w - 0.1 * g, v

@jax.jit
def evaluate(w, x):
    return jnp.sin(x @ w)

w, x, y = jnp.ones((8, 4)), jnp.linspace(0., 1., 16 * 8).reshape(16, 8), jnp.zeros((16, 4))
while not os.path.exists(sys.argv[1]):
    w, v = train_step(w, x, y)
    time.sleep(0.02)
evaluate(w, x).block_until_ready()
`

// TestLiveJAX: 'exec --view' serves the page of a program of JAX: its module, its values as they come, the button that
// taps a value of programs that are compiled later, and the end.
func TestLiveJAX(t *testing.T) {
	label.Slow(t)
	label.Once(t)
	b := open(t)
	python := peer.Find()
	found, err := hlocb.DefaultBackends().Plugins.Find("cpu")
	if python == "" || err != nil || len(found) == 0 {
		t.Skip("skip: no jaxlib, or no CPU plugin")
	}
	dir := *built
	if dir == "" {
		dir = t.TempDir()
		if err := launch.Build(t.Context(), dir); err != nil {
			t.Fatal(err)
		}
		if out, err := peer.Command("go", "build", "-o", filepath.Join(dir, "hlocb"), "../../cmd/hlocb").CombinedOutput(); err != nil {
			t.Fatalf("%v\n%s", err, out)
		}
	}
	files := t.TempDir()
	script, stop := writeFile(t, files, "train.py", training), filepath.Join(files, "stop")
	command := peer.Command(filepath.Join(dir, "hlocb"), "exec", "--view", "--tap", "tanh=record", "--", python, script, stop)
	notes, err := command.StderrPipe()
	if err != nil {
		t.Fatal(err)
	}
	if err := command.Start(); err != nil {
		t.Fatal(err)
	}
	ctx, cancel := context.WithCancel(t.Context())
	defer cancel()
	defer context.AfterFunc(ctx, func() { command.Process.Kill() })()
	defer os.WriteFile(stop, nil, 0o666)
	in, at := bufio.NewScanner(notes), ""
	for at == "" && in.Scan() {
		at = regexp.MustCompile(`http://\S+`).FindString(in.Text())
	}
	if at == "" {
		t.Fatal("the command prints no address")
	}
	go func() { // the program must not wait for a reader of its messages
		for in.Scan() {
		}
	}()
	b.own = at[:strings.LastIndex(at, "/")]
	compiled := false // until then the page lists no program
	for end := time.Now().Add(90 * time.Second); !compiled && time.Now().Before(end); time.Sleep(200 * time.Millisecond) {
		b.run(chromedp.Navigate("about:blank"), chromedp.Navigate(at))
		compiled = eval[bool](b, `document.title.includes("train_step")`)
	}
	if !compiled {
		t.Fatal("the training step has no page")
	}
	b.visit(at)
	if wait(b, "values", `hlocb.values.sizes().some((n) => n > 5) && document.querySelector(".card .place") !== null`, "true"); t.Failed() {
		return
	}
	wait(b, "the value's place", `/train\.py:\d+/.test(document.querySelector(".card .place").textContent)`, "true")
	wait(b, "the shape", `document.querySelector(".card .shape").textContent`, "f32[16,4]")
	wait(b, "counts and a histogram", `document.querySelectorAll(".card .counts").length + " " + document.querySelectorAll(".card canvas.histogram:not([hidden])").length`, "1 1")
	eval[bool](b, `document.querySelector(".card h3 button").click(), true`)
	// the tap of the value in the page's module, or the op itself
	wait(b, "the op of the value", `hlocb.state.item >= 0 && /tanh|custom_call/.test(hlocb.state.step.opName(hlocb.state.item))`, "true")
	shot(b, "jax")
	b.check()
	if err := os.WriteFile(stop, nil, 0o666); err != nil {
		t.Fatal(err)
	}
	if err := command.Wait(); err != nil {
		t.Error(fmt.Errorf("the program: %w", err))
	}
	wait(b, "the end", `document.getElementById("rate").textContent.split(" · ")[0]`, "○ ended")
}
