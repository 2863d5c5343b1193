package opt_test

import (
	"bytes"
	"strings"
	"testing"

	"github.com/hlocb/hlocb/dialect/all"
	"github.com/hlocb/hlocb/opt"
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
