package cli

import (
	"errors"
	"fmt"
	"math/rand/v2"
	"os"
	"regexp"
	"slices"
	"strconv"
	"strings"

	"github.com/spf13/cobra"

	"github.com/hlocb/hlocb"
	"github.com/hlocb/hlocb/diag"
	"github.com/hlocb/hlocb/hlo"
	"github.com/hlocb/hlocb/internal/command"
	"github.com/hlocb/hlocb/internal/entry"
	"github.com/hlocb/hlocb/internal/values"
	"github.com/hlocb/hlocb/internal/words"
	"github.com/hlocb/hlocb/tensor"
)

// argumentFlags are the flags that set main's arguments.
type argumentFlags struct {
	args []string // of --arg
	sets []string // of --args
	cast bool
	fill string
}

func (f *argumentFlags) add(c *cobra.Command) {
	c.Flags().StringArrayVar(&f.args, "arg", nil, "`VALUE` next argument: 1.5, [1, 2, 3], MLIR literal or @FILE.npy; NAME=... or N=... sets that argument")
	c.Flags().StringArrayVar(&f.sets, "args", nil, "`DIR|FILE` arguments by name or number: DIR of .npy files, FILE.npz or FILE.safetensors")
	c.Flags().BoolVar(&f.cast, "cast", false, "convert arrays of files to the arguments' types: floats are rounded to floats, all else must be exact")
	c.Flags().StringVar(&f.fill, "fill", "", "`KIND` other arguments: iota, zeros or random:SEED")
	command.CompleteFixed(c, "fill", "iota", "zeros", "random:0")
}

// isSet reports whether the flags set arguments.
func (f *argumentFlags) isSet() bool { return len(f.args) > 0 || len(f.sets) > 0 || f.fill != "" }

// files returns the files that arguments are read from.
func (f *argumentFlags) files() []string {
	out := slices.Clone(f.sets)
	for _, arg := range f.args {
		if _, rest, ok := strings.Cut(arg, "@"); ok && !strings.Contains(arg, "dense<") {
			out = append(out, rest)
		}
	}
	return out
}

// arguments returns main's arguments: the values of --args, overridden by --arg. --fill generates the remaining values;
// without it, they are those that the module's file stores.
func (a *app) arguments(p *hlocb.Program, types []hlocb.Type, f *argumentFlags) ([]*tensor.Tensor, error) {
	filler, err := parseFill(f.fill)
	if err != nil {
		return nil, err
	}
	names := p.ArgumentNames()
	out := make([]*tensor.Tensor, len(types))
	specs, err := f.place(names, len(types))
	if err != nil {
		return nil, err
	}
	stored := storedArguments(p)
	if len(stored) != len(types) {
		stored = nil
	}
	for _, path := range f.sets {
		if err := a.argumentSet(out, path, types, names, specs, f.cast); err != nil {
			return nil, err
		}
	}
	platform := entry.Of(p.Module(), p.Manifest()).Platform()
	for i, t := range types {
		switch spec, ok := specs[i]; {
		case ok:
			if out[i], err = argument(spec, t, f.cast); err != nil {
				if strings.HasPrefix(spec.value, "@") {
					return nil, err // not an error of the command line: the file is missing or invalid
				}
				if i == platform { // the value is for the argument after it
					return nil, noPlatform()
				}
				return nil, usagef("--arg %s (argument %d): %w", words.Shorten(diag.Escape(spec.name+spec.value), maxNameText), i, err)
			}
		case out[i] != nil:
		case filler == nil && stored != nil:
			if out[i], err = fit(stored[i], t, false); err != nil {
				return nil, fmt.Errorf("argument %d, which the file stores: %w", i, err)
			}
		case i == platform:
			return nil, noPlatform()
		case entry.IsDynamic(t):
			return nil, noFill(i, t)
		case filler != nil:
			out[i] = tensor.New(t.DType, t.Shape)
			filler(out[i], i)
		default:
			name := ""
			if names[i] != "" {
				name = " (" + diag.Escape(names[i]) + ")"
			}
			return nil, usagef("argument %d of main%s, %s, is missing: use --arg, --args or --fill", i, name, t)
		}
	}
	return out, nil
}

// argumentSpec is a value of --arg: a literal or @FILE.npy, after an empty name or NAME=.
type argumentSpec struct{ name, value string }

// cutArgument splits NAME=VALUE. A name, such as params['w'], may contain anything before a file or a dense literal,
// and no character of a literal otherwise.
func cutArgument(spec string) (name, value string, ok bool) {
	if strings.HasPrefix(spec, "@") || strings.HasPrefix(spec, "dense<") {
		return "", "", false
	}
	for _, sign := range []string{"=@", "=dense<"} {
		if name, _, ok = strings.Cut(spec, sign); ok {
			return name, spec[len(name)+1:], true
		}
	}
	name, value, ok = strings.Cut(spec, "=")
	return name, value, ok && !strings.ContainsAny(name, `<"@: `)
}

// place assigns the values of --arg to arguments. A value without a name or number is for the argument after the
// previous value's.
func (f *argumentFlags) place(names []string, n int) (map[int]argumentSpec, error) {
	specs := map[int]argumentSpec{}
	next := 0
	for _, text := range f.args {
		at, spec := next, argumentSpec{value: text}
		if name, value, ok := cutArgument(text); ok {
			spec = argumentSpec{name + "=", value}
			if at = slices.Index(names, name); at < 0 {
				k, err := strconv.Atoi(strings.TrimPrefix(name, "arg"))
				switch {
				case err == nil && 0 <= k && k < n:
					at = k
				case !slices.ContainsFunc(names, func(s string) bool { return s != "" }) && n > 0:
					return nil, usagef("--arg %s: the arguments of main have no names; use a number from 0 to %d", name, n-1)
				default:
					return nil, usagef("--arg %s: main has no argument of that name or number%s", name, command.Suggest(name, names))
				}
			}
		}
		if at >= n {
			return nil, usagef("%d times --arg, but main has %s", len(f.args), plural(n, "argument"))
		}
		specs[at], next = spec, at+1
	}
	return specs, nil
}

// argumentSet sets arguments from the arrays of a file, except the arguments in replaced.
func (a *app) argumentSet(out []*tensor.Tensor, path string, types []hlocb.Type, names []string, replaced map[int]argumentSpec, cast bool) error {
	set, err := values.Open(path)
	if err != nil {
		return err
	}
	defer set.Close()
	used := map[int]bool{}
	for i, t := range types {
		k := set.Find(i, names[i])
		if k < 0 {
			continue
		}
		used[k] = true
		if _, ok := replaced[i]; ok {
			continue
		}
		v, err := set.Read(k, t.DType)
		if err != nil {
			return err
		}
		if out[i], err = fit(v, t, cast); err != nil {
			return fmt.Errorf("%s: array %q for argument %d: %w", path, diag.Escape(set.Names()[k]), i, err)
		}
	}
	var unused []string
	for k, name := range set.Names() {
		if !used[k] {
			unused = append(unused, diag.Escape(name))
		}
	}
	switch n := len(unused); {
	case n == 0:
	case n == len(set.Names()):
		return fmt.Errorf("%s: no array has the name or number of an argument of main; the first array is %q", path, unused[0])
	default:
		if n > 3 {
			unused = append(unused[:3], "...")
		}
		a.note("%s: %s of %d not used: %s", path, plural(n, "array"), len(set.Names()), strings.Join(unused, ", "))
	}
	return nil
}

// noPlatform is the error for a missing index of the platform, which is not generated: it would choose the code that
// runs.
func noPlatform() error {
	return usagef("main is for several platforms: choose one with --platform NAME if the file is a jax.export, else with --platform-index N")
}

// noFill is the error for argument i of main, whose dynamic shape cannot be generated.
func noFill(i int, t hlocb.Type) error {
	return usagef("argument %d of main, %s, has a dynamic shape: use --arg or --args", i, t)
}

func plural(n int, noun string) string {
	if n == 1 {
		return "1 " + noun
	}
	return fmt.Sprintf("%d %ss", n, noun)
}

// argument reads LITERAL or @FILE.npy.
func argument(s argumentSpec, want hlocb.Type, cast bool) (*tensor.Tensor, error) {
	path, file := strings.CutPrefix(s.value, "@")
	if !file {
		v, err := tensor.ParseLiteral(typedLiteral(s.value, want))
		if err != nil {
			if _, missing := os.Stat(s.value); missing == nil {
				return nil, fmt.Errorf("%w; write %s@%s to read the file", err, s.name, s.value)
			}
			return nil, err
		}
		if v.DType() != want.DType {
			return nil, unexpected(v, want)
		}
		return fit(v, want, false)
	}
	v, err := values.ReadFile(path, want.DType)
	if err == nil {
		v, err = fit(v, want, cast)
	}
	if err != nil && !errors.As(err, new(*os.PathError)) {
		err = fmt.Errorf("%s: %w", path, err)
	}
	return v, err
}

// number matches a number in a list. numbers matches a number or a list of numbers.
var (
	number  = regexp.MustCompile(`[-+]?[0-9][0-9.]*(?:[eE][-+]?[0-9]+)?`)
	numbers = regexp.MustCompile(`^[\[\],\s]*(?:(?:[-+]?[0-9][0-9.]*(?:[eE][-+]?[0-9]+)?|true|false)[\[\],\s]*)+$`)
)

// typedLiteral returns a literal of MLIR for a number or a list of numbers of the type that an argument has. Other text
// stays as it is.
func typedLiteral(text string, want hlocb.Type) string {
	list := strings.TrimSpace(text)
	if !numbers.MatchString(list) {
		return text
	}
	shape := slices.Clone(want.Shape)
	if list[0] == '[' { // the sizes of dynamic dimensions come from the list
		for i, rest := 0, list; i < len(shape) && strings.HasPrefix(rest, "["); i++ {
			rest = strings.TrimLeft(rest[1:], " ")
			if shape[i] < 0 {
				shape[i] = int64(items(rest))
			}
		}
	}
	if want.DType.IsFloat() {
		list = number.ReplaceAllStringFunc(list, func(n string) string {
			mantissa, exponent, _ := strings.Cut(strings.ToLower(n), "e")
			if strings.Trim(mantissa, "+-0123456789") != "" {
				return n
			}
			if exponent != "" {
				return mantissa + ".0e" + exponent
			}
			return mantissa + ".0"
		})
	}
	return "dense<" + list + "> : " + hlocb.Type{DType: want.DType, Shape: shape}.String()
}

// items counts the items of a list up to its closing bracket.
func items(list string) int {
	depth, n := 0, 0
	for i, c := range list {
		switch c {
		case '[':
			depth++
		case ']':
			if depth == 0 {
				if strings.TrimSpace(list[:i]) == "" {
					return 0
				}
				return n + 1
			}
			depth--
		case ',':
			if depth == 0 {
				n++
			}
		}
	}
	return n + 1
}

// fit checks the type of an array of a file and, with cast, converts its elements.
func fit(v *tensor.Tensor, want hlocb.Type, cast bool) (*tensor.Tensor, error) {
	if !slices.EqualFunc(v.Shape(), want.Shape, func(g, w int64) bool { return w < 0 || g == w }) {
		return nil, unexpected(v, want)
	}
	if cast {
		return v.Cast(want.DType)
	}
	if v.DType() != want.DType {
		if _, err := v.Cast(want.DType); err != nil {
			return nil, unexpected(v, want)
		}
		return nil, fmt.Errorf("%w; --cast converts it", unexpected(v, want))
	}
	return v, nil
}

func unexpected(v *tensor.Tensor, want hlocb.Type) error {
	return fmt.Errorf("value has type %s, main expects %s", hlocb.Type{DType: v.DType(), Shape: v.Shape()}, want)
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

// storedArguments returns the arguments in the file that the module was read from, a snapshot of XLA, or nil. There are
// none if they are those of several partitions. The caller must not change them.
func storedArguments(p *hlocb.Program) []*tensor.Tensor {
	if s := hlo.SnapshotOf(p.Module()); s != nil && len(s.Arguments) == 1 {
		return s.Arguments[0]
	}
	return nil
}
