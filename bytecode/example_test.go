package bytecode_test

import (
	"bytes"
	"fmt"

	"github.com/hlocb/hlocb/bytecode"
	"github.com/hlocb/hlocb/diag"
	"github.com/hlocb/hlocb/dialect/all"
	"github.com/hlocb/hlocb/ir"
	"github.com/hlocb/hlocb/parse"
	"github.com/hlocb/hlocb/print"
)

// A module is written as MLIR bytecode and read back.
func Example() {
	reg, err := all.Registry()
	if err != nil {
		panic(err)
	}
	m, err := parse.Parse(diag.NewSource("in.mlir", []byte("func.func private @f(tensor<2xf32>)")), ir.NewContext(reg), parse.Options{})
	if err != nil {
		panic(err)
	}
	data, err := bytecode.Append(nil, m, bytecode.Options{})
	if err != nil {
		panic(err)
	}
	back, err := bytecode.Read(diag.NewSource("in.mlirbc", data), ir.NewContext(reg))
	if err != nil {
		panic(err)
	}
	fmt.Println(bytes.HasPrefix(data, []byte("ML\xefR")))
	fmt.Println(print.String(back, print.Options{}))
	// Output:
	// true
	// module {
	//   func.func private @f(tensor<2xf32>)
	// }
}
