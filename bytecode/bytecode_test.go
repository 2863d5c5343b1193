package bytecode_test

import (
	"fmt"
	"strings"
	"testing"

	"github.com/hlocb/hlocb/bytecode"
	"github.com/hlocb/hlocb/diag"
	"github.com/hlocb/hlocb/dialect/all"
	"github.com/hlocb/hlocb/ir"
	"github.com/hlocb/hlocb/parse"
	"github.com/hlocb/hlocb/print"
)

var registry = func() *ir.Registry {
	r, err := all.Registry()
	if err != nil {
		panic(err)
	}
	return r
}()

func parsed(t testing.TB, text string) *ir.Module {
	t.Helper()
	m, err := parse.Parse(diag.NewSource("m.mlir", []byte(text)), ir.NewContext(registry), parse.Options{})
	if err != nil {
		t.Fatal(err)
	}
	return m
}

// written returns the bytes of a module in a version of the format.
func written(t testing.TB, m *ir.Module, version int) []byte {
	t.Helper()
	data, err := bytecode.Append(nil, m, bytecode.Options{Version: version, Versioned: true})
	if err != nil {
		t.Fatal(err)
	}
	return data
}

// sameAgain writes a module in every version and reads it again: the text is the same, and so are the bytes of a second
// time.
func sameAgain(t *testing.T, text string) {
	t.Helper()
	m := parsed(t, text)
	o := print.Options{Generic: true, DebugInfo: true, OwnLocs: true}
	want := print.String(m, o)
	for v := range 7 {
		data := written(t, m, v)
		again, err := bytecode.Read(diag.NewSource("m.bc", data), ir.NewContext(registry))
		if err != nil {
			t.Errorf("version %d of %s: %v", v, text, err)
			continue
		}
		if got := print.String(again, o); got != want {
			t.Errorf("version %d of %s gives\n%s\nwant\n%s", v, text, got, want)
		}
		if second := written(t, again, v); string(second) != string(data) {
			t.Errorf("version %d of %s: written again, the bytes differ", v, text)
		}
	}
}

// attributes returns attributes of every kind that MLIR's own dialect has, and those of other dialects.
func attributes() []string {
	return []string{
		`[]`, `[1 : i32, "x", unit]`, `{}`, `{a = 1 : i64, b = {c}}`, `"s"`, `""`, `"\00\FF\0A"`, `"typed" : tensor<2xf32>`, `@f`, `@f::@g::@h`, `i32`,
		`unit`, `true`, `false`, `-1 : i8`, `-1 : i32`, `-1 : i64`, `9223372036854775807 : i64`, `3 : index`, `-3 : si7`, `200 : ui8`, `-5 : i128`,
		`340282366920938463463374607431768211455 : ui128`, `1.5 : f16`, `1.5 : bf16`, `-1.5 : f32`, `0x7F800001 : f32`, `1.0e300 : f64`,
		`1.0 : tf32`, `-1.0e-40 : tf32`, `1.0e300 : tf32`, `0x7FC00 : tf32`, `1.0 : f80`, `-0.0 : f80`, `0x3FFFC000000000000001 : f80`, `0.1 : f128`, `-1.5 : f128`,
		`1.0 : f8E4M3FN`, `0.5 : f4E2M1FN`, `1.0 : f6E2M3FN`, `1.0 : f8E8M0FNU`,
		`array<i32>`, `array<i1: true, false>`, `array<i8: -1>`, `array<i64: 1, -2>`, `array<f32: 1.0, -2.5>`, `array<f64: 1.0>`,
		`dense<1> : tensor<4xi32>`, `dense<[1, -2]> : tensor<2xi4>`, `dense<[true, false, true]> : tensor<3xi1>`, `dense<true> : tensor<9xi1>`, `dense<false> : tensor<1xi1>`,
		`dense<true> : tensor<1xi1>`, `dense<> : tensor<0xf32>`, `dense<(1.0, -2.0)> : tensor<3xcomplex<f32>>`, `dense<[(1, 2), (3, -4)]> : tensor<2xcomplex<i32>>`, `dense<(true, false)> : tensor<3xcomplex<i1>>`,
		`dense<[1.000000e+00, -2.500000e+00]> : tensor<2xtf32>`, `dense<0.100000000000000005551> : tensor<2x2xf80>`, `dense<0x7FFF8000000000000000000000000000> : tensor<1xf128>`,
		`dense<[1.0, 2.0]> : tensor<2xf8E5M2>`, `dense<[1.0, 2.0]> : vector<2xf64>`, `dense<["a", "b"]> : tensor<2x!foo.string>`, `dense<"a"> : tensor<2x!foo.string>`,
		`dense<[1, 2]> : tensor<2xindex>`, `dense<[1, 2]> : tensor<2xi7>`, `dense<-1> : tensor<2xi65>`,
		`sparse<[[0, 0], [1, 2]], [1, 5]> : tensor<3x4xi32>`, `sparse<0, 1> : tensor<2xi32>`, `sparse<[0], [1]> : tensor<2xi32>`, `sparse<[0, 1], [1, 2]> : tensor<2xi32>`, `0 : i128`, `0 : ui65`, `complex<i4>`, `distinct[0]<unit>`, `distinct[0]<"x">`,
		`affine_map<(d0, d1)[s0] -> (d0 + s0, d1 floordiv 2)>`, `#foo.bar<1, "x">`, `#foo<bar>`, `loc("f":1:2)`,
		`loc(callsite("a" at "f":3:4))`, `strided<[1, 2], offset: 3>`,
		`#stablehlo.dot<lhs_contracting_dimensions = [1], rhs_contracting_dimensions = [0]>`, `#stablehlo.channel_handle<handle = 1, type = 2>`,
		`#stablehlo<precision HIGHEST>`, `#chlo<comparison_type TOTALORDER>`, `#stablehlo.bounds<?, 3>`, `#stablehlo.output_operand_alias<output_tuple_indices = [0], operand_index = 1, operand_tuple_indices = []>`,
		`#sdy.sharding<@mesh, [{"a"}, {?}p2], replicated={"b"}>`, `#sdy.mesh<["a"=2, "b"=3], device_ids=[0, 1, 2, 3, 5, 4]>`, `#sdy<list_of_axis_ref_lists[{"x", "y"}, {}]>`,
		`#sdy.op_sharding_rule<([i], [i])->([i]) {i=2}>`, `#sdy<manual_axes{"a", "b"}>`,
	}
}

// TestAttributes writes attributes of every kind that MLIR's own dialect has, and those of other dialects.
func TestAttributes(t *testing.T) {
	unsized := "sparse<[[0]], [1]> : tensor<?xi32>" // is no attribute of MLIR, so it stays text
	for _, attr := range append(attributes(), unsized, "-100 : i9", "511 : ui9", "array<i16: 1, -2>") {
		sameAgain(t, `"foo.op"() {a = `+attr+`} : () -> ()`)
	}
}

// TestNested writes attributes and types that are nested 2,000 deep. MLIR reads those, too.
func TestNested(t *testing.T) {
	const n = 2000
	nest := func(open, inner, end string) string { return strings.Repeat(open, n) + inner + strings.Repeat(end, n) }
	for _, attr := range []string{nest("[", "", "]"), nest("{a = ", "i32", "}"), nest("tuple<", "", ">"), nest("#vhlo.array_v1<[", "", "]>"), nest("!vhlo.tuple_v1<", "", ">"), nest("!vhlo.func_v1<() -> ", "!vhlo.bool_v1", ">")} {
		sameAgain(t, `"foo.op"() {a = `+attr+`} : () -> ()`)
	}
}

// types returns types of every kind.
func types() []string {
	return []string{
		`i1`, `i32`, `si4`, `ui64`, `i1024`, `index`, `none`, `bf16`, `f16`, `f32`, `f64`, `f80`, `f128`, `tf32`, `f8E5M2`, `f8E4M3`, `f8E4M3FN`, `f8E5M2FNUZ`, `f8E4M3FNUZ`,
		`f8E4M3B11FNUZ`, `f8E3M4`, `f4E2M1FN`, `f6E2M3FN`, `f6E3M2FN`, `f8E8M0FNU`, `complex<f32>`, `complex<i8>`, `(i32, f32) -> ()`, `() -> (i1, i2)`, `tuple<>`, `tuple<i32, tuple<f32>>`,
		`tensor<f32>`, `tensor<?x0x3xi1>`, `tensor<*xf32>`, `tensor<2x?xf32, #stablehlo.bounds<?, 3>>`, `tensor<2xf32, "encoding">`, `tensor<2xf32, #foo.bar>`, `tensor<2x!foo.bar>`,
		`vector<4xf32>`, `vector<f32>`, `vector<[4]x2xf32>`, `memref<2x?xf32>`, `memref<2xf32, strided<[2], offset: ?>>`, `memref<2xf32, 3>`, `memref<2xf32, 3 : i32>`, `memref<2xf32, 3 : index>`, `memref<2xf32, "s">`, `memref<2xf32, affine_map<(d0) -> (d0 * 2)>, "space">`,
		`memref<*xf32>`, `memref<*xf32, 1>`, `!stablehlo.token`, `!foo.bar<1, [x]>`, `!foo<bar>`, `!shape.shape`, `!shape.witness`,
		`!quant.uniform<i8:f32, 2.0:15>`, `!quant.uniform<u8:f32, 2.0>`, `!quant.uniform<ui8:f32, 34.0:16>`, `!quant.uniform<si8:f32, 0.5>`, `!quant.uniform<i8<-8:7>:f32, 1.0:-1>`, `!quant.uniform<u4:f16, 0.1>`,
		`!quant.uniform<i8:f32:1, {2.0:15, 3.0}>`, `!quant.any<i8:f32>`, `!quant.any<u8<0:100>>`, `!quant.calibrated<f32<-0.998:1.2321>>`,
		`!quant.uniform<i8:f32:{0:1, 1:2}, {{2.0:120, 3.0:-128}, {4.0, 5.0}}>`, `!quant.uniform<u5:f16:{0:4}, {{2.0:31, 2.0:31}}>`, `!quant.uniform<ui32:f64:0, {1.0}>`, `tensor<2x!quant.uniform<ui16:f32, 1.0:1>>`,
	}
}

// TestTypes writes types of every kind.
func TestTypes(t *testing.T) {
	for _, typ := range types() {
		sameAgain(t, `%0 = "foo.op"() : () -> (`+typ+`)`)
	}
}

// structures returns modules with ops in every arrangement.
func structures() []string {
	return []string{
		``,
		`module @a attributes {x} { module @b { module { } } }`,
		`%0 = "foo.v"() : () -> tensor<1xindex> %1 = "shape.broadcast"(%0, %0) <{error = "why"}> : (tensor<1xindex>, tensor<1xindex>) -> tensor<1xindex>`,
		`%0 = "foo.v"() : () -> f32 %1 = "arith.addf"(%0, %0) <{fastmath = #arith.fastmath<none>, roundingmode = 1 : i32}> : (f32, f32) -> f32`,
		`"noprefix"() : () -> () ".a"() : () -> () "a.b.c"() : () -> ()`,
		`"foo.a"() ({ }, { ^bb0: }, { ^bb0(%x: i32 loc("x"), %y: f32): "foo.b"(%y, %x) : (f32, i32) -> () }) : () -> ()`,
		`"foo.a"() ({ "foo.j"()[^b, ^c] : () -> () ^b: "foo.j"(%v)[^c] : (i32) -> () ^c: %v = "foo.v"() : () -> i32 "foo.r"() : () -> () }) : () -> ()`,
		`%0:3 = "foo.a"() : () -> (i1, i2, i3) "foo.b"() ({ "foo.c"(%0#2) ({ "foo.d"(%0#0, %0#2) : (i1, i3) -> () }) : (i3) -> () }) : () -> ()`,
		`%0 = "stablehlo.constant"() <{value = dense<1> : tensor<i32>}> {d = 2.0 : f32} : () -> tensor<i32>`,
		`func.func @f(%a: tensor<2xf32> {x.y = 1 : i32} loc("a")) -> (tensor<2xf32> {x.z}) attributes {w} { return %a : tensor<2xf32> loc(fused["a", "b":1:2]) } loc(fused<"meta">["a", unknown])`,
		`"foo.a"() : () -> () loc("name"("f":1:2 to :3)) "foo.a"() : () -> () loc("f":1:2 to 3:4) "foo.a"() : () -> () loc(callsite("f":1:1 at "g":2:2)) "foo.a"() : () -> () loc("f":1:0)`,
		`func.func private @f(i32) -> i32 %0 = "foo.c"() {f = @f} : () -> i32`,
		`%0:3 = "foo.a"() : () -> (tensor<2x?xf32>, tensor<?x4xf32>, index)
%1 = "tensor.insert_slice"(%0#0, %0#1, %0#2, %0#2, %0#2, %0#2) <{operandSegmentSizes = array<i32: 1, 1, 2, 1, 1>, static_offsets = array<i64: -1, -1>, static_sizes = array<i64: 2, -1>, static_strides = array<i64: 1, -1>}> : (tensor<2x?xf32>, tensor<?x4xf32>, index, index, index, index) -> tensor<?x4xf32>
%2 = "tensor.insert_slice"(%0#0, %0#1, %0#2, %0#2, %0#2) <{operandSegmentSizes = array<i32: 1, 1, 0, 0, 3>, static_offsets = array<i64: 0>, static_sizes = array<i64: 2>, static_strides = array<i64: 1>}> : (tensor<2x?xf32>, tensor<?x4xf32>, index, index, index) -> tensor<?x4xf32>
%3 = "tensor.insert_slice"(%0#0, %0#1) <{operandSegmentSizes = array<i32: 1, 1, 0, 0, 0>, static_offsets = array<i64: 0>, static_sizes = array<i64: 2>, static_strides = array<i64: 1>}> : (tensor<2x?xf32>, tensor<?x4xf32>) -> tensor<?x4xf32>`,
		`%0 = "tensor.extract_slice"(%0, %1) <{operandSegmentSizes = array<i32: 0, 0, 0, 0>, static_offsets = array<i64: 0>, static_sizes = array<i64: 2>, static_strides = array<i64: 1>}> : (tensor<2xf32>, index) -> tensor<2xf32> %1 = "foo.a"() : () -> index`,
		`"foo.a"() : () -> () loc("name") "foo.a"() : () -> () loc("f":1:3) "foo.a"() : () -> () loc("g":1:2) "foo.a"() : () -> () loc("f":1:2 to 3:0) "foo.a"() : () -> () loc("f":0:0) "foo.a"() : () -> () loc("f":1:2 to 1:2)`,
	}
}

// TestStructure writes ops in every arrangement.
func TestStructure(t *testing.T) {
	for _, text := range structures() {
		sameAgain(t, text)
	}
}

// TestUseOrders reads modules whose uses have an order that only the file states, and writes them with that order.
func TestUseOrders(t *testing.T) {
	for _, n := range []int{2, 3, 7, 40} {
		text := "%0, %1 = \"foo.v\"() : () -> (i32, i32)\n" + strings.Repeat("\"foo.u\"(%0, %1, %0) : (i32, i32, i32) -> ()\n", n)
		m := parsed(t, text)
		reorder(m)
		for version := 3; version < 7; version++ {
			data := written(t, m, version)
			again, err := bytecode.Read(diag.NewSource("m.bc", data), ir.NewContext(registry))
			if err != nil {
				t.Fatal(err)
			}
			if uses(m) != uses(again) {
				t.Errorf("%d ops, version %d: the uses are\n%s\nwant\n%s", n, version, uses(again), uses(m))
			}
			if string(written(t, again, version)) != string(data) {
				t.Errorf("%d ops, version %d: written again, the bytes differ", n, version)
			}
		}
	}
}

// reorder moves a use of each third op after the first one to the end of the list of uses, as rewriting does.
func reorder(m *ir.Module) {
	op := m.Body().First()
	k := 0
	for u := op.Next(); u != nil; u = u.Next() {
		if k++; k%3 == 0 && op.NumResults() == 2 {
			u.SetOperand(0, op.Result(1))
			u.SetOperand(0, op.Result(0))
		}
	}
}

// uses lists the uses of the first op's results in their order.
func uses(m *ir.Module) string {
	numbers := map[*ir.Op]int{}
	m.Walk(func(op *ir.Op) bool {
		numbers[op] = len(numbers)
		return true
	})
	var b strings.Builder
	for _, v := range m.Body().First().Results() {
		for u := range v.Uses() {
			fmt.Fprintf(&b, "%d.%d ", numbers[u.Owner()], u.Index())
		}
		b.WriteByte('\n')
	}
	return b.String()
}

// TestOptions strips locations, names a producer, and refuses modules that bytecode cannot hold.
func TestOptions(t *testing.T) {
	m := parsed(t, `"foo.a"() ({ ^bb0(%a: i32 loc("secret")): }) : () -> () loc("secret/path":1:2)`)
	data, err := bytecode.Append([]byte("before"), m, bytecode.Options{StripLocations: true, Producer: "me"})
	if err != nil || strings.Contains(string(data), "secret") || !strings.HasPrefix(string(data), "beforeML\xefR\x0dme\x00") {
		t.Errorf("%q, %v", data, err)
	}
	producer, version, ok := bytecode.Producer(data[len("before"):])
	if producer != "me" || version != 6 || !ok {
		t.Errorf("producer %q, version %d, %t", producer, version, ok)
	}
	for _, v := range []int{-1, 7} {
		if _, err := bytecode.Append(nil, m, bytecode.Options{Version: v, Versioned: true}); err == nil || !strings.Contains(err.Error(), "expected 0 to 6") {
			t.Errorf("version %d: %v", v, err)
		}
	}
	m = parsed(t, `"a."() : () -> ()`)
	if _, err := bytecode.Append(nil, m, bytecode.Options{}); err == nil || !strings.Contains(err.Error(), "m.mlir:1:1: error: bytecode cannot hold an operation name") {
		t.Errorf("%v", err)
	}
	m = parsed(t, `%0 = "foo.a"() : () -> i32 module { %1 = "foo.b"() : () -> i32 "foo.c"(%1) : (i32) -> () }`)
	inner := m.Body().First().Next()
	inner.Region(0).Entry().First().Next().SetOperand(0, m.Body().First().Result(0))
	if _, err := bytecode.Append(nil, m, bytecode.Options{}); err == nil || !strings.Contains(err.Error(), "m.mlir:1:28: error: builtin.module uses a value from outside its regions") {
		t.Errorf("%v", err)
	}
	m = parsed(t, "\n  foo.pretty")
	if _, err := bytecode.Append(nil, m, bytecode.Options{}); err == nil || !strings.Contains(err.Error(), "m.mlir:2:3: error: foo.pretty is of an unknown dialect and written in its own form") {
		t.Errorf("%v", err)
	}
}

// TestErrors damages a file. The errors name the file, the offset of the damage and the defect.
func TestErrors(t *testing.T) {
	good := written(t, parsed(t, `"foo.a"() {x = 1 : i32} : () -> ()`), 6)
	change := func(old, text string) []byte {
		if !strings.Contains(string(good), old) {
			t.Fatalf("%q is not in %q", old, good)
		}
		return []byte(strings.Replace(string(good), old, text, 1))
	}
	for _, tt := range []struct {
		name string
		data []byte
		want string
	}{
		{"empty", nil, "x.bc:1:1: error: expected MLIR bytecode"},
		{"another file", []byte("\x7fELF\x00...."), "x.bc: offset 0: error: expected MLIR bytecode"},
		{"magic alone", good[:4], "x.bc: offset 4: error: expected 1 bytes, 0 are left"},
		{"version", append([]byte("ML\xefR\x0f"), good[5:]...), "x.bc: offset 4: error: bytecode version 7 is newer than version 6, the newest that hlocb reads"},
		{"producer without an end", []byte("ML\xefR\x0dhlocb"), "x.bc: offset 5: error: "},
		{"no sections", []byte("ML\xefR\x0dhlocb\x00"), "x.bc: offset 11: error: "},
		{"number of a section", change("hlocb\x00\x01", "hlocb\x00\x1f"), "x.bc: offset 11: error: "},
		{"cut", good[:len(good)-1], "x.bc: offset "},
		{"more", append(good[:len(good):len(good)], 0), fmt.Sprintf("x.bc: offset %d: error: expected 1 bytes, 0 are left", len(good)+1)},
	} {
		_, err := bytecode.Read(diag.NewSource("x.bc", tt.data), ir.NewContext(registry))
		if err == nil || !strings.HasPrefix(err.Error(), tt.want) {
			t.Errorf("%s: %v, want %q", tt.name, err, tt.want)
		}
	}
}

// TestOldSegmentNames writes ops of a foreign dialect whose text has MLIR's older names of segment sizes.
func TestOldSegmentNames(t *testing.T) {
	const text = `%0:2 = "foo.a"() : () -> (tensor<2x4xf32>, tensor<5x4xf32>)
%1 = "tensor.insert_slice"(%0#0, %0#1) {operand_segment_sizes = array<i32: 1, 1, 0, 0, 0>, static_offsets = array<i64: 0, 0>, static_sizes = array<i64: 2, 4>, static_strides = array<i64: 1, 1>} : (tensor<2x4xf32>, tensor<5x4xf32>) -> tensor<5x4xf32>`
	for v := range 7 {
		old := written(t, parsed(t, text), v)
		if now := written(t, parsed(t, strings.Replace(text, "operand_segment_sizes", "operandSegmentSizes", 1)), v); string(old) != string(now) {
			t.Errorf("version %d: the old name gives other bytes", v)
		}
	}
}

// TestRegistered writes ops of an unknown dialect that the producer of a file knew: they stay marked as registered.
// Properties of such ops cannot be read.
func TestRegistered(t *testing.T) {
	m := parsed(t, `"foo.a"() {x = 1 : i32} : () -> () "foo.b"() : () -> () "math.sqrt"(%0) : (f32) -> f32 %0 = "foo.c"() <{y = 2 : i32}> : () -> f32`)
	plain := written(t, m, 6)
	m.RegisteredDef("foo.a")
	data := written(t, m, 6)
	if string(data) == string(plain) {
		t.Fatal("the mark is not written")
	}
	again, err := bytecode.Read(diag.NewSource("m.bc", data), ir.NewContext(registry))
	if err != nil {
		t.Fatal(err)
	}
	for name, want := range map[string]bool{"foo.a": true, "foo.b": false, "foo.c": false, "math.sqrt": true} {
		if got := again.Def(name).Registered(); got != want {
			t.Errorf("%s is registered: %t", name, got)
		}
	}
	if string(written(t, again, 6)) != string(data) {
		t.Error("written again, the bytes differ")
	}
	m.RegisteredDef("foo.c")
	_, err = bytecode.Read(diag.NewSource("m.bc", written(t, m, 6)), ir.NewContext(registry))
	if err == nil || !strings.Contains(err.Error(), "the properties of foo.c cannot be read: hlocb does not know the operation") {
		t.Error(err)
	}
}

// TestManyPlaces writes more places, names and attributes than the writer's tables hold at first. Equal ones are
// written once: a second copy of the ops adds no attribute.
func TestManyPlaces(t *testing.T) {
	var ops strings.Builder
	for i := range 2000 {
		fmt.Fprintf(&ops, "\"foo.a\"() {x = %d : i32, y = \"s%d\"} : () -> () loc(\"f%d\":%d:%d to :%d)\n", i, i%7, i%3, i%500+1, i%11, i%11+i%5)
	}
	sameAgain(t, ops.String())
	once := len(written(t, parsed(t, ops.String()), 6))
	if twice := len(written(t, parsed(t, ops.String()+ops.String()), 6)); twice-once > 8*2000 {
		t.Errorf("2,000 ops take %d bytes, and twice the same ops %d", once, twice)
	}
}

// shifted is a translator that moves ops of the dialect foo to the dialect bar and refuses values of type i7.
type shifted struct {
	m      *ir.Module
	accept bool
}

func (s shifted) Accept(defs []*ir.Def) bool { return s.accept }

func (s shifted) Op(def *ir.Def, attrs ir.AttrList, parent *ir.Def) (*ir.Def, ir.AttrList, error) {
	name, ok := strings.CutPrefix(def.Name, "foo.")
	if name == "bad" {
		return nil, nil, fmt.Errorf("bad below %s", parent.Name)
	}
	if ok {
		def = s.m.Def("bar." + name)
	}
	return def, attrs, nil
}

func (s shifted) Type(t ir.Type) (ir.Type, string) {
	switch t.String() {
	case "i7":
		return t, "no value has the type i7"
	case "i8":
		return ir.Int(16), ""
	}
	return t, ""
}

// TestReadAs converts ops while they are read.
func TestReadAs(t *testing.T) {
	read := func(text string, accept bool) string {
		data := written(t, parsed(t, text), 6)
		m, err := bytecode.ReadAs(diag.NewSource("m.bc", data), 0, len(data), ir.NewContext(registry), func(m *ir.Module) bytecode.Translator { return shifted{m, accept} })
		if err != nil {
			return err.Error()
		}
		return print.String(m, print.Options{Generic: true})
	}
	const text = `%0 = "foo.a"() ({ "foo.b"() : () -> () }) {t = i8, u = i7} : () -> i8 "baz.c"(%0) : (i8) -> ()`
	want := "\"builtin.module\"() ({\n  %0 = \"bar.a\"() ({\n    \"bar.b\"() : () -> ()\n  }) {t = i8, u = i7} : () -> i16\n  \"baz.c\"(%0) : (i16) -> ()\n}) : () -> ()\n"
	if got := read(text, true); got != want {
		t.Errorf("got\n%s\nwant\n%s", got, want)
	}
	if got := read(text, false); got != bytecode.ErrRefused.Error() {
		t.Errorf("a refused file: %s", got)
	}
	if got := read(`%0 = "foo.a"() : () -> i7`, true); !strings.HasSuffix(got, ": no value has the type i7") {
		t.Errorf("a refused type: %s", got)
	}
	if got := read(`"foo.a"() ({ "foo.bad"() : () -> () }) : () -> ()`, true); !strings.HasSuffix(got, "bad below bar.a") {
		t.Errorf("a refused op: %s", got)
	}
}
