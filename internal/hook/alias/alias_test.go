package alias_test

import (
	"fmt"
	"regexp"
	"strings"
	"testing"

	"github.com/hlocb/hlocb/hook"
	"github.com/hlocb/hlocb/internal/golden"
	"github.com/hlocb/hlocb/internal/hook/alias"
	"github.com/hlocb/hlocb/internal/testkit"
	"github.com/hlocb/hlocb/ir"
	"github.com/hlocb/hlocb/print"
)

// short matches a hook of a case, 'tap name(operands) alias[0] : type', whose aliases may be absent, and long the
// attributes of the op that it stands for.
var (
	short = regexp.MustCompile(`\b(tap|call) (\w+)\((.*?)\)(?: alias\[(.*?)\])? :`)
	long  = regexp.MustCompile(`"hlocb.hook"\((.*)\) <\{(.*?)format = "target", has_side_effect, id = \d+ : i64, kind = "(\w+)", name = "(\w+)"\}> :`)
)

// TestDecide: the cases say which results share memory and why, and how taps change the program. The result is a line
// per result of a hook, then the program. The comment 'mode: free' or 'mode: none' sets the mode.
func TestDecide(t *testing.T) {
	golden.Texts(t, "testdata/*.txtar", decided)
}

// decided reads a case and returns what Decide says and does.
func decided(t *testing.T, name, text string) string {
	mode := hook.AliasAll
	if _, after, ok := strings.Cut(text, "// mode: "); ok {
		word, _, _ := strings.Cut(after, "\n")
		if err := mode.UnmarshalText([]byte(word)); err != nil {
			t.Fatal(err)
		}
	}
	id := 0
	m := testkit.Parse(t, name, short.ReplaceAllStringFunc(text, func(s string) string {
		id++
		p := short.FindStringSubmatch(s)
		aliases := ""
		if p[4] != "" {
			aliases = "aliases = array<i64: " + p[4] + ">, "
		}
		return fmt.Sprintf(`"hlocb.hook"(%s) <{%sformat = "target", has_side_effect, id = %d : i64, kind = "%s", name = "%s"}> :`, p[3], aliases, id, p[1], p[2])
	}))
	var out strings.Builder
	reports, err := alias.Decide(t.Context(), m, mode)
	if err != nil {
		t.Fatal(err)
	}
	for _, r := range reports {
		fmt.Fprintf(&out, "%s result %d of %d bytes: operand %d, %s: %s", r.Name, r.Result, r.Bytes, r.Operand, r.Verdict, r.Reason)
		if r.Maybe {
			out.WriteString(" (perhaps not)")
		}
		out.WriteString("\n")
	}
	if err := ir.Verify(m); err != nil {
		t.Error(err)
	}
	out.WriteString(long.ReplaceAllString(print.String(m, print.Options{}), "$3 $4($1) {$2} :"))
	return out.String()
}

// TestManyOps: ops that use values twice are inspected once, ops around the hook's region are not inspected, and the
// order of ops that are far apart is unknown.
func TestManyOps(t *testing.T) {
	chain := func(b *strings.Builder, name, first string, n int) string {
		for i := range n {
			next := fmt.Sprintf("%%%s%d", name, i)
			fmt.Fprintf(b, "  %s = stablehlo.add %s, %s : tensor<4xf32>\n", next, first, first)
			first = next
		}
		return first
	}
	for _, c := range []struct {
		outside, inside int
		user            string // of the hook's operand
		want            string
	}{
		{0, 40, "%x", "an op that need not come before the hook uses the operand too"},
		{0, 40, "%y", "the hook is the operand's last use"},
		{120, 120, "%y", "the hook is the operand's last use"},
		{0, 197, "%y", "the hook is the operand's last use"},
		{0, 198, "%y", "an op that need not come before the hook uses the operand too"},
	} {
		var b strings.Builder
		b.WriteString("func.func public @main(%x: tensor<4xf32>, %n: tensor<i1>) -> (tensor<4xf32>, tensor<4xf32>) {\n")
		outer := chain(&b, "o", "%x", c.outside)
		b.WriteString("  %w:2 = \"stablehlo.if\"(%n) ({\n  %y = stablehlo.tanh %x : tensor<4xf32>\n  %u = stablehlo.sine %y : tensor<4xf32>\n")
		start := "%u"
		if c.user == "%x" {
			start = "%x"
		}
		inner := chain(&b, "i", start, c.inside)
		fmt.Fprintf(&b, "  %%r = call a(%%y, %s, %s) : (tensor<4xf32>, tensor<4xf32>, tensor<4xf32>) -> tensor<4xf32>\n", outer, inner)
		b.WriteString("  stablehlo.return %r, %u : tensor<4xf32>, tensor<4xf32>\n}, {\n  stablehlo.return %x, %x : tensor<4xf32>, tensor<4xf32>\n}) : (tensor<i1>) -> (tensor<4xf32>, tensor<4xf32>)\n  return %w#0, %w#1 : tensor<4xf32>, tensor<4xf32>\n}\n")
		line, _, _ := strings.Cut(decided(t, "test.mlir", b.String()), "\n")
		if !strings.Contains(line, c.want) {
			t.Errorf("%+v: %s", c, line)
		}
	}
}

// TestDeepCalls: a value of code that XLA computes once needs a copy if it crosses at most eight calls on its way to
// the hook. Beyond them, and in recursion, the copy may be avoidable.
func TestDeepCalls(t *testing.T) {
	const typ = "tensor<4xf32>"
	for _, c := range []struct {
		into, from int // calls into functions, or out of functions
		perhaps    bool
	}{{0, 0, false}, {1, 0, false}, {8, 0, false}, {9, 0, true}, {20, 0, true}, {0, 1, false}, {0, 8, false}, {0, 9, true}, {0, 20, true}, {4, 4, false}, {5, 4, true}} {
		var b strings.Builder
		for i := range c.from {
			inner := "stablehlo.custom_call @once(%x)"
			if i > 0 {
				inner = fmt.Sprintf("func.call @from%d(%%x)", i-1)
			}
			fmt.Fprintf(&b, "func.func private @from%d(%%x: %s) -> %[2]s {\n  %%y = %s : (%[2]s) -> %[2]s\n  return %%y : %[2]s\n}\n", i, typ, inner)
		}
		ask := "call a(%y) : (" + typ + ") -> " + typ + "\n  %z = stablehlo.add %y, %r : " + typ + "\n"
		for i := range c.into {
			fmt.Fprintf(&b, "func.func private @into%d(%%y: %s) -> %[2]s {\n  %%r = %s  return %%r : %[2]s\n}\n", i, typ, ask)
			ask = fmt.Sprintf("func.call @into%d(%%y) : (%s) -> %[2]s\n", i, typ)
		}
		value := "stablehlo.custom_call @once(%x)"
		if c.from > 0 {
			value = fmt.Sprintf("func.call @from%d(%%x)", c.from-1)
		}
		fmt.Fprintf(&b, "func.func public @main(%%x: %s) -> %[1]s {\n  %%y = %[2]s : (%[1]s) -> %[1]s\n  %%r = %[3]s  return %%r : %[1]s\n}\n", typ, value, ask)
		line, _, _ := strings.Cut(decided(t, "test.mlir", b.String()), "\n")
		want := "a result 0 of 16 bytes: operand 0, copy: the operand is used later"
		if c.perhaps {
			want += " (perhaps not)"
		}
		if line != want {
			t.Errorf("%+v: %s\n%s", c, line, b.String())
		}
	}
	again := "func.func private @f(%y: tensor<4xf32>) -> tensor<4xf32> {\n  %r = call a(%y) : (tensor<4xf32>) -> tensor<4xf32>\n  %s = func.call @f(%y) : (tensor<4xf32>) -> tensor<4xf32>\n  return %s : tensor<4xf32>\n}\n" +
		"func.func public @main(%x: tensor<4xf32>) {\n  %y = stablehlo.custom_call @once(%x) : (tensor<4xf32>) -> tensor<4xf32>\n  %r = func.call @f(%y) : (tensor<4xf32>) -> tensor<4xf32>\n  return\n}\n"
	if line, _, _ := strings.Cut(decided(t, "test.mlir", again), "\n"); !strings.HasSuffix(line, "copy: the operand is used later (perhaps not)") {
		t.Errorf("in recursion: %s", line)
	}
}
