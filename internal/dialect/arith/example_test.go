package arith_test

import (
	"fmt"

	"github.com/hlocb/hlocb/diag"
	"github.com/hlocb/hlocb/dialect/builtin"
	"github.com/hlocb/hlocb/internal/dialect/arith"
	"github.com/hlocb/hlocb/ir"
	"github.com/hlocb/hlocb/parse"
)

// Programs with dynamic shapes compute sizes with ops of the dialect arith.
func Example() {
	reg, err := ir.NewRegistry(builtin.Dialect(), arith.Dialect())
	if err != nil {
		panic(err)
	}
	m, err := parse.Parse(diag.NewSource("in.mlir", []byte(`%n = arith.constant 4 : index
%m = arith.addi %n, %n : index`)), ir.NewContext(reg), parse.Options{})
	if err != nil {
		panic(err)
	}
	m.Walk(func(op *ir.Op) bool {
		fmt.Println(op.Name(), op.Is(arith.AddI))
		return true
	})
	// Output:
	// arith.constant false
	// arith.addi true
}
