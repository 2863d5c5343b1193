package entry

import (
	"context"
	"fmt"
	"slices"

	"github.com/hlocb/hlocb/dialect/fn"
	"github.com/hlocb/hlocb/hook"
	"github.com/hlocb/hlocb/internal/legalize"
	"github.com/hlocb/hlocb/interp"
	"github.com/hlocb/hlocb/ir"
	"github.com/hlocb/hlocb/pass"
	"github.com/hlocb/hlocb/passes"
)

// refineMemory limits the values of one folded op, in bytes.
const refineMemory = 1 << 24

// NeedsShapes reports whether the module has calls of jax.export for dynamic ops, which no backend executes before
// Refine.
func NeedsShapes(m *ir.Module) bool { return legalize.HasDynamicCalls(m) }

// Refine replaces the dynamic shapes of main's arguments by the shapes of arguments, the types of the caller's
// arguments, and infers the other shapes.
func Refine(ctx context.Context, m *ir.Module, s Signature, arguments []hook.TensorType) error {
	if s.Main.Op == nil {
		return m.Errorf(m.Op(), "the module has no function @main")
	}
	if len(s.Arguments) != len(arguments) {
		return fmt.Errorf("main has %d arguments, %d were given", len(s.Arguments), len(arguments))
	}
	inputs := slices.Clone(s.Main.Type().Inputs())
	for k, i := range s.Arguments {
		if t := inputs[i].(*ir.TensorType); !t.Static() {
			inputs[i] = m.Context().Tensor(arguments[k].Shape, t.Elem(), nil)
		}
	}
	c := pass.NewContext(ctx, m)
	functions := func(run func(f *ir.Op) error) error {
		for _, f := range fn.Funcs(m) {
			if err := run(f.Op); err != nil {
				return err
			}
		}
		return nil
	}
	for _, step := range []func() error{
		// The decomposition of a composite must have the composite's types, so it is refined as part of its caller.
		func() error {
			return functions(func(f *ir.Op) error { return passes.CompositeToCall{Dynamic: true}.Run(c, f) })
		},
		// Inline as XLA does, because a function that is called with several sizes cannot be refined.
		func() error { return passes.Inline{}.Run(c, m) },
		func() error { return passes.RefineArguments{To: inputs}.Run(c, m) },
		func() error { return passes.RefineShapes{Evaluator: interp.NewEvaluator(refineMemory)}.Run(c, m) },
		func() error {
			return functions(func(f *ir.Op) error { return passes.CheckShapeAssertions{}.Run(c, f) })
		},
		func() error { return legalize.Calls(m) },
		func() error {
			return functions(func(f *ir.Op) error { return passes.CanonicalizeDynamism{}.Run(c, f) })
		},
		func() error { return ir.Verify(m) },
	} {
		if err := step(); err != nil {
			return err
		}
	}
	return nil
}
