package parse_test

import (
	"bytes"
	"runtime/metrics"
	"testing"
	"time"

	"github.com/hlocb/hlocb/diag"
	"github.com/hlocb/hlocb/internal/testkit"
	"github.com/hlocb/hlocb/ir"
	"github.com/hlocb/hlocb/parse"
	"github.com/hlocb/hlocb/print"
)

// seeds adds the modules of testdata as starting points: whole files up to 8 kB, so that mutation reaches all of a
// text.
func seeds(f *testing.F) {
	f.Helper()
	for _, text := range testkit.Texts(f, "mlir/*.mlir", "hooks/*.mlir", "events/*.mlir", "order/*.mlir", "../internal/conformance/testdata/*.mlir") {
		if len(text) <= 8<<10 {
			f.Add([]byte(text))
		}
	}
	for _, text := range []string{
		"", "module {}", "%a, %b:2 = foo.x %c#1 {d = \"%e\"} : (i1, i2, i3) loc(\"f\")\n%c:2 = \"a.b\"() : () -> (i1, i2)", "foo.x [#a, !b\n] : !b to i1\n#a = 1",
		"#a = loc(callsite(#b at #b))\n\"a.b\"() : () -> () loc(#a)\n#b = loc(fused<#a>[\"x\", #c])\n#c = loc(\"y\"(#a))", "\"a.b\"() {x = #x.<1>, y = !x., z = #x<_a>} : () -> ()", "{-# dialect_resources: {builtin: {a: \"0x04000000\"}} #-}", "{-#dialect_resources:{a:{k:\"0x04000000\"}}#-}",
		`"a.b"() ({^bb0(%x: i32): "a.c"()[^bb1(%x : i32)] : () -> () ^bb1(%y: i32): "a.d"(%y) : (i32) -> ()}) : () -> ()`,
		`func.func @f(%a: tensor<?x2xf32, #stablehlo.bounds<4, ?>>) { return }`,
		`%0 = "a.b"() {x = dense<[[1, 2], [3, 4]]> : tensor<2x2xi4>, y = dense<"0x0102"> : tensor<2xi8>, z = array<f32: 1.0, 2.0e1>} : () -> !quant.uniform<i8:f32, 2.0:3>`,
		`#loc = loc("a":1:2) module { func.func private @f(i32, tuple<i1, f8E5M2>) -> complex<f32> loc(callsite("x"(#loc) at fused<1>["b", #loc])) }`,
		`func.func @f(%a: tensor<4xf32>, %b: tensor<f32>) -> tensor<f32> { %0 = stablehlo.reduce(%a init: %b) applies stablehlo.add across dimensions = [0] : (tensor<4xf32>, tensor<f32>) -> tensor<f32> return %0 : tensor<f32> }`,
		"func.func @f(%a: tensor<2x?xf32>) -> tensor<2x?xf32> { %0 = stablehlo.add %a, %a : tensor<2x?xf32> return %0 : tensor<2x?xf32> }",
		`%0:2 = "a.b"() ({ ^bb0(%x: i32 loc("f":1:2)): "c.d"(%x)[^bb0] : (i32) -> () }) {a = dense<[[1, -2]]> : tensor<1x2xi8>} : () -> (i32, !q.r<[s]>)`,
		`%c = stablehlo.constant dense<"0x00FF"> : tensor<2xui8> %d = stablehlo.slice %c [0:1:1] : (tensor<2xui8>) -> tensor<1xui8>`,
		"func.func @r(%a: tensor<4xf32>, %z: tensor<f32>) -> tensor<f32> { %0 = stablehlo.reduce(%a init: %z) applies stablehlo.add across dimensions = [0] : (tensor<4xf32>, tensor<f32>) -> tensor<f32> return %0 : tensor<f32> }",
		"func.func @w(%a: tensor<i32>) -> tensor<i32> { %0 = stablehlo.while(%i = %a) : tensor<i32> cond { %c = stablehlo.constant dense<true> : tensor<i1> stablehlo.return %c : tensor<i1> } do { stablehlo.return %i : tensor<i32> } return %0 : tensor<i32> }",
	} {
		f.Add([]byte(text))
	}
}

// FuzzParse: no text makes the parser panic, and every error has a place.
func FuzzParse(f *testing.F) {
	seeds(f)
	reg := testkit.Registry(f)
	f.Fuzz(func(t *testing.T, text []byte) {
		for _, opts := range []parse.Options{{}, {MaxErrors: 20}} {
			var err error
			within(t, len(text), func() {
				_, err = parse.Parse(diag.NewSource("f.mlir", text), ir.NewContext(reg), opts)
			})
			checkRefusal(t, err)
		}
	})
}

// within fails if f, which reads a text of size bytes, allocates too much memory for such a text or takes too long.
// The limits allow for garbage and for a busy machine.
func within(t *testing.T, size int, f func()) {
	t.Helper()
	sample := []metrics.Sample{{Name: "/gc/heap/allocs:bytes"}}
	metrics.Read(sample)
	before, begin := sample[0].Value.Uint64(), time.Now()
	f()
	took := time.Since(begin)
	metrics.Read(sample)
	if n := sample[0].Value.Uint64() - before; n > 64<<20+400*uint64(size) {
		t.Errorf("%d bytes of text allocate %d bytes", size, n)
	}
	if took > 20*time.Second {
		t.Errorf("%d bytes of text take %v", size, took)
	}
}

// checkRefusal fails for errors that are not about the input: internal errors, and errors without a place.
func checkRefusal(t *testing.T, err error) {
	t.Helper()
	if err == nil {
		return
	}
	var list diag.List
	switch e := err.(type) {
	case *diag.Diagnostic:
		list.Add(e)
	case diag.List:
		list = e
	default:
		t.Fatalf("an error without a place: %v", err)
	}
	for _, d := range list {
		if !d.Pos.IsValid() || bytes.Contains([]byte(d.Message), []byte("internal error")) {
			t.Fatalf("%v", d)
		}
	}
}

// FuzzRoundTrip prints each module in each form and reads the text as the same module.
func FuzzRoundTrip(f *testing.F) {
	seeds(f)
	reg := testkit.Registry(f)
	f.Fuzz(func(t *testing.T, text []byte) {
		m, err := parse.Parse(diag.NewSource("f.mlir", text), ir.NewContext(reg), parse.Options{})
		if err != nil || ir.Verify(m) != nil {
			return
		}
		for _, o := range []print.Options{{}, {Generic: true}, {DebugInfo: true}, {Generic: true, DebugInfo: true}} {
			var once string
			within(t, len(text), func() { once = print.String(m, o) })
			again, err := parse.Parse(diag.NewSource("once.mlir", []byte(once)), ir.NewContext(reg), parse.Options{})
			if err != nil {
				t.Fatalf("%+v: what was written is refused: %v\n%s", o, err, once)
			}
			if twice := print.String(again, o); twice != once {
				t.Fatalf("%+v: written once:\n%s\nwritten twice:\n%s", o, once, twice)
			}
		}
	})
}

// FuzzVerify: the verifier judges every module that can be read, without a panic.
func FuzzVerify(f *testing.F) {
	seeds(f)
	reg := testkit.Registry(f)
	f.Fuzz(func(t *testing.T, text []byte) {
		m, err := parse.Parse(diag.NewSource("f.mlir", text), ir.NewContext(reg), parse.Options{})
		if err != nil {
			return
		}
		within(t, len(text), func() { err = ir.Verify(m) })
		checkRefusal(t, err)
	})
}
