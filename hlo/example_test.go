package hlo_test

import (
	"fmt"

	"github.com/hlocb/hlocb/diag"
	"github.com/hlocb/hlocb/dialect/all"
	"github.com/hlocb/hlocb/hlo"
	"github.com/hlocb/hlocb/ir"
	"github.com/hlocb/hlocb/print"
)

// HLO text becomes a StableHLO module, and back.
func Example() {
	m, err := hlo.Parse(diag.NewSource("f.hlo", []byte(`HloModule f

ENTRY %main (x: f32[2]) -> f32[2] {
  %x = f32[2]{0} parameter(0)
  ROOT %y = f32[2]{0} sine(f32[2]{0} %x)
}`)))
	if err != nil {
		panic(err)
	}
	reg, err := all.Registry()
	if err != nil {
		panic(err)
	}
	mlir, err := hlo.Import(m, ir.NewContext(reg))
	if err != nil {
		panic(err)
	}
	fmt.Print(print.String(mlir, print.Options{}))
	back, err := hlo.Export(mlir)
	if err != nil {
		panic(err)
	}
	data, err := back.AppendProto(nil)
	fmt.Println(len(data) > 0, err)
	// Output:
	// module @f attributes {mhlo.num_partitions = 1 : i32, mhlo.num_replicas = 1 : i32} {
	//   func.func public @main(%arg0: tensor<2xf32>) -> tensor<2xf32> {
	//     %0 = stablehlo.sine %arg0 : tensor<2xf32>
	//     return %0 : tensor<2xf32>
	//   }
	// }
	// true <nil>
}
