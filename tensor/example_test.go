package tensor_test

import (
	"fmt"

	"github.com/hlocb/hlocb/tensor"
)

// A tensor has an element type, a shape and its elements in row-major order.
func Example() {
	t, err := tensor.ParseLiteral("dense<[[1.0, 2.0], [3.0, 4.0]]> : tensor<2x2xf32>")
	if err != nil {
		panic(err)
	}
	t.SetFloat(3, 0.5)
	sum := float32(0)
	for _, v := range tensor.View[float32](t) {
		sum += v
	}
	fmt.Println(t.DType(), t.Shape(), sum)
	fmt.Println(string(t.AppendLiteral(nil, 10)))
	// Output:
	// f32 [2 2] 6.5
	// dense<[[1.000000e+00, 2.000000e+00], [3.000000e+00, 5.000000e-01]]> : tensor<2x2xf32>
}
