package flow_test

import (
	"fmt"

	"github.com/hlocb/hlocb/diag"
	"github.com/hlocb/hlocb/dialect/all"
	"github.com/hlocb/hlocb/dialect/stablehlo"
	"github.com/hlocb/hlocb/ir"
	"github.com/hlocb/hlocb/ir/flow"
	"github.com/hlocb/hlocb/parse"
)

// load reads a module with every dialect.
func load(text string) *ir.Module {
	reg, err := all.Registry()
	if err != nil {
		panic(err)
	}
	m, err := parse.Parse(diag.NewSource("in.mlir", []byte(text)), ir.NewContext(reg), parse.Options{})
	if err != nil {
		panic(err)
	}
	return m
}

// A graph follows calls and values across regions. Here the result of a loop comes from its initial value and from the
// value that its body returns.
func Example() {
	m := load(`func.func @f(%x: tensor<i1>) -> tensor<i1> {
  %r = stablehlo.while(%a = %x) : tensor<i1> cond { stablehlo.return %a : tensor<i1> } do {
    %n = stablehlo.not %a : tensor<i1>
    stablehlo.return %n : tensor<i1>
  }
  return %r : tensor<i1>
}`)
	g := flow.Of(m, nil)
	m.Walk(func(op *ir.Op) bool {
		if op.Is(stablehlo.While) {
			for use := range g.Sources(op.Region(0).Entry().Arg(0)) {
				fmt.Println(use.Owner().Name(), use.Index())
			}
		}
		return true
	})
	// Output:
	// stablehlo.while 0
	// stablehlo.return 0
}
