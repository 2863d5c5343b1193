package sdy_test

import (
	"strings"
	"testing"

	"github.com/hlocb/hlocb/diag"
	"github.com/hlocb/hlocb/dialect/all"
	"github.com/hlocb/hlocb/ir"
	"github.com/hlocb/hlocb/parse"
	"github.com/hlocb/hlocb/print"
)

const mesh = "sdy.mesh @mesh = <[\"a\"=2, \"b\"=2]>\n"

// Attributes may be written in full or as an alias in place of their parameters (jaxlib 0.10.2 accepts each form).
func TestQualified(t *testing.T) {
	reg, err := all.Registry()
	if err != nil {
		t.Fatal(err)
	}
	body := func(attr string) string {
		return "func.func @f(%x: tensor<4xf32>) -> tensor<4xf32> {\n  %0 = stablehlo.add %x, %x {" + attr + "} : tensor<4xf32>\n  return %0 : tensor<4xf32>\n}"
	}
	short := body(`sdy.sharding = #sdy.sharding_per_value<[<@mesh, [{"a"}]>]>`)
	for _, in := range []string{
		mesh + short,
		"#m = #sdy.mesh<[\"a\"=2, \"b\"=2]>\nsdy.mesh @mesh = #m\n" + short,
		"sdy.mesh @mesh = #sdy.mesh<[\"a\"=2, \"b\"=2]>\n" + short,
		mesh + body(`sdy.sharding = #sdy.sharding_per_value<[#sdy.sharding<@mesh, [{"a"}]>]>`),
		"#s = #sdy.sharding<@mesh, [{\"a\"}]>\n" + mesh + body(`sdy.sharding = #sdy.sharding_per_value<[#s]>`),
	} {
		m, err := parse.Parse(diag.NewSource("in.mlir", []byte(in)), ir.NewContext(reg), parse.Options{})
		if err != nil {
			t.Errorf("%s\n%v", in, err)
			continue
		}
		out := print.String(m, print.Options{})
		for _, want := range []string{"sdy.mesh @mesh = <[", "[<@mesh, [{\"a\"}]>]"} {
			if !strings.Contains(out, want) {
				t.Errorf("%s is written as\n%s", in, out)
			}
		}
	}
	_, err = parse.Parse(diag.NewSource("in.mlir", []byte("sdy.mesh @mesh = #sdy<manual_axes{\"a\"}>")), ir.NewContext(reg), parse.Options{})
	if err == nil || !strings.Contains(err.Error(), "invalid kind of attribute specified") {
		t.Errorf("manual axes as a mesh: %v", err)
	}
}

// jaxlib 0.10.2 has the same messages.
func TestPropagationEdges(t *testing.T) {
	reg, err := all.Registry()
	if err != nil {
		t.Fatal(err)
	}
	const sharded = `, sdy.sharding = #sdy.sharding_per_value<[<@mesh, [{"a"}]>]>`
	edges := func(text string) string { return "sdy.propagation_edges = #sdy.propagation_edges<[" + text + "]>" }
	for attr, want := range map[string]string{
		`sdy.propagation_edges = 3 : i32`:                                                                   "should have a propagation edges attribute of type PropagationEdgesAttr for attr named 'sdy.propagation_edges'",
		`sdy.result_propagation_edges = [1]`:                                                                "should have a propagation edges attribute of type ArrayAttr<PropagationEdgesAttr> for attr named 'sdy.result_propagation_edges' or 'sdy.block_arg_propagation_edges'",
		`sdy.block_arg_propagation_edges = 64`:                                                              "of type ArrayAttr<PropagationEdgesAttr>",
		edges(`{step-0 = [{"a" = operand-0 -> [result-0]}]}`):                                               "expected propagation edges attr to reference a sharding.",
		edges(`{step-0 = [{"q" = operand-0 -> [result-0]}]}`) + sharded:                                     "expected axis ref to be in one of the meshes",
		edges(`{step-0 = [{"a" = result-0 -> [operand-3]}]}`) + sharded:                                     "expected a value ref to have an operand index in range [0, 2), got: 3",
		edges(`{step-0 = [{"a" = operand-0 -> [result-0, result-1]}]}`) + sharded:                           "expected a value ref to have a result index in range [0, 1), got: 1",
		edges(`{step--3 = [{"a" = operand-0 -> [result-0]}]}`):                                              "propagation edges have negative step index: -3",
		edges(`{step-1 = [{"a" = operand-0 -> [operand-0]}]}`):                                              "propagation edges have a source that is the same as a target",
		edges(`{step-1 = [{"a" = operand-0 -> [result-0, result-0]}]}`):                                     "propagation edges have duplicate targets for step index: 1 and axis: a",
		edges(`{step-1 = [{"a" = operand-0 -> [result-0]}]}, {step-1 = [{"a" = operand-1 -> [result-0]}]}`): "propagation edges have duplicate step index: 1",
		edges(`{step-1 = [{"a" = source-0 -> [result-0]}]}`):                                                "expected ::mlir::sdy::EdgeNodeType to be one of: operand, result",
		edges(`{ step - 1=[{"a":(1)2=operand - 0->[result -0,operand-1]}]}`) + sharded:                      "",
	} {
		in := mesh + "func.func @f(%x: tensor<4xf32>) -> tensor<4xf32> {\n  %0 = stablehlo.add %x, %x {" + attr + "} : tensor<4xf32>\n  return %0 : tensor<4xf32>\n}"
		m, err := parse.Parse(diag.NewSource("in.mlir", []byte(in)), ir.NewContext(reg), parse.Options{})
		if err == nil {
			err = ir.Verify(m)
		}
		if want == "" {
			const canonical = `[{step-1 = [{"a":(1)2 = operand-0 -> [result-0, operand-1]}]}]`
			if err != nil {
				t.Errorf("%s: %v", attr, err)
			} else if out := print.String(m, print.Options{}); !strings.Contains(out, canonical) {
				t.Errorf("%s is written as\n%s", attr, out)
			}
		} else if err == nil || !strings.Contains(err.Error(), want) {
			t.Errorf("%s: %v", attr, err)
		}
	}
}

// jaxlib 0.10.2 accepts and refuses the same modules, with the same messages.
func TestAsJaxlib(t *testing.T) {
	reg, err := all.Registry()
	if err != nil {
		t.Fatal(err)
	}
	for _, c := range []struct{ in, want string }{
		{mesh + `func.func @main(%x: tensor<8xf32>) -> tensor<8xf32> {
  %0 = sdy.manual_computation(%x) in_shardings=[<@mesh, [{"a","b"}]>] out_shardings=[<@mesh, [{"a","b"}]>] manual_axes={"b","a"} (%y: tensor<2xf32>) {
    sdy.return %y : tensor<2xf32>
  } : (tensor<8xf32>) -> tensor<8xf32>
  return %0 : tensor<8xf32>
}`, ""},
		{`func.func @main(%x: tensor<8xf32>) -> tensor<8xf32> {
  %0 = sdy.func_data_flow_edge %x : tensor<8xf32>
  return %0 : tensor<8xf32>
}`, ""},
		{`func.func @main(%x: tensor<8xf32>) -> tensor<8xf32> {
  %0 = func.call @main(%x) : (tensor<8xf32>) -> tensor<8xf32>
  %1 = sdy.func_data_flow_edge %0 : tensor<8xf32>
  return %1 : tensor<8xf32>
}`, ""},
		{`func.func @main(%x: tensor<8xf32>) -> tensor<8xf32> {
  %0 = stablehlo.add %x, %x : tensor<8xf32>
  %1 = sdy.func_data_flow_edge %0 : tensor<8xf32>
  return %1 : tensor<8xf32>
}`, "expected operand of sdy.func_data_flow_edge to be a result of call op."},
		{`func.func @main(%x: tensor<8xf32>) -> (tensor<8xf32>, tensor<8xf32>) {
  %0 = sdy.func_data_flow_edge %x : tensor<8xf32>
  return %0, %x : tensor<8xf32>, tensor<8xf32>
}`, "expected operand of sdy.func_data_flow_edge to have a single user"},
		{`func.func @main(%x: tensor<?xf32>) -> tensor<?xf32> {
  %0 = sdy.func_data_flow_edge %x : tensor<?xf32>
  return %0 : tensor<?xf32>
}`, "expected sdy.func_data_flow_edge to have a static-shaped result. type: 'tensor<?xf32>'"},
	} {
		m, err := parse.Parse(diag.NewSource("in.mlir", []byte(c.in)), ir.NewContext(reg), parse.Options{})
		if err == nil {
			err = ir.Verify(m)
		}
		if c.want == "" && err != nil || c.want != "" && (err == nil || !strings.Contains(err.Error(), c.want)) {
			t.Errorf("%s\n%v", c.in, err)
		}
	}
}
