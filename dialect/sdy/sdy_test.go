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

// Attributes may stand in full or as an alias wherever their parameters may (jaxlib 0.10.2 accepts each of these).
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
		m, err := parse.Parse(diag.NewSource("in.mlir", []byte(in)), ir.NewContext(), reg, parse.Options{})
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
	_, err = parse.Parse(diag.NewSource("in.mlir", []byte("sdy.mesh @mesh = #sdy<manual_axes{\"a\"}>")), ir.NewContext(), reg, parse.Options{})
	if err == nil || !strings.Contains(err.Error(), "invalid kind of attribute specified") {
		t.Errorf("manual axes as a mesh: %v", err)
	}
}

// jaxlib 0.10.2 checks the kind of propagation edges, and that the op has a sharding.
func TestPropagationEdges(t *testing.T) {
	reg, err := all.Registry()
	if err != nil {
		t.Fatal(err)
	}
	for attr, want := range map[string]string{
		`sdy.propagation_edges = 3 : i32`: "should have a propagation edges attribute of type PropagationEdgesAttr for attr named 'sdy.propagation_edges'",
		`sdy.propagation_edges = #sdy.propagation_edges<[{step-0 = [{"a" = operand-0 -> [result-0]}]}]>`: "expected propagation edges attr to reference a sharding.",
	} {
		in := mesh + "func.func @f(%x: tensor<4xf32>) -> tensor<4xf32> {\n  %0 = stablehlo.add %x, %x {" + attr + "} : tensor<4xf32>\n  return %0 : tensor<4xf32>\n}"
		m, err := parse.Parse(diag.NewSource("in.mlir", []byte(in)), ir.NewContext(), reg, parse.Options{})
		if err != nil {
			t.Fatal(err)
		}
		if err := ir.Verify(m); err == nil || !strings.Contains(err.Error(), want) {
			t.Errorf("%s: %v", attr, err)
		}
	}
}
