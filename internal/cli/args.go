package cli

import (
	"errors"
	"fmt"
	"math/rand/v2"
	"os"
	"slices"
	"strconv"
	"strings"

	"github.com/hlocb/hlocb/dialect/fn"
	"github.com/hlocb/hlocb/dialect/quant"
	"github.com/hlocb/hlocb/dialect/stablehlo"
	"github.com/hlocb/hlocb/hook"
	"github.com/hlocb/hlocb/ir"
	"github.com/hlocb/hlocb/tensor"
)

// parameters returns the types of main's arguments. Dimensions whose size the program leaves open are negative; quantized
// ones are of the type that they are stored in.
func parameters(m *ir.Module) ([]hook.TensorType, error) {
	f, ok := fn.Lookup(m, "main")
	if !ok {
		if all := fn.Funcs(m); len(all) == 1 {
			f, ok = all[0], true
		}
	}
	if !ok {
		return nil, m.Errorf(m.Op(), "the module has no function @main")
	}
	var out []hook.TensorType
	for i, t := range f.Type().Inputs() {
		if stablehlo.IsToken(t) { // nobody gives tokens
			continue
		}
		tt, ok := t.(*ir.TensorType)
		if !ok || !tt.Ranked() {
			return nil, m.Errorf(f.Op, "argument %d of @%s is of type %s; only tensors whose rank is known can be given", i, f.Symbol(), t)
		}
		d := tt.DType()
		if q := quant.Of(tt.Elem()); q != nil {
			d = ir.ElementDType(q.Storage)
		}
		if d == tensor.Invalid {
			return nil, m.Errorf(f.Op, "argument %d of @%s is of type %s; tensors of such elements cannot be given", i, f.Symbol(), t)
		}
		out = append(out, hook.TensorType{DType: d, Shape: tt.Shape()})
	}
	return out, nil
}

// visible returns what is left of a list without the positions of hidden.
func visible[T any](list []T, hidden []int) []T {
	var out []T
	for i, v := range list {
		if !slices.Contains(hidden, i) {
			out = append(out, v)
		}
	}
	return out
}

// withHidden puts zeros in the place of hidden arguments: nobody reads them.
func withHidden(args []*tensor.Tensor, types []hook.TensorType, hidden []int) []*tensor.Tensor {
	if len(hidden) == 0 {
		return args
	}
	var out []*tensor.Tensor
	for i, t := range types {
		if slices.Contains(hidden, i) {
			out = append(out, tensor.New(t.DType, t.Shape))
		} else if len(args) > 0 {
			out, args = append(out, args[0]), args[1:]
		}
	}
	return out
}

// arguments makes main's arguments of --arg and --fill: those that --arg does not give are filled.
func arguments(types []hook.TensorType, given []string, fill string) ([]*tensor.Tensor, error) {
	if len(given) > len(types) {
		return nil, usagef("%d times --arg, but main takes %s", len(given), plural(len(types), "argument"))
	}
	filler, err := parseFill(fill)
	if err != nil {
		return nil, err
	}
	out := make([]*tensor.Tensor, len(types))
	for i, t := range types {
		switch {
		case i < len(given):
			if out[i], err = argument(given[i], t); err != nil {
				var path *os.PathError
				if errors.As(err, &path) {
					return nil, err // the command line is right, the file is not there
				}
				return nil, usagef("--arg %d: %w", i, err)
			}
		case isDynamic(t):
			return nil, noFill(i, t)
		case filler != nil:
			out[i] = tensor.New(t.DType, t.Shape)
			filler(out[i], i)
		default:
			return nil, usagef("argument %d of main, %s, is missing: give it with --arg, or use --fill", i, t)
		}
	}
	return out, nil
}

// isDynamic reports whether the program leaves a dimension open.
func isDynamic(t hook.TensorType) bool {
	return slices.ContainsFunc(t.Shape, func(d int64) bool { return d < 0 })
}

// noFill is the error for argument i of main, which nobody can make up.
func noFill(i int, t hook.TensorType) error {
	return usagef("argument %d of main, %s, is of dynamic shape: give it with --arg", i, t)
}

func plural(n int, what string) string {
	if n == 1 {
		return "1 " + what
	}
	return fmt.Sprintf("%d %ss", n, what)
}

// argument reads LITERAL or @FILE.npy.
func argument(s string, want hook.TensorType) (*tensor.Tensor, error) {
	var v *tensor.Tensor
	if path, ok := strings.CutPrefix(s, "@"); ok {
		f, err := os.Open(path)
		if err != nil {
			return nil, err
		}
		defer f.Close()
		if v, err = tensor.ReadNPY(f, want.DType); err != nil {
			return nil, fmt.Errorf("%s: %w", path, err)
		}
	} else {
		var err error
		if v, err = tensor.ParseLiteral(s); err != nil {
			return nil, err
		}
	}
	if got := (hook.TensorType{DType: v.DType(), Shape: v.Shape()}); got.DType != want.DType || !slices.EqualFunc(got.Shape, want.Shape, func(g, w int64) bool { return w < 0 || g == w }) {
		return nil, fmt.Errorf("value is of type %s, main takes %s", got, want)
	}
	return v, nil
}

// parseFill returns what fills argument i, nil for the empty spec.
//
//	iota         0, 1, 2, ... in row-major order, modulo the number of values of a narrow integer type
//	zeros        0
//	random:SEED  floats from the standard normal distribution, integers from 0 to 9, fair i1; the same for the same
//	             seed everywhere
func parseFill(spec string) (func(t *tensor.Tensor, i int), error) {
	name, arg, hasArg := strings.Cut(spec, ":")
	switch {
	case spec == "":
		return nil, nil
	case spec == "zeros":
		return func(*tensor.Tensor, int) {}, nil
	case spec == "iota":
		return func(t *tensor.Tensor, _ int) { fillIota(t) }, nil
	case name == "random":
		seed := uint64(0)
		if hasArg {
			var err error
			if seed, err = strconv.ParseUint(arg, 10, 64); err != nil {
				return nil, usagef("--fill %s: the seed is no number from 0 to 2^64-1", spec)
			}
		}
		return func(t *tensor.Tensor, i int) { fillRandom(t, rand.New(rand.NewPCG(seed, uint64(i)))) }, nil
	}
	return nil, usagef("--fill %s: expected iota, zeros or random:SEED", spec)
}

func fillIota(t *tensor.Tensor) {
	d := t.DType()
	limit := uint64(1) << 62
	switch d.Kind() {
	case tensor.KindBool, tensor.KindUnsigned:
		limit = 1 << min(d.Bits(), 62)
	case tensor.KindSigned:
		limit = 1 << (d.Bits() - 1)
	}
	for i := range t.NumElements() {
		if d.IsFloat() || d.IsComplex() {
			t.SetFloat(i, float64(i))
		} else {
			t.SetInt(i, int64(uint64(i)%limit))
		}
	}
}

func fillRandom(t *tensor.Tensor, rng *rand.Rand) {
	for i := range t.NumElements() {
		switch d := t.DType(); {
		case d.IsComplex():
			t.SetComplex(i, complex(rng.NormFloat64(), rng.NormFloat64()))
		case d.IsFloat():
			t.SetFloat(i, rng.NormFloat64())
		case d == tensor.I1:
			t.SetInt(i, int64(rng.IntN(2)))
		default:
			t.SetFloat(i, float64(rng.IntN(10)))
		}
	}
}
