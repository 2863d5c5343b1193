package conformance_test

import (
	"errors"
	"strings"
	"testing"

	"github.com/hlocb/hlocb/diag"
	"github.com/hlocb/hlocb/internal/testkit"
	"github.com/hlocb/hlocb/ir"
	"github.com/hlocb/hlocb/parse"
	"github.com/hlocb/hlocb/print"
)

// seeds adds small modules of the corpora and our own.
func seeds(f *testing.F) {
	for _, text := range testkit.Texts(f, "hooks/*.mlir", "../internal/conformance/testdata/*.mlir") {
		if len(text) < 8<<10 {
			f.Add(text)
		}
	}
	f.Add("func.func @f(%a: tensor<2x?xf32>) -> tensor<2x?xf32> { %0 = stablehlo.add %a, %a : tensor<2x?xf32> return %0 : tensor<2x?xf32> }")
	f.Add(`%0:2 = "a.b"() ({ ^bb0(%x: i32 loc("f":1:2)): "c.d"(%x)[^bb0] : (i32) -> () }) {a = dense<[[1, -2]]> : tensor<1x2xi8>} : () -> (i32, !q.r<[s]>)`)
	f.Add(`%c = stablehlo.constant dense<"0x00FF"> : tensor<2xui8> %d = stablehlo.slice %c [0:1:1] : (tensor<2xui8>) -> tensor<1xui8>`)
	f.Add("func.func @r(%a: tensor<4xf32>, %z: tensor<f32>) -> tensor<f32> { %0 = stablehlo.reduce(%a init: %z) applies stablehlo.add across dimensions = [0] : (tensor<4xf32>, tensor<f32>) -> tensor<f32> return %0 : tensor<f32> }")
	f.Add("func.func @w(%a: tensor<i32>) -> tensor<i32> { %0 = stablehlo.while(%i = %a) : tensor<i32> cond { %c = stablehlo.constant dense<true> : tensor<i1> stablehlo.return %c : tensor<i1> } do { stablehlo.return %i : tensor<i32> } return %0 : tensor<i32> }")
}

// checkError fails for an error without a place or of our own making.
func checkError(t *testing.T, err error) {
	var d *diag.Diagnostic
	if !errors.As(err, &d) || strings.Contains(err.Error(), "internal error") {
		t.Fatalf("%v", err)
	}
}

// FuzzParse reads anything: a module or an error with a place, with one mistake reported and with many.
func FuzzParse(f *testing.F) {
	seeds(f)
	reg := testkit.Registry(f)
	f.Fuzz(func(t *testing.T, text string) {
		for _, n := range []int{1, 20} {
			if _, err := parse.Parse(diag.NewSource("-", []byte(text)), ir.NewContext(), reg, parse.Options{MaxErrors: n}); err != nil {
				checkError(t, err)
			}
		}
	})
}

// FuzzRoundTrip prints each valid module and reads it again to the same text.
func FuzzRoundTrip(f *testing.F) {
	seeds(f)
	reg := testkit.Registry(f)
	f.Fuzz(func(t *testing.T, text string) {
		m, err := read(t, reg, text)
		if err != nil || ir.Verify(m) != nil {
			return
		}
		for _, o := range []print.Options{{Generic: true}, {Generic: true, DebugInfo: true}, {DebugInfo: true, LocalScope: true, Generic: true}} {
			first := print.String(m, o)
			again, err := read(t, reg, first)
			if err != nil {
				t.Fatalf("%+v: %v\n%s", o, err, first)
			}
			if second := print.String(again, o); second != first {
				t.Fatalf("%+v: %s", o, firstDiff(second, first))
			}
		}
		print.String(m, print.Options{}) // while has pretty forms that do not read back, in MLIR too
	})
}

// FuzzVerify verifies whatever can be read, and prints it, valid or not.
func FuzzVerify(f *testing.F) {
	seeds(f)
	reg := testkit.Registry(f)
	f.Fuzz(func(t *testing.T, text string) {
		m, err := read(t, reg, text)
		if err != nil {
			return
		}
		if err := ir.Verify(m); err != nil {
			checkError(t, err)
		}
		print.String(m, print.Options{DebugInfo: true})
		print.String(m, print.Options{Generic: true})
	})
}
