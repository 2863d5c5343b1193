package ir_test

import (
	"fmt"
	"math/big"
	"strings"
	"testing"

	"github.com/hlocb/hlocb/bytecode"
	"github.com/hlocb/hlocb/diag"
	"github.com/hlocb/hlocb/internal/mlirtext"
	"github.com/hlocb/hlocb/ir"
	"github.com/hlocb/hlocb/print"
	"github.com/hlocb/hlocb/tensor"
)

// attribute reads text as an attribute of an op.
func attribute(t testing.TB, text string) ir.Attr {
	t.Helper()
	return read(t, `"u.op"() {a = `+text+`} : () -> ()`).Body().First().Attr("a")
}

// attributes are texts as MLIR prints them.
var attributes = []string{
	`1 : i32`, `-3 : i64`, `255 : ui8`, `-1 : si16`, `7 : index`, `true`, `false`, `123456789012345678901234567890 : i128`, `-5 : i128`,
	`1.000000e+00 : f32`, `1.500000e+00 : f64`, `0x7FC00000 : f32`, `0x7F800000 : f32`, `1.000000e+00 : bf16`, `1.000000e+00 : f8E4M3FN`,
	`"text"`, `"a\22b\\\0A"`, `"typed" : i32`, `unit`, `[]`, `[1, "x", [unit]]`, `{}`, `{a = 1 : i8, b, "c d" = "x"}`,
	`@f`, `@"a b"`, `@m::@f::@"g-h"`, `i32`, `tensor<2x?xf32>`, `() -> ()`, `(i1) -> (() -> i32)`,
	`array<i64: 1, -2>`, `array<i32>`, `array<i1: true, false>`, `array<f32: 1.000000e+00, 0x7F800000>`, `array<i8: 1>`,
	`dense<1> : tensor<2xi32>`, `dense<[1, 2]> : tensor<2xi32>`, `dense<[[1.000000e+00], [2.000000e+00]]> : tensor<2x1xf32>`,
	`dense<> : tensor<0xi32>`, `dense<true> : tensor<i1>`, `dense<(1.000000e+00,2.000000e+00)> : tensor<complex<f32>>`,
	`dense<"x"> : tensor<2x!u.str>`, `dense<0> : vector<4xi8>`,
	`dense_resource<key> : tensor<3xi8>`,
	`#stablehlo<comparison_direction LT>`, `#stablehlo.gather<offset_dims = [0], collapsed_slice_dims = [1], start_index_map = [1], index_vector_dim = 1>`,
	`#stablehlo.dot<lhs_batching_dimensions = [0], rhs_batching_dimensions = [0], lhs_contracting_dimensions = [2], rhs_contracting_dimensions = [1]>`,
	`#stablehlo.channel_handle<handle = 1, type = 0>`, `#stablehlo.bounds<3, ?>`,
	`#u.attr<1, [2]>`, `#u.attr`, `#u<"any text">`,
	`affine_map<(d0) -> (d0)>`,
	`loc("f":1:2)`, `loc("name")`, `loc("name"("f":1:2))`, `loc(callsite("f" at "g"))`, `loc(fused["f", "g"])`, `loc(fused<"m">["f"])`, `loc(unknown)`,
	`loc("f":1:2 to :3)`, `loc("f":1:2 to 4:3)`,
	`none`, `index`, `complex<f64>`, `tuple<i1, tuple<>>`, `tensor<*xf32>`, `memref<2x?xf32, strided<[1]>>`, `vector<4xf16>`,
	`tensor<4xf32, #u.enc>`, `!stablehlo.token`, `!u.type<i32, [1]>`, `!quant.uniform<i8:f32, 1.000000e+00>`, `f80`, `f128`, `tf32`, `ui4`, `si129`,
	`tensor<?x3xi32, #stablehlo.bounds<4, ?>>`,
}

// TestAttributeText: attributes and types have the text of MLIR, are equal if their texts are equal, and
// different from all others.
func TestAttributeText(t *testing.T) {
	parsed := make([]ir.Attr, len(attributes))
	for i, text := range attributes {
		m := read(t, `"u.op"() {a = `+text+`} : () -> ()`)
		parsed[i] = m.Body().First().Attr("a")
		if text != "unit" && parsed[i].String() != text {
			t.Errorf("%s has text %s", text, parsed[i])
		}
		if !ir.EqualAttrs(parsed[i], parsed[i]) || ir.EqualAttrs(parsed[i], nil) || ir.EqualAttrs(nil, parsed[i]) {
			t.Errorf("%s is not equal to itself, or equal to nothing", text)
		}
	}
	two := read(t, `"u.op"() {a = [`+strings.Join(attributes, ", ")+`], b = [`+strings.Join(attributes, ", ")+`]} : () -> ()`)
	a, b := two.Body().First().Attr("a").(*ir.ArrayAttr).Elems(), two.Body().First().Attr("b").(*ir.ArrayAttr).Elems()
	for i := range a {
		for k := range b {
			if got := ir.EqualAttrs(a[i], b[k]); got != (i == k) {
				t.Errorf("%s and %s are equal: %t", attributes[i], attributes[k], got)
			}
		}
	}
}

// TestAttributesInBytecode: every attribute that bytecode holds is the same after it.
func TestAttributesInBytecode(t *testing.T) {
	for _, text := range attributes {
		if strings.Contains(text, "u.") || strings.Contains(text, "#u") || strings.HasPrefix(text, "affine") {
			continue
		}
		m := read(t, `"u.op"() {a = `+text+`} : () -> ()`)
		raw, err := bytecode.Append(nil, m, bytecode.Options{})
		if err != nil {
			t.Errorf("%s: %v", text, err)
			continue
		}
		n, err := bytecode.Read(diag.NewSource("bytes", raw), m.Context())
		if err != nil {
			t.Errorf("%s: %v", text, err)
		} else if got := n.Body().First().Attr("a"); got == nil || got.String() != m.Body().First().Attr("a").String() {
			t.Errorf("%s became %v", text, got)
		}
	}
}

func TestIntegerAttrs(t *testing.T) {
	c := ir.NewContext(nil)
	for _, v := range []struct {
		value string
		typ   ir.Type
		want  string
		wide  bool
	}{
		{"5", ir.Int(32), "5 : i32", false},
		{"18446744073709551615", c.Integer(64, ir.Unsigned), "18446744073709551615 : ui64", false},
		{"18446744073709551616", c.Integer(128, ir.Signless), "18446744073709551616 : i128", true},
		{"-1", c.Integer(200, ir.Signed), "-1 : si200", false},
	} {
		n, _ := new(big.Int).SetString(v.value, 10)
		a := ir.NewWideInteger(n, v.typ)
		if a.String() != v.want || (a.Wide() != nil) != v.wide || a.Type() != v.typ {
			t.Errorf("%s: %s, %v", v.value, a, a.Wide())
		}
	}
	if c.Bool(true).Type() != ir.Type(ir.Int(1)) || c.Bool(true).Value() != 1 || c.Bool(false).Value() != 0 {
		t.Error("booleans are wrong")
	}
}

// TestElementDType: of a scalar its own, of everything that has elements theirs.
func TestElementDType(t *testing.T) {
	c := ir.NewContext(nil)
	for _, k := range []struct {
		typ  ir.Type
		want tensor.DType
	}{
		{ir.Int(1), tensor.I1}, {ir.Int(8), tensor.I8}, {ir.Int(3), tensor.Invalid}, {ir.Float(tensor.BF16), tensor.BF16},
		{c.Integer(16, ir.Unsigned), tensor.UI16}, {c.Integer(16, ir.Signed), tensor.Invalid}, {c.Index(), tensor.Index},
		{c.Complex(ir.Float(tensor.F32)), tensor.Complex64}, {c.Complex(ir.Float(tensor.F64)), tensor.Complex128}, {c.Complex(ir.Int(32)), tensor.Invalid},
		{c.Tensor([]int64{2}, ir.Int(32), nil), tensor.I32}, {c.UnrankedTensor(ir.Int(64)), tensor.I64},
		{c.Tensor(nil, c.Complex(ir.Float(tensor.F32)), nil), tensor.Complex64},
		{c.Shaped(ir.Vector, []int64{4}, ir.Int(2), ""), tensor.I2},
		{c.Tuple(nil), tensor.Invalid}, {c.None(), tensor.Invalid}, {c.ForeignFloat("f80"), tensor.Invalid},
		{c.Function(nil, nil), tensor.Invalid}, {c.DialectType("u", "t", "", nil), tensor.Invalid},
	} {
		if got := ir.ElementDType(k.typ); got != k.want {
			t.Errorf("%s: %s, want %s", k.typ, got, k.want)
		}
	}
	for _, d := range []tensor.DType{tensor.I1, tensor.I4, tensor.I64, tensor.UI2, tensor.UI32, tensor.F8E5M2, tensor.F64, tensor.Index, tensor.Complex64, tensor.Complex128} {
		if got := ir.ElementDType(ir.ElementOf(d)); got != d {
			t.Errorf("the element type of %s is %s", d, got)
		}
	}
	if c.Complex(ir.Float(tensor.F64)) != ir.ElementOf(tensor.Complex128) {
		t.Error("complex<f64> is two types")
	}
	if ir.ElementOf(tensor.Invalid) != nil {
		t.Error("what has no element type has one")
	}
}

// TestTypesAreInterned: equal types are one.
func TestTypesAreInterned(t *testing.T) {
	c := ir.NewContext(nil)
	make := func() []ir.Type {
		f32 := ir.Float(tensor.F32)
		return []ir.Type{
			f32, ir.Int(1), ir.Int(32), ir.Int(64), c.Index(), c.None(), c.Integer(300, ir.Signed), c.ForeignFloat("f80"), c.Complex(f32),
			c.Tensor([]int64{1, ir.Dynamic}, f32, nil), c.Tensor([]int64{1}, f32, ir.NewString("e")), c.StaticTensor(tensor.F32, tensor.Shape{3}),
			c.UnrankedTensor(f32), c.Shaped(ir.MemRef, []int64{1}, f32, ""), c.Shaped(ir.Vector, []int64{1}, f32, ""),
			c.Tuple([]ir.Type{f32, ir.Int(1)}), c.Tuple(nil), c.Function([]ir.Type{f32}, nil), c.Function(nil, []ir.Type{f32}),
			c.DialectType("u", "t", "<1>", 5), c.DialectType("u", "t", "", nil),
		}
	}
	a, b := make(), make()
	for i := range a {
		for k := range b {
			if (a[i] == b[k]) != (i == k) {
				t.Errorf("%s and %s: one type is %t", a[i], b[k], a[i] == b[k])
			}
		}
	}
	d := a[len(a)-2].(*ir.DialectType)
	if d.Dialect() != "u" || d.Name() != "t" || d.String() != "!u.t<1>" || d.Data() != 5 {
		t.Error("a dialect's type lost its parts")
	}
	if s := a[13].(*ir.ShapedType); s.Kind() != ir.MemRef || s.Rest() != "" || len(s.Shape()) != 1 || s.Elem() != a[0] {
		t.Error("a memref lost its parts")
	}
	tt := a[9].(*ir.TensorType)
	if tt.Static() || !tt.Ranked() || tt.Rank() != 2 || tt.Encoding() != nil || a[12].(*ir.TensorType).Ranked() {
		t.Error("a tensor type lost its parts")
	}
	if f := a[8].(*ir.ComplexType); f.Elem() != a[0] || a[1].(*ir.IntegerType).Width() != 1 || a[6].(*ir.IntegerType).Signedness() != ir.Signed {
		t.Error("a scalar type lost its parts")
	}
}

func TestDense(t *testing.T) {
	c := ir.NewContext(nil)
	a := attribute(t, "dense<7> : tensor<2x2xi32>").(*ir.DenseAttr)
	if v, splat, err := a.Elements(); err != nil || !splat || v.NumElements() != 1 || a.NumElements() != 4 || string(a.Text()) != "7" {
		t.Error("a splat is not read as one")
	}
	if list, err := a.Int64s(); err != nil || fmt.Sprint(list) != "[7 7 7 7]" {
		t.Errorf("%v, %v", list, err)
	}
	if !ir.EqualAttrs(attribute(t, "[dense<7> : tensor<2xi32>, dense<[7, 7]> : tensor<2xi32>]").(*ir.ArrayAttr).Elems()[0],
		ir.NewDense(c.StaticTensor(tensor.I32, tensor.Shape{2}), tensor.New(tensor.I32, tensor.Shape{2}), false)) == false {
		t.Error("attributes of two contexts are equal")
	}
	pair := attribute(t, "[dense<7> : tensor<2xi32>, dense<[7, 7]> : tensor<2xi32>, dense<[7, 8]> : tensor<2xi32>]").(*ir.ArrayAttr).Elems()
	if !ir.EqualAttrs(pair[0], pair[1]) || !ir.EqualAttrs(pair[1], pair[0]) || ir.EqualAttrs(pair[0], pair[2]) || ir.EqualAttrs(pair[1], pair[2]) {
		t.Error("a splat is not equal to the same elements written out, or equal to others")
	}
	v := tensor.New(tensor.I32, tensor.Shape{3})
	d := c.DenseFromTensor(v)
	if d.String() != "dense<0> : tensor<3xi32>" || d.Text() != nil {
		t.Error(d)
	}
	if n := attribute(t, `dense<"x"> : tensor<2x!u.str>`).(*ir.DenseAttr); n.NumElements() != 2 {
		t.Error(n.NumElements())
	}
	if _, err := attribute(t, `dense<"x"> : tensor<2x!u.str>`).(*ir.DenseAttr).Int64s(); err == nil {
		t.Error("strings are integers")
	}
}

func TestAttrLists(t *testing.T) {
	one, two := ir.NewInteger(1, ir.Int(8)), ir.NewInteger(2, ir.Int(8))
	var l ir.AttrList
	l = l.Set("b", one, false).Set("a", one, true).Set("c", two, false)
	same := l
	l = l.Set("b", two, false)
	if l.Get("b") != ir.Attr(two) || same.Get("b") != ir.Attr(one) || l.Get("d") != nil || !l[0].Inherent {
		t.Error("Set changed the list, or did not")
	}
	if w := l.Without("a"); len(w) != 2 || len(l.Without("x")) != 3 || ir.EqualAttrLists(w, l) || !ir.EqualAttrLists(l, same.Set("b", two, false)) {
		t.Error("Without is wrong")
	}
	if ir.EqualAttrLists(l, same) || ir.EqualAttrLists(l.Without("a"), l.Without("b")) {
		t.Error("different lists are equal")
	}
	d := ir.NewDict(ir.AttrList{{Name: "z", Attr: one}, {Name: "y", Attr: ir.NewUnit()}})
	if d.String() != "{y, z = 1 : i8}" || d.Get("z") != ir.Attr(one) || len(d.Entries()) != 2 {
		t.Error(d)
	}
	var none *ir.DictAttr
	if none.Get("z") != nil || none.Entries() != nil {
		t.Error("a nil dictionary has entries")
	}
	st := &ir.OpState{Def: &ir.Def{Attrs: []ir.AttrSpec{{Name: "b"}}}}
	for _, n := range []string{"c", "a", "b", "a"} {
		st.SetAttr(n, one)
	}
	if fmt.Sprintf("%d %s %s %t %s", len(st.Attrs), st.Attrs[0].Name, st.Attrs[1].Name, st.Attrs[1].Inherent, st.Attrs[2].Name) != "3 a b true c" {
		t.Error(st.Attrs)
	}
}

func TestLocTable(t *testing.T) {
	var table ir.LocTable
	a, b := table.File("a", 1, 2, 0, 0), table.File("b", 3, 4, 0, 0)
	ab := table.Fused(nil, 0, []*ir.Loc{a, b})
	if ab.Kind() != ir.LocFused || ab.Metadata() != nil || len(ab.Children()) != 2 || ab.Depth() != 1 || ab.String() != `loc(fused["a":1:2, "b":3:4])` {
		t.Error("a fused location lost its parts")
	}
	x := table.CallSite(table.Name("n", table.File("f", 1, 2, 3, 4)), a)
	if x != table.CallSite(table.Name("n", table.File("f", 1, 2, 3, 4)), a) || x == table.CallSite(a, a) || x.Size() == 0 {
		t.Error("equal locations are two")
	}
	fused := table.Fused(ir.NewString("m"), 3, []*ir.Loc{a})
	if fused != table.Fused(ir.NewString("m"), 3, []*ir.Loc{a}) || fused == table.Fused(nil, 0, []*ir.Loc{a}) {
		t.Error("fused locations differ, or do not")
	}
	for i := range 1000 {
		table.File("f", uint32(i), 0, 0, 0)
	}
	if seventh := table.File("f", 7, 0, 0, 0); seventh != table.File("f", 7, 0, 0, 0) {
		t.Error("a large table forgets")
	}
}

// TestLocDepth: the depth of a location never wraps around.
func TestLocDepth(t *testing.T) {
	var table ir.LocTable
	l := table.File("f", 1, 1, 0, 0)
	for i := range 70000 {
		l = table.Name("n", l)
		if want := min(i+1, 1<<16-1); l.Depth() != want {
			t.Fatalf("location %d has depth %d, want %d", i, l.Depth(), want)
		}
	}
}

func TestSymbols(t *testing.T) {
	m := read(t, "func.func @f() { return }\nfunc.func @g() { return }")
	s := ir.SymbolsOf(m.Op())
	if len(s) != 2 || s["f"] != m.Body().First() {
		t.Error(s)
	}
	if a, b, c := s.Unique("f", m.Op()), s.Unique("f", m.Op()), s.Unique("h", m.Op()); a != "f_0" || b != "f_1" || c != "h" {
		t.Error(a, b, c)
	}
}

// TestSymbolTables: references mean the symbols of the nearest table, and paths lead into tables inside it.
func TestSymbolTables(t *testing.T) {
	m := read(t, `func.func private @f() { return }
module @a {
  func.func private @f() { return }
  module @b attributes {own = @f} {
    func.func private @f() { return }
    "u.op"() ({ "u.in"() : () -> () }, { func.func @g() { return } }) : () -> ()
    func.func @g() { "u.use"() : () -> () return }
  }
}`)
	ops := map[string]*ir.Op{}
	m.Walk(func(o *ir.Op) bool {
		name := o.Name()
		for p := o; p != nil; p = p.Parent() {
			if s, ok := p.Attr(ir.SymbolName).(*ir.StringAttr); ok {
				name = s.Value() + "/" + name
			}
		}
		ops[name] = o
		return true
	})
	var tables ir.SymbolTables
	for _, c := range []struct {
		from, ref string
		nested    []string
		want      string // the last symbol that the path reaches
		certain   bool
	}{
		{"a/b/g/u.use", "f", nil, "a/b/f/func.func", true},
		{"a/b/f/func.func", "f", nil, "a/b/f/func.func", true},
		{"a/f/func.return", "f", nil, "a/f/func.func", true},
		{"f/func.return", "f", nil, "f/func.func", true},
		{"f/func.return", "a", []string{"b", "f"}, "a/b/f/func.func", true},
		{"f/func.return", "a", []string{"b", "h"}, "a/b/builtin.module", true},
		{"f/func.return", "a", []string{"f"}, "a/f/func.func", true},
		{"f/func.return", "b", nil, "", true},
		{"a/b/g/u.use", "a", nil, "", true},
		{"a/b/u.in", "f", nil, "a/b/f/func.func", true},
		{"a/b/u.in", "g", nil, "a/b/g/func.func", false},
		{"a/b/builtin.module", "f", nil, "a/f/func.func", false},
		{"a/b/builtin.module", "b", nil, "a/b/builtin.module", true},
	} {
		path, certain := tables.Path(nil, ops[c.from], ir.NewSymbolRef(c.ref, c.nested...))
		var last *ir.Op
		if len(path) > 0 {
			last = path[len(path)-1]
		}
		if last != ops[c.want] || certain != c.certain {
			t.Errorf("@%s %v of %s: %d symbols, certain %t", c.ref, c.nested, c.from, len(path), certain)
		}
		found := tables.Lookup(ops[c.from], ir.NewSymbolRef(c.ref, c.nested...))
		if whole := len(path) == 1+len(c.nested) && certain; whole != (found != nil) || whole && found != last {
			t.Errorf("@%s %v of %s: Lookup finds %v", c.ref, c.nested, c.from, found)
		}
	}
	if ir.SymbolTableOf(m.Op()) != nil || ir.SymbolTableOf(ops["a/b/f/func.func"]) != ops["a/b/builtin.module"] || ir.SymbolTableOf(ops["a/b/builtin.module"]) != ops["a/builtin.module"] {
		t.Error("the tables are others")
	}
}

func TestText(t *testing.T) {
	for s, want := range map[string]string{"a_1.b$": "a_1.b$", "": `""`, "1a": `"1a"`, "a b\n\"\\é": `"a b\0A\22\\\C3\A9"`} {
		if got := string(mlirtext.AppendKeyword(nil, s)); got != want {
			t.Errorf("%q: got %s, want %s", s, got, want)
		}
	}
	if mlirtext.Quote("x") != `"x"` || string(mlirtext.AppendSymbol(nil, "a b")) != `@"a b"` || string(mlirtext.AppendShape(nil, []int64{1, ir.Dynamic})) != "1x?x" {
		t.Error("text is wrong")
	}
	m := read(t, `"u.op"() {a = dense<[1, 2, 3]> : tensor<3xi8>} : () -> ()`)
	if got := print.String(m, print.Options{ElideLarger: 2}); !strings.Contains(got, "dense_resource<__elided__> : tensor<3xi8>") {
		t.Error(got)
	}
}
