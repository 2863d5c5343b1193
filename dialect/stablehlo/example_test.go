package stablehlo_test

import (
	"fmt"

	"github.com/hlocb/hlocb/diag"
	"github.com/hlocb/hlocb/dialect/all"
	"github.com/hlocb/hlocb/dialect/fn"
	"github.com/hlocb/hlocb/dialect/stablehlo"
	"github.com/hlocb/hlocb/ir"
	"github.com/hlocb/hlocb/parse"
	"github.com/hlocb/hlocb/print"
	"github.com/hlocb/hlocb/tensor"
)

const product = `
func.func @main(%x: tensor<8x2x3xf32>, %w: tensor<8x3x4xf32>) -> tensor<8x2x4xf32> {
  %0 = stablehlo.dot_general %x, %w, batching_dims = [0] x [0], contracting_dims = [2] x [1] : (tensor<8x2x3xf32>, tensor<8x3x4xf32>) -> tensor<8x2x4xf32>
  return %0 : tensor<8x2x4xf32>
}`

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

// A view names the operands, attributes and regions of an op. It is made from the op's row, as is the row's builder,
// which leaves out attributes that have their default.
func ExampleAsDotGeneral() {
	m := load(product)
	m.Walk(func(op *ir.Op) bool {
		dot, ok := stablehlo.AsDotGeneral(op)
		if !ok {
			return true
		}
		fmt.Println("contracts", dot.Dims().LHSContracting, "of", dot.LHS().Type())
		twice := ir.Must(stablehlo.BuildAdd(m.After(op), dot.Result(0), dot.Result(0)))
		fmt.Println(print.Op(m, twice.Op, print.Options{}))
		return true
	})
	// Output:
	// contracts [2] of tensor<8x2x3xf32>
	// %1 = stablehlo.add %0, %0 : tensor<8x2x4xf32>
}

func ExampleBuildDotGeneral() {
	m := load(product)
	f, _ := fn.Lookup(m, "main")
	x, w := f.Body().Arg(0), f.Body().Arg(1)
	t := m.Context().StaticTensor(tensor.F32, tensor.Shape{2, 4})
	dot, err := stablehlo.BuildDotGeneral(m.AtStart(f.Body()), x, w, t, stablehlo.DotGeneralAttrs{
		Dims:            &stablehlo.DotDims{LHSContracting: []int64{0, 2}, RHSContracting: []int64{0, 1}},
		PrecisionConfig: []stablehlo.Precision{stablehlo.PrecisionHIGHEST, stablehlo.PrecisionDEFAULT},
	})
	if err != nil {
		panic(err)
	}
	fmt.Println(dot.Result(0).Type(), dot.PrecisionConfig())
	_, err = stablehlo.BuildDotGeneral(m.AtStart(f.Body()), x, w, t, stablehlo.DotGeneralAttrs{
		Dims: &stablehlo.DotDims{LHSContracting: []int64{1}, RHSContracting: []int64{1}},
	})
	fmt.Println(err)
	// Output:
	// tensor<2x4xf32> [HIGHEST DEFAULT]
	// contracting dimension sizes must match for lhs/rhs
}
