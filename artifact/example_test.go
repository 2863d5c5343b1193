package artifact_test

import (
	"fmt"

	"github.com/hlocb/hlocb/artifact"
	"github.com/hlocb/hlocb/diag"
	"github.com/hlocb/hlocb/dialect/all"
	"github.com/hlocb/hlocb/dialect/vhlo"
	"github.com/hlocb/hlocb/ir"
	"github.com/hlocb/hlocb/parse"
	"github.com/hlocb/hlocb/print"
)

// A portable artifact is StableHLO in the versioned dialect VHLO, as bytecode. Append chooses the oldest version that
// can express the module, so that older readers accept it.
func Example() {
	reg, err := all.Registry()
	if err != nil {
		panic(err)
	}
	m, err := parse.Parse(diag.NewSource("in.mlir", []byte("func.func @f(%x: tensor<2xf32>) -> tensor<2xf32> { %y = stablehlo.sine %x : tensor<2xf32>\n return %y : tensor<2xf32> }")), ir.NewContext(reg), parse.Options{})
	if err != nil {
		panic(err)
	}
	target, err := vhlo.ParseVersion("1.0.0")
	if err != nil {
		panic(err)
	}
	data, version, err := artifact.Append(nil, m, artifact.Options{Target: target})
	if err != nil {
		panic(err)
	}
	back, err := artifact.Read(diag.NewSource("f.mlirbc", data), ir.NewContext(reg))
	if err != nil {
		panic(err)
	}
	fmt.Println(version)
	fmt.Println(print.String(back, print.Options{}))
	// Output:
	// 1.0.0
	// module {
	//   func.func @f(%arg0: tensor<2xf32>) -> tensor<2xf32> {
	//     %0 = stablehlo.sine %arg0 : tensor<2xf32>
	//     return %0 : tensor<2xf32>
	//   }
	// }
}
