package viewtest

import (
	"encoding/json"
	"fmt"
	"strings"
	"testing"

	"github.com/hlocb/hlocb/internal/label"
	"github.com/hlocb/hlocb/internal/view"
)

// tapped is a module with a value at train.py:3.
const tapped = `module {
  func.func @main(%a: tensor<3xf32>) -> tensor<3xf32> {
    %0 = stablehlo.log %a : tensor<3xf32> loc("train.py":3:1)
    return %0 : tensor<3xf32>
  }
}`

func recording(name string, lines ...string) view.Recording {
	r := view.Recording{Name: name}
	for _, l := range lines {
		r.Events = append(r.Events, json.RawMessage(l))
	}
	return r
}

// TestValues: the page counts the kinds of elements, marks the op of a NaN, draws two recordings over each other, goes
// back to an earlier event, and filters.
func TestValues(t *testing.T) {
	label.Slow(t)
	label.Once(t)
	b := open(t)
	tensor := func(data string) string {
		return `{"hook":"log","kind":"tap","loc":"\"train.py\":3:1","place":"train.py:3:1","operands":[{"dtype":"f32","shape":[8],"data":[` + data + `]}]}`
	}
	scalar := func(v string) string {
		return `{"hook":"loss","kind":"tap","loc":"\"train.py\":9:1","place":"train.py:9:1","operands":[{"dtype":"f32","shape":[],"data":[` + v + `]}]}`
	}
	b.show(write(t, &view.Document{Title: "t", Steps: []view.Step{{Name: "t", Module: parse(t, "t.mlir", tapped)}}, Recordings: []view.Recording{
		recording("monday", `{"recording":3}`, tensor("1,2,3,4,5,6,7,8"), scalar("4"), tensor(`"-inf",-1,-2,0,3,"inf","nan","nan"`), scalar("2"), scalar("1")),
		recording("friday", scalar("5"), scalar("3")),
	}}), "")
	value := func(script string) string {
		return eval[string](b, `new Promise((done) => setTimeout(() => done(String(`+script+`)), 250))`)
	}
	if got := value(`document.getElementById("rate").textContent`); got != "7 events" {
		t.Errorf("the page says %q", got)
	}
	counts := `document.querySelector(".counts").textContent.replace(/\s+/g, " ")`
	if got, want := value(counts), "−inf 1− 20 1+ 1+inf 1NaN 2min -2max 3"; got != want {
		t.Errorf("the counts are %q, want %q", got, want)
	}
	if got := value(`[...hlocb.state.nan].map(hlocb.labelOf)`); got != "log" {
		t.Errorf("NaN marks %q, want the op log", got)
	}
	if got := value(`document.querySelector(".card.bad h3 button").textContent + " " + document.querySelectorAll(".card canvas.histogram:not([hidden])").length`); got != "log 1" {
		t.Errorf("the card with a NaN and the histograms are %q", got)
	}
	if got := value(`[...document.querySelectorAll(".card")][1].querySelector(".now").textContent`); got != "13f32[]" {
		t.Errorf("the last values of both recordings are %q, want 1 and 3", got)
	}
	scrub := `(() => { const s = document.getElementById("scrub-at"); s.value = 0; s.dispatchEvent(new Event("input")); return ` + counts + `; })()`
	if got, want := value(scrub), "−inf 0− 00 0+ 8+inf 0NaN 0min 1max 8"; got != want {
		t.Errorf("at the first event the counts are %q, want %q", got, want)
	}
	filter := `(() => { const f = document.getElementById("filter"); f.value = "train.py:9"; f.dispatchEvent(new Event("input")); return [...document.querySelectorAll(".card h3 button")].map((b) => b.textContent); })()`
	if got := value(filter); got != "loss" {
		t.Errorf("the filter shows %q, want loss", got)
	}
	b.check()
}

// TestManyEvents: a million events do not grow the page, and it stays quick.
func TestManyEvents(t *testing.T) {
	label.Slow(t)
	label.Once(t)
	b := open(t)
	b.show(write(t, &view.Document{Title: "t", Steps: []view.Step{{Name: "t", Module: parse(t, "t.mlir", tapped)}}}), "")
	feed := func(n int) float64 {
		return eval[float64](b, fmt.Sprintf(`(() => { document.getElementById("values-pane").hidden = false; const s = performance.now();
			for (let k = 0; k < %d; k++) hlocb.event({hook: "loss", id: "1", loc: "l", operands: [{dtype: "f32", shape: [], data: [k]}]});
			return performance.now() - s; })()`, n))
	}
	points := func() float64 {
		return eval[float64](b, `(() => { hlocb.values.render(); return Math.max(...hlocb.values.sizes()); })()`)
	}
	feed(100_000)
	before := points()
	took := feed(900_000)
	after := points()
	t.Logf("900,000 events take %.0f ms; a curve has %.0f points after 100,000 events and %.0f after a million", took, before, after)
	if after > 8192 || before > 8192 {
		t.Errorf("a curve has %.0f points, then %.0f: more than 8192", before, after)
	}
	if took > 9000 { // 100,000 a second
		t.Errorf("900,000 events take %.0f ms", took)
	}
	if got := eval[string](b, `document.getElementById("rate").textContent`); !strings.Contains(got, "1,000,000") && !strings.Contains(got, "100,000") {
		t.Errorf("the page says %q", got)
	}
	b.check()
}
