package pass

import (
	"errors"

	"github.com/hlocb/hlocb/ir"
	"github.com/hlocb/hlocb/ir/flow"
)

// CallGraph answers which function calls which, for passes that run on a module.
var CallGraph = &Analysis[*flow.Graph]{
	Name: "call graph",
	Compute: func(op *ir.Op) (*flow.Graph, error) {
		if m := op.Module(); m.Op() == op {
			return flow.Of(m, nil), nil
		}
		return nil, errors.New("the call graph is that of a module; a pass on one function must not read the others")
	},
}
