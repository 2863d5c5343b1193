//go:build cgo

package interpose

import (
	"strings"
	"testing"
)

// TestBindings: a handler is bound to the hook that its NAME=HANDLER names, even if the name contains '='. A binding
// without a hook is reported at the end, as a tap without a value is.
func TestBindings(t *testing.T) {
	const module = `func.func @main(%x: tensor<f32>) {
  %t = stablehlo.create_token : !stablehlo.token
  %0 = "stablehlo.outfeed"(%x, %t) {outfeed_config = "train.py:41=x"} : (tensor<f32>, !stablehlo.token) -> !stablehlo.token
  return
}
`
	var warnings strings.Builder
	i, err := New(Config{On: []string{"train.py:41=x=count", "nosuch=print"}}, Host{Out: &warnings, Err: &warnings})
	if err != nil {
		t.Fatal(err)
	}
	if _, err := i.Compile([]byte(module), "mlir", nil); err != nil {
		t.Fatal(err)
	}
	i.Flush()
	if want := "hlocb: warning: on nosuch=print matches no hook\n"; warnings.String() != want {
		t.Errorf("wrote %q, expected %q", warnings.String(), want)
	}
}
