package parse_test

import (
	"strings"
	"testing"

	"github.com/hlocb/hlocb/diag"
	"github.com/hlocb/hlocb/dialect/all"
	"github.com/hlocb/hlocb/internal/testkit"
	"github.com/hlocb/hlocb/ir"
	"github.com/hlocb/hlocb/parse"
	"github.com/hlocb/hlocb/print"
)

// TestRepeatedText: the parser remembers function types, types and op names by their text. A text that only starts like
// one is read anew.
func TestRepeatedText(t *testing.T) {
	const in = `!t = tensor<2xi32>
func.func @f(%a: tensor<2xf32>, %b: tensor<2xi32>) {
  %0 = stablehlo.convert %a : (tensor<2xf32>) -> tensor<2xi32>
  %1 = stablehlo.convert %a : (tensor<2xf32>) -> tensor<2xi32>
  %2 = stablehlo.convert %a : (tensor<2xf32>) -> tensor<2xi32> // -> tensor<2xi32>
  %3 = stablehlo.convert %a : (tensor<2xf32>) -> tensor<2xi32> // -> tensor<2xi32>
  %4 = stablehlo.convert %a : (tensor<2xf32>) -> tensor<2xi32> loc("x")
  %5 = stablehlo.convert %a : (tensor<2xf32>) -> !t
  %6 = "stablehlo.convert"(%a) : (tensor<2xf32>) -> tensor<2xi32>
  %7 = stablehlo.convert %a : (tensor<2xf32>)
    -> tensor<2xi32>
  %8 = "u.pair"(%0) : (tensor<2xi32>) -> tuple<tensor<2xi32>, tensor<2xi32>>
  %9 = "u.pair"(%1) : (tensor<2xi32>) -> tuple<tensor<2xi32>, tensor<2xi32>>
  %10 = "u.odd("(%a) : (tensor<2xf32>) -> tensor<2xi32>
  return
}`
	reg, err := all.Registry()
	if err != nil {
		t.Fatal(err)
	}
	m, err := parse.Parse(diag.NewSource("in.mlir", []byte(in)), ir.NewContext(reg), parse.Options{})
	if err != nil {
		t.Fatal(err)
	}
	got := print.String(m, print.Options{})
	if n := strings.Count(got, "stablehlo.convert %arg0 : (tensor<2xf32>) -> tensor<2xi32>\n"); n != 8 {
		t.Errorf("%d conversions, want 8:\n%s", n, got)
	}
	if n := strings.Count(got, "-> tuple<tensor<2xi32>, tensor<2xi32>>\n"); n != 2 {
		t.Errorf("%d pairs, want 2:\n%s", n, got)
	}
	bad := strings.Replace(in, "  return", "  %11 = u.odd( %a : (tensor<2xf32>) -> tensor<2xi32>\n  return", 1)
	if _, err := parse.Parse(diag.NewSource("in.mlir", []byte(bad)), ir.NewContext(reg), parse.Options{}); err == nil {
		t.Error("the name of a generic op with a bracket was read as an op's assembly")
	}
	bad = strings.Replace(in, "%1 = stablehlo.convert %a :", "%1 = stablehlo.convert %b :", 1)
	if _, err := parse.Parse(diag.NewSource("in.mlir", []byte(bad)), ir.NewContext(reg), parse.Options{}); err == nil || !strings.Contains(err.Error(), "in.mlir:4:26: error: use of value '%b'") {
		t.Errorf("the error is %v", err)
	}
}

// TestRepeatedTypesOverLines: function types that go on in the next line are read again at their second use.
func TestRepeatedTypesOverLines(t *testing.T) {
	for _, typ := range []string{
		"(tensor<2xf32>) ->\n (tensor<2xf32>)",
		"(tensor<2xf32>) ->\n tensor<2xf32>",
		"(tensor<2xf32>\n) -> tensor<2xf32>",
		"(tensor<2xf32>) -> tuple<tensor<2xf32>\n>",
		"(tensor<2xf32>)\n -> tensor<2xf32>",
		"(tensor<2xf32>) -> tensor<2xf32>",
	} {
		one := `  "a.b"(%x) {a = [[@f]]} : ` + typ + "\n"
		text := "func.func @main(%x: tensor<2xf32>) {\n" + one + one + one + "  return\n}\n"
		m := testkit.Parse(t, "lines.mlir", text)
		n := 0
		m.Walk(func(op *ir.Op) bool {
			if op.Name() == "a.b" {
				n++
				if len(op.ResultTypes()) != 1 {
					t.Errorf("%q: an op has %d results", typ, len(op.ResultTypes()))
				}
			}
			return true
		})
		if n != 3 {
			t.Errorf("%q: %d ops were read, expected 3", typ, n)
		}
	}
}
