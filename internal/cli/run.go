package cli

import (
	"context"
	"errors"
	"fmt"
	"io"
	"os"
	"strings"
	"time"

	"github.com/spf13/cobra"

	"github.com/hlocb/hlocb"
	"github.com/hlocb/hlocb/internal/heap"
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
	program    string // a compiled program instead of a module
	limits     limitFlags

	// given are main's arguments where the command has them from elsewhere; --arg and --fill win.
	given []*tensor.Tensor
	// begin makes the recording of the run; nil records nothing.
	begin func(h handlers.Header, args []*tensor.Tensor) (*handlers.Recording, error)
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
		Args: func(cmd *cobra.Command, args []string) error {
			if flags.program != "" {
				return exactArgs()(cmd, args)
			}
			return exactArgs("IN")(cmd, args)
		},
		RunE: command(func(cmd *cobra.Command, args []string) error {
			out, err := a.run(cmd.Context(), append(args, "")[0], &flags)
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
	c.Flags().StringVar(&flags.program, "program", "", "run the compiled program in `FILE`; its machine code is executed")
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

// check reports mistakes in the values of the flags.
func (f *runFlags) check() error {
	if f.timeout < 0 || f.partitions < 0 || f.replicas < 0 {
		return usagef("--timeout, --partitions and --replicas must not be negative")
	}
	_, err := parseFill(f.fill)
	return err
}

// run does everything up to the results.
func (a *app) run(ctx context.Context, path string, f *runFlags) (out []*tensor.Tensor, err error) {
	load, err := f.rewrite.options()
	if err != nil {
		return nil, err
	}
	if err := f.check(); err != nil {
		return nil, err
	}
	load = append(load, hlocb.Devices(f.replicas, f.partitions))
	if f.asWritten {
		load = append(load, hlocb.AsWritten())
	}
	var program *hlocb.Program
	if f.program != "" {
		program, err = a.compiledProgram(f.program)
	} else {
		program, err = a.program(ctx, path, load...)
	}
	if err != nil {
		return nil, err
	}
	backendOpts, err := a.limitedOptions(&f.limits)
	if err != nil {
		return nil, err
	}
	if err := program.CheckMemory(backendOpts.Engine.MemoryLimit); err != nil {
		return nil, err
	}
	types, err := program.Parameters()
	if err != nil {
		return nil, err
	}
	args := f.given
	if args == nil || len(f.args) > 0 || f.fill != "" {
		if args, err = arguments(types, f.args, f.fill); err != nil {
			return nil, err
		}
	}
	defer func() { err = errors.Join(err, f.bind.close()) }()
	f.bind.own = ownHooks(program.Module())
	if err := f.bind.bind(a); err != nil {
		return nil, err
	}
	if err := f.bind.bindProbes(a, program.Manifest()); err != nil {
		return nil, err
	}
	if err := f.bind.check(program.Manifest()); err != nil {
		return nil, err
	}
	if _, err := f.bind.bindings.Bind(program.Manifest()); err != nil {
		return nil, err
	}
	heap.Running()
	if flags := program.XLAFlags(os.Getenv("XLA_FLAGS"), f.backend, backendOpts); flags != "" {
		_ = os.Setenv("XLA_FLAGS", flags)
	}
	backend, err := program.OpenBackend(ctx, f.backend, backendOpts)
	if err != nil {
		return nil, err
	}
	defer backend.Close()
	if f.backend == "auto" {
		a.note("running on %s", a.described(backend, f.limits.verbose))
	}
	var recording *handlers.Recording
	if f.begin != nil {
		if recording, err = f.begin(handlers.Header{Module: moduleHash(program.Text()), Backend: backend.Describe(), Manifest: program.Manifest()}, args); err != nil {
			return nil, err
		}
		f.bind.closing = append(f.bind.closing, recording)
		recording.Bind(&f.bind.bindings)
	}
	exe, err := program.Compile(ctx, hlocb.WithBackend(backend), hlocb.Bind(&f.bind.bindings), hlocb.Timeout(f.timeout))
	if err != nil {
		return nil, err
	}
	if stale := exe.Stale(); stale != nil {
		a.note("compiled again: %v", stale)
	}
	out, err = exe.RunTensors(ctx, args)
	if err == nil && recording != nil {
		err = recording.End(out)
	}
	return out, errors.Join(err, exe.Close())
}

// described returns what a backend is, in a few words or with -v in full.
func (a *app) described(b runtime.Backend, verbose bool) string {
	info, err := backends.InfoOf(b)
	switch {
	case verbose:
		return b.Describe()
	case err != nil || info.Path == "":
		return "the embedded engine"
	}
	return fmt.Sprintf("the %s plugin (PJRT %s, %s)", b.Name(), info.API, plural(len(info.Devices), "device"))
}

// compiledProgram reads what 'hlocb compile' wrote.
func (a *app) compiledProgram(path string) (*hlocb.Program, error) {
	var data []byte
	var err error
	if path == "-" {
		data, err = io.ReadAll(a.stdin)
	} else {
		data, err = os.ReadFile(path)
	}
	if err != nil {
		return nil, err
	}
	return hlocb.Decode(path, data)
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
