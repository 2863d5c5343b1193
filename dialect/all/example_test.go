package all_test

import (
	"fmt"

	"github.com/hlocb/hlocb/dialect/all"
	"github.com/hlocb/hlocb/ir"
)

// A registry of every dialect finds an op's row by its name.
func ExampleRegistry() {
	reg, err := all.Registry()
	if err != nil {
		panic(err)
	}
	def := reg.Lookup("stablehlo.add")
	fmt.Println(len(def.Operands), len(def.Results), def.Has(ir.Commutative))
	// Output: 2 1 true
}
