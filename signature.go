package hlocb

import (
	"slices"

	"github.com/hlocb/hlocb/dialect/fn"
	"github.com/hlocb/hlocb/dialect/stablehlo"
	"github.com/hlocb/hlocb/dialect/view"
	"github.com/hlocb/hlocb/hlo"
	"github.com/hlocb/hlocb/ir"
	"github.com/hlocb/hlocb/tensor"
)

// positions returns the positions of the types that are neither tokens nor hidden. hidden does not count tokens.
func positions(types []ir.Type, hidden []int) []int {
	at := make([]int, 0, len(types))
	for i, t := range types {
		if !stablehlo.IsToken(t) {
			at = append(at, i)
		}
	}
	return visible(at, hidden)
}

// arguments returns main and the positions in it of Run's arguments. Without main there are none.
func (p *Program) arguments() (f fn.FuncOp, at []int) {
	f, err := fn.Entry(p.module)
	if err != nil {
		return f, nil
	}
	return f, positions(f.Type().Inputs(), p.manifest.HiddenArgs)
}

// results returns main and the positions in it of Run's results.
func (p *Program) results() (f fn.FuncOp, at []int) {
	f, err := fn.Entry(p.module)
	if err != nil {
		return f, nil
	}
	return f, positions(f.Type().Results(), p.manifest.HiddenResults)
}

// ArgumentNames returns the names of Run's arguments: jax.arg_info, else the name in the argument's location, else "".
func (p *Program) ArgumentNames() (names []string) {
	f, at := p.arguments()
	for _, i := range at {
		name := view.String(f.ArgAttrs(i).Get(fn.AttrArgInfo))
		if l := f.Body().Arg(i).Loc(); name == "" && l.Kind() == ir.LocName {
			name = l.Name()
		}
		names = append(names, name)
	}
	return names
}

// ResultNames returns the names of Run's results: jax.result_info, else "".
func (p *Program) ResultNames() (names []string) {
	f, at := p.results()
	for _, i := range at {
		names = append(names, view.String(f.ResultAttrs(i).Get(fn.AttrResultInfo)))
	}
	return names
}

// Carried returns, for each argument of Run, the result that takes over its memory (tf.aliasing_output), or -1. A loop
// over the program passes the result on as the argument of the next step.
func (p *Program) Carried() (results []int) {
	f, at := p.arguments()
	_, returned := p.results()
	for _, i := range at {
		result, _ := f.Donation(i)
		results = append(results, slices.Index(returned, result))
	}
	return results
}

// StoredArguments returns the arguments in the file that the module was read from, an HloSnapshot or
// HloUnoptimizedSnapshot of XLA. It returns nil if the file has none, or those of several partitions. The caller must
// not change them.
func (p *Program) StoredArguments() []*tensor.Tensor {
	if s := hlo.SnapshotOf(p.module); s != nil && len(s.Arguments) == 1 {
		return s.Arguments[0]
	}
	return nil
}

// StoredResults returns the results in the file that the module was read from, an HloSnapshot of XLA, or nil.
func (p *Program) StoredResults() []*tensor.Tensor {
	if s := hlo.SnapshotOf(p.module); s != nil {
		return s.Result
	}
	return nil
}
