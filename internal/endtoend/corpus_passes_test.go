package endtoend

import (
	"context"
	"fmt"
	"path/filepath"
	"slices"
	"strings"
	"testing"

	"github.com/hlocb/hlocb/dialect/fn"
	"github.com/hlocb/hlocb/internal/label"
	"github.com/hlocb/hlocb/internal/plugintest"
	"github.com/hlocb/hlocb/internal/testkit"
	"github.com/hlocb/hlocb/ir"
	"github.com/hlocb/hlocb/opt"
	"github.com/hlocb/hlocb/pass"
	"github.com/hlocb/hlocb/passes"
	"github.com/hlocb/hlocb/print"
	"github.com/hlocb/hlocb/runtime"
	"github.com/hlocb/hlocb/tensor"
)

// hostTargets are the custom calls of testdata that are hooks because a user lists their targets.
var hostTargets = []string{"my_hook", "probe_cb", "hook", "host", "cb", "report"}

// noForm is part of the error for programs that VHLO cannot hold.
const noForm = "VHLO has no form"

// expanded lists the passes that replace functions with other functions. Their results differ by rounding.
var expanded = map[string]bool{"chlo-legalize-to-stablehlo": true, "stablehlo-complex-math-expander": true, "prepare-for-hlo": true}

// folded lists the passes that turn arguments into constants. XLA's folder then computes the values that depend on them
// at compile time, and rounds log and similar functions differently from XLA's code.
var folded = map[string]bool{"bind-arguments": true, "specialize": true}

// delivery is an event with its operands, or the results of a run.
type delivery struct {
	name   string
	values []*tensor.Tensor
}

// delivered runs a program and returns the events of each device, in order, and then the results.
func delivered(b runtime.Backend, m *ir.Module, ctx *pass.Context, args []*tensor.Tensor) ([]delivery, error) {
	manifest, _ := passes.Manifest.Get(ctx)
	rec := &recorder{answer: passOn}
	e, err := b.Compile(context.Background(), &runtime.Program{Module: m, Manifest: manifest}, runtime.CompileOptions{Handlers: rec.bindings()})
	if err != nil {
		return nil, err
	}
	defer e.Close()
	results, err := e.Run(context.Background(), args)
	if err != nil {
		return nil, err
	}
	events := rec.take()
	slices.SortStableFunc(events, func(a, b event) int { return a.device - b.device }) // devices run at the same time
	var out []delivery
	for _, v := range events {
		out = append(out, delivery{fmt.Sprintf("device %d: %s", v.device, v.site.Name), v.operands})
	}
	return append(out, delivery{"results", results}), nil
}

// agree reports whether two runs delivered the same, bit for bit or up to rounding.
func agree(a, b []delivery, equal func(a, b *tensor.Tensor) bool) bool {
	return slices.EqualFunc(a, b, func(x, y delivery) bool { return x.name == y.name && slices.EqualFunc(x.values, y.values, equal) })
}

// smallArguments returns small numbers for main's arguments; ok is false if they are not tensors of static shape.
func smallArguments(m *ir.Module) (args []*tensor.Tensor, ok bool) {
	f, ok := fn.Lookup(m, "main")
	if !ok {
		return nil, false
	}
	for i, t := range f.Type().Inputs() {
		typ, ok := t.(*ir.TensorType)
		if !ok || !typ.Static() || typ.DType() == tensor.Invalid {
			return nil, false
		}
		args = append(args, plugintest.Fill(typ.DType(), typ.Shape(), i))
	}
	return args, true
}

// TestPassesKeepCorpus: every pass keeps the events, their order and the results of the programs of testdata, bit for
// bit, on the engine and with HLOCB_LONG=1 also on XLA. If a pass expands functions or XLA folds constants, rounding
// may differ. Otherwise each program goes through a fifth of the passes, in 'make test' through a twentieth.
func TestPassesKeepCorpus(t *testing.T) {
	label.Once(t)
	table := opt.Passes()
	list, every := []string{"interp"}, 5
	if label.Less() {
		every = 20
	}
	if long() {
		list = append(list, "cpu")
	}
	for _, backend := range list {
		t.Run(backend, func(t *testing.T) {
			b := open(t, backend)
			programs, runs, changed, unfit := 0, 0, 0, 0
			for _, folder := range []string{"events", "hooks", "order", "mlir", "programs"} {
				for _, file := range testkit.Glob(t, folder+"/*.mlir") {
					name := filepath.Base(file)
					if strings.HasPrefix(name, "big_") {
						continue // it multiplies matrices of 1,500 rows
					}
					original, err := testkit.TryParse(name, readFile(t, file))
					if err != nil || ir.Verify(original) != nil {
						continue
					}
					args, ok := smallArguments(original)
					if !ok {
						unfit++
						continue
					}
					run := func(pipeline func(ctx *pass.Context, m *ir.Module, hooks func() error) ([]*tensor.Tensor, error)) ([]delivery, string, error) {
						m := original.Clone()
						ctx := pass.NewContext(context.Background(), m)
						hooks := func() error {
							return (&pass.Driver{Verify: ir.VerifyContext}).Run(ctx, pass.Pipeline{passes.RewriteHooks{Targets: hostTargets}})
						}
						args, err := pipeline(ctx, m, hooks)
						if err != nil {
							return nil, "", err
						}
						got, err := delivered(b, m, ctx, args)
						return got, print.String(m, print.Options{}), err
					}
					want, plain, err := run(func(_ *pass.Context, _ *ir.Module, hooks func() error) ([]*tensor.Tensor, error) {
						return args, hooks()
					})
					if err != nil {
						unfit++
						continue // it is for several devices, or needs its own arguments or answers
					}
					programs++
					for i, pipeline := range drawn(table) {
						if !long() && (i+programs)%every != 0 {
							continue
						}
						got, text, err := run(func(ctx *pass.Context, m *ir.Module, hooks func() error) ([]*tensor.Tensor, error) {
							early := copies[pipeline] || pipeline == "strip-debuginfo" // locations name hooks
							if early {
								if err := hooks(); err != nil {
									return nil, err
								}
							}
							p, left, err := pipelineOf(pipeline, table, m, args)
							if err != nil {
								return nil, err
							}
							if err := (&pass.Driver{Verify: ir.VerifyContext}).Run(ctx, p); err != nil || early {
								return left, err
							}
							return left, hooks()
						})
						runs++
						if err != nil && (strings.Contains(err.Error(), refusal) || strings.Contains(err.Error(), noForm)) {
							continue
						}
						if text != plain {
							changed++
						}
						equal := sameBits
						if expanded[pipeline] || backend == "cpu" && folded[pipeline] {
							equal = near
						}
						if err != nil || !agree(got, want, equal) {
							t.Errorf("%s, %s: %v\ndelivered\n%.2000v\ninstead of\n%.2000v\n%.4000s", name, pipeline, err, got, want, text)
						}
					}
				}
			}
			t.Logf("%d programs, %d runs of a pass, %d changed the program; %d programs do not run alone", programs, runs, changed, unfit)
			if programs < 50 || changed < runs/10 {
				t.Errorf("%d programs and %d changes are too few", programs, changed)
			}
		})
	}
}
