package parse_test

import (
	"fmt"

	"github.com/hlocb/hlocb/diag"
	"github.com/hlocb/hlocb/dialect/all"
	"github.com/hlocb/hlocb/ir"
	"github.com/hlocb/hlocb/parse"
	"github.com/hlocb/hlocb/print"
)

// A module is read with a registry of dialects, verified, and printed. The parser keeps ops of unknown dialects
// unchanged.
func Example() {
	registry, err := all.Registry()
	if err != nil {
		fmt.Println(err)
		return
	}
	src := diag.NewSource("add.mlir", []byte(`
func.func @main(%x: tensor<4xf32>) -> tensor<4xf32> {
  %sum = "stablehlo.add"(%x, %x) : (tensor<4xf32>, tensor<4xf32>) -> tensor<4xf32>
  %odd = "mine.op"(%sum) {level = 3 : i32} : (tensor<4xf32>) -> tensor<4xf32>
  func.return %odd : tensor<4xf32>
}`))
	m, err := parse.Parse(src, ir.NewContext(registry), parse.Options{})
	if err != nil {
		fmt.Println(err)
		return
	}
	if err := ir.Verify(m); err != nil {
		fmt.Println(err)
		return
	}
	fmt.Println(print.String(m, print.Options{}))
	// Output:
	// module {
	//   func.func @main(%arg0: tensor<4xf32>) -> tensor<4xf32> {
	//     %0 = stablehlo.add %arg0, %arg0 : tensor<4xf32>
	//     %1 = "mine.op"(%0) {level = 3 : i32} : (tensor<4xf32>) -> tensor<4xf32>
	//     return %1 : tensor<4xf32>
	//   }
	// }
}

// A mistake in the text is an error with its place.
func ExampleParse_error() {
	registry, err := all.Registry()
	if err != nil {
		fmt.Println(err)
		return
	}
	src := diag.NewSource("bad.mlir", []byte("func.func @main(%x: tensor<4xf32>) -> tensor<4xf32> {\n  return %y : tensor<4xf32>\n}\n"))
	_, err = parse.Parse(src, ir.NewContext(registry), parse.Options{})
	fmt.Println(err)
	// Output: bad.mlir:2:10: error: use of undeclared SSA value name
}
