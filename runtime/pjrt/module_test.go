//go:build cgo

package pjrt

import (
	"bytes"
	"context"
	"strings"
	"testing"

	"github.com/hlocb/hlocb/diag"
	"github.com/hlocb/hlocb/dialect/all"
	"github.com/hlocb/hlocb/ir"
	"github.com/hlocb/hlocb/parse"
	"github.com/hlocb/hlocb/print"
	"github.com/hlocb/hlocb/runtime"
)

// TestLargeBooleans: plugins disagree about the bytes of i1 constants, so they get a list of true and false.
func TestLargeBooleans(t *testing.T) {
	reg, err := all.Registry()
	if err != nil {
		t.Fatal(err)
	}
	text := `func.func @main() -> tensor<200xi1> {
  %0 = stablehlo.constant dense<"0x` + strings.Repeat("0100010100", 40) + `"> : tensor<200xi1>
  return %0 : tensor<200xi1>
}`
	m, err := parse.Parse(diag.NewSource("m", []byte(text)), ir.NewContext(reg), parse.Options{})
	if err != nil {
		t.Fatal(err)
	}
	listed := print.Append(nil, m, print.Options{ListBooleans: true})
	if bytes.Contains(listed, []byte(`"0x`)) || !bytes.Contains(listed, []byte("dense<[true, false, true, true, false, true,")) {
		t.Errorf("printed\n%.200s", listed)
	}
	e, err := backend(t).Compile(context.Background(), &runtime.Program{Module: m}, runtime.CompileOptions{})
	if err != nil {
		t.Fatal(err)
	}
	defer e.Close()
	r, err := e.Run(context.Background(), nil)
	if err != nil {
		t.Fatal(err)
	}
	if want := bytes.Repeat([]byte{1, 0, 1, 1, 0}, 40); !bytes.Equal(r[0].Bytes(), want) {
		t.Errorf("the result is % x", r[0].Bytes())
	}
}

// TestLocations: a plugin gets the locations that a program's text states, and no others.
func TestLocations(t *testing.T) {
	p := backend(t).Plugin()
	for text, want := range map[string]bool{
		"func.func @main(%x: tensor<f32>) -> tensor<f32> {\nreturn %x : tensor<f32>\n}\n":                      false,
		"func.func @main(%x: tensor<f32>) -> tensor<f32> {\nreturn %x : tensor<f32> loc(\"here.py\":1:2)\n}\n": true,
	} {
		code, err := p.code(t.Context(), parsed(t, text))
		if err != nil {
			t.Fatal(err)
		}
		if has := bytes.Contains(code.bytes, []byte("here.py")) || bytes.Contains(code.bytes, []byte("m.mlir")); has != want {
			t.Errorf("%s: the artifact has locations: %t", text, has)
		}
	}
	if hasLocations(ir.NewModule(mustParse("module {}").Context(), nil)) {
		t.Error("a module without a text has locations")
	}
}
