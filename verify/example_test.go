package verify_test

import (
	"fmt"

	"github.com/hlocb/hlocb/hook"
	"github.com/hlocb/hlocb/runtime/handlers"
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

// CompareRecordings aligns two recordings by hook and occurrence.
func ExampleCompareRecordings() {
	recorded := func(loss float32) *handlers.Recording {
		v := tensor.New(tensor.F32, nil)
		tensor.View[float32](v)[0] = loss
		return &handlers.Recording{Events: []handlers.Event{{Hook: "loss", ID: 1, Kind: hook.Tap, Operands: []*tensor.Tensor{v}}}}
	}
	for _, c := range verify.CompareRecordings(recorded(1), recorded(1.5), verify.Tolerance{}) {
		fmt.Println(c.String())
	}
	// Output: loss: 1 compared, differ in 1 element, first event 0 operand 0: 1. against 1.5 (4194304 ULPs), largest difference 4194304 ULPs
}
