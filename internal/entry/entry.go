// Package entry describes a program's main as its callers see it: arguments, results, their names, and the arguments
// that a caller decides before a run, such as the platform and dynamic sizes.
package entry

import (
	"slices"

	"github.com/hlocb/hlocb/dialect/fn"
	"github.com/hlocb/hlocb/dialect/quant"
	"github.com/hlocb/hlocb/dialect/stablehlo"
	"github.com/hlocb/hlocb/dialect/view"
	"github.com/hlocb/hlocb/hook"
	"github.com/hlocb/hlocb/ir"
	"github.com/hlocb/hlocb/tensor"
)

// Signature is main and the positions in it of a caller's arguments and results. A caller sees neither tokens nor the
// values that only the source's host needed.
type Signature struct {
	Main               fn.FuncOp // its Op is nil if the module has no main
	Arguments, Results []int
}

// Of returns the signature of a module with these hooks.
func Of(m *ir.Module, hooks *hook.Manifest) (s Signature) {
	f, err := fn.Entry(m)
	if err != nil {
		return s
	}
	return Signature{f, positions(f.Type().Inputs(), hooks.HiddenArgs), positions(f.Type().Results(), hooks.HiddenResults)}
}

// positions returns the positions of the types that are neither tokens nor hidden. hidden does not count tokens.
func positions(types []ir.Type, hidden []int) []int {
	at := make([]int, 0, len(types))
	for i, t := range types {
		if !stablehlo.IsToken(t) {
			at = append(at, i)
		}
	}
	return Visible(at, hidden)
}

// ArgumentNames returns the names of the arguments: jax.arg_info, else the name in the argument's location, else "".
func (s Signature) ArgumentNames() (names []string) {
	for _, i := range s.Arguments {
		name := view.String(s.Main.ArgAttrs(i).Get(fn.AttrArgInfo))
		if l := s.Main.Body().Arg(i).Loc(); name == "" && l.Kind() == ir.LocName {
			name = l.Name()
		}
		names = append(names, name)
	}
	return names
}

// ResultNames returns the names of the results: jax.result_info, else "".
func (s Signature) ResultNames() (names []string) {
	for _, i := range s.Results {
		names = append(names, view.String(s.Main.ResultAttrs(i).Get(fn.AttrResultInfo)))
	}
	return names
}

// Carried returns, for each argument, the result that takes over its memory, or -1.
func (s Signature) Carried() (results []int) {
	for _, i := range s.Arguments {
		result, _ := s.Main.Donation(i)
		results = append(results, slices.Index(s.Results, result))
	}
	return results
}

// Parameters returns the types of all arguments of main except tokens. A negative dimension is dynamic. A quantized
// argument has its storage type.
func Parameters(m *ir.Module) ([]hook.TensorType, error) {
	f, err := fn.Entry(m)
	if err != nil {
		return nil, err
	}
	var out []hook.TensorType
	for i, t := range f.Type().Inputs() {
		if stablehlo.IsToken(t) {
			continue
		}
		tt, ok := t.(*ir.TensorType)
		if !ok || !tt.Ranked() {
			return nil, m.Errorf(f.Op, "argument %d of @%s has type %s; expected a tensor of known rank", i, f.Symbol(), t)
		}
		d := tt.DType()
		if q := quant.Of(tt.Elem()); q != nil {
			d = ir.ElementDType(q.Storage)
		}
		if d == tensor.Invalid {
			return nil, m.Errorf(f.Op, "argument %d of @%s has type %s; arguments of this element type are not supported", i, f.Symbol(), t)
		}
		out = append(out, hook.TensorType{DType: d, Shape: tt.Shape()})
	}
	return out, nil
}

// CheckMemory refuses a program whose arguments take more than limit bytes, before they are allocated. 0 means no
// limit.
func CheckMemory(m *ir.Module, limit int64) error {
	all, err := Parameters(m)
	if err != nil {
		return err
	}
	total := 0.0
	for _, t := range all {
		if IsDynamic(t) {
			continue // as large as the argument
		}
		if n := t.Shape.NumElements(); n >= 0 {
			total += float64(n) * float64(t.DType.Size())
		} else {
			total += 1 << 63
		}
	}
	if total >= 1<<63 || limit > 0 && total > float64(limit) {
		f, _ := fn.Entry(m)
		return m.Errorf(f.Op, "the arguments of main take %.0f bytes; the memory limit is %d", total, limit)
	}
	return nil
}

// IsDynamic reports whether t has a dimension of unknown size.
func IsDynamic(t hook.TensorType) bool {
	return slices.ContainsFunc(t.Shape, func(d int64) bool { return d < 0 })
}

// Visible returns list without the positions in hidden.
func Visible[T any](list []T, hidden []int) []T {
	if len(hidden) == 0 {
		return list
	}
	var out []T
	for i, v := range list {
		if !slices.Contains(hidden, i) {
			out = append(out, v)
		}
	}
	return out
}
