package viewtest

import (
	"os"
	"path/filepath"
	"strings"
	"testing"

	"github.com/chromedp/chromedp"

	"github.com/hlocb/hlocb/internal/cli"
	"github.com/hlocb/hlocb/internal/label"
)

// command runs hlocb, which must end with a code, and returns what it prints and its notes.
func command(t *testing.T, code int, args ...string) string {
	t.Helper()
	var out, errs strings.Builder
	if got := cli.Main(args, strings.NewReader(""), &out, &errs); got != code {
		t.Fatalf("%v: exit code %d: %s", args, got, &errs)
	}
	return out.String() + errs.String()
}

func writeFile(t *testing.T, dir, name, text string) string {
	t.Helper()
	path := filepath.Join(dir, name)
	if err := os.WriteFile(path, []byte(text), 0o666); err != nil {
		t.Fatal(err)
	}
	return path
}

// TestBeside: the pages of diff, compare and of several modules show two graphs and two texts side by side, with one
// place for equal ops, one selection, and colours for the ops that only one side has.
func TestBeside(t *testing.T) {
	label.Slow(t)
	label.Once(t)
	b := open(t)
	dir := t.TempDir()
	text := `func.func @main(%x: tensor<4xf32>) -> tensor<4xf32> {
  %n = stablehlo.negate %x : tensor<4xf32>
  %f = stablehlo.OP %n : tensor<4xf32>
  %s = stablehlo.add %f, %n : tensor<4xf32>
  return %s : tensor<4xf32>
}
`
	first := writeFile(t, dir, "a.mlir", strings.ReplaceAll(text, "OP", "sine"))
	second := writeFile(t, dir, "b.mlir", strings.ReplaceAll(text, "OP", "cosine"))
	third := writeFile(t, dir, "c.mlir", strings.ReplaceAll(text, "OP", "tanh"))
	at := func(name string) string { return filepath.Join(dir, name) }
	command(t, 5, "diff", first, second, "--html", at("diff.html"))
	command(t, 5, "compare", first, second, "--fill", "iota", "--html", at("compare.html"))
	command(t, 0, "view", first, second, third, "-o", at("view.html"))

	item := func(side, op string) string {
		return `hlocb.state.` + side + `.items.find((i) => hlocb.state.` + side + `.opName(i) === "stablehlo.` + op + `")`
	}
	for _, page := range []string{"diff.html", "compare.html"} {
		b.show(at(page), "#view=gx&step=1")
		check := func(what, script, want string) {
			t.Helper()
			if got := eval[string](b, "String("+script+")"); got != want {
				t.Errorf("%s: %s: %s, want %s", page, what, got, want)
			}
		}
		check("the steps", `[hlocb.state.before.head.name, document.getElementById("after").textContent]`, "a.mlir,b.mlir")
		check("the sizes of the graphs", `["graph-before", "graph"].every((id) => { const r = document.getElementById(id).getBoundingClientRect(); return r.width > 150 && r.height > 200; })`, "true")
		check("the graphs stand beside each other", `document.getElementById("graph-before").getBoundingClientRect().right <= document.getElementById("graph").getBoundingClientRect().left + 2`, "true")
		check("the ops of the left graph", `hlocb.state.before.items.map((i) => hlocb.state.before.opName(i)).filter((s) => s.startsWith("stablehlo"))`, "stablehlo.negate,stablehlo.sine,stablehlo.add")
		check("the op of the left alone", `[hlocb.state.beforeMarks.stateOf(`+item("before", "sine")+`), hlocb.state.marks.present[`+item("before", "sine")+`]]`, "4,0")
		check("the op of the right alone", `[hlocb.state.marks.stateOf(`+item("step", "cosine")+`), hlocb.state.beforeMarks.present[`+item("step", "cosine")+`]]`, "1,0")
		check("an op of both", item("step", "negate")+` === `+item("before", "negate"), "true")
		check("the texts", `["text-before", "text"].map((id) => /sine|cosine/.exec(document.getElementById(id).textContent)[0])`, "sine,cosine")
		// what a canvas draws at the left edge of an op, where no text is
		eval[bool](b, `(() => { document.documentElement.dataset.theme = "light"; hlocb.graph.readColors(); document.getElementById("overlay").value = ""; document.getElementById("overlay").dispatchEvent(new Event("change")); hlocb.graph.fit(true); hlocb.graph.paintNow(); return true; })()`)
		red := func(id, at string) string {
			return `(() => { const i = ` + at + `, L = hlocb.layout, c = hlocb.graph.camera, r = devicePixelRatio;
				const x = (L.x[i] + L.width[i] - 9 - c.x) * c.zoom * r, y = (L.y[i] + L.height[i] - 8 - c.y) * c.zoom * r;
				const [red, green] = document.getElementById("` + id + `").getContext("2d").getImageData(x, y, 1, 1).data; return red > green + 20 ? "red" : green > red + 10 ? "green" : "neither"; })()`
		}
		check("the color of the removed op", red("graph-before", item("before", "sine")), "red")
		check("the color of the added op", red("graph", item("step", "cosine")), "green")
		check("the place of the removed op on the right", red("graph", item("before", "sine")), "neither")

		// A click on the left selects on both sides.
		point := eval[[]float64](b, `(() => { const i = `+item("before", "negate")+`, L = hlocb.layout, c = hlocb.graph.camera, r = document.getElementById("graph-before").getBoundingClientRect();
			return [r.left + (L.x[i] + 20 - c.x) * c.zoom, r.top + (L.y[i] + 20 - c.y) * c.zoom]; })()`)
		b.run(chromedp.MouseClickXY(point[0], point[1]))
		check("a click", `hlocb.labelOf(hlocb.state.item)`, "negate")
		check("the lines of the selected op", `["text-before", "text"].map((id) => /%\w+ = \S+/.exec(document.querySelector("#" + id + " .line.selected").textContent)[0])`, "%0 = stablehlo.negate,%0 = stablehlo.negate")
		eval[bool](b, `(hlocb.select(`+item("before", "sine")+`), true)`)
		check("the text of an op of the left alone", `/= \S+/.exec(document.querySelector("#source .op-text").textContent)[0]`, "= stablehlo.sine")
		b.focus("query")
		b.keys("^stablehlo.sine$", "\r")
		check("a search", `document.getElementById("matches").textContent`, "1 of 1")
		b.focus("graph-before")
		b.keys("s")
		check("one graph", `[hlocb.state.before, document.getElementById("graph-before-half").hidden, document.getElementById("show-beside").getAttribute("aria-pressed")]`, ",true,false")
		b.check()
	}

	b.show(at("view.html"), "#step=2&beside=0")
	pair := `[hlocb.state.before.head.name, hlocb.state.step.head.name, hlocb.state.beforeMarks.stateOf(` + item("before", "sine") + `), hlocb.state.marks.stateOf(` + item("step", "tanh") + `)].join()`
	if got, want := eval[string](b, pair), "a.mlir,c.mlir,4,1"; got != want {
		t.Errorf("two steps of three: %s, want %s", got, want)
	}
	hash := eval[string](b, `new Promise((done) => { const s = document.getElementById("before"); s.value = "1"; s.dispatchEvent(new Event("change")); setTimeout(() => done(location.hash), 600); })`)
	b.show(at("view.html"), hash)
	if got := eval[string](b, `hlocb.state.before.head.name + " " + hlocb.state.step.head.name`); got != "b.mlir c.mlir" {
		t.Errorf("the link shows %s", got)
	}
	b.keys("[")
	if got := eval[string](b, `hlocb.state.before.head.name + " " + hlocb.state.step.head.name`); got != "a.mlir b.mlir" {
		t.Errorf("the step before shows %s", got)
	}
	b.check()
}

// TestRules: the page marks the ops that a rule made, and a click on the rule shows them.
func TestRules(t *testing.T) {
	label.Slow(t)
	label.Once(t)
	b := open(t)
	dir := t.TempDir()
	input := writeFile(t, dir, "in.mlir", `func.func @main(%a: tensor<4xf32>, %b: tensor<f32>) -> (tensor<2x2xf32>, tensor<1x4xf32>) {
  %c = stablehlo.constant dense<2.0> : tensor<f32>
  %s = stablehlo.add %c, %b : tensor<f32>
  %0 = stablehlo.broadcast_in_dim %s, dims = [] : (tensor<f32>) -> tensor<4xf32>
  %1 = stablehlo.reshape %0 : (tensor<4xf32>) -> tensor<2x2xf32>
  %2 = stablehlo.reshape %1 : (tensor<2x2xf32>) -> tensor<1x4xf32>
  return %1, %2 : tensor<2x2xf32>, tensor<1x4xf32>
}
`)
	command(t, 0, "opt", input, "--passes", "func.func(stablehlo-aggressive-simplification)", "--html", filepath.Join(dir, "out.html"), "-o", filepath.Join(dir, "out.mlir"))
	b.show(filepath.Join(dir, "out.html"), "#step=1")
	made := `[...hlocb.state.step.made].map(([i, rules]) => hlocb.state.step.opName(i) + " " + rules).join("; ")`
	if got, want := eval[string](b, made), "stablehlo.add constants-last; stablehlo.reshape reshape"; got != want {
		t.Errorf("the rules made %q, want %q", got, want)
	}
	rule := eval[string](b, `document.querySelector("#step-text .rules button").click(), document.querySelector("#step-text .rules button").textContent.split(" ")[0]`)
	if got := eval[string](b, `hlocb.state.step.rulesOf(hlocb.state.item).join()`); !strings.Contains(got, rule) {
		t.Errorf("a click on the rule %s selects an op of %q", rule, got)
	}
	if got := eval[string](b, `document.getElementById("source").textContent`); !strings.Contains(got, "by rule "+rule) {
		t.Errorf("the line of the op says %q", got)
	}
	b.check()
}

// TestBoxes: fusions and computations of HLO, regions, calls and name scopes are boxes that say how many ops they hold,
// and unfold.
func TestBoxes(t *testing.T) {
	label.Slow(t)
	label.Once(t)
	b := open(t)
	for _, c := range []struct{ name, text, want string }{
		{"fusion.hlo", `HloModule m, entry_computation_layout={(f32[8]{0})->f32[8]{0}}

%fused (p: f32[8]) -> f32[8] {
  %p = f32[8]{0} parameter(0)
  %s = f32[8]{0} sine(%p)
  %n = f32[8]{0} negate(%s)
  ROOT %a = f32[8]{0} add(%n, %s)
}

ENTRY %main (x: f32[8]) -> f32[8] {
  %x = f32[8]{0} parameter(0)
  %c = f32[8]{0} cosine(%x)
  ROOT %f = f32[8]{0} fusion(%c), kind=kLoop, calls=%fused
}
`, "fusion f 3"},
		{"regions.mlir", `func.func @main(%x: tensor<f32>, %p: tensor<i1>) -> tensor<f32> {
  %r = "stablehlo.if"(%p) ({
    %s = stablehlo.sine %x : tensor<f32>
    stablehlo.return %s : tensor<f32>
  }, {
    stablehlo.return %x : tensor<f32>
  }) : (tensor<i1>) -> tensor<f32>
  return %r : tensor<f32>
}
`, "if 3; true 2; false 1"},
		{"calls.mlir", `func.func @main(%x: tensor<f32>) -> tensor<f32> {
  %r = call @f(%x) : (tensor<f32>) -> tensor<f32>
  return %r : tensor<f32>
}
func.func private @f(%y: tensor<f32>) -> tensor<f32> {
  %s = stablehlo.sine %y : tensor<f32>
  return %s : tensor<f32>
}
`, "call @f 3"},
		{"scopes.mlir", `func.func @main(%x: tensor<f32>) -> tensor<f32> {
  %0 = stablehlo.sine %x : tensor<f32> loc("jit(f)/attention/sin")
  %1 = stablehlo.sine %0 : tensor<f32> loc("jit(f)/attention/sin")
  %2 = stablehlo.sine %1 : tensor<f32> loc("jit(f)/mlp/sin")
  %3 = stablehlo.sine %2 : tensor<f32> loc("jit(f)/mlp/sin")
  %4 = stablehlo.sine %3 : tensor<f32> loc("jit(f)/mlp/sin")
  return %4 : tensor<f32>
}
`, "attention 2; mlp 3"},
	} {
		dir := t.TempDir()
		page := filepath.Join(dir, "page.html")
		command(t, 0, "view", writeFile(t, dir, c.name, c.text), "-o", page)
		b.show(page, "")
		// each box with the number of ops that it shows folded, and whether all of them appear when it is opened
		got := eval[string](b, `(() => {
			const L = hlocb.layout, { items, children, n } = hlocb.model, out = [];
			for (let i = 1; i < n; i++) {
				if (!L.isBox(i) || items.parent[i] === 0 && items.kind[i] === hlocb.OP) continue;
				if (items.kind[i] === hlocb.OP && hlocb.state.step.opName(i) === "func.func") continue;
				L.setAll(false); L.reveal(i); L.layout();
				const folded = L.visible.includes(i) && !children[i].some((c) => L.visible.includes(c));
				const row = hlocb.graph.inside(i).replace(/ ops?$/, "");
				hlocb.toggle(i);
				const open = children[i].every((c) => L.visible.includes(c));
				out.push(hlocb.labelOf(i) + " " + (folded && open ? row : "does not unfold"));
			}
			return out.join("; ");
		})()`)
		if got != c.want {
			t.Errorf("%s: the boxes are %q, want %q", c.name, got, c.want)
		}
		b.check()
	}
}

// TestNumbers: a page shows numbers of a file in JSON and CSV, of a profile and of a comparison, and the counts of
// events, NaN and infinities of a recording; a folded box shows their sum.
func TestNumbers(t *testing.T) {
	label.Slow(t)
	label.Once(t)
	b := open(t)
	dir := t.TempDir()
	at := func(name string) string { return filepath.Join(dir, name) }
	module := writeFile(t, dir, "m.mlir", `func.func @main(%x: tensor<4xf32>) -> tensor<4xf32> {
  %m = stablehlo.negate %x : tensor<4xf32>
  %n = stablehlo.log %m : tensor<4xf32> loc("m.py":3:1)
  %f = stablehlo.multiply %n, %n : tensor<4xf32> loc("m.py":4:1)
  return %f : tensor<4xf32>
}
`)
	other := writeFile(t, dir, "o.mlir", strings.ReplaceAll(readText(t, module), "multiply", "add"))
	json := writeFile(t, dir, "n.json", `{"%n": 1.5, "m.py:4": 2, "%nothing": 1}`)
	csv := writeFile(t, dir, "n.csv", "op,ms\nstablehlo.log,7\n%f,3\n")
	profile := writeFile(t, dir, "profile.txt", command(t, 0, "run", module, "--fill", "iota", "--backend", "engine", "--profile", "--steps", "3", "--carry", "0=0"))
	command(t, 0, "record", module, "--fill", "iota", "--backend", "engine", "--tap", "%n=record", "-o", at("r.jsonl"))
	command(t, 0, "view", module, "--overlay", json, "--overlay", csv, "--overlay", profile, "--recording", at("r.jsonl"), "-o", at("page.html"))
	b.show(at("page.html"), "#view=gx")
	wait(b, "the counts of values", `[...document.getElementById("overlay").options].map((o) => o.textContent).join()`, "no numbers,n.json (1 without an op),n.csv,time,executions,events,NaN,infinities")
	for _, c := range []struct{ overlay, want string }{
		{"n.json (1 without an op)", "func @main 3.5; log 1.5; multiply 2"}, {"n.csv", "func @main 10 ms; log 7 ms; multiply 3 ms"},
		{"executions", "func @main 9; log 3; multiply 3; negate 3"}, {"events", "func @main 1; log 1"}, {"NaN", "func @main 3; log 3"}, {"infinities", "func @main 1; log 1"},
	} {
		got := eval[string](b, `(() => { const m = document.getElementById("overlay"); m.value = [...m.options].find((o) => o.textContent === "`+c.overlay+`").value; m.dispatchEvent(new Event("change"));
			hlocb.graph.paintNow();
			const o = hlocb.state.overlay; return [...o.number].filter(([i]) => i > 0).map(([i, v]) => (hlocb.labelOf(i) + " " + hlocb.formatNumber(v) + " " + o.unit).trim()).sort().join("; "); })()`)
		if got != c.want {
			t.Errorf("the numbers %s are %q, want %q", c.overlay, got, c.want)
		}
	}
	if got := eval[string](b, `[...document.querySelectorAll(".line .badge")].map((e) => e.textContent).join()`); got != "1,1,1" { // of the module, the function and the op
		t.Errorf("the text has the numbers %q", got)
	}
	b.check()
	command(t, 5, "compare", module, other, "--fill", "iota", "--html", at("compare.html"))
	b.show(at("compare.html"), "#step=0")
	if got := eval[string](b, `[...hlocb.state.overlay.number].filter(([, v]) => v > 0).map(([i]) => hlocb.labelOf(i)).join()`); got == "" || strings.Contains(got, "log") {
		t.Errorf("the distances of %q are not zero", got)
	}
	b.check()
}

func readText(t *testing.T, path string) string {
	t.Helper()
	text, err := os.ReadFile(path)
	if err != nil {
		t.Fatal(err)
	}
	return string(text)
}

// TestOpenRecordings: the page opens every form of recordings from the disk: a recording with its file of large values,
// lines of JSON, and a table, also that of a killed process. Two of them stand over each other or side by side, and are
// scrubbed by step.
func TestOpenRecordings(t *testing.T) {
	label.Slow(t)
	label.Once(t)
	b := open(t)
	dir := t.TempDir()
	at := func(name string) string { return filepath.Join(dir, name) }
	module := writeFile(t, dir, "m.mlir", `func.func @main(%x: tensor<2000xf32>) -> (tensor<2000xf32>, tensor<2000xf32>) {
  %y = stablehlo.log %x : tensor<2000xf32> loc("m.py":3:1)
  %z = stablehlo.constant dense<0.0> : tensor<f32>
  %s = stablehlo.reduce(%x init: %z) applies stablehlo.add across dimensions = [0] : (tensor<2000xf32>, tensor<f32>) -> tensor<f32> loc("m.py":4:1)
  %b = stablehlo.broadcast_in_dim %s, dims = [] : (tensor<f32>) -> tensor<2000xf32>
  %r = stablehlo.add %y, %b : tensor<2000xf32>
  return %x, %r : tensor<2000xf32>, tensor<2000xf32>
}
`)
	run := []string{"--fill", "iota", "--backend", "engine", "--tap", "^%y$=record", "--tap", "^%s$=record"}
	command(t, 0, append([]string{"record", module, "-o", at("a.jsonl")}, run...)...)
	command(t, 0, append([]string{"run", module, "--steps", "3", "--carry", "0=0", "--events", at("b.jsonl"), "--events", at("c.parquet")}, run...)...)
	table := readText(t, at("c.parquet"))
	writeFile(t, dir, "killed.parquet", table+table[len(table)/2:len(table)-7]) // a part of the next footer
	writeFile(t, dir, "damaged.parquet", "PAR1"+strings.Repeat("\xff\x00", 50))
	page := at("page.html")
	command(t, 0, "view", module, "-o", page)

	state := `[...document.querySelectorAll(".card")].map((c) => c.querySelector("h3 button").textContent + ": " + [...c.querySelectorAll(".now span")].map((e) => e.textContent).join(" ") + " " + [...c.querySelectorAll(".counts")].map((e) => e.textContent.replace(/\s+/g, " ")).join(" | ")).join("; ")`
	for _, c := range []struct{ files, want string }{
		{"a.jsonl", "a.jsonl: its large values are in a.jsonl.data: open both files together"},
		{"a.jsonl a.jsonl.data", "y: mean 6.6028 f32[2000] −inf 1− 00 1+ 1,998+inf 0NaN 0min 0max 7.6004; s: 1.999e+6 f32[] "},
		{"b.jsonl", ""}, {"c.parquet", ""}, {"killed.parquet", ""},
		{"damaged.parquet", "damaged.parquet: the Parquet file is damaged, or no table of 'hlocb run --events'"},
	} {
		b.show(page, "")
		b.keys("v")
		var paths []string
		for _, f := range strings.Fields(c.files) {
			paths = append(paths, at(f))
		}
		b.run(chromedp.SetUploadFiles(chromedp.CSS("#recording-file"), paths))
		got := eval[string](b, `new Promise((done) => setTimeout(() => done(`+state+` || document.getElementById("values-problem").textContent), 700))`)
		t.Logf("%s: %s", c.files, got)
		if c.want != "" && got != c.want {
			t.Errorf("%s: the page shows %q, want %q", c.files, got, c.want)
		}
		if c.want == "" && (!strings.Contains(got, "y: mean 6.6") || !strings.Contains(got, "s: 1.999e+6") || !strings.Contains(got, "f32[2000]")) {
			t.Errorf("%s: the page shows %q", c.files, got)
		}
		b.check()
	}

	// Two recordings of steps 0 to 2, the second with other values.
	command(t, 0, append([]string{"run", module, "--steps", "3", "--carry", "0=0", "--events", at("d.jsonl")}, "--fill", "random:3", "--backend", "engine", "--tap", "^%y$=record", "--tap", "^%s$=record")...)
	b.show(page, "")
	b.keys("v")
	b.run(chromedp.SetUploadFiles(chromedp.CSS("#recording-file"), []string{at("c.parquet"), at("d.jsonl")}))
	wait(b, "two recordings", `document.getElementById("rate").textContent`, "12 events")
	panels := `[...document.querySelectorAll(".card")].map((c) => [...c.querySelectorAll(".panel")].map((p) => p.querySelector(".panel-name:not([hidden])")?.textContent + " " + p.querySelectorAll(".chart canvas").length).join(", ")).join("; ")`
	wait(b, "over each other", panels, "undefined 1; undefined 1")
	b.run(chromedp.Click(chromedp.CSS("#beside")))
	wait(b, "side by side", panels, "c.parquet 1, d.jsonl 1; c.parquet 1, d.jsonl 1")
	wait(b, "the panels stand beside each other", `(() => { const [p, q] = [...document.querySelectorAll(".card .panel")].map((e) => e.getBoundingClientRect()); return Math.abs(p.top - q.top) < 2 && p.right <= q.left; })()`, "true")
	eval[bool](b, `(() => { const s = document.getElementById("scrub-at"); s.value = 1; s.dispatchEvent(new Event("input")); return true; })()`)
	wait(b, "the counts of both at the step", `[...document.querySelectorAll(".card .counts")].map((e) => e.textContent.includes("NaN"))`, "true,true")
	wait(b, "the step", `document.getElementById("scrub-text").textContent + " of " + document.getElementById("scrub-at").max`, "1 of 2 of 2")
	shot(b, "recordings")
	b.check()
}
