package print_test

import (
	"bytes"
	"errors"
	"fmt"
	"os"
	"path/filepath"
	"strings"
	"testing"

	"github.com/hlocb/hlocb/diag"
	"github.com/hlocb/hlocb/dialect/all"
	"github.com/hlocb/hlocb/internal/label"
	"github.com/hlocb/hlocb/ir"
	"github.com/hlocb/hlocb/parse"
	"github.com/hlocb/hlocb/print"
)

func readWith(t testing.TB, registry *ir.Registry, text string) *ir.Module {
	t.Helper()
	m, err := parse.Parse(diag.NewSource("text", []byte(text)), ir.NewContext(registry), parse.Options{})
	if err != nil {
		t.Fatalf("%v in\n%s", err, text)
	}
	return m
}

func read(t testing.TB, text string) *ir.Module {
	t.Helper()
	registry, err := all.Registry()
	if err != nil {
		t.Fatal(err)
	}
	return readWith(t, registry, text)
}

// TestAsMLIR compares with the texts that MLIR prints for the same modules (jaxlib 0.10.2).
func TestAsMLIR(t *testing.T) {
	for _, c := range []struct {
		options    print.Options
		text, want string
	}{
		{print.Options{}, `func.func @f(%x: tensor<f32>, %y: tensor<2xf32>) -> (tensor<f32>, tensor<f32>) {
  %c = stablehlo.constant dense<1.0> : tensor<f32>
  %d = stablehlo.constant dense<2.0> : tensor<f32>
  %0:2 = "u.two"(%x) : (tensor<f32>) -> (tensor<f32>, tensor<f32>)
  %1 = stablehlo.add %0#0, %c : tensor<f32>
  %2 = "stablehlo.reduce"(%y, %d) ({
  ^bb0(%a: tensor<f32>, %b: tensor<f32>):
    %3 = stablehlo.maximum %a, %b : tensor<f32>
    stablehlo.return %3 : tensor<f32>
  }) {dimensions = array<i64: 0>} : (tensor<2xf32>, tensor<f32>) -> tensor<f32>
  return %1, %0#1 : tensor<f32>, tensor<f32>
}`, `module {
  func.func @f(%arg0: tensor<f32>, %arg1: tensor<2xf32>) -> (tensor<f32>, tensor<f32>) {
    %cst = stablehlo.constant dense<1.000000e+00> : tensor<f32>
    %cst_0 = stablehlo.constant dense<2.000000e+00> : tensor<f32>
    %0:2 = "u.two"(%arg0) : (tensor<f32>) -> (tensor<f32>, tensor<f32>)
    %1 = stablehlo.add %0#0, %cst : tensor<f32>
    %2 = stablehlo.reduce(%arg1 init: %cst_0) applies stablehlo.maximum across dimensions = [0] : (tensor<2xf32>, tensor<f32>) -> tensor<f32>
    return %1, %0#1 : tensor<f32>, tensor<f32>
  }
}
`},
		{print.Options{Generic: true}, `func.func @f(%x: tensor<f32>, %y: tensor<2xf32>) -> (tensor<f32>, tensor<f32>) {
  %c = stablehlo.constant dense<1.0> : tensor<f32>
  %d = stablehlo.constant dense<2.0> : tensor<f32>
  %0:2 = "u.two"(%x) : (tensor<f32>) -> (tensor<f32>, tensor<f32>)
  %1 = stablehlo.add %0#0, %c : tensor<f32>
  %2 = "stablehlo.reduce"(%y, %d) ({
  ^bb0(%a: tensor<f32>, %b: tensor<f32>):
    %3 = stablehlo.maximum %a, %b : tensor<f32>
    stablehlo.return %3 : tensor<f32>
  }) {dimensions = array<i64: 0>} : (tensor<2xf32>, tensor<f32>) -> tensor<f32>
  return %1, %0#1 : tensor<f32>, tensor<f32>
}`, `"builtin.module"() ({
  "func.func"() <{function_type = (tensor<f32>, tensor<2xf32>) -> (tensor<f32>, tensor<f32>), sym_name = "f"}> ({
  ^bb0(%arg0: tensor<f32>, %arg1: tensor<2xf32>):
    %0 = "stablehlo.constant"() <{value = dense<1.000000e+00> : tensor<f32>}> : () -> tensor<f32>
    %1 = "stablehlo.constant"() <{value = dense<2.000000e+00> : tensor<f32>}> : () -> tensor<f32>
    %2:2 = "u.two"(%arg0) : (tensor<f32>) -> (tensor<f32>, tensor<f32>)
    %3 = "stablehlo.add"(%2#0, %0) : (tensor<f32>, tensor<f32>) -> tensor<f32>
    %4 = "stablehlo.reduce"(%arg1, %1) <{dimensions = array<i64: 0>}> ({
    ^bb0(%arg2: tensor<f32>, %arg3: tensor<f32>):
      %5 = "stablehlo.maximum"(%arg2, %arg3) : (tensor<f32>, tensor<f32>) -> tensor<f32>
      "stablehlo.return"(%5) : (tensor<f32>) -> ()
    }) : (tensor<2xf32>, tensor<f32>) -> tensor<f32>
    "func.return"(%3, %2#1) : (tensor<f32>, tensor<f32>) -> ()
  }) : () -> ()
}) : () -> ()
`},
		{print.Options{}, `func.func @f(%n: tensor<i32>) -> tensor<i32> {
  %0:2 = stablehlo.while(%i = %n, %j = %n) : tensor<i32>, tensor<i32>
  cond {
    %c = stablehlo.compare LT, %i, %j : (tensor<i32>, tensor<i32>) -> tensor<i1>
    stablehlo.return %c : tensor<i1>
  } do {
    %1 = stablehlo.add %i, %j : tensor<i32>
    stablehlo.return %1, %j : tensor<i32>, tensor<i32>
  }
  return %0#0 : tensor<i32>
}`, `module {
  func.func @f(%arg0: tensor<i32>) -> tensor<i32> {
    %0:2 = stablehlo.while(%iterArg = %arg0, %iterArg_0 = %arg0) : tensor<i32>, tensor<i32>
    cond {
      %1 = stablehlo.compare LT, %iterArg, %iterArg_0 : (tensor<i32>, tensor<i32>) -> tensor<i1>
      stablehlo.return %1 : tensor<i1>
    } do {
      %1 = stablehlo.add %iterArg, %iterArg_0 : tensor<i32>
      stablehlo.return %1, %iterArg_0 : tensor<i32>, tensor<i32>
    }
    return %0#0 : tensor<i32>
  }
}
`},
		{print.Options{}, `"u.r"() ({
  "u.br"()[^bb1, ^bb2] : () -> ()
^bb1(%a: i32, %b: f32):
  "u.br"(%a)[^bb2] : (i32) -> ()
^bb2:
  %0 = "u.op"() ({}, {
  ^bb0:
  }, { "u.in"() : () -> () }) {k = "x"} : () -> i32
^bb3:
  "u.end"(%0) : (i32) -> ()
}) : () -> ()`, `module {
  "u.r"() ({
    "u.br"()[^bb1, ^bb2] : () -> ()
  ^bb1(%0: i32, %1: f32):  // pred: ^bb0
    "u.br"(%0)[^bb2] : (i32) -> ()
  ^bb2:  // 2 preds: ^bb0, ^bb1
    %2 = "u.op"() ({
    }, {
    ^bb0:
    }, {
      "u.in"() : () -> ()
    }) {k = "x"} : () -> i32
  ^bb3:  // no predecessors
    "u.end"(%2) : (i32) -> ()
  }) : () -> ()
}
`},
		{print.Options{}, `#m = affine_map<(d0) -> (d0)>
"u.a"() {x = #m, y = [#m, affine_map<() -> ()>], z = distinct[0]<i32>} : () -> ()
%0 = "u.t"() : () -> tuple<i1,i1,i1,i1,i1,i1,i1,i1,i1,i1,i1,i1,i1,i1,i1,i1,i1>
"u.l"() {l = loc("f":1:2)} : () -> ()`, `!tuple = tuple<i1, i1, i1, i1, i1, i1, i1, i1, i1, i1, i1, i1, i1, i1, i1, i1, i1>
#distinct = distinct[0]<i32>
#loc = loc("f":1:2)
#map = affine_map<(d0) -> (d0)>
#map1 = affine_map<() -> ()>
module {
  "u.a"() {x = #map, y = [#map, #map1], z = #distinct} : () -> ()
  %0 = "u.t"() : () -> !tuple
  "u.l"() {l = #loc} : () -> ()
}
`},
		{print.Options{DebugInfo: true}, `module @m {
  func.func @f(%x: tensor<f32> loc("x"("f":1:2))) -> tensor<f32> {
    %0 = stablehlo.negate %x : tensor<f32> loc(callsite("f":3:4 at "g":5:6))
    %1 = stablehlo.abs %0 : tensor<f32> loc(fused<"m">["a", "b"("f":3:4)])
    return %1 : tensor<f32> loc(unknown)
  } loc("f":1:1 to 2:3)
} loc(#l)
#l = loc("top")`, `#loc2 = loc("f":1:2)
#loc7 = loc("x"(#loc2))
module @m {
  func.func @f(%arg0: tensor<f32> loc("x"(#loc2))) -> tensor<f32> {
    %0 = stablehlo.negate %arg0 : tensor<f32> loc(#loc8)
    %1 = stablehlo.abs %0 : tensor<f32> loc(#loc10)
    return %1 : tensor<f32> loc(#loc6)
  } loc(#loc1)
} loc(#loc)
#loc = loc("top")
#loc1 = loc("f":1:1 to 2:3)
#loc3 = loc("f":3:4)
#loc4 = loc("g":5:6)
#loc5 = loc("a")
#loc6 = loc(unknown)
#loc8 = loc(callsite(#loc3 at #loc4))
#loc9 = loc("b"(#loc3))
#loc10 = loc(fused<"m">[#loc5, #loc9])
`},
		{print.Options{DebugInfo: true, LocalScope: true}, `module @m {
  func.func @f(%x: tensor<f32> loc("x"("f":1:2))) -> tensor<f32> {
    %0 = stablehlo.negate %x : tensor<f32> loc(callsite("f":3:4 at "g":5:6))
    %1 = stablehlo.abs %0 : tensor<f32> loc(fused<"m">["a", "b"("f":3:4)])
    return %1 : tensor<f32> loc(unknown)
  } loc("f":1:1 to 2:3)
} loc(#l)
#l = loc("top")`, `module @m {
  func.func @f(%arg0: tensor<f32> loc("x"("f":1:2))) -> tensor<f32> {
    %0 = stablehlo.negate %arg0 : tensor<f32> loc(callsite("f":3:4 at "g":5:6))
    %1 = stablehlo.abs %0 : tensor<f32> loc(fused<"m">["a", "b"("f":3:4)])
    return %1 : tensor<f32> loc(unknown)
  } loc("f":1:1 to 2:3)
} loc("top")`},
		{print.Options{DebugInfo: true, Generic: true}, `module @m {
  func.func @f(%x: tensor<f32> loc("x"("f":1:2))) -> tensor<f32> {
    %0 = stablehlo.negate %x : tensor<f32> loc(callsite("f":3:4 at "g":5:6))
    %1 = stablehlo.abs %0 : tensor<f32> loc(fused<"m">["a", "b"("f":3:4)])
    return %1 : tensor<f32> loc(unknown)
  } loc("f":1:1 to 2:3)
} loc(#l)
#l = loc("top")`, `#loc2 = loc("f":1:2)
#loc7 = loc("x"(#loc2))
"builtin.module"() <{sym_name = "m"}> ({
  "func.func"() <{function_type = (tensor<f32>) -> tensor<f32>, sym_name = "f"}> ({
  ^bb0(%arg0: tensor<f32> loc("x"(#loc2))):
    %0 = "stablehlo.negate"(%arg0) : (tensor<f32>) -> tensor<f32> loc(#loc8)
    %1 = "stablehlo.abs"(%0) : (tensor<f32>) -> tensor<f32> loc(#loc10)
    "func.return"(%1) : (tensor<f32>) -> () loc(#loc6)
  }) : () -> () loc(#loc1)
}) : () -> () loc(#loc)
#loc = loc("top")
#loc1 = loc("f":1:1 to 2:3)
#loc3 = loc("f":3:4)
#loc4 = loc("g":5:6)
#loc5 = loc("a")
#loc6 = loc(unknown)
#loc8 = loc(callsite(#loc3 at #loc4))
#loc9 = loc("b"(#loc3))
#loc10 = loc(fused<"m">[#loc5, #loc9])
`},
		{print.Options{}, `module attributes {u.dict = {a = 1 : i32, "b c" = [true, unit]}, u.s = "q\22\0A", u.sym = @a::@"b c"} {
  func.func private @"g h"(tensor<*xf32> {u.x}, i32) -> (f32 {u.y = 1.0 : f32}, () -> ()) attributes {u.z}
  "u.f"() {f = () -> (() -> i32)} : () -> (() -> i32)
}`, `module attributes {u.dict = {a = 1 : i32, "b c" = [true, unit]}, u.s = "q\22\0A", u.sym = @a::@"b c"} {
  func.func private @"g h"(tensor<*xf32> {u.x}, i32) -> (f32 {u.y = 1.000000e+00 : f32}, () -> ()) attributes {u.z}
  %0 = "u.f"() {f = () -> (() -> i32)} : () -> (() -> i32)
}
`},
		{print.Options{Generic: true}, `module attributes {u.dict = {a = 1 : i32, "b c" = [true, unit]}, u.s = "q\22\0A", u.sym = @a::@"b c"} {
  func.func private @"g h"(tensor<*xf32> {u.x}, i32) -> (f32 {u.y = 1.0 : f32}, () -> ()) attributes {u.z}
  "u.f"() {f = () -> (() -> i32)} : () -> (() -> i32)
}`, `"builtin.module"() ({
  "func.func"() <{arg_attrs = [{u.x}, {}], function_type = (tensor<*xf32>, i32) -> (f32, () -> ()), res_attrs = [{u.y = 1.000000e+00 : f32}, {}], sym_name = "g h", sym_visibility = "private"}> ({
  }) {u.z} : () -> ()
  %0 = "u.f"() {f = () -> (() -> i32)} : () -> (() -> i32)
}) {u.dict = {a = 1 : i32, "b c" = [true, unit]}, u.s = "q\22\0A", u.sym = @a::@"b c"} : () -> ()
`},
	} {
		if got := print.String(read(t, c.text), c.options); strings.TrimSpace(got) != strings.TrimSpace(c.want) {
			t.Errorf("%+v: got\n%s\nwant\n%s", c.options, got, c.want)
		}
	}
}

var forms = []print.Options{{}, {Generic: true}, {DebugInfo: true}, {LocalScope: true}, {Generic: true, DebugInfo: true}, {DebugInfo: true, LocalScope: true},
	{NoHex: true}}

// TestRoundTrip reads each printed form of a module. The result prints as the same text.
func TestRoundTrip(t *testing.T) {
	files, err := filepath.Glob("../testdata/*/*.mlir")
	if err != nil || len(files) < 100 {
		t.Fatal(err, len(files))
	}
	for i, file := range files {
		text, err := os.ReadFile(file)
		if err != nil {
			t.Fatal(err)
		}
		m := read(t, string(text))
		for k, o := range forms {
			if !label.Part(k == i%len(forms)) {
				continue
			}
			first := print.String(m, o)
			if second := print.String(read(t, first), o); second != first && !o.DebugInfo { // positions become locations
				t.Errorf("%s, %+v: got\n%.2000s\nwant\n%.2000s", file, o, second, first)
			}
			var b bytes.Buffer
			if err := print.Print(&b, m, o); err != nil || b.String() != first {
				t.Errorf("%s, %+v: Print writes another text than String: %v", file, o, err)
			}
			if got := print.Append([]byte("x"), m, o); string(got) != "x"+first {
				t.Errorf("%s, %+v: Append appends another text than String", file, o)
			}
		}
	}
}

// TestPieces: a long text is written in pieces, also when the first alias turns up late.
func TestPieces(t *testing.T) {
	var text strings.Builder
	line := strings.Repeat("x", 1000)
	for i := range 3000 {
		fmt.Fprintf(&text, "\"u.op\"() {a = %q} : () -> ()\n", fmt.Sprint(line, i))
	}
	for _, end := range []string{"", "\"u.last\"() {m = affine_map<() -> ()>} : () -> ()\n"} {
		m := read(t, text.String()+end)
		for _, o := range forms {
			w := &pieces{}
			if err := print.Print(w, m, o); err != nil {
				t.Fatal(err)
			}
			if want := print.String(m, o); w.String() != want {
				t.Errorf("%+v: the pieces are another text", o)
			}
			if o.DebugInfo && w.n < 3 {
				t.Errorf("%+v: written in %d pieces", o, w.n)
			}
		}
		if err := print.Print(&pieces{fail: true}, m, print.Options{DebugInfo: true}); err == nil || err.Error() != "disk full" {
			t.Errorf("got %v", err)
		}
	}
}

type pieces struct {
	bytes.Buffer
	n    int
	fail bool
}

func (p *pieces) Write(b []byte) (int, error) {
	if p.n++; p.fail {
		return 0, errors.New("disk full")
	}
	return p.Buffer.Write(b)
}

// TestOp: one op has the names that its values have in the whole module.
func TestOp(t *testing.T) {
	m := read(t, "%0 = \"u.a\"() : () -> i32\n%1 = \"u.b\"(%0) : (i32) -> i32\n\"u.c\"(%1) : (i32) -> ()")
	if got := print.Op(m, m.Body().Last(), print.Options{}); got != "\"u.c\"(%1) : (i32) -> ()\n" {
		t.Error(got)
	}
}

// TestOps: an op's text does not depend on the ops that the same Ops printed before it.
func TestOps(t *testing.T) {
	m := read(t, `func.func @f(%x: tensor<f32>) -> tensor<f32> {
  %0 = stablehlo.constant dense<1.0> : tensor<f32>
  %1 = stablehlo.add %x, %0 : tensor<f32>
  %2 = stablehlo.constant dense<1.0> : tensor<f32>
  "u.a"(%2) {k = dense<1.0> : tensor<f32>, l = dense<1.0> : tensor<f32>} : (tensor<f32>) -> ()
  return %1 : tensor<f32>
}`)
	for _, o := range []print.Options{{}, {Generic: true}} {
		all := print.NewOps(m, o)
		for op := range m.Body().First().Region(0).Entry().Ops() {
			if got, want := all.Text(op), print.Op(m, op, o); got != want {
				t.Errorf("%s after others is\n%s\nalone\n%s", op.Name(), got, want)
			}
		}
	}
}

// TestInvalid prints invalid modules. The text shows the error.
func TestInvalid(t *testing.T) {
	m := read(t, "\"u.b\"() ({\n  %0 = \"u.a\"() : () -> i32\n}) : () -> ()\n\"u.c\"() : () -> ()")
	inner := m.Body().First().Region(0).Entry().First()
	m.Body().Last().SetOperands([]*ir.Value{inner.Result(0)})
	m.NewBlock().Append(inner)
	if got := print.String(m, print.Options{}); !strings.Contains(got, `"u.c"(<<UNKNOWN SSA VALUE>>) : (i32) -> ()`) {
		t.Error(got)
	}
	m.Body().First().Region(0).Entry().Append(inner)
	m.Body().First().Erase()
	if got := print.String(m, print.Options{}); !strings.Contains(got, `"u.c"(<<NULL VALUE>>) : (<<NULL TYPE>>) -> ()`) {
		t.Error(got)
	}
	m.Body().Append(m.NewOp(&ir.OpState{Def: m.Def("stablehlo.negate"), Operands: []*ir.Value{nil}, Types: []ir.Type{ir.Int(1)}}))
	if got := print.String(m, print.Options{}); !strings.Contains(got, `"stablehlo.negate"(<<NULL VALUE>>)`) {
		t.Error(got)
	}
	add := read(t, "func.func @f(%a: i1) {\n  return\n}").Def("stablehlo.add")
	bad := read(t, "%0 = \"u.a\"() : () -> tensor<i1>")
	bad.AtEnd(bad.Body()).Create(add, []*ir.Value{bad.Body().First().Result(0)}, nil)
	if got := print.String(bad, print.Options{}); !strings.Contains(got, `"stablehlo.add"(%0) : (tensor<i1>) -> ()`) {
		t.Errorf("an op with too few operands is not in generic form:\n%s", got)
	}
}

func TestResources(t *testing.T) {
	const want = `module {
  "u.a"() {a = dense_resource<k> : tensor<1xi8>} : () -> ()
}

{-#
  dialect_resources: {
    builtin: {
      k: "0x0100000000000000",
      "l m": "0x0200000000000000"
    },
    other: {
      k: true
    }
  },
  external_resources: {
    tool: {
      x: "y"
    }
  }
#-}
`
	if got := print.String(read(t, want), print.Options{}); got != want {
		t.Errorf("got\n%s\nwant\n%s", got, want)
	}
}

// TestForeign: the text of an op of a dialect that nobody registered stays as it is, with new names.
func TestForeign(t *testing.T) {
	m := read(t, "%x = \"u.a\"() : () -> i32\n%y = scf.thing %x , [%x]  {k = 1} : i32\n\"u.b\"(%y) : (i32) -> ()")
	if got, want := print.String(m, print.Options{}), "%1 = scf.thing %0 , [%0]  {k = 1} : i32\n"; !strings.Contains(got, want) {
		t.Errorf("got\n%s\nwant %s", got, want)
	}
}

// TestForeignDialect: a dialect of others reads and writes its assembly with everything that the two interfaces offer.
func TestForeignDialect(t *testing.T) {
	row := &ir.Def{
		Name: "t.all", Operands: []ir.Arg{{Name: "in", Mult: ir.Variadic}}, Results: []ir.Arg{{Name: "out", Mult: ir.Variadic}},
		Regions: []ir.RegionSpec{{Name: "body"}}, Traits: ir.NoTerminator,
		Parse: func(p ir.AsmParser, st *ir.OpState) {
			for _, word := range []string{"first", "second"} {
				if p.AcceptKeyword(word) {
					st.SetAttr("word", ir.NewString(word))
				}
			}
			st.SetAttr("text", ir.NewString(p.ParseString()))
			if s, ok := p.ParseOptionalString(); ok {
				st.SetAttr("more", ir.NewString(s))
			}
			st.SetAttr("name", ir.NewString(p.ParseKeywordOrString()))
			if s, ok := p.ParseOptionalSymbol(); ok {
				st.SetAttr("sym", ir.NewString(s))
			}
			if a, ok := p.ParseOptionalAttr(nil); ok {
				st.SetAttr("attr", a)
			}
			a := p.ParseAttr(ir.Int(32))
			st.SetAttr("short", a)
			if t, ok := p.ParseOptionalType(); ok {
				st.Types = append(st.Types, t)
			}
			var operands []ir.Operand
			p.ParseList("(", ")", func() { operands = append(operands, p.ParseOperand()) })
			p.Expect(":")
			pos := p.Pos()
			f := p.ParseFunctionType()
			p.ResolveOperands(operands, f.Inputs(), pos, st)
			st.SetAttr("ints", ir.NewDenseArray(ir.Int(64), p.ParseIntegers()))
			if p.Accept("to") || p.AcceptKeyword("to") {
				st.Successors = append(st.Successors, p.ParseSuccessor())
			}
			st.Bodies = append(st.Bodies, p.ParseRegion())
		},
		Print: func(p ir.AsmPrinter, op *ir.Op) {
			text := func(name string) string {
				s, _ := op.Attr(name).(*ir.StringAttr)
				if s == nil {
					return ""
				}
				return s.Value()
			}
			p.Print(" ")
			p.PrintKeywordOrString(text("word"))
			p.Print(" ")
			p.PrintString(text("text"))
			if s := text("more"); s != "" {
				p.Print(" ")
				p.PrintString(s)
			}
			p.Print(" ")
			p.PrintKeywordOrString(text("name"))
			p.Print(" ")
			p.PrintSymbol(text("sym"))
			p.Print(" ")
			p.PrintAttr(op.Attr("attr"))
			p.Print(" ")
			p.PrintAttrWithoutType(op.Attr("short"))
			p.Print(" ")
			p.PrintType(op.Result(0).Type())
			p.Print(" (")
			p.PrintValues(op.OperandList())
			p.Print(") : ")
			var types []ir.Type
			for _, v := range op.Operands() {
				types = append(types, v.Type())
			}
			p.PrintFunctionType(types, []ir.Type{op.Result(0).Type()})
			p.Print(" ")
			p.PrintInts(op.Attr("ints").(*ir.DenseArrayAttr).Values())
			for _, b := range op.Successors() {
				p.Print(" to ")
				p.PrintSuccessor(b)
			}
			p.Print(" ")
			p.PrintRegion(op.Region(0), true, true)
		},
		ResultNames: func(op *ir.Op, set func(*ir.Value, string)) { set(op.Result(0), "a b") },
		ArgNames: func(op *ir.Op, r *ir.Region, set func(*ir.Value, string)) {
			if r.Entry() == nil {
				return
			}
			for i, a := range r.Entry().Args() {
				set(a, fmt.Sprintf("%dth", i))
			}
		},
	}
	registry, err := ir.NewRegistry(&ir.Dialect{Name: "t", Ops: []*ir.Def{row}})
	if err != nil {
		t.Fatal(err)
	}
	const want = `"builtin.module"() ({
  %0:2 = "u.def"() : () -> (i1, i8)
  %a_b = t.all first "x y" "z" "1n" @s [1] 5 i32 (%0#0, %0#1) : (i1, i8) -> i32 [1, -2] {
  ^bb0(%_0th: i32, %_1th: i8):
    "u.use"(%_1th) : (i8) -> ()
  }
  %a_b_0 = t.all second "x" n @"s t" "w" 5 i1 (%a_b) : (i32) -> i1 [] {
  }
}) : () -> ()
`
	m := readWith(t, registry, want)
	if got := print.String(m, print.Options{}); got != want {
		t.Errorf("got\n%s\nwant\n%s", got, want)
	}
	if err := ir.Verify(m); err != nil {
		t.Error(err)
	}
}

// TestWhileOfOtherTypes prints a loop in generic form if its regions have other types than its operands: the pretty
// form has the types of the operands alone.
func TestWhileOfOtherTypes(t *testing.T) {
	const text = `func.func @f(%arg0: tensor<4xf32>) -> tensor<?xf32> {
  %0 = "stablehlo.while"(%arg0) ({
  ^bb0(%a: tensor<?xf32>):
    %1 = stablehlo.constant dense<true> : tensor<i1>
    stablehlo.return %1 : tensor<i1>
  }, {
  ^bb0(%a: tensor<?xf32>):
    stablehlo.return %a : tensor<?xf32>
  }) : (tensor<4xf32>) -> tensor<?xf32>
  return %0 : tensor<?xf32>
}`
	m := read(t, text)
	out := print.String(m, print.Options{})
	if again := print.String(read(t, out), print.Options{}); again != out || !strings.Contains(out, `"stablehlo.while"(%arg0)`) {
		t.Errorf("printed, read and printed again:\n%s\n%s", out, again)
	}
}
