//go:build cgo

package dlpack_test

import (
	"fmt"

	"github.com/hlocb/hlocb/runtime/dlpack"
	"github.com/hlocb/hlocb/tensor"
)

// Export lends a tensor to a consumer of DLPack. This example has no consumer.
func ExampleExport() {
	m, err := dlpack.Export(tensor.New(tensor.F32, tensor.Shape{2, 3}), dlpack.Options{})
	if err != nil {
		fmt.Println(err)
		return
	}
	fmt.Println(m.Close())
	// Output: <nil>
}
