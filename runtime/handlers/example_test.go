package handlers_test

import (
	"context"
	"fmt"
	"os"

	"github.com/hlocb/hlocb/hook"
	"github.com/hlocb/hlocb/runtime"
	"github.com/hlocb/hlocb/runtime/handlers"
	"github.com/hlocb/hlocb/tensor"
)

// Observers print or record the events of their hooks. A program binds them with runtime.Bindings.Observe.
func ExampleNewPrint() {
	logits := tensor.New(tensor.F32, tensor.Shape{3})
	copy(tensor.View[float32](logits), []float32{0.5, -1, 2})
	event := &runtime.Call{Site: &hook.Site{Name: "logits", Kind: hook.Tap, Loc: `"model.py":7:3`}, Operands: []*tensor.Tensor{logits}}
	if err := handlers.NewPrint(os.Stdout, 0).Handle(context.Background(), event); err != nil {
		fmt.Println(err)
	}
	// Output:
	// #0 logits (tap) at model.py:7:3
	//    tensor<3xf32>: [0.5 -1.  2.]
}

// Compare aligns two recordings by hook and occurrence.
func ExampleCompare() {
	recorded := func(loss float32) *handlers.Recorded {
		v := tensor.New(tensor.F32, nil)
		tensor.View[float32](v)[0] = loss
		return &handlers.Recorded{Events: []handlers.RecordedEvent{{Hook: "loss", ID: 1, Kind: hook.Tap, Operands: []*tensor.Tensor{v}}}}
	}
	for _, c := range handlers.Compare(recorded(1), recorded(1.5), 0) {
		fmt.Println(c.String())
	}
	// Output: loss: 1 compared, differ in 1 elements, first event 0 operand 0 at []: 1. against 1.5 (4194304 ULPs), largest difference 4194304 ULPs
}
