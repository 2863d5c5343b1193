package opt_test

import (
	"bytes"
	"os"
	"path/filepath"
	"strings"
	"testing"

	"github.com/hlocb/hlocb/dialect/all"
	"github.com/hlocb/hlocb/dialect/stablehlo"
	"github.com/hlocb/hlocb/ir"
	"github.com/hlocb/hlocb/opt"
	"github.com/hlocb/hlocb/pass"
	"github.com/hlocb/hlocb/rewrite"
)

func TestMainReports(t *testing.T) {
	for _, c := range []struct {
		args        string
		in          string
		code        int
		out, stderr string
	}{
		{"", "func.func @f() {return}", 0, "func.func @f()", ""},
		{"-", "func.func @f() {return}", 0, "func.func @f()", ""},
		{"--generic", "func.func @f() {return}", 0, `"func.func"()`, ""},
		{"--passes nothing", "func.func @f() {return}", 2, "", `unknown pass "nothing"`},
		{"--passes raise-hook", "", 2, "", "did you mean raise-hooks?"},
		{"--passes raise-hooks{target=x}", "", 2, "", `pass "raise-hooks" has no option "target"`},
		{"--print-ir-after raise-hookz", "", 2, "", "did you mean raise-hooks?"},
		{"a b", "", 2, "", `unexpected argument "b"`},
		{"nosuch.mlir", "", 1, "", "no such file or directory"},
		{"", "func.func @f() {retrun}", 1, "", "<stdin>:1:17: error: "},
		{"--list-passes", "", 0, "  raise-hooks\n", ""},
		{"--show-dialects", "", 0, "stablehlo\n", ""},
		{"--pass-pipeline builtin.module(raise-hooks) --print-ir-after all", "func.func @f() {return}", 0, "func.func @f()", "IR Dump After raise-hooks"},
	} {
		var out, errs bytes.Buffer
		code := opt.Main(strings.Fields(c.args), opt.Streams{In: strings.NewReader(c.in), Out: &out, Err: &errs}, opt.Config{Dialects: all.Dialects()})
		if code != c.code || !strings.Contains(out.String(), c.out) || !strings.Contains(errs.String(), c.stderr) {
			t.Errorf("opt %s: exit code %d, want %d; printed\n%s%swant %q and %q", c.args, code, c.code, &out, &errs, c.out, c.stderr)
		}
	}
}

// faulty is a pass that fails in one of several ways.
type faulty struct {
	How string `pass:"how" doc:"breaks, panics or loops"`
}

func (faulty) Info() *pass.Info {
	return &pass.Info{Name: "faulty", Doc: "Fails.", Anchor: "func.func"}
}

func (p faulty) Run(_ *pass.Context, f *ir.Op) error {
	switch p.How {
	case "breaks":
		f.Region(0).Entry().Last().Erase()
	case "panics":
		panic("nothing here")
	case "loops":
		_, err := rewrite.Greedy(f, []*rewrite.Pattern{{Name: "back-and-forth", Rows: []*ir.Def{stablehlo.Abs}, Rewrite: func(r *rewrite.Rewriter, op *ir.Op) (bool, error) {
			r.Update(op, func() {})
			return true, nil
		}}}, rewrite.Options{MaxRewrites: 10})
		return err
	}
	return nil
}

// TestFaultyPasses: a pass that breaks the module, panics or never ends is a located error that names the pass or
// pattern, and the reproducer has the command.
func TestFaultyPasses(t *testing.T) {
	table, err := pass.NewTable(faulty{})
	if err != nil {
		t.Fatal(err)
	}
	const in = "func.func @f(%x: tensor<f32>) -> tensor<f32> {\n  %0 = stablehlo.abs %x : tensor<f32>\n  return %0 : tensor<f32>\n}\n"
	for how, want := range map[string]string{
		"breaks": `<stdin>:2:8: error: block with no terminator, has 'stablehlo.abs'
  %0 = stablehlo.abs %x : tensor<f32>
       ^
<stdin>:2:8: note: pass 'faulty' left an invalid module
  %0 = stablehlo.abs %x : tensor<f32>
       ^
`,
		"panics": `<stdin>:1:1: error: pass 'faulty' failed: nothing here
func.func @f(%x: tensor<f32>) -> tensor<f32> {
^
`,
		"loops": `<stdin>:2:8: error: rewriting does not end: 10 rewrites, and pattern back-and-forth still has to be tried on 'stablehlo.abs'
  %0 = stablehlo.abs %x : tensor<f32>
       ^
`,
	} {
		file := filepath.Join(t.TempDir(), "repro.mlir")
		var out, errs bytes.Buffer
		code := opt.Main([]string{"--faulty=how=" + how, "--crash-reproducer", file}, opt.Streams{In: strings.NewReader(in), Out: &out, Err: &errs}, opt.Config{Dialects: all.Dialects(), Passes: table})
		if code != 1 || errs.String() != want || out.Len() > 0 {
			t.Errorf("%s: exit code %d, printed\n%s%s, expected\n%s", how, code, &out, &errs, want)
		}
		repro, err := os.ReadFile(file)
		if err != nil {
			t.Fatal(err)
		}
		if want := "// opt " + file + " --passes 'builtin.module(func.func(faulty{how=" + how + "}))'\n"; !strings.Contains(string(repro), want) {
			t.Errorf("%s: the reproducer lacks %s:\n%s", how, want, repro)
		}
	}
}
