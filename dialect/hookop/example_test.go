package hookop_test

import (
	"fmt"

	"github.com/hlocb/hlocb/diag"
	"github.com/hlocb/hlocb/dialect/builtin"
	"github.com/hlocb/hlocb/dialect/hookop"
	"github.com/hlocb/hlocb/ir"
	"github.com/hlocb/hlocb/parse"
)

// Every hook becomes one op hlocb.hook, whatever its format was.
func Example() {
	reg, err := ir.NewRegistry(builtin.Dialect(), hookop.Dialect())
	if err != nil {
		panic(err)
	}
	m, err := parse.Parse(diag.NewSource("in.mlir", []byte(`"my.region"() ({
^bb0(%x: tensor<4xf32>):
  "hlocb.hook"(%x) <{format = "target", has_side_effect, id = 7 : i64, kind = "tap", name = "loss"}> : (tensor<4xf32>) -> ()
}) : () -> ()`)), ir.NewContext(reg), parse.Options{})
	if err != nil {
		panic(err)
	}
	m.Walk(func(op *ir.Op) bool {
		if h, ok := hookop.AsHook(op); ok {
			fmt.Println(h.HookName(), h.Kind(), h.Data(0).Type())
		}
		return true
	})
	// Output: loss tap tensor<4xf32>
}
