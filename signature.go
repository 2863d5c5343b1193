package hlocb

import (
	"slices"

	"github.com/hlocb/hlocb/dialect/fn"
	"github.com/hlocb/hlocb/dialect/stablehlo"
	"github.com/hlocb/hlocb/ir"
)

// ArgumentNames returns the names of Run's arguments: jax.arg_info, else the name in the argument's location, else "".
func (p *Program) ArgumentNames() []string {
	f, ok := entry(p.module)
	if !ok {
		return nil
	}
	var out []string
	for i, t := range f.Type().Inputs() {
		if stablehlo.IsToken(t) {
			continue
		}
		name := text(f.ArgAttrs(i), fn.AttrArgInfo)
		if l := f.Body().Arg(i).Loc(); name == "" && l.Kind() == ir.LocName {
			name = l.Name()
		}
		out = append(out, name)
	}
	return visible(out, p.manifest.HiddenArgs)
}

// ResultNames returns the names of Run's results: jax.result_info, else "".
func (p *Program) ResultNames() []string {
	f, ok := entry(p.module)
	if !ok {
		return nil
	}
	var out []string
	for i, t := range f.Type().Results() {
		if !stablehlo.IsToken(t) {
			out = append(out, text(f.ResultAttrs(i), fn.AttrResultInfo))
		}
	}
	return visible(out, p.manifest.HiddenResults)
}

// Carried returns, for each argument of Run, the result that takes over its memory (tf.aliasing_output), or -1. A loop
// over the program passes the result on as the argument of the next step.
func (p *Program) Carried() []int {
	f, ok := entry(p.module)
	if !ok {
		return nil
	}
	results := make([]int, 0, len(f.Type().Results())) // of main, that Run returns
	for i, t := range f.Type().Results() {
		if !stablehlo.IsToken(t) {
			results = append(results, i)
		}
	}
	results = visible(results, p.manifest.HiddenResults)
	var out []int
	for i, t := range f.Type().Inputs() {
		if !stablehlo.IsToken(t) {
			result, _ := f.Donation(i)
			out = append(out, slices.Index(results, result))
		}
	}
	return visible(out, p.manifest.HiddenArgs)
}

func text(d *ir.DictAttr, name string) string {
	if d == nil {
		return ""
	}
	s, _ := d.Get(name).(*ir.StringAttr)
	if s == nil {
		return ""
	}
	return s.Value()
}
