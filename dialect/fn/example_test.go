package fn_test

import (
	"fmt"

	"github.com/hlocb/hlocb/diag"
	"github.com/hlocb/hlocb/dialect/builtin"
	"github.com/hlocb/hlocb/dialect/fn"
	"github.com/hlocb/hlocb/ir"
	"github.com/hlocb/hlocb/parse"
)

// Functions are ops of the dialect func. Lookup finds one by its symbol.
func Example() {
	reg, err := ir.NewRegistry(builtin.Dialect(), fn.Dialect())
	if err != nil {
		panic(err)
	}
	m, err := parse.Parse(diag.NewSource("in.mlir", []byte(`
func.func @twice(%x: tensor<2xf32>) -> tensor<2xf32> { return %x : tensor<2xf32> }
func.func @main(%x: tensor<2xf32>) -> tensor<2xf32> {
  %y = call @twice(%x) : (tensor<2xf32>) -> tensor<2xf32>
  return %y : tensor<2xf32>
}`)), ir.NewContext(reg), parse.Options{})
	if err != nil {
		panic(err)
	}
	f, _ := fn.Lookup(m, "main")
	fmt.Println(f.Type())
	f.Walk(func(op *ir.Op) bool {
		if op.Is(fn.Call) {
			fmt.Println("calls", fn.Callee(op))
		}
		return true
	})
	// Output:
	// (tensor<2xf32>) -> tensor<2xf32>
	// calls twice
}
