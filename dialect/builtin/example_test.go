package builtin_test

import (
	"fmt"

	"github.com/hlocb/hlocb/diag"
	"github.com/hlocb/hlocb/dialect/builtin"
	"github.com/hlocb/hlocb/ir"
	"github.com/hlocb/hlocb/parse"
	"github.com/hlocb/hlocb/print"
)

// The builtin dialect has the module and the cast between types that a conversion leaves.
func Example() {
	reg, err := ir.NewRegistry(builtin.Dialect())
	if err != nil {
		panic(err)
	}
	m, err := parse.Parse(diag.NewSource("in.mlir", []byte(`"my.op"() : () -> ()`)), ir.NewContext(reg), parse.Options{})
	if err != nil {
		panic(err)
	}
	fmt.Println(m.Op().Is(builtin.Module), ir.Verify(m))
	fmt.Println(print.String(m, print.Options{}))
	// Output:
	// true <nil>
	// module {
	//   "my.op"() : () -> ()
	// }
}
