package parse_test

import (
	"testing"

	"github.com/hlocb/hlocb/diag"
	"github.com/hlocb/hlocb/internal/testkit"
	"github.com/hlocb/hlocb/ir"
	"github.com/hlocb/hlocb/parse"
)

// TestFragments reads single attributes and types, and refuses texts that hold more or less.
func TestFragments(t *testing.T) {
	reg := testkit.Registry(t)
	attr := func(text string) (string, error) {
		a, err := parse.Attr(diag.NewSource("a", []byte(text)), ir.NewContext(reg))
		if err != nil {
			return "", err
		}
		return a.String(), nil
	}
	typ := func(text string) (string, error) {
		v, err := parse.Type(diag.NewSource("t", []byte(text)), ir.NewContext(reg))
		if err != nil {
			return "", err
		}
		return v.String(), nil
	}
	for _, c := range []struct {
		read             func(string) (string, error)
		text, want, fail string
	}{
		{attr, "[1, 2 : i8] // c", "[1, 2 : i8]", ""},
		{attr, "dense<[1, 2]> : tensor<2xi8>", "dense<[1, 2]> : tensor<2xi8>", ""},
		{typ, "(i1) -> !stablehlo.token", "(i1) -> !stablehlo.token", ""},
		{attr, "1 2", "", "a:1:3: error: expected the end of the text"},
		{attr, "", "", "a:1:1: error: expected attribute value"},
		{attr, "#nowhere", "", "a:1:9: error: undefined symbol alias id 'nowhere'"},
		{typ, "tensor<2x", "", "t:1:10: error: expected non-function type"},
	} {
		got, err := c.read(c.text)
		if err != nil && err.Error() != c.fail || err == nil && (c.fail != "" || got != c.want) {
			t.Errorf("%q: got %q, %v, want %q, %s", c.text, got, err, c.want, c.fail)
		}
	}
}

// TestContextHasOneRegistry: a context that knows no dialect and one that knows all read the same text. Each has types
// and encodings of its own, and a module cannot mix them.
func TestContextHasOneRegistry(t *testing.T) {
	plain, known := ir.NewContext(nil), ir.NewContext(testkit.Registry(t))
	for _, text := range []string{"!quant.uniform<i8:f32, 1.000000e+00>", "tensor<?xf32, #stablehlo.bounds<4>>", "tensor<2x!quant.uniform<i8:f32, 2.0>>"} {
		first, err := parse.Type(diag.NewSource("t", []byte(text)), plain)
		if err != nil {
			t.Fatal(err)
		}
		second, err := parse.Type(diag.NewSource("t", []byte(text)), known)
		if err != nil || first == second {
			t.Errorf("%s: both contexts have the type %v (%v)", text, second, err)
		}
		if again, _ := parse.Type(diag.NewSource("t", []byte(text)), known); again != second {
			t.Errorf("%s is not one type in a context", text)
		}
	}
	const f = `func.func @f(%x: tensor<2x!quant.uniform<i8:f32, 1.000000e+00>>) -> tensor<2xf32> {
  %0 = stablehlo.uniform_dequantize %x : (tensor<2x!quant.uniform<i8:f32, 1.000000e+00>>) -> tensor<2xf32>
  return %0 : tensor<2xf32>
}`
	m, err := parse.Parse(diag.NewSource("m", []byte(f)), known, parse.Options{})
	if err != nil {
		t.Fatal(err)
	}
	if err := ir.Verify(m); err != nil || m.Registry() != known.Registry() {
		t.Errorf("the module is invalid, or has another registry: %v", err)
	}
}
