package cli_test

import (
	"bufio"
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

// TestRunView opens the page of a running program, reads its events and taps a value.
func TestRunView(t *testing.T) {
	module := filepath.Join(t.TempDir(), "loop.mlir")
	if err := os.WriteFile(module, []byte(endless), 0o666); err != nil {
		t.Fatal(err)
	}
	ctx, cancel := context.WithTimeout(t.Context(), time.Minute)
	defer cancel()
	notes, w := io.Pipe()
	code := make(chan int, 1)
	go func() {
		code <- cli.Run(ctx, []string{"run", module, "--backend", "engine", "--tap", "sine=finite", "--view"}, strings.NewReader(""), io.Discard, w)
		w.Close()
	}()
	lines := bufio.NewReader(notes)
	note := func() string {
		t.Helper()
		line, err := lines.ReadString('\n')
		if err != nil {
			t.Fatal(err)
		}
		return line
	}
	at := regexp.MustCompile(`http://127\.0\.0\.1:\d+/\?token=[0-9a-f]{32}`).FindString(note())
	do := func(method, url, origin, body string) (*http.Response, *bufio.Reader) {
		t.Helper()
		r, err := http.NewRequestWithContext(ctx, method, url, strings.NewReader(body))
		if err != nil {
			t.Fatal(err)
		}
		if origin != "" {
			r.Header.Set("Origin", origin)
		}
		resp, err := http.DefaultClient.Do(r)
		if err != nil {
			t.Fatal(err)
		}
		t.Cleanup(func() { resp.Body.Close() })
		return resp, bufio.NewReader(resp.Body)
	}
	resp, body := do("GET", at, "", "")
	page, err := io.ReadAll(body)
	source := strings.Replace(at[strings.LastIndex(at, "/")+1:], "?", "events?", 1)
	if err != nil || resp.StatusCode != 200 || !strings.Contains(string(page), `"live":"`+source+`"`) || !strings.Contains(string(page), "stablehlo.sine") {
		t.Fatalf("%s, %v: %.300s", resp.Status, err, page)
	}
	_, stream := do("GET", strings.Replace(at, "/?", "/events?", 1), "", "")
	seen := 0
	for seen < 1000 {
		line, err := stream.ReadString('\n')
		if err != nil {
			t.Fatal(err)
		}
		seen += strings.Count(line, `"place":"model.py:7:3"`)
	}
	origin := at[:strings.LastIndex(at, "/")]
	answered := make(chan string, 1)
	go func() { answered <- note() }()
	resp, body = do("POST", strings.Replace(at, "/?", "/tap?", 1), origin, `{"at":"model.py:7"}`)
	answer, err := io.ReadAll(body)
	if err != nil || string(answer) != "--tap 'model.py:7'" {
		t.Errorf("%s, %v: %s", resp.Status, err, answer)
	}
	if line := <-answered; !strings.Contains(line, "--tap 'model.py:7'") {
		t.Errorf("the command says %s", line)
	}
	cancel()
	go io.Copy(io.Discard, lines)
	select {
	case <-code:
	case <-time.After(30 * time.Second):
		t.Fatal("the command does not end")
	}
}
