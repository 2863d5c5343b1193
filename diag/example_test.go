package diag_test

import (
	"fmt"
	"os"

	"github.com/hlocb/hlocb/diag"
)

// A diagnostic names a position in a source. Render writes it with the line and a caret.
func Example() {
	src := diag.NewSource("step.mlir", []byte("module {\n  stablehlo.ad\n}\n"))
	d := diag.Errorf(src, diag.At(11), "unknown op 'stablehlo.ad'")
	d.Note(diag.At(0), "in this module")
	d.Render(os.Stdout)
	fmt.Println(diag.Closest("stablehlo.ad", []string{"stablehlo.abs", "stablehlo.add"}))
	// Output:
	// step.mlir:2:3: error: unknown op 'stablehlo.ad'
	//   stablehlo.ad
	//   ^
	// step.mlir:1:1: note: in this module
	// module {
	// ^
	// stablehlo.add
}
