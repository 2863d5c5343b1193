package filecheck_test

import (
	"fmt"

	"github.com/hlocb/hlocb/diag"
	"github.com/hlocb/hlocb/filecheck"
)

// The directives of a text check the output of a pass. The second output has an op too many.
func Example() {
	test := `
// CHECK-LABEL: func @main
// CHECK: %[[SUM:.*]] = stablehlo.add
// CHECK-NEXT: return %[[SUM]]
`
	check, err := filecheck.Parse(diag.NewSource("cse.mlir", []byte(test)), filecheck.Options{})
	if err != nil {
		fmt.Println(err)
		return
	}
	fmt.Println(check.Match("out.mlir", "func @main(%a) {\n  %0 = stablehlo.add %a, %a\n  return %0\n}\n"))
	fmt.Println(check.Match("out.mlir", "func @main(%a) {\n  %0 = stablehlo.add %a, %a\n  %1 = stablehlo.add %a, %a\n  return %0\n}\n"))
	// Output:
	// <nil>
	// cse.mlir:4:4: error: CHECK-NEXT: is not on the line after the previous match
}
