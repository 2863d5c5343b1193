package flow_test

import (
	"fmt"
	"slices"
	"strings"
	"testing"

	"github.com/hlocb/hlocb/diag"
	"github.com/hlocb/hlocb/dialect/all"
	"github.com/hlocb/hlocb/ir"
	"github.com/hlocb/hlocb/ir/flow"
	"github.com/hlocb/hlocb/parse"
	"github.com/hlocb/hlocb/print"
)

// loops is a dialect with a counting loop and a loop whose condition returns the carried values, as MLIR's scf has.
func loops() *ir.Dialect {
	any := func(name string) []ir.Arg { return []ir.Arg{{Name: name, Mult: ir.Variadic}} }
	port := func(at ir.Place, region, first int) ir.Port { return ir.Port{At: at, Region: region, First: first} }
	return &ir.Dialect{Name: "scf", Ops: []*ir.Def{
		{Name: "scf.for", Operands: any("operands"), Results: any("results"), Regions: []ir.RegionSpec{{Name: "body"}},
			Flow: &ir.Flow{Runs: []ir.Runs{ir.RunsRepeated}, Control: 3, Edges: []ir.FlowEdge{
				{From: port(ir.AtOperands, 0, 3), To: port(ir.AtArgs, 0, 1)},
				{From: port(ir.AtYields, 0, 0), To: port(ir.AtArgs, 0, 1)},
				{From: port(ir.AtOperands, 0, 3), To: port(ir.AtResults, 0, 0)},
				{From: port(ir.AtYields, 0, 0), To: port(ir.AtResults, 0, 0)},
			}}},
		{Name: "scf.while", Operands: any("operands"), Results: any("results"), Regions: []ir.RegionSpec{{Name: "before"}, {Name: "after"}},
			Flow: &ir.Flow{Runs: []ir.Runs{ir.RunsTest, ir.RunsRepeated}, Edges: []ir.FlowEdge{
				{From: port(ir.AtOperands, 0, 0), To: port(ir.AtArgs, 0, 0)},
				{From: port(ir.AtYields, 0, 1), To: port(ir.AtArgs, 1, 0)},
				{From: port(ir.AtYields, 0, 1), To: port(ir.AtResults, 0, 0)},
				{From: port(ir.AtYields, 1, 0), To: port(ir.AtArgs, 0, 0)},
			}}},
		{Name: "scf.yield", Operands: any("operands"), Traits: ir.Terminator | ir.ReturnLike},
		{Name: "scf.condition", Operands: any("operands"), Traits: ir.Terminator | ir.ReturnLike},
	}}
}

func parseText(t *testing.T, text string) *ir.Module {
	t.Helper()
	reg, err := ir.NewRegistry(append(all.Dialects(), loops(), shapes())...)
	if err != nil {
		t.Fatal(err)
	}
	src := diag.NewSource("test.mlir", []byte(text))
	m, err := parse.Parse(src, ir.NewContext(reg), parse.Options{})
	if err != nil {
		t.Fatal(err)
	}
	return m
}

const program = `
func.func private @twice(%a: tensor<i32>) -> tensor<i32> {
  %b = stablehlo.add %a, %a : tensor<i32>
  return %b : tensor<i32>
}
func.func public @main(%x: tensor<i32>, %p: tensor<i1>, %n: index) -> tensor<i32> {
  %w = stablehlo.while(%it = %x) : tensor<i32>
   cond {
    %c = stablehlo.compare LT, %it, %x : (tensor<i32>, tensor<i32>) -> tensor<i1>
    stablehlo.return %c : tensor<i1>
  } do {
    %next = func.call @twice(%it) : (tensor<i32>) -> tensor<i32>
    stablehlo.return %next : tensor<i32>
  }
  %i = "stablehlo.if"(%p) ({
    stablehlo.return %w : tensor<i32>
  }, {
    stablehlo.return %x : tensor<i32>
  }) : (tensor<i1>) -> tensor<i32>
  %f = "scf.for"(%n, %n, %n, %i) ({
  ^bb0(%k: index, %v: tensor<i32>):
    "scf.yield"(%v) : (tensor<i32>) -> ()
  }) : (index, index, index, tensor<i32>) -> tensor<i32>
  %s = "scf.while"(%f) ({
  ^bb0(%before: tensor<i32>):
    "scf.condition"(%p, %before) : (tensor<i1>, tensor<i32>) -> ()
  }, {
  ^bb0(%after: tensor<i32>):
    "scf.yield"(%after) : (tensor<i32>) -> ()
  }) : (tensor<i32>) -> tensor<i32>
  return %s : tensor<i32>
}
`

// TestValues: the sources of a value and the values that it becomes agree with each other and with the program.
func TestValues(t *testing.T) {
	m := parseText(t, program)
	g := flow.Of(m, nil)
	names := func(v *ir.Value) string { return v.Name() }
	sources := map[string][]string{}
	see := func(v *ir.Value) {
		for u := range g.Sources(v) {
			sources[names(v)] = append(sources[names(v)], names(u.Value()))
			if !slices.Contains(slices.Collect(g.Targets(u)), v) {
				t.Errorf("%s is made of %s, which does not become it", names(v), names(u.Value()))
			}
		}
	}
	m.Walk(func(op *ir.Op) bool {
		for _, r := range op.Regions() {
			for _, b := range r.Blocks() {
				for _, a := range b.Args() {
					see(a)
				}
			}
		}
		for _, v := range op.Results() {
			see(v)
		}
		for i := range op.NumOperands() {
			for v := range g.Targets(op.OperandUse(i)) {
				if !slices.Contains(slices.Collect(g.Sources(v)), op.OperandUse(i)) {
					t.Errorf("operand %d of %s becomes %s, which is not made of it", i, op.Name(), names(v))
				}
			}
		}
		return true
	})
	for v := range sources {
		slices.Sort(sources[v])
	}
	want := "map[a:[it] after:[before] before:[after f] f:[i v] i:[w x] it:[next next x x] next:[b] s:[before] v:[i v] w:[next x]]"
	if got := fmt.Sprint(sources); got != want {
		t.Errorf("sources are\n%s, want\n%s", got, want)
	}
}

// TestCarry adds a value to a loop of an outside dialect: the text afterwards says where it went.
func TestCarry(t *testing.T) {
	m := parseText(t, program)
	var loop, chain *ir.Op
	m.Walk(func(op *ir.Op) bool {
		switch op.Name() {
		case "scf.for":
			loop = op
		case "stablehlo.if":
			chain = op
		}
		return true
	})
	n, result, in, err := flow.Carry(m, loop, chain.Result(0))
	if err != nil {
		t.Fatal(err)
	}
	for ret := range flow.Returns(n.Region(0)) {
		flow.Yield(ret, in[0])
	}
	b := print.String(m, print.Options{})
	if want := "\"scf.yield\"(%arg4, %arg5)"; !strings.Contains(b, want) {
		t.Errorf("no %s in\n%s", want, b)
	}
	if result != n.Result(0) || n.NumOperands() != 5 || n.Operand(3) != chain.Result(0) {
		t.Errorf("the loop is\n%s", b)
	}
	m2 := parseText(t, b)
	if m2 == nil {
		t.Error("the module does not parse again")
	}
}

// TestNoFlow: no value is carried through an op whose row says nothing about the flow of values.
func TestNoFlow(t *testing.T) {
	m := parseText(t, "func.func @f(%x: tensor<f32>) {\n  \"u.loop\"(%x) ({\n    \"u.end\"() : () -> ()\n  }) : (tensor<f32>) -> ()\n  return\n}")
	f := m.Body().First()
	loop := f.Region(0).Entry().First()
	if _, _, _, err := flow.Carry(m, loop, f.Region(0).Entry().Arg(0)); err == nil || !strings.Contains(err.Error(), "test.mlir:2:3: error: values do not flow through 'u.loop'") {
		t.Errorf("error is %v", err)
	}
	if _, ok := flow.Threads(loop, 0); ok {
		t.Error("the region returns carried values")
	}
	flow.Yield(loop.Region(0).Entry().Last(), f.Region(0).Entry().Arg(0))
	if text := print.String(m, print.Options{}); !strings.Contains(text, `"u.end"(%arg0)`) {
		t.Error(text)
	}
}

// TestRecursive finds functions that call themselves through others, and only if they reach the ops asked for.
func TestRecursive(t *testing.T) {
	m := parseText(t, `
func.func private @a() { func.call @b() : () -> () return }
func.func private @b() { func.call @a() : () -> () %c = stablehlo.constant dense<1> : tensor<i32> return }
func.func public @main() { func.call @a() : () -> () %c = stablehlo.constant dense<2> : tensor<i32> return }`)
	g := flow.Of(m, nil)
	constants := map[string][]*ir.Op{}
	m.Walk(func(op *ir.Op) bool {
		if op.Name() == "stablehlo.constant" {
			f := flow.FunctionOf(op).Attr(ir.SymbolName).String()
			constants[f] = append(constants[f], op)
		}
		return true
	})
	if f := g.Recursive(constants[`"b"`]); f == nil || f != g.Functions()[0] {
		t.Errorf("@a and @b call each other, but the recursive function is %v", f)
	}
	if f := g.Recursive(constants[`"main"`]); f != nil {
		t.Errorf("@main is not recursive")
	}
}

// TestCarrySizes: an op that states the sizes of its lists of operands and results states the new sizes.
func TestCarrySizes(t *testing.T) {
	list := func(name string) []ir.Arg { return []ir.Arg{{Name: "n"}, {Name: name, Mult: ir.Variadic}} }
	reg, err := ir.NewRegistry(append(all.Dialects(), &ir.Dialect{Name: "loop", Ops: []*ir.Def{{
		Name: "loop.for", Operands: list("carried"), Results: list("results"), Traits: ir.AttrSizedOperands | ir.AttrSizedResults,
		Attrs:   []ir.AttrSpec{{Name: "operandSegmentSizes"}, {Name: "resultSegmentSizes"}},
		Regions: []ir.RegionSpec{{Name: "body", Mult: ir.Variadic}},
		Flow: &ir.Flow{Runs: []ir.Runs{ir.RunsRepeated}, Control: 1, Edges: []ir.FlowEdge{
			{From: ir.Port{At: ir.AtOperands, First: 1}, To: ir.Port{At: ir.AtResults, First: 1}},
		}},
	}}})...)
	if err != nil {
		t.Fatal(err)
	}
	m, err := parse.Parse(diag.NewSource("test.mlir", []byte(`
func.func @main(%n: tensor<i32>, %x: tensor<f32>) {
  %r = "loop.for"(%n) <{operandSegmentSizes = array<i32: 1, 0>, resultSegmentSizes = array<i32: 1, 0>}> : (tensor<i32>) -> tensor<i32>
  return
}`)), ir.NewContext(reg), parse.Options{})
	if err != nil {
		t.Fatal(err)
	}
	body := m.Body().First().Region(0).Entry()
	for n := range 2 {
		if _, _, _, err := flow.Carry(m, body.First(), body.Arg(1)); err != nil {
			t.Fatal(err)
		}
		if err := ir.Verify(m); err != nil {
			t.Errorf("%d values carried: %v\n%s", n+1, err, print.String(m, print.Options{}))
		}
	}
}
