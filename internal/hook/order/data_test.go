package order_test

import (
	"fmt"
	"slices"
	"strings"
	"testing"

	"github.com/hlocb/hlocb/hlo"
	"github.com/hlocb/hlocb/hook"
	"github.com/hlocb/hlocb/internal/hook/order"
	"github.com/hlocb/hlocb/ir"
)

// typed is a lowered hook whose value has a type. Without a chain, it is name = @hlocb_hook(value) -> value.
func typed(name, chain, value, typ string, id int) string {
	if chain == "" {
		return fmt.Sprintf(`%%%s = stablehlo.custom_call @hlocb_hook(%s) {api_version = 4 : i32, has_side_effect = false,
    backend_config = {abi = 1 : i64, id = %d : i64, kind = "call", name = "%[1]s"}} : (%[4]s) -> %[4]s
`, name, value, id, typ)
	}
	return strings.NewReplacer("tensor<2xi32>", typ).Replace(call(name, chain, value, id))
}

// edges writes edges as "1>2 2>3".
func edges(list []hook.Edge) string {
	var out []string
	for _, e := range list {
		out = append(out, fmt.Sprintf("%d>%d", uint64(e.From), uint64(e.To)))
	}
	return strings.Join(out, " ")
}

// TestData: the hooks that data orders, besides the order of the chains.
func TestData(t *testing.T) {
	const i1, i32 = "tensor<i1>", "tensor<2xi32>"
	inBranch := func(predicate, inside string) string {
		return "%f = \"stablehlo.if\"(" + predicate + ") ({\n" + inside + "stablehlo.return %b : tensor<2xi32>\n}, {\nstablehlo.return %x : tensor<2xi32>\n}) : (tensor<i1>) -> tensor<2xi32>\n"
	}
	b := typed("b", "", "%x", i32, 2)
	for name, c := range map[string]struct{ ops, want string }{
		"none":                                {typed("a", "", "%x", i32, 1) + b, ""},
		"an operand":                          {typed("a", "", "%x", i32, 1) + typed("b", "", "%a", i32, 2) + typed("c", "", "%b", i32, 3), "1>2 2>3"},
		"an operand beside a chain":           {typed("a", "%s", "%x", i32, 1) + typed("b", "", "%a#1", i32, 2), "1>2"},
		"an operand of the next in the chain": {typed("a", "%s", "%x", i32, 1) + typed("b", "%a#0", "%a#1", i32, 2), ""},
		"an operand of another chain":         {typed("a", "%s", "%x", i32, 1) + typed("b", "%s", "%a#1", i32, 2), "1>2"},
		"a chain as data":                     {typed("a", "%s", "%x", i32, 1) + typed("b", "", "%a#0", "tensor<ui64>", 2), ""},
		"computed":                            {typed("a", "", "%x", i32, 1) + "%d = stablehlo.add %a, %a : tensor<2xi32>\n" + typed("b", "", "%d", i32, 2), ""},
		"a predicate":                         {typed("a", "", "%p", i1, 1) + inBranch("%a", b), "1>2"},
		"a predicate beside a chain":          {typed("a", "%s", "%p", i1, 1) + inBranch("%a#1", "%d = stablehlo.abs %x : tensor<2xi32>\n"+b), "1>2"},
		"a compared predicate": {typed("a", "", "%n", "tensor<i32>", 1) +
			"%k = stablehlo.constant dense<3> : tensor<i32>\n%q = stablehlo.compare NE, %a, %k : (tensor<i32>, tensor<i32>) -> tensor<i1>\n" + inBranch("%q", b), "1>2"},
		"a predicate of the order": {typed("a", "", "%n", "tensor<i32>", 1) +
			"%k = stablehlo.constant dense<3> : tensor<i32>\n%q = stablehlo.compare LT, %a, %k : (tensor<i32>, tensor<i32>) -> tensor<i1>\n" + inBranch("%q", b), ""},
		"a predicate of hooks in called functions": {typed("a", "", "%p", i1, 1) +
			inBranch("%a", "%b = func.call @g(%x) : (tensor<2xi32>) -> tensor<2xi32>\n%c = func.call @g(%b) : (tensor<2xi32>) -> tensor<2xi32>\n"), "1>8 1>9"},
		"the condition of a loop": {"%l = stablehlo.while(%it = %x) : tensor<2xi32>\ncond {\n" + typed("a", "", "%p", i1, 1) + "stablehlo.return %a : tensor<i1>\n} do {\n" +
			typed("b", "", "%x", i32, 2) + "stablehlo.return %b : tensor<2xi32>\n}\n", "1>1 1>2"},
		"the condition of a loop, computed": {typed("a", "", "%p", i1, 1) + "%l = stablehlo.while(%it = %x) : tensor<2xi32>\ncond {\n%q = stablehlo.not %a : tensor<i1>\nstablehlo.return %q : tensor<i1>\n} do {\n" +
			typed("b", "", "%x", i32, 2) + "stablehlo.return %b : tensor<2xi32>\n}\n", ""},
		"the value of a loop": {"%l = stablehlo.while(%it = %x) : tensor<2xi32>\ncond {\nstablehlo.return %p : tensor<i1>\n} do {\n" +
			typed("b", "", "%it", i32, 2) + "stablehlo.return %b : tensor<2xi32>\n}\n" + typed("c", "", "%l", i32, 3), "2>2 2>3"},
	} {
		m := read(t, `func.func private @g(%x: tensor<2xi32>) -> tensor<2xi32> {
`+typed("g", "", "%x", i32, 8)+"%h = func.call @h(%g) : (tensor<2xi32>) -> tensor<2xi32>\nreturn %h : tensor<2xi32>\n}\nfunc.func private @h(%x: tensor<2xi32>) -> tensor<2xi32> {\n"+
			"%d = stablehlo.abs %x : tensor<2xi32>\n"+typed("h", "", "%d", i32, 9)+`return %h : tensor<2xi32>
}
func.func public @main(%x: tensor<2xi32>, %p: tensor<i1>, %n: tensor<i32>, %s: tensor<ui64>) {
`+c.ops+"return\n}")
		var got []hook.Edge
		for _, e := range order.PathsOf(m).Data() { // hooks of @g and @h stand in every program
			if e.From < 8 {
				got = append(got, e)
			}
		}
		if edges(got) != c.want {
			t.Errorf("%s: %q, want %q", name, edges(got), c.want)
		}
	}
}

// TestChainEndsAtData: a chain that a hook receives as a value orders nothing.
func TestChainEndsAtData(t *testing.T) {
	m := read(t, main(call("a", "%s", "%x", 1)+typed("b", "", "%a#0", "tensor<ui64>", 2)+call("c", "%s", "%x", 3)))
	if got := order.PathsOf(m).Chain(); len(got) > 0 {
		t.Errorf("the chain has the edges %v", got)
	}
}

// TestChainOfRecursion: the chain of a function that calls itself leads from a call to the next one.
func TestChainOfRecursion(t *testing.T) {
	m := read(t, `func.func private @f(%c: tensor<ui64>, %x: tensor<2xi32>, %p: tensor<i1>) -> tensor<ui64> {
`+call("h1", "%c", "%x", 1)+`%r = "stablehlo.if"(%p) ({
    %k = func.call @f(%h1#0, %x, %p) : (tensor<ui64>, tensor<2xi32>, tensor<i1>) -> tensor<ui64>
    stablehlo.return %k : tensor<ui64>
  }, {
    stablehlo.return %h1#0 : tensor<ui64>
  }) : (tensor<i1>) -> tensor<ui64>
  return %r : tensor<ui64>
}
func.func public @main(%c: tensor<ui64>, %x: tensor<2xi32>, %p: tensor<i1>) {
  %k = func.call @f(%c, %x, %p) : (tensor<ui64>, tensor<2xi32>, tensor<i1>) -> tensor<ui64>
`+call("h2", "%k", "%x", 2)+`  return
}`)
	want := []hook.Edge{{From: 1, To: 1}, {From: 1, To: 2}}
	if got := order.PathsOf(m).Chain(); !slices.Equal(got, want) {
		t.Errorf("%v, want %v", got, want)
	}
}

// TestProveHLO: HLO that is written for a module must keep the order that the module proves.
func TestProveHLO(t *testing.T) {
	export := func(m *ir.Module) *hlo.Module {
		h, err := hlo.Export(m)
		if err != nil {
			t.Fatal(err)
		}
		return h
	}
	chain := sameArgument + "%chain = func.call @same(%a#0) : (tensor<ui64>) -> tensor<ui64>\n"
	ordered, lost := read(t, between(chain)), read(t, between(start+sameArgument))
	if err := order.ProveHLO(t.Context(), ordered, export(ordered)); err != nil {
		t.Error(err)
	}
	err := order.ProveHLO(t.Context(), ordered, export(lost))
	if err == nil || !strings.Contains(err.Error(), "HLO would not keep the order of the hooks: ") || !strings.Contains(err.Error(), "does not receive the chain") {
		t.Errorf("the error is %v", err)
	}
	if err := order.ProveHLO(t.Context(), lost, export(lost)); err != nil {
		t.Errorf("of a module without a proven order: %v", err)
	}
	other := "func.func public @apart(%x: tensor<2xi32>, %s: tensor<ui64>) {\n" + call("c", "%s", "%x", 3) + call("d", "%c#0", "%x", 4) + "return\n}\n"
	more := read(t, between(start+sameArgument)+other)
	if err := order.ProveHLO(t.Context(), more, export(more)); err != nil {
		t.Errorf("of a function that HLO does not have: %v", err)
	}
	plain := read(t, "func.func public @main(%x: tensor<2xi32>) -> tensor<2xi32> {\n  return %x : tensor<2xi32>\n}")
	if err := order.ProveHLO(t.Context(), plain, export(lost)); err != nil {
		t.Errorf("of a module without hooks: %v", err)
	}
}
