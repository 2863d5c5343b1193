package hooks

import (
	"context"
	"errors"
	"fmt"
	"io"
	"os"
	"regexp"
	"slices"
	"time"

	"github.com/hlocb/hlocb"
	"github.com/hlocb/hlocb/internal/bench/meter"
	"github.com/hlocb/hlocb/internal/probe"
	"github.com/hlocb/hlocb/ir"
	"github.com/hlocb/hlocb/runtime"
	"github.com/hlocb/hlocb/runtime/handlers"
	"github.com/hlocb/hlocb/tensor"
)

// gradient is the gradient of a transformer, as JAX writes it.
const gradient = "testdata/transformer_grad.mlir"

// probeSet is a set of probes. run and compile limit the time of runs and of compilation, relative to a program without
// probes.
type probeSet struct {
	name         string
	add          func(m *ir.Module) (values int, err error)
	run, compile float64 // 0 means no goal
}

func taps(pattern, kind string) func(m *ir.Module) (int, error) {
	return func(m *ir.Module) (int, error) {
		added, err := probe.Add(m, []probe.Tap{{Patterns: []*regexp.Regexp{regexp.MustCompile(pattern)}, Kind: kind}})
		if err != nil {
			return 0, err
		}
		return added[0].Values, nil
	}
}

// probes compares a program without probes with the same program with probes on many values.
func probes(ctx context.Context, w io.Writer, b runtime.Backend, rounds int) (rows []meter.Row, err error) {
	text, err := os.ReadFile(gradient)
	if err != nil {
		return nil, err
	}
	list := []probeSet{
		{name: "no probe", add: func(*ir.Module) (int, error) { return 0, nil }},
		{"finite on every value", taps(".", probe.Finite), 2, 10},
		{"stats on every dot_general", taps("dot_general", probe.Stats), 1.5, 0},
		{"the search for a NaN", func(m *ir.Module) (int, error) {
			_, err := probe.AddOrigin(m, false)
			return 0, err
		}, 0, 0},
	}
	fmt.Fprintf(w, "\nprobes on %s, %d rounds in turn; goals are ratios:\n  %-28s %6s  %22s  %11s  %6s  %14s  %6s  %s\n", gradient, rounds,
		"", "values", "compiling (processor)", "time", "ratio", "processor time", "ratio", "median")
	var contestants []*contestant
	var compiled []time.Duration
	var values []int
	for _, o := range list {
		c := &contestant{name: o.name}
		n := 0
		p, err := hlocb.Parse(ctx, gradient, text, hlocb.BeforeConversion(func(m *ir.Module) (err error) {
			n, err = o.add(m)
			return err
		}))
		if err != nil {
			return nil, err
		}
		var bindings runtime.Bindings
		served := &probe.Handlers{Env: &handlers.Env{Out: io.Discard}}
		for i := range p.Hooks() {
			s := &p.Hooks()[i]
			h, _, err := served.For(p.Manifest(), s)
			if err != nil {
				return nil, err
			}
			// The gradient has a NaN that it never uses, so a probe that finds it must not end the run.
			bindings.Observe(s.ID.String(), runtime.HandlerFunc(func(ctx context.Context, c *runtime.Call) error {
				err := h.Handle(ctx, c)
				if errors.As(err, new(*probe.NotFiniteError)) || errors.As(err, new(*handlers.NotFiniteError)) || errors.As(err, new(*probe.OriginError)) {
					return nil
				}
				return err
			}))
		}
		start := meter.ProcessorTime()
		exe, err := p.Compile(ctx, hlocb.OnBackend(b), hlocb.Bind(&bindings))
		if err != nil {
			return nil, err
		}
		defer exe.Close()
		compiled, values = append(compiled, meter.ProcessorTime()-start), append(values, n)
		c.exe = exe.Runtime()
		types, err := p.Parameters()
		if err != nil {
			return nil, err
		}
		for _, t := range types {
			x := tensor.New(t.DType, t.Shape)
			for i := range x.NumElements() {
				x.SetFloat(i, float64(i%17)/170)
			}
			c.args = append(c.args, x)
		}
		contestants = append(contestants, c)
	}
	if err := race(ctx, contestants, rounds); err != nil {
		return nil, err
	}
	for i, c := range contestants {
		slices.Sort(c.ratio)
		run, compile := float64(c.cpu)/float64(contestants[0].cpu), float64(compiled[i])/float64(compiled[0])
		fmt.Fprintf(w, "  %-28s %6d  %11.0f ms  %7.2f  %8.1f ms  %6.2f  %11.1f ms  %6.2f  %6.2f\n", c.name, values[i], ms(compiled[i]), compile,
			ms(c.best), float64(c.best)/float64(contestants[0].best), ms(c.cpu), run, c.ratio[len(c.ratio)/2])
		if o := list[i]; o.run > 0 {
			rows = append(rows, meter.Row{Name: o.name + ", processor time", Ours: c.cpu.Seconds(), Peer: contestants[0].cpu.Seconds(), AtMost: o.run})
			if o.compile > 0 {
				rows = append(rows, meter.Row{Name: o.name + ", compiled", Ours: compiled[i].Seconds(), Peer: compiled[0].Seconds(), AtMost: o.compile})
			}
		}
	}
	return rows, nil
}
