package hlocb

import (
	"context"
	"fmt"
	"slices"
	"strings"

	"github.com/hlocb/hlocb/artifact"
	"github.com/hlocb/hlocb/diag"
	"github.com/hlocb/hlocb/dialect/fn"
	"github.com/hlocb/hlocb/dialect/view"
	"github.com/hlocb/hlocb/internal/jaxexport"
	"github.com/hlocb/hlocb/internal/legalize"
	"github.com/hlocb/hlocb/interp"
	"github.com/hlocb/hlocb/ir"
	"github.com/hlocb/hlocb/pass"
	"github.com/hlocb/hlocb/passes"
)

// Platform chooses the platform of a program that jax.export wrote for several platforms: "cpu", "cuda", "rocm" or
// "tpu". Parse finds the platforms in the container of jax.export.
func Platform(name string) LoadOption { return func(l *loadConfig) { l.platform = name } }

// PlatformError says that a platform was named for a bare module, which does not list its platforms.
type PlatformError struct{ Name, Platform string }

func (e *PlatformError) Error() string {
	return fmt.Sprintf("%s: platform %q: only the container of jax.export lists platforms by name; a bare module needs the platform's index", e.Name, e.Platform)
}

// PlatformIndex chooses the platform of a module that jax.export wrote for several platforms, by its number.
func PlatformIndex(n int) LoadOption { return func(l *loadConfig) { l.platformIndex = &n } }

// platformArgument is the name of the argument of main that chooses the platform.
const platformArgument = "_platform_index"

// platformOf returns the argument of main that chooses the platform, or -1.
func platformOf(m *ir.Module) int {
	if f, err := fn.Entry(m); err == nil {
		for i := range f.Type().Inputs() {
			if view.String(f.ArgAttrs(i).Get(fn.AttrGlobalConstant)) == platformArgument {
				return i
			}
		}
	}
	return -1
}

// PlatformParameter returns the number of the argument of Run that chooses the platform, or -1 if there is none. Run
// has this argument if the module is for several platforms and neither Platform nor PlatformIndex chose one.
func (p *Program) PlatformParameter() int {
	_, at := p.arguments()
	return slices.Index(at, platformOf(p.module))
}

// platformIndex returns the option with the index of the platform that opts name, from the container of jax.export.
func platformIndex(src *diag.Source, opts []LoadOption) (LoadOption, error) {
	var l loadConfig
	for _, o := range opts {
		o(&l)
	}
	none := func(*loadConfig) {}
	if l.platform == "" {
		return none, nil
	}
	if !jaxexport.Sniff(src.Text()) {
		return nil, &PlatformError{src.Name(), l.platform}
	}
	f, err := artifact.Export(src)
	if err != nil {
		return nil, err
	}
	i := slices.Index(f.Platforms, l.platform)
	if i < 0 {
		return nil, fmt.Errorf("%s: the export is for %s, not for %q", src.Name(), strings.Join(f.Platforms, ", "), l.platform)
	}
	if len(f.Platforms) == 1 {
		return none, nil
	}
	return PlatformIndex(i), nil
}

// bindPlatform replaces the index of the platform by a constant.
func bindPlatform(m *ir.Module, n int) error {
	i := platformOf(m)
	if i < 0 {
		return m.Errorf(m.Op(), "the module is not for several platforms: main has no argument that is the index of the platform")
	}
	f, _ := fn.Entry(m)
	literal := fmt.Sprintf("dense<%d> : %s", n, f.Type().Inputs()[i])
	return passes.BindArguments{Args: strings.Repeat("_;", i) + literal, Function: f.Symbol()}.Run(pass.NewContext(context.Background(), m), m)
}

// Refine replaces the dynamic shapes of main's arguments by the shapes of arguments, the types of Run's arguments, and
// infers the other shapes. Plugins execute a program with dynamic shapes only after Refine.
func (p *Program) Refine(ctx context.Context, arguments []Type) error {
	return p.Edit(func(m *ir.Module) error {
		f, at := p.arguments()
		if f.Op == nil {
			return m.Errorf(m.Op(), "the module has no function @main")
		}
		if len(at) != len(arguments) {
			return fmt.Errorf("main has %d arguments, %d were given", len(at), len(arguments))
		}
		inputs := slices.Clone(f.Type().Inputs())
		for k, i := range at {
			if t := inputs[i].(*ir.TensorType); !t.Static() {
				inputs[i] = m.Context().Tensor(arguments[k].Shape, t.Elem(), nil)
			}
		}
		c := pass.NewContext(ctx, m)
		// The decomposition of a composite must have the composite's types, so it is refined as part of its caller.
		for _, f := range fn.Funcs(m) {
			if err := (passes.CompositeToCall{Dynamic: true}).Run(c, f.Op); err != nil {
				return err
			}
		}
		// Inline as XLA does, because a function that is called with several sizes cannot be refined.
		if err := (passes.Inline{}).Run(c, m); err != nil {
			return err
		}
		if err := (passes.RefineArguments{To: inputs}).Run(c, m); err != nil {
			return err
		}
		if err := (passes.RefineShapes{Evaluator: interp.NewEvaluator(refineMemory)}).Run(c, m); err != nil {
			return err
		}
		for _, f := range fn.Funcs(m) {
			if err := (passes.CheckShapeAssertions{}).Run(c, f.Op); err != nil {
				return err
			}
		}
		if err := legalize.Calls(m); err != nil {
			return err
		}
		for _, f := range fn.Funcs(m) {
			if err := (passes.CanonicalizeDynamism{}).Run(c, f.Op); err != nil {
				return err
			}
		}
		return ir.Verify(m)
	})
}

// NeedsShapes reports whether the program has calls of jax.export for dynamic ops, which no backend executes before
// Refine.
func (p *Program) NeedsShapes() bool { return legalize.HasDynamicCalls(p.module) }

// refineMemory limits the values of one folded op, in bytes.
const refineMemory = 1 << 24
