package artifact

import (
	"github.com/hlocb/hlocb/dialect/fn"
	"github.com/hlocb/hlocb/internal/legalize"
	"github.com/hlocb/hlocb/internal/shardy"
	"github.com/hlocb/hlocb/ir"
	"github.com/hlocb/hlocb/rewrite"
)

// expand returns the module that XLA serializes: the expansions in the order of XLA's pipeline (XLA,
// pjrt/mlir_to_hlo.cc). It fails for operations of dialects that XLA does not accept.
func expand(m *ir.Module, o Options) (*ir.Module, error) {
	var wrong error
	m.Walk(func(op *ir.Op) bool {
		switch op.Def().Dialect() {
		case "stablehlo", "chlo", "func", "sdy", "builtin", "mpmd":
		default:
			wrong = m.Errorf(op, "%s: the route %s accepts only operations of stablehlo, chlo, func and sdy", op.Name(), o.Route)
		}
		return wrong == nil
	})
	if wrong != nil {
		return nil, wrong
	}
	out := m.Clone()
	for _, f := range fn.Funcs(out) {
		if err := legalize.Complex(f.Op, rewrite.Greedy); err != nil {
			return nil, err
		}
	}
	if o.Route == XLA {
		if err := shardy.Export(out, nil); err != nil {
			return nil, err
		}
	}
	if err := legalize.Composites(out); err != nil {
		return nil, err
	}
	for _, f := range fn.Funcs(out) {
		if err := legalize.CHLOOfXLA(f.Op); err != nil {
			return nil, err
		}
		if err := legalize.Shape(f.Op); err != nil {
			return nil, err
		}
	}
	if err := legalize.Compatible(out, o.Target, rewrite.Greedy); err != nil {
		return nil, err
	}
	return out, nil
}
