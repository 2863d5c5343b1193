package parse_test

import (
	"strings"
	"testing"

	"github.com/hlocb/hlocb/diag"
	"github.com/hlocb/hlocb/internal/testkit"
	"github.com/hlocb/hlocb/ir"
	"github.com/hlocb/hlocb/parse"
	"github.com/hlocb/hlocb/print"
)

// TestVerbatim: the pretty form of ops of unknown dialects stays as it is, except for the names of values.
func TestVerbatim(t *testing.T) {
	const in = `!t = tensor<4xf32>
func.func @f(%x: !t, %n: i32) -> tensor<4xf32> {
  %a = foo.neg   %x : tensor<4xf32>  // no comment stays
  %b:2 = foo.split %a, %n {axis = 1 : i64, text = "%x }"} : !t -> (tensor<2xf32>, tensor<2xf32>)
  foo.sink [%b#0,
            %b#1]
  %c = foo.compare eq, %n, %n : i32
  %e = foo.cast %n : i32 to index
  %d = "foo.consume"(%c, %e) : (i1, index) -> tensor<4xf32>
  foo.end
  return %d : tensor<4xf32>
}
`
	const want = `module {
  func.func @f(%arg0: tensor<4xf32>, %arg1: i32) -> tensor<4xf32> {
    %0 = foo.neg   %arg0 : tensor<4xf32>
    %1:2 = foo.split %0, %arg1 {axis = 1 : i64, text = "%x }"} : tensor<4xf32> -> (tensor<2xf32>, tensor<2xf32>)
    foo.sink [%1#0,
            %1#1]
    %2 = foo.compare eq, %arg1, %arg1 : i32
    %3 = foo.cast %arg1 : i32 to index
    %4 = "foo.consume"(%2, %3) : (i1, index) -> tensor<4xf32>
    foo.end
    return %4 : tensor<4xf32>
  }
}
`
	reg := testkit.Registry(t)
	read := func(s string) (*ir.Module, error) {
		return parse.Parse(diag.NewSource("in.mlir", []byte(s)), ir.NewContext(reg), parse.Options{})
	}
	m, err := read(in)
	if err != nil {
		t.Fatal(err)
	}
	if err := ir.Verify(m); err != nil {
		t.Fatal(err)
	}
	if got := print.String(m, print.Options{}); got != want {
		t.Errorf("got\n%s", got)
	}
	for _, o := range []print.Options{{}, {Generic: true}, {DebugInfo: true}} {
		once := print.String(m, o)
		again, err := read(once)
		if err != nil {
			t.Fatalf("%v\n%s", err, once)
		}
		if twice := print.String(again, o); twice != once {
			t.Errorf("%+v:\n%s\nbecomes\n%s", o, once, twice)
		}
	}
}

// TestVerbatimOnOneLine: a known op after the types of an unknown one is an op of its own.
func TestVerbatimOnOneLine(t *testing.T) {
	const want = `module {
  func.func @f(%arg0: f32) -> f32 {
    %0 = foo.exp %arg0 : f32
    %1 = foo.cast %0 : f32 to f32
    %2 = foo.exp %1 : f32
    return %2 : f32
  }
}
`
	for _, in := range []string{
		"func.func @f(%x: f32) -> f32 { %a = foo.exp %x : f32 %b = foo.cast %a : f32 to f32 %c = foo.exp %b : f32 return %c : f32 }",
		"func.func @f(%x: f32) -> f32 {\n%a = foo.exp %x : f32 %b = foo.cast %a : f32 to f32\n%c = foo.exp %b : f32 func.return %c : f32\n}",
	} {
		m, err := parse.Parse(diag.NewSource("in.mlir", []byte(in)), ir.NewContext(testkit.Registry(t)), parse.Options{})
		if err != nil {
			t.Error(err)
		} else if got := print.String(m, print.Options{}); got != want || ir.Verify(m) != nil {
			t.Errorf("got\n%s", got)
		}
	}
}

// TestNotVerbatim refuses ops of unknown dialects whose text has no clear end, and ops that are probably misspelled.
func TestNotVerbatim(t *testing.T) {
	reg := testkit.Registry(t)
	for _, in := range []string{
		"foo.if %c { %x = foo.y }", "foo.if {\n}", "foo.br ^bb1", "foo.for %i = 0 to 10", "foo.x (", "foo.x )", "foo.x \"a", "stablhlo.add %x, %x : i32",
		"stablehlo.unknown", "foo.x %undefined", "foo.x #undefined", "foo.",
	} {
		_, err := parse.Parse(diag.NewSource("in.mlir", []byte(in)), ir.NewContext(reg), parse.Options{})
		if err == nil || strings.Contains(err.Error(), "internal") {
			t.Errorf("%q: got %v", in, err)
		}
	}
}
