package interp

import (
	"github.com/hlocb/hlocb/dialect/fn"
	"github.com/hlocb/hlocb/internal/legalize"
	"github.com/hlocb/hlocb/interp/internal/exec"
	"github.com/hlocb/hlocb/interp/internal/kernel"
	"github.com/hlocb/hlocb/interp/internal/ops"
	"github.com/hlocb/hlocb/interp/internal/plan"
	"github.com/hlocb/hlocb/ir"
	"github.com/hlocb/hlocb/runtime"
)

// compile makes the plan of a module's entry function and of every function that it calls. It panics with a Failure if
// it cannot compile an op.
func compile(p *runtime.Program, opts Options, copts runtime.CompileOptions) (*plan.Compiler, *exec.Function) {
	h := &ops.Host{}
	if opts.Targets != nil {
		h.Targets = func(target string, call *ir.Op) func(*plan.Planner, *plan.Spec) exec.Runner {
			if k := kernel.Must(opts.Targets(target, call)); k != nil {
				return planKernel(k)
			}
			return nil
		}
	}
	table := ops.BuildTable(h)
	for d, k := range opts.Kernels {
		table[d] = plan.Control(planKernel(k), 0)
	}
	for d, f := range opts.Functions {
		table[d] = plan.Elements(plan.ByTypes(kernel.MakeBinary(kernel.BinaryOf(f.Floats, f.Ints, f.Uints))))
	}
	mod := p.Module
	expands := func(op *ir.Op) bool { return table[plan.OpKind(op)].Expands(op) }
	inlines := plan.Inlines(mod, table)
	if calls := legalize.HasCalls(mod); calls || inlines || legalize.Contains(mod, expands) {
		mod = mod.Clone() // the caller's module stays unchanged
		if calls {
			kernel.Fail(legalize.Calls(mod))
			kernel.Fail(ir.Verify(mod))
		}
		plan.Expand(mod, expands)
		if inlines {
			plan.Inline(mod, table)
		}
	}
	h.Bind(mod, p, copts)
	c := plan.NewCompiler(mod, ir.SymbolsOf(mod.Op()), table, opts.MemoryLimit)
	c.Timeout = copts.Timeout
	c.Replicas, c.Partitions = ops.Grid(mod, c.Symbols, opts.Replicas, opts.Partitions, copts)
	entry := opts.Entry
	if entry == "" {
		entry = "main"
		if _, ok := c.Symbols[entry]; !ok {
			if fs := fn.Funcs(mod); len(fs) == 1 {
				entry = fs[0].Symbol()
			}
		}
	}
	kernel.FailIf(c.Symbols[entry] == nil, "module has no function @%s to run", entry)
	f := c.Function(entry)
	c.CheckMemory(f)
	c.Planned = true
	return c, f
}
