package main

import (
	"bytes"
	"context"
	"io"
	"os"
	"regexp"
	"strings"
	"testing"

	"example.com/tally/tally"
	"github.com/hlocb/hlocb"
	"github.com/hlocb/hlocb/diag"
	"github.com/hlocb/hlocb/dialect/gen"
	"github.com/hlocb/hlocb/filecheck"
	"github.com/hlocb/hlocb/ir"
	"github.com/hlocb/hlocb/opt"
	"github.com/hlocb/hlocb/parse"
	"github.com/hlocb/hlocb/pass"
	"github.com/hlocb/hlocb/runtime/handlers"
)

// TestPasses executes the RUN lines of the modules in testdata in process.
func TestPasses(t *testing.T) {
	cfg, err := config()
	if err != nil {
		t.Fatal(err)
	}
	r := &filecheck.Runner{Dir: t.TempDir(), Tools: map[string]filecheck.Tool{
		"FileCheck": filecheck.Main,
		"tally-opt": func(_ context.Context, args []string, in io.Reader, out, errs io.Writer) int {
			return opt.Main(args, opt.Streams{In: in, Out: out, Err: errs}, cfg)
		},
	}}
	for _, file := range []string{"testdata/double.mlir", "testdata/repeat.mlir", "testdata/dot.mlir", "testdata/scaled.mlir"} {
		if err := r.Run(context.Background(), file); err != nil {
			t.Error(err)
		}
	}
}

// TestTutorial: the code in docs/tutorial.md is this module's, and its commands print what the tutorial shows.
func TestTutorial(t *testing.T) {
	text, err := os.ReadFile("../../docs/tutorial.md")
	if err != nil {
		t.Fatal(err)
	}
	var code strings.Builder
	for _, file := range []string{"main.go", "double.go", "passes.go", "dot.go", "tally/rows.go", "tally/scaled_dot.go", "tally/gen/main.go", "tally_test.go"} {
		source, err := os.ReadFile(file)
		if err != nil {
			t.Fatal(err)
		}
		code.Write(source)
	}
	cfg, err := config()
	if err != nil {
		t.Fatal(err)
	}
	blocks := regexp.MustCompile("(?s)```(go|console)\n(.*?)```").FindAllStringSubmatch(string(text), -1)
	for _, b := range blocks {
		if b[1] == "go" {
			if !strings.Contains(code.String(), b[2]) {
				t.Errorf("the example lacks this code of the tutorial:\n%s", b[2])
			}
			continue
		}
		command, want, _ := strings.Cut(b[2], "\n")
		args := strings.Fields(strings.ReplaceAll(strings.TrimPrefix(command, "$ tally-opt "), "'", ""))
		var out bytes.Buffer
		opt.Main(args, opt.Streams{In: strings.NewReader(""), Out: &out, Err: &out}, cfg)
		shown := regexp.MustCompile("(?s)^" + strings.ReplaceAll(regexp.QuoteMeta(want), `\.\.\.`+"\n", ".*") + "$")
		if !shown.MatchString(out.String()) {
			t.Errorf("%s prints\n%s\nthe tutorial shows\n%s", command, &out, want)
		}
	}
	if len(blocks) < 8 {
		t.Errorf("the tutorial has %d blocks", len(blocks))
	}
}

// TestGenerated: the views and builders of the dialect are those of its rows.
func TestGenerated(t *testing.T) {
	want, err := gen.Views(tally.Dialect(), gen.Options{})
	if err != nil {
		t.Fatal(err)
	}
	got, err := os.ReadFile("tally/views_gen.go")
	if err != nil {
		t.Fatal(err)
	}
	if !bytes.Equal(got, want) {
		t.Error("tally/views_gen.go is old: run go generate ./tally")
	}
}

// TestRun lowers the loop and runs it on the embedded engine: the hook in it is called once per trip, in order.
func TestRun(t *testing.T) {
	cfg, err := config()
	if err != nil {
		t.Fatal(err)
	}
	registry, err := ir.NewRegistry(cfg.Dialects...)
	if err != nil {
		t.Fatal(err)
	}
	text, err := os.ReadFile("testdata/repeat.mlir")
	if err != nil {
		t.Fatal(err)
	}
	m, err := parse.Parse(diag.NewSource("repeat.mlir", text), ir.NewContext(registry), parse.Options{})
	if err != nil {
		t.Fatal(err)
	}
	ctx := context.Background()
	driver := &pass.Driver{Verify: ir.VerifyContext}
	if err := driver.Run(pass.NewContext(ctx, m), pass.Pipeline{pass.On("func.func", Lower{})}); err != nil {
		t.Fatal(err)
	}
	p, err := hlocb.FromModule(ctx, m, hlocb.HookTargets("host"))
	if err != nil {
		t.Fatal(err)
	}
	var events bytes.Buffer
	exe, err := p.Compile(ctx, hlocb.On("engine"), hlocb.Observe("step", handlers.NewPrint(&events, 0)))
	if err != nil {
		t.Fatal(err)
	}
	defer exe.Close()
	results, err := exe.Run(ctx, hlocb.Scalar[float32](1.5))
	if err != nil {
		t.Fatal(err)
	}
	var lines []string
	for line := range strings.Lines(events.String()) {
		lines = append(lines, strings.TrimSpace(line))
	}
	got := strings.Join(lines, "; ") + "; result " + string(results[0].AppendLiteral(nil, 0))
	const want = "#0 step (tap); tensor<f32>: 3.; #1 step (tap); tensor<f32>: 6.; #2 step (tap); tensor<f32>: 12.; result dense<-0.536572933> : tensor<f32>"
	if got != want {
		t.Errorf("got  %s\nwant %s", got, want)
	}
}
