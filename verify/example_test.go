package verify_test

import (
	"fmt"

	"github.com/hlocb/hlocb/tensor"
	"github.com/hlocb/hlocb/verify"
)

// Compare measures the distance of two tensors in units in the last place.
func ExampleCompare() {
	a, _ := tensor.ParseLiteral("dense<[1.0, 2.0]> : tensor<2xf32>")
	b, _ := tensor.ParseLiteral("dense<[1.0, 2.00000024]> : tensor<2xf32>")
	strict := verify.Compare(a, b, verify.Tolerance{})
	loose := verify.Compare(a, b, verify.ULPs(4))
	fmt.Println(strict.Equal(), strict.MaxULP, loose.Equal())
	// Output: false 1 true
}
