package cli_test

import (
	"bufio"
	"bytes"
	"context"
	"io"
	"net/http"
	"os"
	"path/filepath"
	"regexp"
	"strings"
	"testing"
	"time"

	"github.com/hlocb/hlocb/internal/cli"
)

// endless is a loop of 2^31 iterations.
const endless = `func.func @main() -> tensor<f32> {
  %x = stablehlo.constant dense<3.0> : tensor<f32>
  %zero = stablehlo.constant dense<0> : tensor<i32>
  %one = stablehlo.constant dense<1> : tensor<i32>
  %n = stablehlo.constant dense<2147483647> : tensor<i32>
  %out:2 = stablehlo.while(%i = %zero, %v = %x) : tensor<i32>, tensor<f32>
   cond {
    %more = stablehlo.compare LT, %i, %n, SIGNED : (tensor<i32>, tensor<i32>) -> tensor<i1>
    stablehlo.return %more : tensor<i1>
  } do {
    %root = stablehlo.sine %v : tensor<f32> loc("model.py":7:3)
    %j = stablehlo.add %i, %one : tensor<i32>
    stablehlo.return %j, %root : tensor<i32>, tensor<f32>
  }
  return %out#1 : tensor<f32>
}
`

// viewer is a command that serves a page, and a client of its server.
type viewer struct {
	t     *testing.T
	ctx   context.Context
	at    string // the page's address
	lines chan string
	code  chan int
}

// startViewer starts a command with --view.
func startViewer(ctx context.Context, t *testing.T, args ...string) *viewer {
	t.Helper()
	notes, w := io.Pipe()
	v := &viewer{t: t, ctx: ctx, lines: make(chan string, 1000), code: make(chan int, 1)}
	go func() {
		v.code <- cli.Run(ctx, args, strings.NewReader(""), io.Discard, w)
		w.Close()
	}()
	go func() {
		for in := bufio.NewScanner(notes); in.Scan(); {
			v.lines <- in.Text()
		}
		close(v.lines)
	}()
	v.at = regexp.MustCompile(`http://127\.0\.0\.1:\d+/\?token=[0-9a-f]{32}`).FindString(v.note("view at"))
	return v
}

// note returns the next line of the command that contains a text.
func (v *viewer) note(text string) string {
	v.t.Helper()
	for line := range v.lines {
		if strings.Contains(line, text) {
			return line
		}
	}
	v.t.Fatalf("the command ended without a line with %q", text)
	return ""
}

// do sends a request to a path of the server.
func (v *viewer) do(method, path, origin, body string) (*http.Response, *bufio.Reader) {
	v.t.Helper()
	r, err := http.NewRequestWithContext(v.ctx, method, strings.Replace(v.at, "/?", path+"?", 1), strings.NewReader(body))
	if err != nil {
		v.t.Fatal(err)
	}
	if origin != "" {
		r.Header.Set("Origin", origin)
	}
	resp, err := http.DefaultClient.Do(r)
	if err != nil {
		v.t.Fatal(err)
	}
	v.t.Cleanup(func() { resp.Body.Close() })
	return resp, bufio.NewReader(resp.Body)
}

// page returns the page.
func (v *viewer) page() string {
	v.t.Helper()
	resp, body := v.do("GET", "/", "", "")
	page, err := io.ReadAll(body)
	if err != nil || resp.StatusCode != 200 {
		v.t.Fatalf("%s, %v: %.300s", resp.Status, err, page)
	}
	return string(page)
}

// end waits until the command ends, and returns its exit code.
func (v *viewer) end() int {
	v.t.Helper()
	go func() {
		for range v.lines {
		}
	}()
	select {
	case code := <-v.code:
		return code
	case <-time.After(30 * time.Second):
		v.t.Fatal("the command does not end")
		return 0
	}
}

// TestRunView opens the page of a running program, reads its events and taps a value.
func TestRunView(t *testing.T) {
	module := filepath.Join(t.TempDir(), "loop.mlir")
	if err := os.WriteFile(module, []byte(endless), 0o666); err != nil {
		t.Fatal(err)
	}
	ctx, cancel := context.WithTimeout(t.Context(), time.Minute)
	defer cancel()
	v := startViewer(ctx, t, "run", module, "--backend", "engine", "--tap", "sine=finite", "--view")
	source := strings.Replace(v.at[strings.LastIndex(v.at, "/")+1:], "?", "events?", 1)
	if page := v.page(); !strings.Contains(page, `"live":"`+source+`"`) || !strings.Contains(page, "stablehlo.sine") {
		t.Fatalf("%.300s", page)
	}
	_, stream := v.do("GET", "/events", "", "")
	for seen := 0; seen < 1000; {
		line, err := stream.ReadString('\n')
		if err != nil {
			t.Fatal(err)
		}
		seen += strings.Count(line, `"place":"model.py:7:3"`)
	}
	resp, body := v.do("POST", "/tap", v.at[:strings.LastIndex(v.at, "/")], `{"at":"model.py:7"}`)
	answer, err := io.ReadAll(body)
	if err != nil || string(answer) != "--tap 'model.py:7'" {
		t.Errorf("%s, %v: %s", resp.Status, err, answer)
	}
	v.note("--tap 'model.py:7'")
	cancel()
	v.end()
}

// TestViewOfCommands: record, replay and compare serve the page of their run, too: replay with the recording beside it,
// compare with the events of both sides.
func TestViewOfCommands(t *testing.T) {
	dir := t.TempDir()
	const train = "../../testdata/mlir/train_step.mlir"
	monday, long := filepath.Join(dir, "monday.jsonl"), filepath.Join(dir, "long.mlir")
	text, err := os.ReadFile(train)
	if err != nil {
		t.Fatal(err)
	}
	if err := os.WriteFile(long, bytes.Replace(text, []byte("dense<4> : tensor<i32>"), []byte("dense<20000> : tensor<i32>"), 1), 0o666); err != nil {
		t.Fatal(err)
	}
	for _, c := range []struct {
		name     string
		args     []string
		inPage   []string
		inEvents []string // of each event, one
		events   int
	}{
		{"record", []string{"record", train, "--fill", "iota", "--backend", "engine", "--inject", "loss=delay=100ms", "-o", monday}, []string{`"name":"train_step.mlir"`}, []string{`"hook":"`}, 8},
		{"replay", []string{"replay", train, monday, "--backend", "engine", "--inject", "loss=delay=100ms"}, []string{`"recordings":[{"name":"monday.jsonl"`}, []string{`"hook":"`}, 8},
		{"compare", []string{"compare", long, long, "--fill", "iota"}, []string{`"name":"long.mlir"`}, []string{`"process":"A: `, `"process":"B: `}, 80000},
	} {
		ctx, cancel := context.WithTimeout(t.Context(), time.Minute)
		v := startViewer(ctx, t, append(c.args, "--view")...)
		_, stream := v.do("GET", "/events", "", "")
		page := v.page()
		for _, want := range c.inPage {
			if !strings.Contains(page, want) {
				t.Errorf("%s: the page lacks %s", c.name, want)
			}
		}
		counts := make([]int, len(c.inEvents))
		for {
			line, err := stream.ReadString('\n')
			if err != nil {
				t.Fatalf("%s: %v", c.name, err)
			}
			for i, mark := range c.inEvents {
				counts[i] += strings.Count(line, mark)
			}
			if n := regexp.MustCompile(`^data: {"events":(\d+)}`).FindStringSubmatch(line); n != nil {
				t.Logf("%s: %s events dropped", c.name, n[1])
			}
			if strings.HasPrefix(line, "event: end") {
				break
			}
		}
		for i, n := range counts {
			if n == 0 || n > c.events/len(counts) || c.events < 100 && n != c.events {
				t.Errorf("%s: %d events with %s", c.name, n, c.inEvents[i])
			}
		}
		cancel() // the client goes away
		v.end()
	}
}
