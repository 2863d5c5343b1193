package chlo_test

import (
	"fmt"

	"github.com/hlocb/hlocb/diag"
	"github.com/hlocb/hlocb/dialect/builtin"
	"github.com/hlocb/hlocb/dialect/chlo"
	"github.com/hlocb/hlocb/ir"
	"github.com/hlocb/hlocb/parse"
)

// CHLO has the ops of frameworks that StableHLO lacks, such as implicit broadcasting. A view names the parts of an op.
func Example() {
	reg, err := ir.NewRegistry(builtin.Dialect(), chlo.Dialect())
	if err != nil {
		panic(err)
	}
	m, err := parse.Parse(diag.NewSource("in.mlir", []byte(`"my.region"() ({
^bb0(%x: tensor<4xf32>, %y: tensor<f32>):
  %z = chlo.broadcast_add %x, %y : (tensor<4xf32>, tensor<f32>) -> tensor<4xf32>
}) : () -> ()`)), ir.NewContext(reg), parse.Options{})
	if err != nil {
		panic(err)
	}
	m.Walk(func(op *ir.Op) bool {
		if sum, ok := chlo.AsBroadcastAdd(op); ok {
			fmt.Println(sum.LHS().Type(), "+", sum.RHS().Type())
		}
		return true
	})
	// Output: tensor<4xf32> + tensor<f32>
}
