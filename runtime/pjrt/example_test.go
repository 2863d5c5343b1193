package pjrt_test

import (
	"fmt"

	"github.com/hlocb/hlocb/diag"
	"github.com/hlocb/hlocb/dialect/all"
	"github.com/hlocb/hlocb/ir"
	"github.com/hlocb/hlocb/parse"
	"github.com/hlocb/hlocb/runtime/pjrt"
)

// Check finds ops that would block forever on a plugin. Converted hooks do not.
func ExampleCheck() {
	const text = `func.func @main(%x: tensor<f32>) {
  %t = stablehlo.create_token : !stablehlo.token
  %u = "stablehlo.outfeed"(%x, %t) : (tensor<f32>, !stablehlo.token) -> !stablehlo.token
  return
}`
	registry, err := all.Registry()
	if err != nil {
		fmt.Println(err)
		return
	}
	m, err := parse.Parse(diag.NewSource("m.mlir", []byte(text)), ir.NewContext(registry), parse.Options{})
	if err != nil {
		fmt.Println(err)
		return
	}
	fmt.Println(pjrt.Check(m))
	// Output: m.mlir:3:8: error: 'stablehlo.outfeed' op would block forever: nothing drains the outfeed through the PJRT C API
}
