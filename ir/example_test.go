package ir_test

import (
	"fmt"

	"github.com/hlocb/hlocb/diag"
	"github.com/hlocb/hlocb/dialect/all"
	"github.com/hlocb/hlocb/dialect/stablehlo"
	"github.com/hlocb/hlocb/ir"
	"github.com/hlocb/hlocb/parse"
	"github.com/hlocb/hlocb/print"
)

// load reads a module with every dialect.
func load(text string) *ir.Module {
	reg, err := all.Registry()
	if err != nil {
		panic(err)
	}
	m, err := parse.Parse(diag.NewSource("in.mlir", []byte(text)), ir.NewContext(reg), parse.Options{})
	if err != nil {
		panic(err)
	}
	return m
}

// A pass walks the ops, makes new ones and replaces values. Def rows identify ops. Erasing any op during a walk is
// safe.
func Example() {
	m := load("func.func @f(%x: tensor<2xf32>) -> tensor<2xf32> { %y = stablehlo.add %x, %x : tensor<2xf32>\n return %y : tensor<2xf32> }")
	m.Walk(func(op *ir.Op) bool {
		if !op.Is(stablehlo.Add) {
			return true
		}
		x := op.Operand(0)
		product := m.Before(op).Create(stablehlo.Multiply, []*ir.Value{x, x}, []ir.Type{x.Type()})
		op.ReplaceWith(product.Result(0))
		return true
	})
	fmt.Print(ir.Verify(m), "\n", print.String(m, print.Options{}))
	// Output:
	// <nil>
	// module {
	//   func.func @f(%arg0: tensor<2xf32>) -> tensor<2xf32> {
	//     %0 = stablehlo.multiply %arg0, %arg0 : tensor<2xf32>
	//     return %0 : tensor<2xf32>
	//   }
	// }
}
