package rewrite_test

import (
	"fmt"
	"log"

	"github.com/hlocb/hlocb/diag"
	"github.com/hlocb/hlocb/dialect/all"
	"github.com/hlocb/hlocb/dialect/stablehlo"
	"github.com/hlocb/hlocb/ir"
	"github.com/hlocb/hlocb/parse"
	"github.com/hlocb/hlocb/print"
	"github.com/hlocb/hlocb/rewrite"
)

// A pattern for -(-x) = x, applied until nothing is left to do.
func ExampleGreedy() {
	const text = `func.func @main(%x: tensor<2xf32>) -> tensor<2xf32> {
  %0 = stablehlo.negate %x : tensor<2xf32>
  %1 = stablehlo.negate %0 : tensor<2xf32>
  %2 = stablehlo.negate %1 : tensor<2xf32>
  return %2 : tensor<2xf32>
}`
	registry, err := all.Registry()
	if err != nil {
		log.Fatal(err)
	}
	m, err := parse.Parse(diag.NewSource("negate.mlir", []byte(text)), ir.NewContext(registry), parse.Options{})
	if err != nil {
		log.Fatal(err)
	}
	negate := rewrite.For("negate-negate", stablehlo.Negate, stablehlo.AsNegate,
		func(r *rewrite.Rewriter, outer stablehlo.NegateOp) (bool, error) {
			inner, ok := stablehlo.AsNegate(outer.Input().DefiningOp())
			if !ok {
				return false, nil
			}
			r.Replace(outer.Op, inner.Input())
			return true, nil
		})
	result, err := rewrite.Greedy(m.Op(), []*rewrite.Pattern{negate}, rewrite.Options{EraseDead: true})
	if err != nil {
		log.Fatal(err)
	}
	fmt.Print(print.String(m, print.Options{}))
	fmt.Println("applied", result.Applied)
	// Output:
	// module {
	//   func.func @main(%arg0: tensor<2xf32>) -> tensor<2xf32> {
	//     %0 = stablehlo.negate %arg0 : tensor<2xf32>
	//     return %0 : tensor<2xf32>
	//   }
	// }
	// applied map[negate-negate:1]
}
