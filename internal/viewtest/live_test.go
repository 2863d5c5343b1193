package viewtest

import (
	"bufio"
	"context"
	"fmt"
	"io"
	"math"
	"net"
	"net/http"
	"net/http/httptest"
	"net/url"
	"os"
	"path/filepath"
	"regexp"
	"strings"
	"sync"
	"testing"
	"time"

	"github.com/chromedp/chromedp"

	"github.com/hlocb/hlocb/hook"
	"github.com/hlocb/hlocb/internal/cli"
	"github.com/hlocb/hlocb/internal/events"
	"github.com/hlocb/hlocb/internal/label"
	"github.com/hlocb/hlocb/internal/live"
	"github.com/hlocb/hlocb/internal/view"
	"github.com/hlocb/hlocb/runtime"
	"github.com/hlocb/hlocb/tensor"
)

// hostile are names that do something if a page takes them for HTML, for a script or for a style.
var hostile = []string{
	`</script><script>window.hacked=1</script>`, `<img src=x onerror="window.hacked=1">`, `<!--<script>`, `"><svg onload=window.hacked=1>`,
	`javascript:window.hacked=1`, `</title></style><iframe srcdoc="<script>parent.hacked=1</script>">`, `'-window.hacked-'`, `${window.hacked=1}`,
	"\u2028window.hacked=1\u2029", "__proto__", "constructor", `%s {{title}} {{scripts}} $& $1`, "\x01\x02\x00", "\u202egnp.exe",
}

// quoted writes a name as MLIR does.
func quoted(s string) string {
	var b strings.Builder
	for i := range len(s) {
		if c := s[i]; c < ' ' || c == '"' || c == '\\' || c > '~' {
			fmt.Fprintf(&b, "\\%02X", c)
		} else {
			b.WriteByte(c)
		}
	}
	return `"` + b.String() + `"`
}

// program is a running program: a server and the module that it shows.
type program struct {
	t        *testing.T
	server   *live.Server
	observer *events.Observer
	mu       sync.Mutex
	taps     []string
	seq      int64
}

// startProgram starts the server of a module.
func startProgram(t *testing.T, text string) *program {
	t.Helper()
	d := &view.Document{Title: "live", Steps: []view.Step{{Name: "t", Module: parse(t, "t.mlir", text)}}}
	p := &program{t: t}
	s, err := live.Listen(live.Options{
		Page: func(w io.Writer, url, _ string, _ func(string) string) error {
			d.Live = url
			return view.Page(w, d)
		},
		Tap: func(pattern string) (string, error) {
			p.mu.Lock()
			defer p.mu.Unlock()
			p.taps = append(p.taps, pattern)
			return live.TapFlag(pattern), nil
		},
	})
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() { s.Stop() })
	p.server, p.observer = s, events.NewObserver(s, "")
	return p
}

// site returns a hook at a location in MLIR's text.
func site(id uint64, name, loc string) *hook.Site {
	return &hook.Site{ID: hook.ID(id), Name: name, Kind: hook.Tap, Loc: loc}
}

// fire sends an event with one value.
func (p *program) fire(s *hook.Site, shape []int64, data ...float32) {
	p.t.Helper()
	v := tensor.New(tensor.F32, shape)
	copy(tensor.View[float32](v), data)
	if err := p.observer.Handle(p.t.Context(), &runtime.Call{Site: s, Run: 1, Seq: p.seq, Operands: []*tensor.Tensor{v}}); err != nil {
		p.t.Fatal(err)
	}
	p.seq++
}

// tapsSoFar returns the patterns that were tapped.
func (p *program) tapsSoFar() string {
	p.mu.Lock()
	defer p.mu.Unlock()
	return strings.Join(p.taps, "; ")
}

// wait waits until a script returns want.
func wait(b *tab, what, script, want string) {
	b.t.Helper()
	got := ""
	for end := time.Now().Add(20 * time.Second); time.Now().Before(end); time.Sleep(50 * time.Millisecond) {
		if got = eval[string](b, `String(`+script+`)`); got == want {
			return
		}
	}
	b.t.Errorf("%s: %q, want %q", what, got, want)
}

const (
	cardNames = `[...document.querySelectorAll(".card h3 button")].map((e) => e.textContent)`
	card      = `[...document.querySelectorAll(".card")].find((c) => c.querySelector("h3 button").textContent === "%s")`
	eventsOf  = `document.getElementById("rate").textContent.replace(/.*? · /g, "")`
)

// TestLivePage: the page of a running program shows values while they arrive, as curves, counts and histograms; marks
// the op of a NaN; stops and goes on; filters; taps; and reads on after the connection was cut.
func TestLivePage(t *testing.T) {
	label.Slow(t)
	label.Once(t)
	b := open(t)
	p := startProgram(t, `module {
  func.func @main(%a: tensor<8xf32>) -> (tensor<f32>, tensor<8xf32>) {
    %grad = stablehlo.log %a : tensor<8xf32> loc("train.py":3:1)
    %z = stablehlo.constant dense<0.0> : tensor<f32>
    %loss = stablehlo.reduce(%grad init: %z) applies stablehlo.add across dimensions = [0] : (tensor<8xf32>, tensor<f32>) -> tensor<f32> loc("train.py":9:1)
    return %loss, %grad : tensor<f32>, tensor<8xf32>
  }
}`)
	at, cut, _ := throughProxy(t, p.server.URL())
	grad, loss := site(1, "grad", `"train.py":3:1`), site(2, "loss", `"train.py":9:1`)
	p.fire(grad, []int64{8}, 1, 2, 3, 4, 5, 6, 7, 8)
	for n := range 20 {
		p.fire(loss, nil, float32(20-n))
	}
	b.own = at[:strings.LastIndex(at, "/")]
	b.visit(at)
	wait(b, "values that came before the browser", eventsOf, "21 events")
	wait(b, "cards", cardNames, "grad,loss")
	inCard := func(name, script string) string { return fmt.Sprintf(card, name) + script }
	wait(b, "the curve of a scalar", inCard("loss", `.querySelectorAll(".chart canvas").length`), "1")
	wait(b, "a scalar has no counts", inCard("loss", `.querySelector(".health").hidden`), "true")
	wait(b, "its last value", inCard("loss", `.querySelector(".now").textContent`), "1f32[]")
	counts := inCard("grad", `.querySelector(".counts").textContent.replace(/\s+/g, " ")`)
	wait(b, "the counts of a tensor", counts, "−inf 0− 00 0+ 8+inf 0NaN 0min 1max 8")
	wait(b, "bars of its histogram", inCard("grad", `.querySelector("canvas.histogram").getContext("2d").getImageData(0, 0, 560, 74).data.some((x) => x > 0)`), "true")
	wait(b, "nothing is red", `document.querySelectorAll(".row.nan, .card.bad").length`, "0")

	inf := float32(math.Inf(1))
	p.fire(grad, []int64{8}, -inf, -1, -2, 0, 3, inf, float32(math.NaN()), float32(math.NaN()))
	wait(b, "counts of all kinds", counts, "−inf 1− 20 1+ 1+inf 1NaN 2min -2max 3")
	wait(b, "the op of a NaN", `[...hlocb.state.nan].map(hlocb.labelOf)`, "log")
	wait(b, "its row in the outline", `document.querySelector(".row.nan .label").textContent`, "log")
	wait(b, "its card", `document.querySelector(".card.bad h3 button").textContent`, "grad")
	b.keys("x")
	wait(b, "its line of text", `document.querySelector(".line.nan .t-op").textContent`, "stablehlo.log")
	// the node is red on the canvas: its corner, where no text is
	wait(b, "its node", `(() => { const i = [...hlocb.state.nan][0], L = hlocb.layout, c = hlocb.graph.camera, r = devicePixelRatio; hlocb.graph.paintNow();
		const x = (L.x[i] + L.width[i] - 9 - c.x) * c.zoom * r, y = (L.y[i] + 7 - c.y) * c.zoom * r;
		const [red, green] = hlocb.graph.canvas.getContext("2d").getImageData(x, y, 1, 1).data; return red > green + 20; })()`, "true")
	shot(b, "live")

	click := func(id string) { b.t.Helper(); b.run(chromedp.Click(chromedp.CSS("#" + id))) }
	click("pause")
	p.fire(loss, nil, 0.5)
	wait(b, "events are counted during a pause", eventsOf, "23 events")
	wait(b, "a pause keeps the values", inCard("loss", `.querySelector(".now").textContent`), "1f32[]")
	wait(b, "the button", `document.getElementById("pause").textContent + document.getElementById("pause").getAttribute("aria-pressed")`, "Continuetrue")
	click("pause")
	wait(b, "after the pause", inCard("loss", `.querySelector(".now").textContent`), "0.5f32[]")

	b.focus("filter")
	b.keys("train.py:9")
	wait(b, "the filter by line", cardNames, "loss")
	eval[bool](b, `(() => { const f = document.getElementById("filter"); f.value = ""; f.dispatchEvent(new Event("input")); f.blur(); return true; })()`)
	wait(b, "no filter", cardNames, "grad,loss")

	// A click on the card selects the op; the button asks the server for a tap, which says the flag.
	eval[bool](b, inCard("grad", `.querySelector("h3 button").click(), true`))
	wait(b, "the selected op", `hlocb.labelOf(hlocb.state.item)`, "log")
	eval[bool](b, `[...document.querySelectorAll("#source button")].find((e) => e.textContent === "Tap this value").click(), true`)
	wait(b, "the flag", `document.querySelector("#source .flag").textContent`, `--tap '^%grad$'`)
	for end := time.Now().Add(20 * time.Second); p.tapsSoFar() == "" && time.Now().Before(end); time.Sleep(20 * time.Millisecond) {
		// the page shows the flag before the server has the request
	}
	if got := p.tapsSoFar(); got != "^%grad$" {
		t.Errorf("%q was tapped", got)
	}

	// A cut connection, and a browser that shows something else in between, lose nothing.
	cut()
	for n := range 50 {
		p.fire(loss, nil, float32(n))
	}
	wait(b, "events after a cut connection", eventsOf, "73 events")
	b.check()
	b.run(chromedp.Navigate("about:blank"))
	for n := range 50 {
		p.fire(loss, nil, float32(n))
	}
	b.visit(at)
	wait(b, "events after a visit elsewhere", eventsOf, "123 events")
	if err := p.observer.Close(); err != nil {
		t.Fatal(err)
	}
	wait(b, "the end", `document.getElementById("rate").textContent.split(" · ")[0]`, "○ ended")
	b.check()
}

// throughProxy returns the address of a server through a proxy, and a function that cuts all connections.
// end also refuses further connections, as a program that was killed.
func throughProxy(t *testing.T, at string) (address string, cut, end func()) {
	t.Helper()
	u, err := url.Parse(at)
	if err != nil {
		t.Fatal(err)
	}
	l, err := net.Listen("tcp", "127.0.0.1:0")
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() { l.Close() })
	server := u.Host
	var mu sync.Mutex
	var all []net.Conn
	go func() {
		for {
			c, err := l.Accept()
			if err != nil {
				return
			}
			s, err := net.Dial("tcp", server)
			if err != nil {
				c.Close()
				continue
			}
			mu.Lock()
			all = append(all, c, s)
			mu.Unlock()
			forward := func(to, from net.Conn) {
				io.Copy(to, from)
				to.Close()
			}
			go forward(c, s)
			go forward(s, c)
		}
	}()
	cut = func() {
		mu.Lock()
		defer mu.Unlock()
		for _, c := range all {
			c.Close()
		}
		all = nil
	}
	t.Cleanup(cut)
	u.Host = l.Addr().String()
	return u.String(), cut, func() {
		l.Close()
		cut()
	}
}

// TestLiveKilled: the page of a program that was killed says that the program has ended.
func TestLiveKilled(t *testing.T) {
	label.Slow(t)
	label.Once(t)
	b := open(t)
	p := startProgram(t, tapped)
	at, _, end := throughProxy(t, p.server.URL())
	p.fire(site(1, "loss", `"train.py":3:1`), nil, 1)
	b.own = at[:strings.LastIndex(at, "/")]
	b.visit(at)
	wait(b, "the value", eventsOf, "1 events")
	end()
	wait(b, "the end", `document.getElementById("rate").textContent.split(" · ")[0]`, "○ ended")
	wait(b, "the value still", eventsOf, "1 events")
}

// TestLiveDrops: if a program is faster than the file, the page says how many events it does not have, and the numbers
// add up.
func TestLiveDrops(t *testing.T) {
	label.Slow(t)
	label.Once(t)
	b := open(t)
	p := startProgram(t, tapped)
	s := site(1, "loss", `"train.py":3:1`)
	const n = 600_000
	v := tensor.New(tensor.F32, nil)
	c := &runtime.Call{Site: s, Run: 1, Operands: []*tensor.Tensor{v}}
	for range n {
		if err := p.observer.Handle(t.Context(), c); err != nil {
			t.Fatal(err)
		}
	}
	at := p.server.URL()
	b.own = at[:strings.LastIndex(at, "/")]
	b.visit(at)
	numbers := `((document.getElementById("rate").textContent.replaceAll(",", "").match(/(\d+) events(?: (\d+) dropped)?$/)) || []).slice(1).map((x) => Number(x || 0))`
	wait(b, "events and dropped events", `(([a, b]) => a + b)(`+numbers+`)`, fmt.Sprint(n))
	if got := eval[[]int](b, numbers); len(got) != 2 || got[1] == 0 {
		t.Errorf("the page shows %v: no event was dropped", got)
	}
	b.check()
}

// TestLiveHostile: names of hooks, ops, values, functions, attributes, types and locations are text, never HTML.
func TestLiveHostile(t *testing.T) {
	label.Slow(t)
	label.Once(t)
	b := open(t)
	var m strings.Builder
	m.WriteString("module @" + quoted(hostile[0]) + " {\n  func.func @main(%a: tensor<3xf32>) -> tensor<3xf32> {\n")
	last := "%a"
	for i, name := range hostile {
		q := quoted(name)
		fmt.Fprintf(&m, "    %%h%d = stablehlo.custom_call @%s(%s) {backend_config = %s, x = %s} : (tensor<3xf32>) -> tensor<3xf32> loc(%s(%s:%d:1))\n", i, q, last, q, q, quoted(name+"/"+name), quoted(name+".py"), i+1)
		last = fmt.Sprintf("%%h%d", i)
	}
	fmt.Fprintf(&m, "    return %s : tensor<3xf32>\n  }\n", last)
	for i, name := range hostile {
		fmt.Fprintf(&m, "  func.func private @%s(tensor<%dxf32>) loc(%s)\n", quoted(fmt.Sprint(i, name)), i+1, quoted(name))
	}
	m.WriteString("}\n")
	p := startProgram(t, m.String())
	for i, name := range hostile {
		s := site(uint64(i+1), name, fmt.Sprintf("%s(%s:%d:1)", quoted(name+"/"+name), quoted(name+".py"), i+1))
		s.Function, s.Callback = name, name
		p.fire(s, []int64{3}, 1, 2, float32(math.NaN()))
		p.fire(s, []int64{3}, 1, 2, 4)
	}
	at := p.server.URL()
	b.own = at[:strings.LastIndex(at, "/")]
	b.visit(at + "#view=gx")
	wait(b, "events", eventsOf, fmt.Sprintf("%d events", 2*len(hostile)))
	wait(b, "cards", `document.querySelectorAll(".card").length`, fmt.Sprint(len(hostile)))
	wait(b, "ops with a NaN", `hlocb.state.nan.size`, fmt.Sprint(len(hostile)))
	for i, name := range hostile {
		if strings.ContainsAny(name, "\x00") {
			continue // a text of the page cannot hold it
		}
		if got := eval[string](b, fmt.Sprintf(`document.querySelectorAll(".card h3 button")[%d].textContent`, i)); got != name {
			t.Errorf("the card of %q says %q", name, got)
		}
	}
	eval[bool](b, `(() => { for (const i of hlocb.state.step.items) hlocb.select(i); document.querySelectorAll("#source button").forEach((x) => x.click()); return true; })()`)
	b.keys("e", "?")
	if got := eval[string](b, `typeof window.hacked + document.querySelectorAll("img, iframe, main svg, main script").length`); got != "undefined0" {
		t.Errorf("a name became HTML: %s", got)
	}
	b.check()
}

// TestLiveOthers: without the token a browser gets nothing, and neither does a page of another site: by a request, a
// form, a frame, a script, or a name that resolves to this machine.
func TestLiveOthers(t *testing.T) {
	label.Slow(t)
	label.Once(t)
	b := open(t, chromedp.Flag("host-resolver-rules", "MAP evil.example 127.0.0.1"))
	b.careless = true
	p := startProgram(t, tapped)
	p.fire(site(1, "secret", `"train.py":3:1`), nil, 42)
	at := p.server.URL()
	u, err := url.Parse(at)
	if err != nil {
		t.Fatal(err)
	}
	text := func(url string) string {
		t.Helper()
		b.run(chromedp.Navigate(url))
		return eval[string](b, `document.documentElement.textContent`)
	}
	for _, c := range []struct{ url, want string }{
		{"http://" + u.Host + "/", "the token"},
		{"http://" + u.Host + "/?token=0123456789abcdef0123456789abcdef", "the token"},
		{"http://" + u.Host + "/events", "the token"},
		{"http://evil.example:" + u.Port() + "/?" + u.RawQuery, "only to its own address"},
		{"http://evil.example:" + u.Port() + "/events?" + u.RawQuery, "only to its own address"},
	} {
		if got := text(c.url); !strings.Contains(got, c.want) || strings.Contains(got, "secret") || strings.Contains(got, "stablehlo") {
			t.Errorf("%s: %.200q", c.url, got)
		}
	}
	// The page of another site knows even the token.
	evil := httptest.NewServer(http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		w.Header().Set("Content-Type", "text/html")
		io.WriteString(w, "<!doctype html><title>evil</title><iframe name=f></iframe>")
	}))
	defer evil.Close()
	b.run(chromedp.Navigate(strings.Replace(evil.URL, "127.0.0.1", "evil.example", 1)))
	attack := fmt.Sprintf(`(async () => {
		const at = "http://%s", query = "?%s", out = [];
		for (const path of ["/", "/events"]) {
			const get = fetch(at + path + query).then((r) => r.text(), () => "refused");
			out.push(await Promise.race([get, new Promise((done) => setTimeout(() => done("open"), 3000))]));
		}
		for (const mode of ["cors", "no-cors"])
			out.push(await fetch(at + "/tap" + query, {method: "POST", mode, body: '{"at":"forged"}'}).then((r) => r.text(), () => "refused"));
		out.push(await new Promise((done) => { const s = new EventSource(at + "/events" + query); s.onmessage = (m) => done(m.data); s.onerror = () => { s.close(); done("refused"); }; }));
		out.push(await new Promise((done) => { const s = document.createElement("script"); s.src = at + "/" + query; s.onload = () => done("script"); s.onerror = () => done("refused"); document.body.append(s); }));
		const form = document.createElement("form");
		Object.assign(form, {method: "POST", enctype: "text/plain", action: at + "/tap" + query, target: "f"});
		const field = document.createElement("input");
		Object.assign(field, {name: '{"at":"forged","x":"', value: '"}'});
		form.append(field); document.body.append(form); form.submit();
		const frame = document.createElement("iframe");
		await new Promise((done) => { frame.onload = done; frame.src = at + "/" + query; document.body.append(frame); setTimeout(done, 1500); });
		try { out.push(frame.contentDocument ? frame.contentDocument.body.textContent || "refused" : "refused"); } catch (e) { out.push("refused"); }
		await new Promise((done) => setTimeout(done, 500));
		return out.join(",");
	})()`, u.Host, u.RawQuery)
	if got, want := eval[string](b, attack), "refused,refused,refused,,refused,refused,refused"; got != want {
		t.Errorf("another site gets %q, want %q", got, want)
	}
	if got := p.tapsSoFar(); got != "" {
		t.Errorf("another site tapped %q", got)
	}
}

// TestLiveRun: 'run --view' serves the page; its button prints a flag, and a run with the flag observes the value.
func TestLiveRun(t *testing.T) {
	label.Slow(t)
	label.Once(t)
	b := open(t)
	const loop = `func.func @main() -> tensor<f32> {
  %%x = stablehlo.constant dense<3.0> : tensor<f32>
  %%zero = stablehlo.constant dense<0> : tensor<i32>
  %%one = stablehlo.constant dense<1> : tensor<i32>
  %%n = stablehlo.constant dense<%d> : tensor<i32>
  %%out:2 = stablehlo.while(%%i = %%zero, %%v = %%x) : tensor<i32>, tensor<f32>
   cond {
    %%more = stablehlo.compare LT, %%i, %%n, SIGNED : (tensor<i32>, tensor<i32>) -> tensor<i1>
    stablehlo.return %%more : tensor<i1>
  } do {
    %%root = stablehlo.sine %%v : tensor<f32> loc("model.py":7:3)
    %%j = stablehlo.add %%i, %%one : tensor<i32>
    stablehlo.return %%j, %%root : tensor<i32>, tensor<f32>
  }
  return %%out#1 : tensor<f32>
}
`
	module := filepath.Join(t.TempDir(), "loop.mlir")
	write := func(n int) {
		t.Helper()
		if err := os.WriteFile(module, fmt.Appendf(nil, loop, n), 0o666); err != nil {
			t.Fatal(err)
		}
	}
	write(math.MaxInt32)
	ctx, cancel := context.WithTimeout(t.Context(), 2*time.Minute)
	defer cancel()
	notes, w := io.Pipe()
	ended := make(chan struct{})
	go func() {
		defer close(ended)
		cli.Run(ctx, []string{"run", module, "--backend", "engine", "--tap", "sine=record", "--view"}, strings.NewReader(""), io.Discard, w)
		w.Close()
	}()
	lines := make(chan string, 100)
	go func() {
		for in := bufio.NewScanner(notes); in.Scan(); {
			lines <- in.Text()
		}
		close(lines)
	}()
	at := regexp.MustCompile(`http://\S+`).FindString(<-lines)
	if at == "" {
		t.Fatal("the command prints no address")
	}
	b.own = at[:strings.LastIndex(at, "/")]
	b.visit(at)
	wait(b, "values arrive", `hlocb.values.sizes().some((n) => n > 100)`, "true")
	eval[bool](b, `(() => { const s = hlocb.state.step; hlocb.goto(s.items.find((i) => s.opName(i) === "stablehlo.add"));
		[...document.querySelectorAll("#source button")].find((e) => e.textContent === "Tap this value").click(); return true; })()`)
	wait(b, "the flag", `document.querySelector("#source .flag").textContent`, `--tap '^%j$'`)
	b.check()
	found := false
	for !found {
		select {
		case line, more := <-lines:
			if !more {
				t.Fatal("the command ended")
			}
			found = strings.Contains(line, `--tap '^%j$'`)
		case <-ctx.Done():
			t.Fatal("the command does not print the flag")
		}
	}
	cancel()
	<-ended

	write(3)
	var out strings.Builder
	if code := cli.Main([]string{"run", module, "--backend", "engine", "--tap", "^%j$"}, strings.NewReader(""), &out, &out); code != 0 || strings.Count(out.String(), "tensor<i32>") != 3 {
		t.Errorf("a run with the flag ends with %d and prints %s", code, out.String())
	}
}
