package print_test

import (
	"fmt"

	"github.com/hlocb/hlocb/diag"
	"github.com/hlocb/hlocb/dialect/all"
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

// Print options choose between the pretty and the generic form.
func Example() {
	m := load("func.func @f(%x: tensor<2xf32>) { %y = stablehlo.sine %x : tensor<2xf32>\n return }")
	fmt.Println(print.String(m, print.Options{Generic: true}))
	// Output:
	// "builtin.module"() ({
	//   "func.func"() <{function_type = (tensor<2xf32>) -> (), sym_name = "f"}> ({
	//   ^bb0(%arg0: tensor<2xf32>):
	//     %0 = "stablehlo.sine"(%arg0) : (tensor<2xf32>) -> tensor<2xf32>
	//     "func.return"() : () -> ()
	//   }) : () -> ()
	// }) : () -> ()
}
