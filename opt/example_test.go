package opt_test

import (
	"fmt"
	"os"
	"strings"

	"github.com/hlocb/hlocb/diag"
	"github.com/hlocb/hlocb/dialect/all"
	"github.com/hlocb/hlocb/ir"
	"github.com/hlocb/hlocb/opt"
	"github.com/hlocb/hlocb/pass"
)

// countAdds is a pass of another compiler. It reports every addition.
type countAdds struct{}

func (countAdds) Info() *pass.Info {
	return &pass.Info{Name: "count-adds", Doc: "Reports every addition.", ReadOnly: true}
}

func (countAdds) Run(c *pass.Context, m *ir.Module) error {
	m.Walk(func(op *ir.Op) bool {
		if op.Name() == "stablehlo.add" {
			d := m.Errorf(op, "an addition")
			d.Severity, d.Message = diag.Warning, "an addition"
			c.Report(d)
		}
		return true
	})
	return nil
}

// An opt binary of another compiler: its dialects, its passes, and the flags of opt.
func Example() {
	table, err := pass.NewTable(countAdds{})
	if err != nil {
		fmt.Println(err)
		return
	}
	module := `func.func @f(%x: tensor<2xf32>) -> tensor<2xf32> {
  %y = stablehlo.add %x, %x : tensor<2xf32>
  "mine.op"(%y) : (tensor<2xf32>) -> ()
  return %y : tensor<2xf32>
}
`
	streams := opt.Streams{In: strings.NewReader(module), Out: os.Stdout, Err: os.Stdout}
	code := opt.Main([]string{"--passes", "count-adds"}, streams, opt.Config{Name: "mine-opt", Dialects: all.Dialects(), Passes: table})
	fmt.Println("exit code", code)
	// Output:
	// <stdin>:2:8: warning: an addition
	//   %y = stablehlo.add %x, %x : tensor<2xf32>
	//        ^
	// module {
	//   func.func @f(%arg0: tensor<2xf32>) -> tensor<2xf32> {
	//     %0 = stablehlo.add %arg0, %arg0 : tensor<2xf32>
	//     "mine.op"(%0) : (tensor<2xf32>) -> ()
	//     return %0 : tensor<2xf32>
	//   }
	// }
	// exit code 0
}
