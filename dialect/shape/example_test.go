package shape_test

import (
	"fmt"

	"github.com/hlocb/hlocb/diag"
	"github.com/hlocb/hlocb/dialect/builtin"
	"github.com/hlocb/hlocb/dialect/shape"
	"github.com/hlocb/hlocb/ir"
	"github.com/hlocb/hlocb/parse"
)

// Programs with dynamic shapes compute shapes with ops of the dialect shape.
func Example() {
	reg, err := ir.NewRegistry(builtin.Dialect(), shape.Dialect())
	if err != nil {
		panic(err)
	}
	m, err := parse.Parse(diag.NewSource("in.mlir", []byte(`"test.source"() ({
^bb0(%x: tensor<?x4xf32>):
  %s = shape.shape_of %x : tensor<?x4xf32> -> tensor<2xindex>
}) : () -> ()`)), ir.NewContext(reg), parse.Options{})
	if err != nil {
		panic(err)
	}
	m.Walk(func(op *ir.Op) bool {
		if op.Is(shape.ShapeOf) {
			fmt.Println(op.Operand(0).Type(), "has a shape of type", op.Result(0).Type())
		}
		return true
	})
	// Output: tensor<?x4xf32> has a shape of type tensor<2xindex>
}
