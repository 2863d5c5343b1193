package order_test

import (
	"slices"
	"strings"
	"testing"

	"github.com/hlocb/hlocb/diag"
	"github.com/hlocb/hlocb/dialect/all"
	"github.com/hlocb/hlocb/hook"
	"github.com/hlocb/hlocb/internal/hook/order"
	"github.com/hlocb/hlocb/internal/testkit"
	"github.com/hlocb/hlocb/ir"
	"github.com/hlocb/hlocb/parse"
	"github.com/hlocb/hlocb/passes"
	"github.com/hlocb/hlocb/print"
)

// TestThreadCollapses: a private function that only forwards its arguments and results to a call, once its tokens are
// gone, is gone too, and its callers call the other function. Any other function stays.
func TestThreadCollapses(t *testing.T) {
	const (
		token = "!stablehlo.token"
		i32   = "tensor<2xi32>"
	)
	both := "(" + token + ", " + i32 + ", " + i32 + ") -> (" + i32 + ", " + i32 + ")"
	two := func(name, visibility, callee, args, results string) string {
		return "func.func " + visibility + " @" + name + "(%t: " + token + ", %x: " + i32 + ", %y: " + i32 + ") -> (" + i32 + ", " + i32 + ") {\n" +
			"%a:2 = func.call @" + callee + "(" + args + ") : " + both + "\nreturn " + results + " : " + i32 + ", " + i32 + "\n}\n"
	}
	work := "func.func private @work(%t: " + token + ", %x: " + i32 + ", %y: " + i32 + ") -> (" + i32 + ", " + i32 + ") {\n" +
		"%h = \"hlocb.hook\"(%x) {format = \"target\", has_side_effect, id = 1 : i64, kind = \"call\", name = \"a\"} : (" + i32 + ") -> " + i32 + "\nreturn %h, %y : " + i32 + ", " + i32 + "\n}\n"
	whole := func(callee string) string {
		return "func.func public @main(%t: " + token + ", %x: " + i32 + ") -> " + i32 + " {\n%m:2 = func.call @" + callee + "(%t, %x, %x) : " + both + "\nreturn %m#1 : " + i32 + "\n}\n"
	}
	wrapper := two("wrapper", "private", "work", "%t, %x, %y", "%a#0, %a#1")
	for name, c := range map[string]struct{ text, functions, calls string }{
		"none":             {work + whole("work"), "work main", "work"},
		"a wrapper":        {wrapper + work + whole("wrapper"), "work main", "work"},
		"a later wrapper":  {work + whole("wrapper") + wrapper, "work main", "work"},
		"several wrappers": {two("outer", "private", "wrapper", "%t, %x, %y", "%a#0, %a#1") + wrapper + work + whole("outer"), "work main", "work"},
		"wrappers inside first": {wrapper + two("outer", "private", "wrapper", "%t, %x, %y", "%a#0, %a#1") + work + whole("outer"),
			"work main", "work"},
		"a called wrapper": {wrapper + two("other", "private", "wrapper", "%t, %y, %x", "%a#0, %a#1") + work + whole("other"), "other work main", "work other"},
		"other arguments":  {two("wrapper", "private", "work", "%t, %y, %x", "%a#0, %a#1") + work + whole("wrapper"), "wrapper work main", "work wrapper"},
		"one argument":     {two("wrapper", "private", "work", "%t, %x, %x", "%a#0, %a#1") + work + whole("wrapper"), "wrapper work main", "work wrapper"},
		"other results":    {two("wrapper", "private", "work", "%t, %x, %y", "%a#1, %a#0") + work + whole("wrapper"), "wrapper work main", "work wrapper"},
		"one result":       {two("wrapper", "private", "work", "%t, %x, %y", "%a#0, %a#0") + work + whole("wrapper"), "wrapper work main", "work wrapper"},
		"an argument":      {two("wrapper", "private", "work", "%t, %x, %y", "%a#0, %y") + work + whole("wrapper"), "wrapper work main", "work wrapper"},
		"a public wrapper": {strings.Replace(two("wrapper", "public", "work", "%t, %x, %y", "%a#0, %a#1"), "", "", 1) + work + whole("work"), "wrapper work main", "work work"},
		"an op before": {strings.Replace(wrapper, "%a:2 =", "%n = stablehlo.negate %x : "+i32+"\n%a:2 =", 1) + work + whole("wrapper"),
			"wrapper work main", "work wrapper"},
		"an op after": {strings.Replace(wrapper, "return", "%n = stablehlo.negate %x : "+i32+"\nreturn", 1) + work + whole("wrapper"),
			"wrapper work main", "work wrapper"},
		"another op": {strings.Replace(wrapper, "func.call @work(%t, %x, %y) : "+both, "\"foo.bar\"(%x, %y) : ("+i32+", "+i32+") -> ("+i32+", "+i32+")", 1) + work + whole("wrapper"),
			"wrapper work main", "wrapper"},
		"a call of itself": {two("wrapper", "private", "wrapper", "%t, %x, %y", "%a#0, %a#1") + work + whole("work") + strings.Replace(whole("wrapper"), "@main", "@other", 1),
			"wrapper work main other", "wrapper work wrapper"},
		"fewer results": {strings.NewReplacer("-> ("+i32+", "+i32+") {", "-> "+i32+" {", "return %a#0, %a#1 : "+i32+", "+i32, "return %a#0 : "+i32).Replace(wrapper) + work +
			strings.NewReplacer("%m:2", "%m", "-> ("+i32+", "+i32+")", "-> "+i32, "%m#1", "%m").Replace(whole("wrapper")), "wrapper work main", "work wrapper"},
		"more arguments": {strings.Replace(wrapper, "%y: "+i32, "%y: "+i32+", %z: "+i32, 1) + work +
			strings.NewReplacer("(%t, %x, %x)", "(%t, %x, %x, %x)", "("+token+", ", "("+token+", "+i32+", ").Replace(whole("wrapper")), "wrapper work main", "work wrapper"},
	} {
		m := read(t, c.text)
		if err := order.Thread(t.Context(), m, hook.OrderProgram, hook.ChainState); err != nil {
			t.Errorf("%s: %v", name, err)
			continue
		}
		if err := ir.Verify(m); err != nil {
			t.Errorf("%s: %v", name, err)
		}
		var functions, calls []string
		m.Walk(func(op *ir.Op) bool {
			switch op.Name() {
			case "func.func":
				functions = append(functions, op.Attr("sym_name").(*ir.StringAttr).Value())
			case "func.call":
				calls = append(calls, op.Attr("callee").(*ir.SymbolRefAttr).Root())
			}
			return true
		})
		if strings.Join(functions, " ") != c.functions || strings.Join(calls, " ") != c.calls {
			t.Errorf("%s: functions %v, calls of %v, not %q and %q\n%s", name, functions, calls, c.functions, c.calls, print.String(m, print.Options{}))
		}
	}
}

// loopsDialect has loops of another compiler. The region of again.do runs at least once; it yields whether to continue,
// then the carried values. The region of again.test yields only whether to continue. Each trip of again.each starts
// with the operands. again.forever has no results. One of the regions of again.maybe runs, or none; only the second one
// yields values.
func loopsDialect() *ir.Dialect {
	values := []ir.Arg{{Name: "values", Mult: ir.Variadic}}
	args, yields, results := ir.Port{At: ir.AtArgs, Region: ir.AllRegions}, ir.Port{At: ir.AtYields, Region: 0, First: 1}, ir.Port{At: ir.AtResults}
	op := func(name string, regions int, runs []ir.Runs, edges ...ir.FlowEdge) *ir.Def {
		specs := make([]ir.RegionSpec, regions)
		for i := range specs {
			specs[i].Name = "region" + string(rune('0'+i))
		}
		return &ir.Def{Name: name, Doc: "A loop.", Operands: values, Results: []ir.Arg{{Name: "results", Mult: ir.Variadic}}, Regions: specs,
			Flow: &ir.Flow{Runs: runs, Edges: edges}}
	}
	enter := ir.FlowEdge{From: ir.Port{At: ir.AtOperands}, To: args}
	return &ir.Dialect{Name: "again", Ops: []*ir.Def{
		op("again.do", 1, []ir.Runs{ir.RunsTest}, enter, ir.FlowEdge{From: yields, To: args}, ir.FlowEdge{From: yields, To: results}),
		op("again.test", 1, []ir.Runs{ir.RunsTest}, enter, ir.FlowEdge{From: ir.Port{At: ir.AtOperands}, To: results}),
		op("again.each", 1, []ir.Runs{ir.RunsRepeated}, enter, ir.FlowEdge{From: yields, To: results}),
		op("again.forever", 1, []ir.Runs{ir.RunsRepeated}, enter, ir.FlowEdge{From: yields, To: args}),
		op("again.maybe", 2, []ir.Runs{ir.RunsAtMostOnce}, ir.FlowEdge{From: ir.Port{At: ir.AtYields, Region: 1}, To: results}),
		{Name: "again.next", Doc: "Ends a trip.", Operands: values, Traits: ir.Terminator | ir.ReturnLike},
	}}
}

// readLoops is read with loopsDialect.
func readLoops(t *testing.T, text string) *ir.Module {
	t.Helper()
	reg, err := ir.NewRegistry(append(all.Dialects(), loopsDialect())...)
	if err != nil {
		t.Fatal(err)
	}
	m, err := parse.Parse(diag.NewSource("test.mlir", []byte(text)), ir.NewContext(reg), parse.Options{})
	if err == nil {
		err = ir.Verify(m)
	}
	if err != nil {
		t.Fatalf("%v\n%s", err, text)
	}
	return m
}

// TestProveOtherLoops: a loop of another dialect forwards chains as its row says.
func TestProveOtherLoops(t *testing.T) {
	do := func(inside, yield string) string {
		return call("a", "%s", "%x", 1) + "%l = \"again.do\"(%a#0) ({\n^bb0(%k: tensor<ui64>):\n" + inside + "\"again.next\"(%p, " + yield + ") : (tensor<i1>, tensor<ui64>) -> ()\n}) : (tensor<ui64>) -> tensor<ui64>\n"
	}
	each := func(inside, yield string) string {
		return strings.Replace(do(inside, yield), "again.do", "again.each", 1)
	}
	maybe := func(first, second string) string {
		return call("a", "%s", "%x", 1) + "%l = \"again.maybe\"() ({\n" + first + "\"again.next\"() : () -> ()\n}, {\n" + second + ") : (tensor<ui64>) -> ()\n}) : () -> tensor<ui64>\n"
	}
	for name, c := range map[string]struct{ ops, want string }{
		"carried":                   {do(call("b", "%k", "%x", 2), "%b#0") + call("c", "%l", "%x", 3), ""},
		"without a hook":            {do("", "%k") + call("c", "%l", "%x", 3), ""},
		"captured":                  {do(call("b", "%a#0", "%x", 2), "%b#0") + call("c", "%l", "%x", 3), `hook "b" does not receive the chain`},
		"not carried around":        {do(call("b", "%k", "%x", 2), "%s") + call("c", "%s", "%x", 3), `hook "b" does not receive the chain`},
		"not yielded":               {do("", "%s") + call("c", "%l", "%x", 3), `hook "c" does not receive the chain`},
		"every trip from the start": {each(call("b", "%k", "%x", 2), "%b#0") + call("c", "%l", "%x", 3), `hook "b" does not receive the chain`},
		"no trip has a hook":        {each("", "%k") + call("c", "%l", "%x", 3), ""},
		"past a loop":               {strings.Replace(do(call("b", "%k", "%x", 2), "%b#0"), "again.do", "again.test", 1) + call("c", "%l", "%x", 3), "hook in the condition of a loop"},
		"a region that yields nothing": {maybe(call("b", "%a#0", "%x", 2), "\"again.next\"(%a#0") + call("c", "%l", "%x", 3),
			`hook "c" does not receive the chain`},
		"a region that yields": {maybe("", call("b", "%a#0", "%x", 2)+"\"again.next\"(%b#0") + call("c", "%l", "%x", 3), ""},
	} {
		err := order.Prove(t.Context(), readLoops(t, main(c.ops)))
		if (err == nil) != (c.want == "") || err != nil && !strings.Contains(err.Error(), c.want) {
			t.Errorf("%s: the error is %v, want %q", name, err, c.want)
		}
	}
}

// TestThreadOtherLoops: a chain leads through a loop of another dialect, and the proof follows it there.
func TestThreadOtherLoops(t *testing.T) {
	outer := strings.NewReplacer("id = 1", "id = 2", `"a"`, `"b"`).Replace(tap)
	m := readLoops(t, main(outer+"%l = \"again.do\"(%s) ({\n^bb0(%k: tensor<ui64>):\n"+tap+"\"again.next\"(%p, %k) : (tensor<i1>, tensor<ui64>) -> ()\n}) : (tensor<ui64>) -> tensor<ui64>\n"))
	if _, err := passes.Rewrite(t.Context(), m, passes.RewriteHooks{}); err != nil {
		t.Fatal(err)
	}
	if got := edges(order.PathsOf(m).Chain()); got != "2>1 1>1" {
		t.Errorf("the edges are %q", got)
	}
	m = readLoops(t, main("%l = \"again.test\"(%s) ({\n^bb0(%k: tensor<ui64>):\n"+tap+"\"again.next\"(%p) : (tensor<i1>) -> ()\n}) : (tensor<ui64>) -> tensor<ui64>\n"))
	err := order.Thread(t.Context(), m, hook.OrderProgram, hook.ChainState)
	if err == nil || !strings.HasPrefix(err.Error(), "test.mlir:2:6: error: hook in the condition of 'again.test', which cannot be moved out of it") {
		t.Errorf("the error is %v", err)
	}
	m = readLoops(t, main("\"again.forever\"(%s) ({\n^bb0(%k: tensor<ui64>):\n"+tap+"\"again.next\"(%p, %k) : (tensor<i1>, tensor<ui64>) -> ()\n}) : (tensor<ui64>) -> ()\n"))
	err = order.Thread(t.Context(), m, hook.OrderProgram, hook.ChainState)
	if err == nil || !strings.HasPrefix(err.Error(), "test.mlir:2:1: error: hooks inside 'again.forever' cannot be put in order") {
		t.Errorf("the error is %v", err)
	}
	m = readLoops(t, main("%l = \"again.maybe\"() ({\n"+tap+"\"again.next\"() : () -> ()\n}, {\n\"again.next\"(%s) : (tensor<ui64>) -> ()\n}) : () -> tensor<ui64>\n"))
	err = order.Thread(t.Context(), m, hook.OrderProgram, hook.ChainState)
	if err == nil || !strings.HasPrefix(err.Error(), "test.mlir:2:6: error: hooks inside 'again.maybe' cannot be put in order") {
		t.Errorf("the error is %v", err)
	}
}

// TestThreadUnverified: loops and functions whose regions do not end in a return are errors.
func TestThreadUnverified(t *testing.T) {
	for name, c := range map[string]struct{ text, want string }{
		"a condition": {"%l = stablehlo.while(%k = %x) : tensor<2xi32>\ncond {\n" + tap + "\"foo.end\"(%p) : (tensor<i1>) -> ()\n} do {\nstablehlo.return %k : tensor<2xi32>\n}\n",
			"test.mlir:2:6: error: condition of the loop does not return one predicate"},
		"a condition of two": {"%l = stablehlo.while(%k = %x) : tensor<2xi32>\ncond {\n" + tap + "stablehlo.return %p, %p : tensor<i1>, tensor<i1>\n} do {\nstablehlo.return %k : tensor<2xi32>\n}\n",
			"test.mlir:2:6: error: condition of the loop does not return one predicate"},
		"a body": {"%l = stablehlo.while(%k = %x) : tensor<2xi32>\ncond {\n" + tap + "stablehlo.return %p : tensor<i1>\n} do {\n\"foo.end\"(%k) : (tensor<2xi32>) -> ()\n}\n",
			"test.mlir:2:6: error: body of the loop does not end in a return"},
		"a branch": {"\"stablehlo.if\"(%p) ({\n" + tap + "\"foo.end\"() : () -> ()\n}, {\nstablehlo.return\n}) : (tensor<i1>) -> ()\n",
			"test.mlir:2:1: error: block with hooks does not end in a return"},
	} {
		m := testkit.Parse(t, "test.mlir", main(c.text))
		if err := order.Thread(t.Context(), m, hook.OrderProgram, hook.ChainState); err == nil || !strings.HasPrefix(err.Error(), c.want) {
			t.Errorf("%s: the error is %v", name, err)
		}
	}
	m := testkit.Parse(t, "test.mlir", "func.func private @f(%t: !stablehlo.token) {\n}\n"+main(tap))
	if err := order.Thread(t.Context(), m, hook.OrderProgram, hook.ChainState); err != nil {
		t.Errorf("of an empty function: the error is %v", err)
	}
	never := "func.func private @f(%a: tensor<ui64>) -> tensor<ui64> {\n\"foo.end\"(%a) : (tensor<ui64>) -> ()\n}\n" +
		main(call("a", "%s", "%x", 1)+"%f = func.call @f(%a#0) : (tensor<ui64>) -> tensor<ui64>\n"+call("b", "%f", "%x", 2))
	if err := order.Prove(t.Context(), testkit.Parse(t, "test.mlir", never)); err == nil || !strings.Contains(err.Error(), `hook "b" does not receive the chain`) {
		t.Errorf("of a function that does not return: the error is %v", err)
	}
	inside := "func.func private @f(%s: tensor<ui64>, %x: tensor<2xi32>) -> tensor<ui64> {\n" + call("i", "%s", "%x", 3) + "\"foo.end\"(%i#0) : (tensor<ui64>) -> ()\n}\n" +
		main("%f = func.call @f(%s, %x) : (tensor<ui64>, tensor<2xi32>) -> tensor<ui64>\n"+call("b", "%f", "%x", 2))
	if err := order.Prove(t.Context(), testkit.Parse(t, "test.mlir", inside)); err == nil || !strings.Contains(err.Error(), `hook "b" does not receive the chain`) {
		t.Errorf("of a function with a hook that does not return: the error is %v", err)
	}
	few := "func.func private @f(%a: tensor<ui64>) -> (tensor<ui64>, tensor<ui64>) {\nfunc.return %a : tensor<ui64>\n}\n" +
		main(call("a", "%s", "%x", 1)+"%f:2 = func.call @f(%a#0) : (tensor<ui64>) -> (tensor<ui64>, tensor<ui64>)\n"+call("b", "%f#1", "%x", 2))
	if err := order.Prove(t.Context(), testkit.Parse(t, "test.mlir", few)); err == nil || !strings.Contains(err.Error(), `hook "b" does not receive the chain`) {
		t.Errorf("of a function that returns less: the error is %v", err)
	}
}

// TestOutsideFunctions: a hook outside of functions has no call, so it has no order.
func TestOutsideFunctions(t *testing.T) {
	m := testkit.Parse(t, "test.mlir", strings.ReplaceAll("%s = stablehlo.constant dense<0> : tensor<ui64>\n%x = stablehlo.constant dense<0> : tensor<2xi32>\n"+call("a", "%s", "%x", 1)+call("b", "%a#0", "%x", 2), "    ", ""))
	if pairs := order.SourceOf(m).Pairs(); len(pairs) > 0 {
		t.Errorf("pairs %v", pairs)
	}
}

// TestDataOfRecursion: data decides whether a function runs that calls itself.
func TestDataOfRecursion(t *testing.T) {
	m := read(t, "func.func private @f(%x: tensor<2xi32>) {\n"+typed("h", "", "%x", "tensor<2xi32>", 3)+"func.call @f(%h) : (tensor<2xi32>) -> ()\nreturn\n}\n"+
		main(typed("a", "", "%p", "tensor<i1>", 1)+"\"stablehlo.if\"(%a) ({\nfunc.call @f(%x) : (tensor<2xi32>) -> ()\nfunc.call @f(%x) : (tensor<2xi32>) -> ()\nstablehlo.return\n}, {\nstablehlo.return\n}) : (tensor<i1>) -> ()\n"))
	want := []hook.Edge{{From: 3, To: 3}, {From: 1, To: 3}} // in the order of the module
	if got := order.PathsOf(m).Data(); !slices.Equal(got, want) {
		t.Errorf("%v, want %v", got, want)
	}
}
