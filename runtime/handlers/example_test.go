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
