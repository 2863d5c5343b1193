package passes_test

import (
	"context"
	"strings"
	"testing"

	"github.com/hlocb/hlocb/diag"
	"github.com/hlocb/hlocb/dialect/all"
	"github.com/hlocb/hlocb/ir"
	"github.com/hlocb/hlocb/parse"
	"github.com/hlocb/hlocb/pass"
	"github.com/hlocb/hlocb/passes"
	"github.com/hlocb/hlocb/print"
)

// The dialect of another compiler: a loop that counts, and a branch on a number of no tensor type, which has no second
// region if it returns nothing.
var (
	forOp = &ir.Def{
		Name: "x.for", Operands: []ir.Arg{{Name: "from"}, {Name: "to"}, {Name: "carried", Mult: ir.Variadic}},
		Results: []ir.Arg{{Name: "results", Mult: ir.Variadic}}, Regions: []ir.RegionSpec{{Name: "body"}}, Traits: ir.SingleBlock | ir.NestedEffects,
		Flow: &ir.Flow{
			Runs: []ir.Runs{ir.RunsRepeated}, Control: 2,
			Edges: []ir.FlowEdge{
				{From: ir.Port{At: ir.AtOperands, First: 2}, To: ir.Port{At: ir.AtArgs, First: 1}},
				{From: ir.Port{At: ir.AtYields}, To: ir.Port{At: ir.AtArgs, First: 1}},
				{From: ir.Port{At: ir.AtOperands, First: 2}, To: ir.Port{At: ir.AtResults}},
				{From: ir.Port{At: ir.AtYields}, To: ir.Port{At: ir.AtResults}},
			},
		},
	}
	ifOp = &ir.Def{
		Name: "x.if", Operands: []ir.Arg{{Name: "pred"}}, Results: []ir.Arg{{Name: "results", Mult: ir.Variadic}},
		Regions: []ir.RegionSpec{{Name: "then"}, {Name: "else", Mult: ir.Optional}}, Traits: ir.SingleBlock | ir.NestedEffects,
		Flow: &ir.Flow{
			Runs: []ir.Runs{ir.RunsAtMostOnce}, Control: 1,
			Edges: []ir.FlowEdge{{From: ir.Port{At: ir.AtYields, Region: ir.AllRegions}, To: ir.Port{At: ir.AtResults}}},
			Select: func(op *ir.Op, v ir.Attr) (*ir.Region, bool) {
				i, ok := v.(*ir.IntegerAttr)
				switch {
				case !ok:
					return nil, false
				case i.Value() != 0:
					return op.Region(0), true
				case len(op.Regions()) < 2:
					return nil, true
				}
				return op.Region(1), true
			},
		},
	}
	yieldOp = &ir.Def{Name: "x.yield", Operands: []ir.Arg{{Name: "values", Mult: ir.Variadic}}, Traits: ir.Pure | ir.Terminator | ir.ReturnLike}
	// A loop whose last value is the index: the body has one argument more than the loop has operands.
	indexOp = &ir.Def{
		Name: "x.repeat", Operands: []ir.Arg{{Name: "carried", Mult: ir.Variadic}}, Results: forOp.Results, Regions: forOp.Regions, Traits: forOp.Traits,
		Flow: &ir.Flow{
			Runs: []ir.Runs{ir.RunsRepeated},
			Edges: []ir.FlowEdge{
				{From: ir.Port{At: ir.AtOperands}, To: ir.Port{At: ir.AtArgs}}, {From: ir.Port{At: ir.AtYields}, To: ir.Port{At: ir.AtArgs}},
				{From: ir.Port{At: ir.AtYields}, To: ir.Port{At: ir.AtResults}},
			},
		},
	}
	outside = &ir.Dialect{Name: "x", Ops: []*ir.Def{forOp, ifOp, indexOp, yieldOp}}
)

// TestFlow runs passes that follow an op's Flow over ops of an outside dialect and over computations.
func TestFlow(t *testing.T) {
	reg, err := ir.NewRegistry(append(all.Dialects(), outside)...)
	if err != nil {
		t.Fatal(err)
	}
	for _, c := range []struct{ name, pass, in, want string }{
		{"a loop loses a value", "dce", `func.func @main(%n: tensor<i32>, %x: tensor<f32>) -> tensor<f32> {
  %r:3 = "x.for"(%n, %n, %x, %x, %x) ({
  ^bb0(%i: tensor<i32>, %a: tensor<f32>, %b: tensor<f32>, %c: tensor<f32>):
    %0 = stablehlo.add %a, %a : tensor<f32>
    %1 = stablehlo.sine %b : tensor<f32>
    %2 = stablehlo.add %c, %a : tensor<f32>
    "x.yield"(%0, %1, %2) : (tensor<f32>, tensor<f32>, tensor<f32>) -> ()
  }) : (tensor<i32>, tensor<i32>, tensor<f32>, tensor<f32>, tensor<f32>) -> (tensor<f32>, tensor<f32>, tensor<f32>)
  return %r#2 : tensor<f32>
}`, `func.func @main(%arg0: tensor<i32>, %arg1: tensor<f32>) -> tensor<f32> {
  %0:2 = "x.for"(%arg0, %arg0, %arg1, %arg1) ({
  ^bb0(%arg2: tensor<i32>, %arg3: tensor<f32>, %arg4: tensor<f32>):
    %1 = stablehlo.add %arg3, %arg3 : tensor<f32>
    %2 = stablehlo.add %arg4, %arg3 : tensor<f32>
    "x.yield"(%1, %2) : (tensor<f32>, tensor<f32>) -> ()
  }) : (tensor<i32>, tensor<i32>, tensor<f32>, tensor<f32>) -> (tensor<f32>, tensor<f32>)
  return %0#1 : tensor<f32>
}`},
		{"a loop keeps its index", "dce", `func.func @main(%x: tensor<f32>) -> tensor<f32> {
  %r:2 = "x.repeat"(%x, %x) ({
  ^bb0(%a: tensor<f32>, %b: tensor<f32>, %i: tensor<i32>):
    "x.yield"(%x, %b) : (tensor<f32>, tensor<f32>) -> ()
  }) : (tensor<f32>, tensor<f32>) -> (tensor<f32>, tensor<f32>)
  return %r#0 : tensor<f32>
}`, `func.func @main(%arg0: tensor<f32>) -> tensor<f32> {
  %0 = "x.repeat"(%arg0) ({
  ^bb0(%arg1: tensor<f32>, %arg2: tensor<i32>):
    "x.yield"(%arg0) : (tensor<f32>) -> ()
  }) : (tensor<f32>) -> tensor<f32>
  return %0 : tensor<f32>
}`},
		{"a branch loses a result", "dce", `func.func @main(%p: i1, %x: tensor<f32>) -> tensor<f32> {
  %r:2 = "x.if"(%p) ({
    %0 = stablehlo.sine %x : tensor<f32>
    "x.yield"(%0, %x) : (tensor<f32>, tensor<f32>) -> ()
  }, {
    "x.yield"(%x, %x) : (tensor<f32>, tensor<f32>) -> ()
  }) : (i1) -> (tensor<f32>, tensor<f32>)
  return %r#1 : tensor<f32>
}`, `func.func @main(%arg0: i1, %arg1: tensor<f32>) -> tensor<f32> {
  %0 = "x.if"(%arg0) ({
    "x.yield"(%arg1) : (tensor<f32>) -> ()
  }, {
    "x.yield"(%arg1) : (tensor<f32>) -> ()
  }) : (i1) -> tensor<f32>
  return %0 : tensor<f32>
}`},
		{"a branch of a constant", "sccp", `func.func @main(%x: tensor<f32>) -> i32 {
  %p = arith.constant false
  %r = "x.if"(%p) ({
    %a = arith.constant 1 : i32
    "x.yield"(%a) : (i32) -> ()
  }, {
    %b = arith.constant 2 : i32
    "x.yield"(%b) : (i32) -> ()
  }) : (i1) -> i32
  "x.if"(%p) ({
    "x.yield"() : () -> ()
  }) : (i1) -> ()
  return %r : i32
}`, `func.func @main(%arg0: tensor<f32>) -> i32 {
  %c2_i32 = arith.constant 2 : i32
  %false = arith.constant false
  "x.if"(%false) ({
    "x.yield"() : () -> ()
  }) : (i1) -> ()
  return %c2_i32 : i32
}`},
		{"a region of an op without Flow", "dce", `func.func @main(%a: tensor<f32>) -> tensor<f32> {
  %0 = "mhlo.fusion"(%a) ({
  ^bb0(%x: tensor<f32>):
    %1 = mhlo.negate %x : tensor<f32>
    mhlo.return %1 : tensor<f32>
  }) : (tensor<f32>) -> tensor<f32>
  return %0 : tensor<f32>
}`, `func.func @main(%arg0: tensor<f32>) -> tensor<f32> {
  %0 = "mhlo.fusion"(%arg0) ({
  ^bb0(%arg1: tensor<f32>):
    %1 = mhlo.negate %arg1 : tensor<f32>
    mhlo.return %1 : tensor<f32>
  }) : (tensor<f32>) -> tensor<f32>
  return %0 : tensor<f32>
}`},
		{"a computation with shardings", "dce", `sdy.mesh @m = <["x"=2]>
func.func @main(%a: tensor<4xf32>, %b: tensor<8xf32>) -> tensor<4xf32> {
  %0:2 = sdy.manual_computation(%a, %b) in_shardings=[<@m, [{}]>, <@m, [{"x"}]>] out_shardings=[<@m, [{"x"}]>, <@m, [{}]>] manual_axes={"x"} (%x: tensor<4xf32>, %y: tensor<4xf32>) {
    sdy.return %y, %x : tensor<4xf32>, tensor<4xf32>
  } : (tensor<4xf32>, tensor<8xf32>) -> (tensor<8xf32>, tensor<4xf32>)
  return %0#1 : tensor<4xf32>
}`, `sdy.mesh @m = <["x"=2]>
func.func @main(%arg0: tensor<4xf32>, %arg1: tensor<8xf32>) -> tensor<4xf32> {
  %0 = sdy.manual_computation(%arg0) in_shardings=[<@m, [{}]>] out_shardings=[<@m, [{}]>] manual_axes={"x"} (%arg2: tensor<4xf32>) {
    sdy.return %arg2 : tensor<4xf32>
  } : (tensor<4xf32>) -> tensor<4xf32>
  return %0 : tensor<4xf32>
}`},
		{"a call with attributes of its operands", "dce", `func.func private @f(%a: tensor<f32>, %b: tensor<f32>) -> (tensor<f32>, tensor<f32>) {
  return %a, %b : tensor<f32>, tensor<f32>
}
func.func @main(%x: tensor<f32>) -> tensor<f32> {
  %0:2 = "func.call"(%x, %x) <{arg_attrs = [{a.a = 0 : i32}, {a.a = 1 : i32}], callee = @f, res_attrs = [{a.r = 0 : i32}, {a.r = 1 : i32}]}> : (tensor<f32>, tensor<f32>) -> (tensor<f32>, tensor<f32>)
  return %0#1 : tensor<f32>
}`, `func.func private @f(%arg0: tensor<f32>) -> tensor<f32> {
  return %arg0 : tensor<f32>
}
func.func @main(%arg0: tensor<f32>) -> tensor<f32> {
  %0 = call @f(%arg0) {arg_attrs = [{a.a = 1 : i32}], res_attrs = [{a.r = 1 : i32}]} : (tensor<f32>) -> tensor<f32>
  return %0 : tensor<f32>
}`},
		{"a call that loses tokens", "order-hooks", `func.func private @f(%t: !stablehlo.token, %x: tensor<f32>) -> (tensor<f32>, !stablehlo.token) {
  return %x, %t : tensor<f32>, !stablehlo.token
}
func.func @main(%x: tensor<f32>) -> tensor<f32> {
  %t = stablehlo.create_token : !stablehlo.token
  %0:2 = call @f(%t, %x) {arg_attrs = [{}, {a.a = 1 : i32}], res_attrs = [{a.r = 0 : i32}, {}]} : (!stablehlo.token, tensor<f32>) -> (tensor<f32>, !stablehlo.token)
  return %0#0 : tensor<f32>
}`, `func.func private @f(%arg0: tensor<f32>) -> tensor<f32> {
  return %arg0 : tensor<f32>
}
func.func @main(%arg0: tensor<f32>) -> tensor<f32> {
  %0 = call @f(%arg0) {arg_attrs = [{a.a = 1 : i32}], res_attrs = [{a.r = 0 : i32}]} : (tensor<f32>) -> tensor<f32>
  return %0 : tensor<f32>
}`},
	} {
		m, err := parse.Parse(diag.NewSource("in.mlir", []byte(c.in)), ir.NewContext(reg), parse.Options{})
		if err != nil {
			t.Fatalf("%s: %v", c.name, err)
		}
		p, err := pass.Parse(c.pass, passes.Builtin(passes.Host{}))
		if err != nil {
			t.Fatal(err)
		}
		if err := (&pass.Driver{Verify: ir.VerifyContext, VerifyResult: true}).Run(pass.NewContext(context.Background(), m), p); err != nil {
			t.Errorf("%s: %v", c.name, err)
			continue
		}
		if got := print.String(m, print.Options{}); strings.ReplaceAll(got, "\n  ", "\n") != "module {\n"+c.want+"\n}\n" {
			t.Errorf("%s: got\n%s", c.name, got)
		}
	}
}

// TestSCCPStops: sccp ends when its context ends.
func TestSCCPStops(t *testing.T) {
	var text strings.Builder
	text.WriteString("func.func @f(%x: tensor<f32>) {\n")
	for range 2000 {
		text.WriteString("  \"u.use\"(%x) : (tensor<f32>) -> ()\n")
	}
	text.WriteString("  return\n}")
	reg, err := all.Registry()
	if err != nil {
		t.Fatal(err)
	}
	m, err := parse.Parse(diag.NewSource("text", []byte(text.String())), ir.NewContext(reg), parse.Options{})
	if err != nil {
		t.Fatal(err)
	}
	ctx, cancel := context.WithCancel(t.Context())
	cancel()
	if err := (passes.SCCP{}).Run(pass.NewContext(ctx, m), m); err != context.Canceled {
		t.Errorf("error is %v", err)
	}
}
