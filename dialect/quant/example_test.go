package quant_test

import (
	"fmt"

	"github.com/hlocb/hlocb/diag"
	"github.com/hlocb/hlocb/dialect/builtin"
	"github.com/hlocb/hlocb/dialect/quant"
	"github.com/hlocb/hlocb/ir"
	"github.com/hlocb/hlocb/parse"
)

// Of returns the parameters of a quantized element type.
func Example() {
	reg, err := ir.NewRegistry(builtin.Dialect(), quant.Dialect())
	if err != nil {
		panic(err)
	}
	m, err := parse.Parse(diag.NewSource("in.mlir", []byte(`"my.op"() : () -> tensor<4x!quant.uniform<i8:f32, 0.5:3>>`)), ir.NewContext(reg), parse.Options{})
	if err != nil {
		panic(err)
	}
	u := quant.Of(m.Body().First().Result(0).Type().(*ir.TensorType).Elem())
	fmt.Println(u.Storage, u.Expressed, u.Scales, u.ZeroPoints)
	// Output: i8 f32 [0.5] [3]
}
