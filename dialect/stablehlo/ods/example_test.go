package ods_test

import (
	"fmt"

	"github.com/hlocb/hlocb/dialect/stablehlo/ods"
	"github.com/hlocb/hlocb/ir"
	"github.com/hlocb/hlocb/tensor"
)

// A constraint accepts types; its summary completes the verifier's message.
func Example() {
	ctx := ir.NewContext(nil)
	c := ods.Tensor(ods.FP, ods.Complex)
	fmt.Println("operand must be", c.Summary)
	fmt.Println(c.Check(ctx.StaticTensor(tensor.F32, tensor.Shape{4})), c.Check(ctx.StaticTensor(tensor.I32, tensor.Shape{4})))
	// Output:
	// operand must be ranked tensor of 4/6/8/16/32/64-bit float or complex type with 32/64-bit float elements values
	// true false
}
