package view_test

import (
	"fmt"

	"github.com/hlocb/hlocb/dialect/view"
	"github.com/hlocb/hlocb/ir"
)

// The functions of the package return the Go value of an attribute. An absent attribute has the zero value.
func Example() {
	dims := ir.NewDenseArray(ir.Int(64), []int64{1, 0})
	fmt.Println(view.Ints(dims), view.String(ir.NewString("host")), view.Int(nil))
	// Output: [1 0] host 0
}
