package interp

import (
	"fmt"

	"github.com/hlocb/hlocb/dialect/fn"
	"github.com/hlocb/hlocb/internal/legalize"
	"github.com/hlocb/hlocb/interp/internal/exec"
	"github.com/hlocb/hlocb/interp/internal/ops"
	"github.com/hlocb/hlocb/interp/internal/plan"
	"github.com/hlocb/hlocb/ir"
	"github.com/hlocb/hlocb/runtime"
)

// compile makes the plan of a module's entry function and of every function that it calls.
func compile(mod *ir.Module, rp *runtime.Program, opts Options, copts runtime.CompileOptions) (*plan.Compiler, *exec.Function, error) {
	expands := func(op *ir.Op) bool { return opts.Kernels[op.Def()] == nil && ops.Expands(op) }
	if calls := legalize.HasCalls(mod); calls || legalize.Contains(mod, expands) {
		mod = mod.Clone() // the caller's module stays unchanged
		if calls {
			if err := legalize.Calls(mod); err != nil {
				return nil, nil, err
			}
			if err := ir.Verify(mod); err != nil {
				return nil, nil, err
			}
		}
		if err := plan.Expand(mod, expands); err != nil {
			return nil, nil, err
		}
	}
	h, err := ops.NewHost(mod, rp, copts)
	if err != nil {
		return nil, nil, err
	}
	if opts.Targets != nil {
		h.Targets = func(target string) (func(*plan.Planner, *plan.Spec) (exec.Runner, error), error) {
			k, err := opts.Targets(target)
			if k == nil || err != nil {
				return nil, err
			}
			return planKernel(k), nil
		}
	}
	table := ops.BuildTable(h)
	for d, k := range opts.Kernels {
		table[d] = plan.Row{Control: planKernel(k)}
	}
	c := plan.NewCompiler(mod, ir.SymbolsOf(mod.Op()), table, opts.MemoryLimit)
	c.Timeout = copts.Timeout
	if c.Replicas, c.Partitions, err = ops.Grid(mod, c.Symbols, opts.Replicas, opts.Partitions, copts); err != nil {
		return nil, nil, err
	}
	entry := opts.Entry
	if entry == "" {
		entry = "main"
		if _, ok := c.Symbols[entry]; !ok {
			if fs := fn.Funcs(mod); len(fs) == 1 {
				entry = fs[0].Symbol()
			}
		}
	}
	if _, ok := c.Symbols[entry]; !ok {
		return nil, nil, fmt.Errorf("module has no function @%s to run", entry)
	}
	f, err := c.Function(entry, mod.Op())
	if err != nil {
		return nil, nil, err
	}
	c.Planned = true
	return c, f, nil
}
