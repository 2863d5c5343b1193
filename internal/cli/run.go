package cli

import (
	"cmp"
	"context"
	"crypto/sha256"
	"errors"
	"fmt"
	"io"
	"slices"
	"time"

	"github.com/spf13/cobra"

	"github.com/hlocb/hlocb"
	"github.com/hlocb/hlocb/diag"
	"github.com/hlocb/hlocb/hook"
	"github.com/hlocb/hlocb/internal/command"
	"github.com/hlocb/hlocb/internal/entry"
	"github.com/hlocb/hlocb/internal/probe"
	"github.com/hlocb/hlocb/ir"
	"github.com/hlocb/hlocb/runtime"
	"github.com/hlocb/hlocb/runtime/backends"
	"github.com/hlocb/hlocb/runtime/handlers"
	"github.com/hlocb/hlocb/tensor"
)

// shownElements is the number of elements up to which a result is printed in full.
const shownElements = 100

// runFlags are the flags of commands that run a module.
type runFlags struct {
	module    moduleFlags
	bind      bindFlags
	backend   string
	arguments argumentFlags
	steps     stepFlags
	taps      []string
	sample    probe.Sample // of all taps
	bisect    bool         // search for the origin of a NaN
	inf       bool         // or of an infinite element
	timeout   time.Duration
	program   string // a compiled program that replaces the module
	limits    limitFlags
	devices   deviceFlags

	plan    string // file to write the engine's plan to instead of running; "-" is standard output
	profile string // file for a CPU profile; "-" writes only the times of the ops
	threads int    // cores; 0 means all

	// values are main's arguments if the command reads them from a recording; --arg and --fill take precedence.
	values []*tensor.Tensor
	// result gets each result, in order; its value is valid until it returns. nil ignores the results.
	result func(r result) error
	// begin starts the recording of the run; nil records nothing.
	begin func(h handlers.Header, args []*tensor.Tensor) (*handlers.Recorder, error)
}

// add declares the flags. output declares the command's own flags of the group of outputs.
func (f *runFlags) add(c *cobra.Command, output func()) {
	f.steps.steps = 1 // of commands without --steps
	f.arguments.add(c)
	command.Group(c, "Arguments of main")
	c.Flags().StringArrayVar(&f.bind.on, "on", nil, "`NAME=HANDLER` bind a handler; NAME is a name, glob or id")
	c.Flags().BoolVar(&f.bind.print, "print-callbacks", false, "same as --on '*=print'")
	c.Flags().StringArrayVar(&f.taps, "tap", nil, "`REGEX[=PROBE]` look at values whose name, op or location matches; PROBE is print (default), stats, finite or record")
	addSampleFlags(c, &f.sample)
	c.Flags().BoolVar(&f.bind.probes, "probes", false, "run the probes that 'hlocb tap' added")
	c.Flags().StringArrayVar(&f.bind.inject, "inject", nil, "`NAME=FAULT` make a hook fail ('hlocb help faults')")
	addTimeout(c, &f.timeout)
	command.Group(c, "Handlers")
	output()
	c.Flags().BoolVar(&f.bind.view, "view", false, "serve a page of the program with its values while it runs")
	f.bind.addSinks(c)
	f.limits.addVerbose(c)
	command.Group(c, "Output")
	c.Flags().StringVar(&f.backend, "backend", "auto", "`NAME|PATH` auto, engine, cpu, cuda or a plugin")
	f.limits.add(c)
	f.module.addDevices(c)
	f.devices.add(c)
	f.module.addPlatform(c)
	command.Group(c, "Where it runs")
	c.Flags().BoolVar(&f.module.asWritten, "as-written", false, "do not convert hooks; the engine delivers any format")
	f.module.rewrite.add(c)
	command.CompleteFixed(c, "backend", "auto", "engine", "cpu", "cuda")
	completeBindings(c, "on")
	completeBindings(c, "inject")
}

// addTimeout adds the flag --timeout of commands that run a module.
func addTimeout(c *cobra.Command, to *time.Duration) {
	c.Flags().DurationVar(to, "timeout", 0, "`DURATION` limit per callback, between two callbacks, to load a plugin and to compile on it (default none)")
}

func (a *app) runCommand() *cobra.Command {
	var flags runFlags
	var results string
	c := &cobra.Command{
		Use:   "run IN",
		Short: "Run once and call handlers",
		Long: `Run a module once. Hooks are converted, handlers called, results printed.

IN is a file, or - for standard input. Observers: ` + handlerNames(true) + `. Responders: ` + handlerNames(false) + `. A hook whose results the host computes needs a responder. See 'hlocb help handlers'.`,
		Example: `  hlocb run train.mlir --fill iota --print-callbacks
  hlocb run f.mlir --arg 'dense<[1.0, 2.0]> : tensor<2xf32>' --arg @w.npy
  hlocb run f.mlir --on 'loss=stats' --on '*=finite' --results out.json
  hlocb run f.mlir --fill iota --tap 'stablehlo.tanh=stats'
  hlocb run step.mlir --args params.npz --steps 100 --results out/`,
		Args: func(cmd *cobra.Command, args []string) error {
			if flags.program == "" {
				return command.Args("IN")(cmd, args)
			}
			if len(args) > 0 {
				return fmt.Errorf("--program replaces IN: remove the argument %q", args[0])
			}
			return nil
		},
		RunE: command.Body(func(cmd *cobra.Command, args []string) (err error) {
			w := a.resultWriter(results, &flags)
			flags.result = w.write
			if err := flags.checkCombination(cmd); err != nil {
				return err
			}
			defer func() { err = errors.Join(err, flags.bind.endView(cmd.Context(), a)) }()
			if err := a.runModule(cmd.Context(), append(args, "")[0], &flags); err != nil {
				return errors.Join(err, w.discard())
			}
			return w.close()
		}),
	}
	flags.add(c, func() {
		c.Flags().StringVar(&results, "results", "", "`DIR|FILE` write the results: DIR/ of .npy files, FILE.npz, or JSON to any other file")
	})
	c.Flags().StringVar(&flags.plan, "print-plan", "", "`FILE` write the engine's plan to FILE, or standard output, and do not run")
	c.Flags().StringVar(&flags.profile, "profile", "", "`FILE` report how long each op took on the engine; FILE gets a CPU profile for pprof")
	c.Flags().Lookup("print-plan").NoOptDefVal = "-"
	c.Flags().Lookup("profile").NoOptDefVal = "-"
	c.Flags().IntVar(&flags.threads, "threads", 0, "`N` cores that the engine uses (default all)")
	command.Group(c, "Engine")
	c.Flags().BoolVar(&flags.bisect, "bisect-nan", false, "find the first op whose result has a NaN while its operands have none")
	c.Flags().BoolVar(&flags.inf, "inf", false, "with --bisect-nan: find infinite elements too")
	command.Group(c, "Search")
	flags.steps.add(c)
	command.Group(c, "Repeat")
	c.Flags().StringVar(&flags.program, "program", "", "`FILE` run a program of 'hlocb compile' instead of IN; its machine code is executed, so trust FILE")
	command.Group(c, "Instead of IN")
	command.Common(c, "arg", "args", "fill", "on", "print-callbacks", "tap", "timeout", "results", "events", "verbose", "backend", "steps", "bisect-nan")
	return c
}

// checkCombination reports flags that the user gave and that have no effect beside other flags.
func (f *runFlags) checkCombination(cmd *cobra.Command) error {
	if f.program != "" {
		fixed := append(conversionFlags(), "as-written", "hook-target", "tap", "bisect-nan", "replicas", "partitions", "platform", "platform-index")
		if err := command.Exclusive(cmd, "program", fixed...); err != nil {
			return fmt.Errorf("%w: a compiled program cannot be changed", err)
		}
	}
	return command.Exclusive(cmd, "as-written", conversionFlags()...)
}

// check reports mistakes in the values of the flags.
func (f *runFlags) check() error {
	switch {
	case f.timeout < 0:
		return usagef("--timeout must not be negative")
	case f.threads < 0:
		return usagef("--threads must not be negative")
	case f.inf && !f.bisect:
		return usagef("--inf needs --bisect-nan")
	}
	if err := cmp.Or(f.steps.check(), checkSample(f.sample, len(f.taps) > 0)); err != nil {
		return err
	}
	_, err := parseFill(f.arguments.fill)
	return err
}

// load reads the program that the flags and IN name.
func (a *app) load(ctx context.Context, path string, f *runFlags) (*hlocb.Program, error) {
	opts, err := f.module.options()
	if err != nil {
		return nil, err
	}
	if err := f.check(); err != nil {
		return nil, err
	}
	if f.program != "" {
		file, err := a.handlerEnv(&f.bind.outputs, false).Open(f.program)
		if err != nil {
			return nil, err
		}
		defer file.Close()
		data, err := io.ReadAll(file)
		if err != nil {
			return nil, err
		}
		return hlocb.Decode(f.program, data)
	}
	kind := probe.Print
	if slices.Contains(f.bind.events, "-") {
		kind = probe.Record // the events are alone on standard output
	}
	taps, err := tapsOf(f.taps, kind, f.sample)
	if err != nil {
		return nil, err
	}
	return a.program(ctx, path, append(opts, hlocb.BeforeConversion(func(m *ir.Module) error {
		if f.bisect {
			ids, err := probe.AddOrigin(m, f.inf)
			if err != nil {
				return err
			}
			f.bind.taps = ids
		}
		if len(taps) == 0 {
			return nil
		}
		ids, _, err := a.addProbes(m, path, taps)
		f.bind.taps = append(f.bind.taps, ids...)
		return err
	}))...)
}

// runModule runs the module and passes its results to f.result.
func (a *app) runModule(ctx context.Context, path string, f *runFlags) (err error) {
	program, err := a.load(ctx, path, f)
	if err != nil {
		return err
	}
	backendOpts, err := a.limitedOptions(&f.limits)
	if err != nil {
		return err
	}
	if err := entry.CheckMemory(program.Module(), backendOpts.Engine.MemoryLimit); err != nil {
		return err
	}
	if backendOpts.Client, err = f.devices.client(); err != nil {
		return err
	}
	defer func() {
		if ctx.Err() != nil && err != nil {
			f.bind.outputs.KeepOld()
		}
		err = errors.Join(err, f.bind.close())
	}()
	if err := f.inspect(a, &backendOpts); err != nil {
		return err
	}
	types, err := program.Parameters()
	if err != nil {
		return err
	}
	args := slices.Clone(f.values)
	if f.plan == "" && (args == nil || f.arguments.isSet()) {
		if args, err = a.arguments(program, types, &f.arguments); err != nil {
			return err
		}
	}
	f.bind.outputs.Inputs = append(append(f.bind.outputs.Inputs, path), f.arguments.files()...)
	if f.bind.view {
		opts, err := f.module.rewrite.conversion()
		if err != nil {
			return err
		}
		if err := f.bind.watch(a, cmp.Or(path, f.program), program, opts); err != nil {
			return err
		}
	}
	if err := f.bind.bindAll(a, program); err != nil {
		return err
	}
	s, err := a.open(ctx, program, f.backend, backendOpts, f.timeout)
	if err != nil {
		return err
	}
	backend := s.backend
	defer backend.Close()
	if s.options, err = f.devices.options(); err != nil {
		return err
	}
	if f.backend == "auto" {
		a.note("running on %s", describe(backend, f.limits.verbose))
	}
	if needsShapes(program, backend, types) && len(args) == len(types) {
		if err := refine(ctx, program, args); err != nil {
			return err
		}
	}
	var recording *handlers.Recorder
	if f.begin != nil {
		header := handlers.Header{Module: fmt.Sprintf("%x", sha256.Sum256(program.Text())), Backend: backend.Describe(), Manifest: program.Manifest()}
		if recording, err = f.begin(header, args); err != nil {
			return err
		}
		f.bind.closers = append(f.bind.closers, recording.Close)
		recording.Bind(&f.bind.bindings)
	}
	if err := f.bind.outputs.Check(); err != nil { // again, with the recording
		return err
	}
	if err := f.bind.outputs.Open(ctx); err != nil {
		return err
	}
	exe, err := s.compile(ctx, &f.bind.bindings)
	if err != nil {
		return explainTargets(err, program, f.module.rewrite.targets)
	}
	if f.plan != "" {
		return exe.Close()
	}
	if stale := exe.Recompiled(); stale != nil {
		a.note("compiled again: %v", stale)
	}
	end := func() {}
	if backend.Name() != backends.Engine { // the engine reports its own progress
		end = a.While("running on " + backend.Name())
	}
	f.bind.ran = true
	out, err := a.execute(ctx, program, exe, args, &f.steps)
	end()
	err = f.originOf(program, err)
	defer func() {
		for _, b := range out {
			b.Close()
		}
		err = errors.Join(err, exe.Close())
	}()
	if err != nil {
		return err
	}
	if recording != nil {
		if err := endRecording(ctx, recording, out); err != nil {
			return err
		}
	}
	if err := f.bind.close(); err != nil { // handlers may print at the end
		return err
	}
	if err := f.results(ctx, program.ResultNames(), out); err != nil {
		return err
	}
	if f.profile != "" {
		a.showProfile(backendOpts.Engine.Profile.Ops())
	}
	return nil
}

// results passes the results to f.result, one after the other.
func (f *runFlags) results(ctx context.Context, names []string, out []*hlocb.Buffer) error {
	if f.result == nil {
		return nil
	}
	for i, b := range out {
		r := result{number: i, count: len(out)}
		if len(names) == len(out) {
			r.name = names[i]
		}
		err := b.View(ctx, func(t *tensor.Tensor) error {
			r.Tensor = t
			return f.result(r)
		})
		if err != nil {
			return err
		}
		b.Close() // before the next one is copied
	}
	return nil
}

// needsShapes reports whether the backend executes the program only after refine.
func needsShapes(p *hlocb.Program, b runtime.Backend, types []hlocb.Type) bool {
	return slices.ContainsFunc(types, entry.IsDynamic) && (b.Name() != backends.Engine || entry.NeedsShapes(p.Module()))
}

// refine refines the program to the shapes of its arguments.
func refine(ctx context.Context, p *hlocb.Program, args []*tensor.Tensor) error {
	types := make([]hlocb.Type, len(args))
	for i, v := range args {
		types[i] = hlocb.Type{DType: v.DType(), Shape: v.Shape()}
	}
	return p.Refine(ctx, types)
}

// originOf returns err or, if the run searched for the origin of a NaN, the origin.
func (f *runFlags) originOf(p *hlocb.Program, err error) error {
	if !f.bisect {
		return err
	}
	found, ok := errors.AsType[*probe.OriginError](err)
	if !ok {
		if found = f.bind.handlers.Origin(f.bind.manifest); err != nil || found == nil {
			return err
		}
	}
	d := diag.Errorf(p.Module().Source(), found.Pos, "%v", found)
	for _, r := range found.Around {
		d.Note(r.Pos, "%s", r)
	}
	return &originError{d, found}
}

// originError is an origin of a NaN with its place in the module.
type originError struct {
	*diag.Diagnostic
	found *probe.OriginError
}

func (e *originError) Unwrap() []error { return []error{e.Diagnostic, e.found} }

// describe returns a short description of a backend, or with -v the full description.
func describe(b runtime.Backend, verbose bool) string {
	info, err := backends.InfoOf(b)
	switch {
	case verbose:
		return b.Describe()
	case err != nil || info.Path == "":
		return "the embedded engine"
	}
	return fmt.Sprintf("the %s plugin (PJRT %s, %s)", b.Name(), info.API, plural(len(info.Devices), "device"))
}

// names returns the names of hooks.
func names(sites []hook.Site) []string {
	return namesOf(sites, func(s hook.Site) string { return s.Name })
}
