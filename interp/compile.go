package interp

import (
	"fmt"

	"github.com/hlocb/hlocb/dialect/fn"
	"github.com/hlocb/hlocb/ir"
	"github.com/hlocb/hlocb/runtime"
)

// compile makes the plan of a module's entry function and of every function that it calls.
func compile(mod *ir.Module, rp *runtime.Program, opts Options, copts runtime.CompileOptions) (*compiler, *function, error) {
	h, err := newHost(mod, rp, copts)
	if err != nil {
		return nil, nil, err
	}
	table := buildTable(h)
	for d, k := range opts.Kernels {
		table[d] = row{control: planKernel(k)}
	}
	c := newCompiler(mod, ir.SymbolsOf(mod.Op()), table, opts.MemoryLimit)
	c.timeout = copts.Timeout
	if c.replicas, c.partitions, err = grid(mod, c.symbols, opts.Replicas, opts.Partitions, copts); err != nil {
		return nil, nil, err
	}
	entry := opts.Entry
	if entry == "" {
		entry = "main"
		if _, ok := c.symbols[entry]; !ok {
			if fs := fn.Funcs(mod); len(fs) == 1 {
				entry = fs[0].Symbol()
			}
		}
	}
	if _, ok := c.symbols[entry]; !ok {
		return nil, nil, fmt.Errorf("module has no function @%s to run", entry)
	}
	f, err := c.function(entry, mod.Op())
	if err != nil {
		return nil, nil, err
	}
	c.planned = true
	return c, f, nil
}
