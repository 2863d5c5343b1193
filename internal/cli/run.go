package cli

import (
	"context"
	"errors"
	"fmt"
	"slices"
	"strings"
	"time"

	"github.com/spf13/cobra"

	"github.com/hlocb/hlocb/diag"
	"github.com/hlocb/hlocb/hook"
	"github.com/hlocb/hlocb/internal/heap"
	hooks "github.com/hlocb/hlocb/internal/hook"
	"github.com/hlocb/hlocb/ir"
	"github.com/hlocb/hlocb/passes"
	"github.com/hlocb/hlocb/runtime"
	"github.com/hlocb/hlocb/runtime/backends"
	"github.com/hlocb/hlocb/runtime/handlers"
	"github.com/hlocb/hlocb/tensor"
)

// shownElements is how many elements of a result are printed in full.
const shownElements = 100

// runFlags are the flags of commands that run a module.
type runFlags struct {
	rewrite    rewriteFlags
	bind       bindFlags
	backend    string
	args       []string
	fill       string
	asWritten  bool
	timeout    time.Duration
	partitions int
	replicas   int
	limits     limitFlags

	// given are main's arguments where the command has them from elsewhere; --arg and --fill win.
	given []*tensor.Tensor
	// begin makes the recording of the run; nil records nothing.
	begin func(hash, backend string, args []*tensor.Tensor) (*handlers.Recording, error)
}

func (f *runFlags) add(c *cobra.Command) {
	f.rewrite.add(c)
	c.Flags().StringVar(&f.backend, "backend", "auto", "what executes: auto (the CPU plugin where one is found, else the embedded engine), interp, cpu, cuda, or the `path` of a plugin")
	c.Flags().StringArrayVar(&f.args, "arg", nil, "an argument of main, in order: an MLIR `literal`, or @FILE.npy")
	c.Flags().StringVar(&f.fill, "fill", "", "fill the arguments that --arg does not give: iota, zeros or random:SEED")
	c.Flags().StringArrayVar(&f.bind.on, "on", nil, "bind a handler: `NAME=HANDLER[:OPTIONS]`; NAME is a hook's name, a glob or an id")
	c.Flags().StringArrayVar(&f.bind.inject, "inject", nil, "make a hook fail: `NAME=FAULT[@N]` with error, panic, delay=D, nan, zero, wrong-shape or unwritten, at the Nth event")
	c.Flags().BoolVar(&f.bind.print, "print-callbacks", false, "print each callback")
	c.Flags().BoolVar(&f.bind.probes, "probes", false, "serve the probes that 'hlocb tap' put into the module")
	c.Flags().StringVar(&f.bind.events, "events", "", "write each callback to this `file` as a line of JSON")
	c.Flags().BoolVar(&f.asWritten, "as-written", false, "do not rewrite the module; the embedded engine delivers hooks in any notation")
	c.Flags().DurationVar(&f.timeout, "timeout", 0, "how long one callback may take and, on the embedded engine, the program between two; 0 is for ever")
	f.limits.add(c)
	c.Flags().IntVar(&f.partitions, "partitions", 0, "number of partitions; 0 is what the module says")
	c.Flags().IntVar(&f.replicas, "replicas", 0, "number of replicas; 0 is what the module says")
	complete(c, "backend", "auto", "interp", "cpu", "cuda")
	complete(c, "fill", "iota", "zeros", "random:0")
}

func (a *app) runCommand() *cobra.Command {
	var flags runFlags
	var results string
	c := &cobra.Command{
		Use:   "run IN",
		Short: "Run a module and deliver its callbacks",
		Long: `Run a module: its hooks are converted as 'hlocb rewrite' does, handlers are bound to them, it is compiled and run once,
and its results are printed as MLIR literals, long ones shortened. IN is a file, or - for standard input.

Handlers (--on):
` + handlerHelp() + `
A hook whose results the host computes (kind call or feed) needs one that answers.`,
		Example: `  hlocb run train.mlir --fill iota --print-callbacks
  hlocb run f.mlir --arg 'dense<[1.0, 2.0]> : tensor<2xf32>' --arg @weights.npy
  hlocb run f.mlir --backend cpu --on 'loss=print' --on '*=echo' --events events.jsonl --results results.json`,
		Args: exactArgs("IN"),
		RunE: command(func(cmd *cobra.Command, args []string) error {
			out, err := a.run(cmd.Context(), args[0], &flags)
			if err != nil {
				return err
			}
			if results != "" {
				if err := a.write(results, resultsJSON(out)); err != nil {
					return err
				}
				if results == "-" {
					return nil
				}
			}
			for _, t := range out {
				if _, err := fmt.Fprintf(a.stdout, "%s\n", t.AppendLiteral(nil, shownElements)); err != nil {
					return err
				}
			}
			return nil
		}),
	}
	flags.add(c)
	c.Flags().StringVar(&results, "results", "", "write the results to this `file` as JSON")
	return c
}

func handlerHelp() string {
	var b strings.Builder
	for _, info := range handlers.Table() {
		name := info.Name
		if info.Args != "" {
			name += ":" + info.Args
		}
		fmt.Fprintf(&b, "  %-34s %s\n", name, info.Doc)
	}
	return b.String()
}

// run does everything up to the results.
func (a *app) run(ctx context.Context, path string, f *runFlags) (out []*tensor.Tensor, err error) {
	opts, err := f.rewrite.options()
	if err != nil {
		return nil, err
	}
	if f.timeout < 0 || f.partitions < 0 || f.replicas < 0 {
		return nil, usagef("--timeout, --partitions and --replicas must not be negative")
	}
	if _, err := parseFill(f.fill); err != nil {
		return nil, err
	}
	program, saved, err := a.prepare(ctx, path, f, opts)
	if err != nil {
		return nil, err
	}
	types, err := parameters(program.Module)
	if err != nil {
		return nil, err
	}
	backendOpts, err := a.limitedOptions(&f.limits)
	if err != nil {
		return nil, err
	}
	if err := checkSize(program.Module, types, backendOpts.Engine.MemoryLimit); err != nil {
		return nil, err
	}
	args := f.given
	if args == nil || len(f.args) > 0 || f.fill != "" {
		if args, err = arguments(visible(types, program.Manifest.HiddenArgs), f.args, f.fill); err != nil {
			return nil, err
		}
	}
	defer func() { err = errors.Join(err, f.bind.close()) }()
	f.bind.own = ownHooks(program.Module)
	if err := f.bind.bind(a); err != nil {
		return nil, err
	}
	if err := f.bind.bindProbes(a, program.Manifest); err != nil {
		return nil, err
	}
	if err := f.bind.check(program.Manifest); err != nil {
		return nil, err
	}
	if _, err := f.bind.bindings.Bind(program.Manifest); err != nil {
		return nil, err
	}
	if program.Manifest.Parts != nil {
		// What other notations say to their hosts, plugins do not tell.
		if f.backend == "auto" {
			f.backend = "interp"
		} else if f.backend != "interp" {
			if program.Manifest, err = hooks.ManifestOf(program.Module); err != nil {
				return nil, err
			}
		}
	}
	if f.backend == "auto" && slices.ContainsFunc(types, isDynamic) {
		f.backend = "interp" // plugins take static shapes only
	}
	heap.Running()
	a.waitForSlowHandlers(f.backend, program.Module, len(program.Manifest.Sites))
	backend, err := backends.Open(ctx, f.backend, backendOpts)
	if err != nil {
		return nil, err
	}
	defer backend.Close()
	if f.backend == "auto" {
		a.note("running on %s", backend.Describe())
	}
	var recording *handlers.Recording
	if f.begin != nil {
		if recording, err = f.begin(moduleHash(program.Text), backend.Describe(), args); err != nil {
			return nil, err
		}
		f.bind.closing = append(f.bind.closing, recording)
		recording.Bind(&f.bind.bindings)
	}
	compile := runtime.CompileOptions{Handlers: &f.bind.bindings, Timeout: f.timeout, Replicas: f.replicas, Partitions: f.partitions}
	exe, err := a.executable(ctx, backend, program, saved, compile)
	if err != nil {
		return nil, err
	}
	out, err = exe.Run(ctx, withHidden(args, types, program.Manifest.HiddenArgs))
	out = visible(out, program.Manifest.HiddenResults)
	var hung *runtime.TimeoutError
	if errors.As(err, &hung) {
		// The handler is still running: waiting for it in Close would hang the command.
		return nil, err
	}
	if err == nil && recording != nil {
		err = recording.End(out)
	}
	return out, errors.Join(err, exe.Close())
}

// prepare reads a module and converts its hooks, or reads a compiled program.
func (a *app) prepare(ctx context.Context, path string, f *runFlags, opts passes.RewriteOptions) (*runtime.Program, *runtime.Saved, error) {
	src, err := a.source(path)
	if err != nil {
		return nil, nil, err
	}
	if runtime.IsSaved(src.Text()) {
		saved, err := runtime.DecodeSaved(src.Text())
		if err != nil {
			return nil, nil, fmt.Errorf("%s: %w", src.Name(), err)
		}
		if saved.Module, err = readModule(diag.NewSource(src.Name(), saved.Text), defaultMaxErrors); err != nil {
			return nil, nil, err
		}
		return &runtime.Program{Module: saved.Module, Text: saved.Text, Manifest: saved.Manifest}, saved, nil
	}
	m, err := readModule(src, defaultMaxErrors)
	if err != nil {
		return nil, nil, err
	}
	a.warn(m)
	setGrid(m, f.replicas, f.partitions)
	var manifest *hook.Manifest
	if f.asWritten {
		manifest, err = asWritten(src, m, opts.Targets)
	} else {
		var rewritten *passes.Rewritten
		if rewritten, err = passes.RewriteHooks(ctx, m, opts); err == nil {
			manifest = rewritten.Manifest
		}
	}
	if err != nil {
		return nil, nil, err
	}
	return &runtime.Program{Module: m, Text: text(m), Manifest: manifest}, nil, nil
}

// asWritten lists the hooks of a module that is not rewritten. m is the module that will be executed, with callbacks that
// fire on every device cut.
func asWritten(src *diag.Source, m *ir.Module, targets []string) (*hook.Manifest, error) {
	other, err := readModule(src, defaultMaxErrors)
	if err != nil {
		return nil, err
	}
	manifest, err := hooks.ManifestAsWritten(other, hooks.RaiseOptions{Targets: targets})
	if err != nil {
		return nil, err
	}
	return manifest, hooks.CutAsWritten(m, manifest)
}

// setGrid makes a module say of itself what the command line says of it, since where its hooks fire depends on that.
func setGrid(m *ir.Module, replicas, partitions int) {
	for name, n := range map[string]int{"replicas": replicas, "partitions": partitions} {
		if n <= 0 {
			continue
		}
		m.Op().RemoveAttr("stablehlo.num_" + name)
		m.Op().SetAttr("mhlo.num_"+name, ir.NewInteger(int64(n), m.Context().I32()))
	}
}

// executable compiles a program, or loads it where it is compiled already and for this machine.
func (a *app) executable(ctx context.Context, b runtime.Backend, p *runtime.Program, saved *runtime.Saved, opts runtime.CompileOptions) (runtime.Executable, error) {
	if saved != nil {
		if l, ok := b.(runtime.Loader); ok {
			exe, err := l.Load(ctx, saved, opts)
			var stale *runtime.StaleError
			if !errors.As(err, &stale) {
				return exe, err
			}
			a.note("compiling again: %v", err)
		}
	}
	return b.Compile(ctx, p, opts)
}

// resultsJSON writes one result per line in an array.
func resultsJSON(results []*tensor.Tensor) []byte {
	b := []byte("[")
	for i, t := range results {
		if i > 0 {
			b = append(b, ',')
		}
		b = t.AppendJSON(append(b, '\n'))
	}
	return append(b, "\n]\n"...)
}
