package vhlo_test

import (
	"fmt"

	"github.com/hlocb/hlocb/diag"
	"github.com/hlocb/hlocb/dialect/all"
	"github.com/hlocb/hlocb/dialect/vhlo"
	"github.com/hlocb/hlocb/ir"
	"github.com/hlocb/hlocb/parse"
	"github.com/hlocb/hlocb/print"
)

// Downgrade translates a StableHLO module to VHLO for a version of StableHLO, and Upgrade translates it back.
func Example() {
	reg, err := all.Registry()
	if err != nil {
		panic(err)
	}
	m, err := parse.Parse(diag.NewSource("in.mlir", []byte("func.func @f(%x: tensor<2xf32>) -> tensor<2xf32> { %y = stablehlo.sine %x : tensor<2xf32>\n return %y : tensor<2xf32> }")), ir.NewContext(reg), parse.Options{})
	if err != nil {
		panic(err)
	}
	old, err := vhlo.Downgrade(m, vhlo.Options{Target: vhlo.Minimum})
	if err != nil {
		panic(err)
	}
	back, err := vhlo.Upgrade(old)
	if err != nil {
		panic(err)
	}
	fmt.Println(vhlo.IsVHLO(old), print.String(back, print.Options{}) == print.String(m, print.Options{}))
	// Output: true true
}
