package order_test

import (
	"context"
	"fmt"
	"strings"
	"testing"

	"github.com/hlocb/hlocb/hook"
	"github.com/hlocb/hlocb/internal/hook/order"
	"github.com/hlocb/hlocb/internal/testkit"
	"github.com/hlocb/hlocb/ir"
	"github.com/hlocb/hlocb/print"
)

// tap is a raised hook.
const tap = `"hlocb.hook"(%x) {format = "target", has_side_effect, id = 1 : i64, kind = "tap", name = "a"} : (tensor<2xi32>) -> ()` + "\n"

// main is a module with a function of %x, %p and %s.
func main(body string) string {
	return "func.func public @main(%x: tensor<2xi32>, %p: tensor<i1>, %s: tensor<ui64>) {\n" + body + "return\n}\n"
}

// TestThreadRefuses: hooks that no chain can order are errors at the op that is in the way.
func TestThreadRefuses(t *testing.T) {
	for name, c := range map[string]struct{ text, want string }{
		"blocks": {"func.func public @main(%x: tensor<2xi32>) {\n" + tap + "\"cf.br\"()[^next] : () -> ()\n^next:\n  return\n}",
			"test.mlir:1:1: error: function @main reaches hooks and has several blocks, which have no program order"},
		"an unknown op": {main("\"foo.bar\"() ({\n" + tap + "\"foo.end\"() : () -> ()\n}) : () -> ()\n"),
			"test.mlir:2:1: error: hooks inside 'foo.bar' cannot be put in order: hlocb does not know how values move through it"},
		"a chained hook": {main(`%c = "hlocb.hook"(%s, %x) {chained, format = "target", has_side_effect, id = 1 : i64, kind = "tap", name = "a"} : (tensor<ui64>, tensor<2xi32>) -> tensor<ui64>` + "\n"),
			"test.mlir:2:6: error: hook is chained already"},
		"a reducer": {main(`%z = stablehlo.constant dense<0> : tensor<i32>
%r = "stablehlo.reduce"(%x, %z) <{dimensions = array<i64: 0>}> ({
^bb0(%a: tensor<i32>, %b: tensor<i32>):
` + tap + `stablehlo.return %a : tensor<i32>
}) : (tensor<2xi32>, tensor<i32>) -> tensor<i32>
`), "test.mlir:3:6: error: hooks inside 'stablehlo.reduce' cannot be put in order"},
		"no return": {"func.func private @f(%x: tensor<2xi32>) {\n" + tap + "\"foo.end\"() : () -> ()\n}\n", "error: block with hooks does not end in a return"},
		"a name": {"func.func private @f(%x: tensor<2xi32>) {\n" + tap + "return\n}\n" + main("\"foo.bar\"() {f = @f} : () -> ()\n"),
			"test.mlir:6:1: error: 'foo.bar' names function @f, whose hooks cannot be put in order from here"},
		"recursion": {"func.func private @f(%x: tensor<2xi32>) {\n" + tap + "func.call @f(%x) : (tensor<2xi32>) -> ()\nreturn\n}\n",
			"test.mlir:1:1: error: function @f calls itself: the order of its hooks cannot be proven"},
	} {
		m := testkit.Parse(t, "test.mlir", c.text)
		if err := order.Thread(t.Context(), m, hook.OrderProgram, hook.ChainState); err == nil || !strings.Contains(err.Error(), c.want) {
			t.Errorf("%s: the error is %v", name, err)
		}
	}
	m := read(t, main(tap))
	if err := order.Thread(t.Context(), m, hook.OrderSource, hook.ChainPID); err == nil || !strings.Contains(err.Error(), "a chain of PIDs keeps program order or none") {
		t.Errorf("the error is %v", err)
	}
	ctx, cancel := context.WithCancel(t.Context())
	cancel()
	if err := order.Thread(ctx, m, hook.OrderProgram, hook.ChainState); err != context.Canceled {
		t.Errorf("the error is %v", err)
	}
}

// TestProveRefuses: hooks whose order cannot be proven are errors at the op in the way.
func TestProveRefuses(t *testing.T) {
	a := call("a", "%s", "%x", 1)
	for name, c := range map[string]struct{ text, want string }{
		"a condition": {main("%l = stablehlo.while(%k = %x) : tensor<2xi32>\ncond {\n" + a + "stablehlo.return %p : tensor<i1>\n} do {\nstablehlo.return %k : tensor<2xi32>\n}\n"),
			"test.mlir:2:6: error: hook in the condition of a loop: the order of its events cannot be proven"},
		"a reducer": {main(`%z = stablehlo.constant dense<0> : tensor<i32>
%r = "stablehlo.reduce"(%x, %z) <{dimensions = array<i64: 0>}> ({
^bb0(%k: tensor<i32>, %l: tensor<i32>):
` + a + `stablehlo.return %k : tensor<i32>
}) : (tensor<2xi32>, tensor<i32>) -> tensor<i32>
`), "test.mlir:3:6: error: order of the hooks inside 'stablehlo.reduce' cannot be proven"},
		"blocks": {"func.func public @main(%x: tensor<2xi32>, %s: tensor<ui64>) {\n" + a + "\"cf.br\"()[^next] : () -> ()\n^next:\n  return\n}",
			"test.mlir:1:1: error: a region of 'func.func' with hooks has 2 blocks; their order cannot be proven"},
		"a name": {"func.func private @f(%x: tensor<2xi32>, %s: tensor<ui64>) {\n" + a + "return\n}\n" + main("\"foo.bar\"() {f = @f} : () -> ()\n"),
			"error: 'foo.bar' names function @f, and the order of the hooks there cannot be proven"},
		"recursion": {"func.func private @f(%x: tensor<2xi32>, %s: tensor<ui64>) {\n" + a + "func.call @f(%x, %a#0) : (tensor<2xi32>, tensor<ui64>) -> ()\nreturn\n}\n" +
			main("func.call @f(%x, %s) : (tensor<2xi32>, tensor<ui64>) -> ()\n"),
			"test.mlir:1:1: error: function @f calls itself: the order of its hooks cannot be proven"},
	} {
		m := testkit.Parse(t, "test.mlir", c.text)
		if err := order.Prove(t.Context(), m); err == nil || !strings.Contains(err.Error(), c.want) {
			t.Errorf("%s: the error is %v", name, err)
		}
	}
	ctx, cancel := context.WithCancel(t.Context())
	cancel()
	if err := order.Prove(ctx, read(t, main(a))); err != context.Canceled {
		t.Errorf("the error is %v", err)
	}
}

// TestSourceProve: the result must order exactly the pairs of hooks that the source orders.
func TestSourceProve(t *testing.T) {
	three := func(chains ...string) *ir.Module {
		return read(t, main(call("a", "%s", "%x", 1)+call("b", chains[0], "%x", 2)+call("c", chains[1], "%x", 3)))
	}
	row, fork, free := three("%a#0", "%b#0"), three("%a#0", "%a#0"), three("%s", "%s")
	for _, c := range []struct {
		source, result *ir.Module
		want           string
	}{
		{row, row, ""}, {fork, fork, ""}, {free, free, ""},
		{row, fork, "the source orders hook 0000000000000003 after hook 0000000000000002, the result does not"},
		{fork, row, "the result orders hook 0000000000000003 after hook 0000000000000002, the source does not"},
		{fork, free, "the source orders hook 0000000000000002 after hook 0000000000000001, the result does not"},
		{free, row, "the result orders hook 0000000000000002 after hook 0000000000000001, the source does not"},
		{free, read(t, main(tap)), "hook \"a\" is not lowered yet"},
	} {
		err := order.SourceOf(c.source).Prove(t.Context(), c.result)
		if (err == nil) != (c.want == "") || err != nil && !strings.Contains(err.Error(), c.want) {
			t.Errorf("the error is %v, want %q", err, c.want)
		}
	}
	ctx, cancel := context.WithCancel(t.Context())
	cancel()
	if err := order.SourceOf(row).Prove(ctx, row); err != context.Canceled {
		t.Errorf("the error is %v", err)
	}
}

// TestSourceProveCalls: what the source orders in one call of a function counts for that call alone.
func TestSourceProveCalls(t *testing.T) {
	const f = "func.func private @f(%x: tensor<2xi32>, %s: tensor<ui64>) -> tensor<ui64> {\n"
	back := "return %h#0 : tensor<ui64>\n}\n"
	twice := func(first, second string) *ir.Module { // a, then two calls of f
		return read(t, f+call("h", "%s", "%x", 2)+back+main(call("a", "%s", "%x", 1)+
			"%f = func.call @f(%x, "+first+") : (tensor<2xi32>, tensor<ui64>) -> tensor<ui64>\n"+
			"%g = func.call @f(%x, "+second+") : (tensor<2xi32>, tensor<ui64>) -> tensor<ui64>\n"))
	}
	after := func(chain string) *ir.Module { // two calls of f, then a
		return read(t, f+call("h", "%s", "%x", 2)+back+main(
			"%f = func.call @f(%x, %s) : (tensor<2xi32>, tensor<ui64>) -> tensor<ui64>\n"+
				"%g = func.call @f(%x, %s) : (tensor<2xi32>, tensor<ui64>) -> tensor<ui64>\n"+call("a", chain, "%x", 1)))
	}
	deep := func(first, second string) *ir.Module { // through two functions
		return read(t, f+call("h", "%s", "%x", 2)+back+
			strings.Replace(f, "@f", "@g", 1)+"%h = func.call @f(%x, %s) : (tensor<2xi32>, tensor<ui64>) -> tensor<ui64>\nreturn %h : tensor<ui64>\n}\n"+
			main(call("a", "%s", "%x", 1)+"%f = func.call @g(%x, "+first+") : (tensor<2xi32>, tensor<ui64>) -> tensor<ui64>\n"+
				"%g = func.call @g(%x, "+second+") : (tensor<2xi32>, tensor<ui64>) -> tensor<ui64>\n"))
	}
	direct := read(t, main(call("a", "%s", "%x", 1)+call("h", "%a#0", "%x", 2)+call("h2", "%h#0", "%x", 2)))
	for name, c := range map[string]struct {
		source, result *ir.Module
		want           string
	}{
		"same":               {twice("%a#0", "%f"), twice("%a#0", "%f"), ""},
		"the first of two":   {twice("%a#0", "%a#0"), twice("%s", "%a#0"), "the source orders hook 0000000000000002 after hook 0000000000000001, the result does not"},
		"the second of two":  {twice("%a#0", "%a#0"), twice("%a#0", "%s"), "the source orders hook 0000000000000002 (call 2) after hook 0000000000000001, the result does not"},
		"between calls":      {twice("%a#0", "%f"), twice("%a#0", "%a#0"), "the source orders hook 0000000000000002 (call 2) after hook 0000000000000002, the result does not"},
		"more than before":   {twice("%a#0", "%s"), twice("%a#0", "%a#0"), "the result orders hook 0000000000000002 (call 2) after hook 0000000000000001, the source does not"},
		"out of the first":   {after("%f"), after("%g"), "the source orders hook 0000000000000001 after hook 0000000000000002, the result does not"},
		"out of the same":    {after("%g"), after("%g"), ""},
		"deep":               {deep("%a#0", "%f"), deep("%a#0", "%f"), ""},
		"deep, lost":         {deep("%a#0", "%a#0"), deep("%a#0", "%s"), "the source orders hook 0000000000000002 (call 2) after hook 0000000000000001, the result does not"},
		"a collapsed call":   {deep("%a#0", "%f"), twice("%a#0", "%f"), ""},
		"inlined":            {twice("%a#0", "%f"), direct, ""},
		"inlined, otherwise": {twice("%a#0", "%a#0"), direct, "the result orders hook 0000000000000002 (call 2) after hook 0000000000000002, the source does not"},
	} {
		err := order.SourceOf(c.source).Prove(t.Context(), c.result)
		if (err == nil) != (c.want == "") || err != nil && !strings.Contains(err.Error(), c.want) {
			t.Errorf("%s: the error is %v, want %q", name, err, c.want)
		}
	}
	// Functions that call each other twice count as separate calls up to a limit, and as one call beyond it.
	text := f + call("h", "%s", "%x", 2) + back
	for i := range 40 {
		name, callee := fmt.Sprintf("@f%d", i+1), "@f"
		if i > 0 {
			callee = fmt.Sprintf("@f%d", i)
		}
		text += strings.Replace(f, "@f", name, 1) + "%0 = func.call " + callee + "(%x, %s) : (tensor<2xi32>, tensor<ui64>) -> tensor<ui64>\n" +
			"%h = func.call " + callee + "(%x, %0) : (tensor<2xi32>, tensor<ui64>) -> tensor<ui64>\nreturn %h : tensor<ui64>\n}\n"
	}
	m := read(t, text+main("%0 = func.call @f40(%x, %s) : (tensor<2xi32>, tensor<ui64>) -> tensor<ui64>\n"))
	if err := order.SourceOf(m).Prove(t.Context(), m); err != nil {
		t.Error(err)
	}
}

// TestThreadLeaves: a composite without hooks and a function that only calls another one stay.
func TestThreadLeaves(t *testing.T) {
	const rest = `func.func private @double(%x: tensor<2xi32>) -> tensor<2xi32> {
  %0 = stablehlo.add %x, %x : tensor<2xi32>
  return %0 : tensor<2xi32>
}
func.func private @wrapper(%x: tensor<2xi32>) -> tensor<2xi32> {
  %0 = call @double(%x) : (tensor<2xi32>) -> tensor<2xi32>
  return %0 : tensor<2xi32>
}
`
	m := read(t, rest+main(tap+"%1 = stablehlo.composite \"a.b\" %x {decomposition = @double} : (tensor<2xi32>) -> tensor<2xi32>\n"+
		"%2 = func.call @wrapper(%1) : (tensor<2xi32>) -> tensor<2xi32>\n%t = stablehlo.create_token : !stablehlo.token\n"))
	if err := order.Thread(t.Context(), m, hook.OrderProgram, hook.ChainState); err != nil {
		t.Fatal(err)
	}
	text := print.String(m, print.Options{})
	for _, want := range []string{`stablehlo.composite "a.b"`, "call @wrapper(", "call @double("} {
		if strings.Count(text, want) != 1 {
			t.Errorf("%s is gone:\n%s", want, text)
		}
	}
}

// TestWrite: the order as text and as a graph.
func TestWrite(t *testing.T) {
	m := &hook.Manifest{Sites: []hook.Site{{ID: 1, Name: "a", Chained: true}, {ID: 2, Name: "b", Chained: true}, {ID: 3, Name: "c\n", Chained: true}, {ID: 4, Name: "d"}, {ID: 5, Name: "e"}},
		Edges: []hook.Edge{{From: 1, To: 2}, {From: 1, To: 3}, {From: 2, To: 3}}}
	data := []hook.Edge{{From: 4, To: 2}, {From: 1, To: 5}, {From: 2, To: 5}}
	var text, graph strings.Builder
	if err := order.Write(&text, m, data); err != nil {
		t.Fatal(err)
	}
	kind := m.Sites[0].Kind.String()
	want := strings.ReplaceAll(`a (K) first
b (K) after a, by data after d
c\x0a (K) after a, b
d (K) unordered
e (K) by data after a, b
`, "K", kind)
	if text.String() != want {
		t.Errorf("%s\nwant\n%s", text.String(), want)
	}
	if err := order.WriteDOT(&graph, m, data); err != nil {
		t.Fatal(err)
	}
	for _, line := range []string{"digraph order {\n", `  "0000000000000001" [label="a (` + kind + `)"];` + "\n", `  "0000000000000001" -> "0000000000000002";` + "\n",
		`  "0000000000000004" -> "0000000000000002" [style=dashed];` + "\n", "}\n"} {
		if strings.Count(graph.String(), line) != 1 {
			t.Errorf("no line %q in\n%s", line, graph.String())
		}
	}
}
