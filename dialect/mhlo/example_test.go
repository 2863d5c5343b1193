package mhlo_test

import (
	"fmt"

	"github.com/hlocb/hlocb/diag"
	"github.com/hlocb/hlocb/dialect/builtin"
	"github.com/hlocb/hlocb/dialect/mhlo"
	"github.com/hlocb/hlocb/dialect/stablehlo"
	"github.com/hlocb/hlocb/ir"
	"github.com/hlocb/hlocb/parse"
)

// Most rows of MHLO mirror rows of StableHLO. Is matches one row, IsOrMirrors both.
func Example() {
	reg, err := ir.NewRegistry(builtin.Dialect(), stablehlo.Dialect(), mhlo.Dialect())
	if err != nil {
		panic(err)
	}
	m, err := parse.Parse(diag.NewSource("in.mlir", []byte(`"my.region"() ({
^bb0(%x: tensor<4xf32>):
  %z = mhlo.add %x, %x : tensor<4xf32>
}) : () -> ()`)), ir.NewContext(reg), parse.Options{})
	if err != nil {
		panic(err)
	}
	m.Walk(func(op *ir.Op) bool {
		if op.IsOrMirrors(stablehlo.Add) {
			fmt.Println(op.Name(), op.Is(stablehlo.Add), op.Is(mhlo.Row(stablehlo.Add)))
		}
		return true
	})
	// Output: mhlo.add false true
}
