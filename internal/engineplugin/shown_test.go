//go:build cgo

package engineplugin

import (
	"bytes"
	"strings"
	"testing"

	"github.com/hlocb/hlocb/diag"
	"github.com/hlocb/hlocb/internal/reader"
	"github.com/hlocb/hlocb/print"
)

// TestShown: clients get a program as MLIR, whatever form it came in.
func TestShown(t *testing.T) {
	const text = `module {
  func.func public @main(%arg0: tensor<2xf32>) -> tensor<2xf32> {
    %0 = stablehlo.add %arg0, %arg0 : tensor<2xf32>
    return %0 : tensor<2xf32>
  }
}
`
	m, err := reader.Read(diag.NewSource("text", []byte(text)))
	if err != nil {
		t.Fatal(err)
	}
	var proto bytes.Buffer
	if err := reader.Write(t.Context(), &proto, "program.pb", m, print.Options{}); err != nil {
		t.Fatal(err)
	}
	for _, code := range [][]byte{[]byte(text), proto.Bytes()} {
		got, err := shown(code)
		if err != nil || !strings.Contains(string(got), "%0 = stablehlo.add %arg0, %arg0 : tensor<2xf32>") {
			t.Errorf("%v\n%s", err, got)
		}
	}
}
