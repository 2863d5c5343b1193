package cli

import (
	"errors"
	"fmt"
	"math/rand/v2"
	"os"
	"slices"
	"strconv"
	"strings"

	"github.com/hlocb/hlocb"
	"github.com/hlocb/hlocb/tensor"
)

// arguments makes main's arguments: --arg sets the first ones, --fill the remaining ones.
func arguments(types []hlocb.Type, given []string, fill string) ([]*tensor.Tensor, error) {
	if len(given) > len(types) {
		return nil, usagef("%d times --arg, but main has %s", len(given), plural(len(types), "argument"))
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
					return nil, err // not an error of the command line: the file cannot be read
				}
				return nil, usagef("--arg %d: %w", i, err)
			}
		case hlocb.IsDynamic(t):
			return nil, noFill(i, t)
		case filler != nil:
			out[i] = tensor.New(t.DType, t.Shape)
			filler(out[i], i)
		default:
			return nil, usagef("argument %d of main, %s, is missing: use --arg or --fill", i, t)
		}
	}
	return out, nil
}

// noFill is the error for argument i of main, whose dynamic shape cannot be generated.
func noFill(i int, t hlocb.Type) error {
	return usagef("argument %d of main, %s, has a dynamic shape: use --arg", i, t)
}

func plural(n int, what string) string {
	if n == 1 {
		return "1 " + what
	}
	return fmt.Sprintf("%d %ss", n, what)
}

// argument reads LITERAL or @FILE.npy.
func argument(s string, want hlocb.Type) (*tensor.Tensor, error) {
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
	if got := (hlocb.Type{DType: v.DType(), Shape: v.Shape()}); got.DType != want.DType || !slices.EqualFunc(got.Shape, want.Shape, func(g, w int64) bool { return w < 0 || g == w }) {
		return nil, fmt.Errorf("value has type %s, main expects %s", got, want)
	}
	return v, nil
}

// parseFill returns a function that fills argument i, or nil for the empty spec.
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
				return nil, usagef("--fill %s: the seed is not a number from 0 to 2^64-1", spec)
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
