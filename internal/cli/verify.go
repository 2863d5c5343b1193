package cli

import (
	"cmp"
	"context"
	"errors"
	"fmt"
	"math/rand/v2"
	"regexp"
	"slices"
	"strings"
	"time"

	"github.com/spf13/cobra"
	"github.com/spf13/pflag"

	"github.com/hlocb/hlocb"
	"github.com/hlocb/hlocb/diag"
	"github.com/hlocb/hlocb/dialect/fn"
	"github.com/hlocb/hlocb/dialect/stablehlo"
	"github.com/hlocb/hlocb/hlo"
	hookformat "github.com/hlocb/hlocb/hook/format"
	"github.com/hlocb/hlocb/internal/command"
	"github.com/hlocb/hlocb/internal/entry"
	"github.com/hlocb/hlocb/internal/events"
	"github.com/hlocb/hlocb/internal/reader"
	"github.com/hlocb/hlocb/ir"
	"github.com/hlocb/hlocb/runtime/backends"
	"github.com/hlocb/hlocb/tensor"
	"github.com/hlocb/hlocb/verify"
)

// verifyFlags are the flags of hlocb compare and of verify A B.
type verifyFlags struct {
	module    moduleFlags
	backend   [2]string
	arguments argumentFlags
	seed      uint64
	noEdges   bool
	on        []string
	tolerance string
	timeout   time.Duration
	json      bool
	html      string
	view      bool
	bisect    bool
	limits    limitFlags
}

func (a *app) compareCommand() *cobra.Command {
	var f verifyFlags
	c := &cobra.Command{
		Use:   "compare A B",
		Short: "Run and compare two modules, or compare two recordings",

		SuggestFor: []string{"diff"},
		Long: `Run two modules with the same inputs and compare results and callbacks, or compare two recordings or two files of --events. The exit code is 5 if something differs.

A and B run on the embedded engine unless --backend-a and --backend-b say otherwise; name one file twice to compare two backends. Floats must be bit-identical or within --tolerance; all NaNs are equal. Hooks are paired by id and name, else by name, else by position. Events that the first module orders must come in that order.

A hook that needs an answer gets its operands back, and generated values for other results, unless --on binds a handler. Without --arg and --fill the modules run twice: with ordinary values, and with edge values (zeros, infinities, NaN, denormals, limits).

--bisect finds the first op whose value differs. A probed value keeps a compiler from fusing across it, so a difference that fusion causes can vanish.`,
		Example: `  hlocb compare train.mlir train.hooks.mlir
  hlocb compare f.mlir f.mlir --backend-b cpu --tolerance 4 --bisect
  hlocb compare f.mlir f.mlir --as-written      # does rewriting change f?
  hlocb compare monday.jsonl friday.jsonl --json`,
		Args: command.Args("A", "B"),
		RunE: command.Body(func(cmd *cobra.Command, args []string) error { return a.compare(cmd, [2]string(args), &f) }),
	}
	f.add(c)
	return c
}

// onlyFlags returns a usage error for a flag that the user gave and that is not one of names. why says why the flag has
// no effect.
func onlyFlags(cmd *cobra.Command, why string, names ...string) error {
	var err error
	cmd.Flags().Visit(func(f *pflag.Flag) {
		if err == nil && !slices.Contains(names, f.Name) {
			err = usagef("--%s: %s", f.Name, why)
		}
	})
	return err
}

func (a *app) verifyCommand() *cobra.Command {
	var f verifyFlags
	c := &cobra.Command{
		Use:   "verify IN",
		Short: "Check that a module is valid (verify A B: compare)",
		Long: `Check that a module is valid: its text, types, and the rules of its ops. hlocb prints nothing if it is.

'hlocb verify A B' is 'hlocb compare A B' and accepts its flags.`,
		Example: "  hlocb verify train.mlir\n  hlocb verify a.mlir b.mlir --fill iota",
		Args:    command.Args("IN", "[B]"),
		RunE: command.Body(func(cmd *cobra.Command, args []string) error {
			if len(args) == 2 {
				return a.compare(cmd, [2]string(args), &f)
			}
			if err := onlyFlags(cmd, "needs two modules: hlocb compare A B", "verbose"); err != nil {
				return err
			}
			src, err := a.source(args[0])
			if err != nil {
				return err
			}
			m, err := reader.Read(src)
			if err != nil {
				return err
			}
			for _, d := range reader.Misspelled(m) {
				a.Show(d)
			}
			return reader.RefuseUnknownOps(m)
		}),
	}
	f.add(c)
	c.Flags().VisitAll(func(f *pflag.Flag) { f.Hidden = true })
	return c
}

func (f *verifyFlags) add(c *cobra.Command) {
	f.arguments.add(c)
	c.Flags().Uint64Var(&f.seed, "seed", 0, "`N` seed of generated inputs")
	c.Flags().BoolVar(&f.noEdges, "no-edges", false, "generate ordinary values only")
	command.Group(c, "Inputs")
	addTolerance(c, &f.tolerance)
	c.Flags().BoolVar(&f.bisect, "bisect", false, "find the first op that differs")
	command.Group(c, "Comparison")
	c.Flags().StringArrayVar(&f.on, "on", nil, "`NAME=HANDLER` bind a handler on both sides ('hlocb help handlers')")
	addTimeout(c, &f.timeout)
	command.Group(c, "Handlers")
	c.Flags().BoolVar(&f.json, "json", false, "print the report as JSON")
	c.Flags().StringVar(&f.html, "html", "", "`FILE` also write a page that shows both modules, with the distances of the values of each op")
	c.Flags().BoolVar(&f.view, "view", false, "serve a page of both modules with the values of both runs while they run")
	f.limits.addVerbose(c)
	command.Group(c, "Output")
	c.Flags().StringVar(&f.backend[0], "backend-a", backends.Engine, "`NAME|PATH` auto, engine, cpu, cuda or a plugin")
	c.Flags().StringVar(&f.backend[1], "backend-b", backends.Engine, "`NAME|PATH` the same for B")
	f.limits.add(c)
	f.module.addPlatform(c)
	command.Group(c, "Where they run")
	c.Flags().BoolVar(&f.module.asWritten, "as-written", false, "do not convert the hooks of A; the engine delivers any format")
	f.module.rewrite.add(c)
	command.CompleteFixed(c, "backend-a", "engine", "auto", "cpu", "cuda")
	command.CompleteFixed(c, "backend-b", "engine", "auto", "cpu", "cuda")
	completeBindings(c, "on")
}

// compare compares two recordings, or runs two modules and compares them.
func (a *app) compare(cmd *cobra.Command, paths [2]string, f *verifyFlags) error {
	var kinds [2]int
	for i, path := range paths {
		var err error
		if kinds[i], err = kindOf(path); err != nil {
			return err
		}
	}
	switch r := slices.Index(kinds[:], aRecording); {
	case !slices.Contains(kinds[:], aModule):
	case r >= 0:
		return fmt.Errorf("%s is a recording, %s is not", paths[r], paths[1-r])
	default:
		return a.verify(cmd.Context(), paths, f)
	}
	if err := onlyFlags(cmd, "A and B are recordings, which are compared and not run", "tolerance", "json", "verbose"); err != nil {
		return err
	}
	tol, err := parseTolerance(cmp.Or(f.tolerance, "0"))
	if err != nil {
		return err
	}
	x, err := a.readRecording(paths[0])
	if err != nil {
		return err
	}
	y, err := a.readRecording(paths[1])
	if err != nil {
		return err
	}
	return a.compareRecordings(x, y, tol, f.json)
}

// verifySide is one side of a comparison: its text, program, backend and handlers.
type verifySide struct {
	path   string
	name   string // in diagnostics
	text   []byte
	flags  *verifyFlags
	module moduleFlags
	session
	exe    *verify.Executable
	warned bool             // of misspelled attributes
	binds  []*bindFlags     // to be closed
	watch  events.Sink      // of --view, or nil
	args   []*tensor.Tensor // main is refined to their shapes; nil: main keeps its shapes
}

// load reads the module again and rewrites its hooks.
func (s *verifySide) load(ctx context.Context) (*hlocb.Program, error) {
	load, err := s.module.options()
	if err != nil {
		return nil, err
	}
	if !s.warned {
		s.warned = true
		load = append(load, hlocb.OnWarning(s.app.Show))
	}
	p, err := hlocb.Parse(ctx, s.name, s.text, load...)
	if err != nil || s.args == nil {
		return p, err
	}
	return p, refine(ctx, p, s.args)
}

// options creates new handlers.
func (s *verifySide) options() ([]hlocb.CompileOption, error) {
	bind := &bindFlags{on: s.flags.on}
	bind.bindings.Answer("*", verify.StandIn(s.flags.seed))
	s.binds = append(s.binds, bind)
	err := bind.bind(s.app)
	return []hlocb.CompileOption{hlocb.Bind(&bind.bindings), hlocb.Timeout(s.flags.timeout)}, err
}

// source returns how to load the side again.
func (s *verifySide) source() *verify.Source {
	return &verify.Source{Load: s.load, Backend: s.backend, Options: s.options}
}

func (s *verifySide) close() error {
	var errs []error
	if s.exe != nil {
		errs = append(errs, s.exe.Close())
	}
	for _, b := range s.binds {
		errs = append(errs, b.close())
	}
	if s.backend != nil {
		errs = append(errs, s.backend.Close())
	}
	return errors.Join(errs...)
}

// verifyRun is one run of both sides in the report.
type verifyRun struct {
	Inputs  string                  `json:"inputs"`
	Results []*verify.Comparison    `json:"results"`
	Events  *verify.EventComparison `json:"events"`
	First   *verifyFirst            `json:"first_op,omitempty"`
	Stored  []storedComparison      `json:"stored,omitempty"` // with the results in the module's file

	equal     bool
	where     *diag.Diagnostic
	distances []verify.Distance // of ops, for --html
}

// verifyFirst is the op that --bisect found.
type verifyFirst struct {
	A         string             `json:"a"`
	B         string             `json:"b"`
	Op        string             `json:"op"`
	Loc       string             `json:"loc,omitempty"`
	Result    int                `json:"result"`
	Execution int                `json:"execution"`
	Probed    int                `json:"probed"`
	Value     *verify.Comparison `json:"value"`
}

type verifyReport struct {
	Equal     bool         `json:"equal"`
	Tolerance string       `json:"tolerance"`
	Backends  [2]string    `json:"backends"`
	Runs      []*verifyRun `json:"runs"`
}

func (a *app) verify(ctx context.Context, paths [2]string, f *verifyFlags) (err error) {
	tol, err := parseTolerance(f.tolerance)
	if err != nil {
		return err
	}
	if f.timeout < 0 {
		return usagef("--timeout must not be negative")
	}
	if _, err := parseFill(f.arguments.fill); err != nil {
		return err
	}
	sides, err := a.verifySides(ctx, paths, f)
	if err != nil {
		return err
	}
	types, err := sides[0].program.Parameters()
	if err != nil {
		return err
	}
	other, err := sides[1].program.Parameters()
	if err != nil {
		return err
	}
	if typeList(types) != typeList(other) {
		return entryErrorf(sides[1].program.Module(), "main accepts (%s), but main of %s accepts (%s)", typeList(other), paths[0], typeList(types))
	}
	if f.module.asWritten && f.backend[0] != "auto" && f.backend[0] != backends.Engine && f.backend[0] != "interp" && sides[0].program.Manifest().AsWritten {
		return usagef("--as-written: only the embedded engine delivers hooks that are not hlocb's own calls")
	}
	backendOpts, err := a.limitedOptions(&f.limits)
	if err != nil {
		return err
	}
	if err := entry.CheckMemory(sides[0].program.Module(), backendOpts.Engine.MemoryLimit); err != nil {
		return err
	}
	inputs, err := a.verifyInputs(f, sides[0].program, types)
	if err != nil {
		return err
	}
	defer func() { err = errors.Join(err, sides[0].close(), sides[1].close()) }()
	if f.view {
		s, err := a.compareView(&sides)
		if err != nil {
			return err
		}
		defer func() { err = errors.Join(err, a.keep(ctx, s)) }()
	}
	if err := sides.compile(ctx, backendOpts, types, inputs[0].args); err != nil {
		return err
	}
	report := &verifyReport{Equal: true, Tolerance: cmp.Or(tol.String(), "0"), Backends: [2]string{sides[0].backend.Name(), sides[1].backend.Name()}}
	for i := 0; i < len(inputs); i++ {
		in := inputs[i]
		run, err := sides.run(ctx, in, tol)
		if err != nil {
			return err
		}
		report.Runs = append(report.Runs, run)
		if in.gentler != nil && run.blind() {
			inputs = slices.Insert(inputs, i+1, in.gentler())
		}
		report.Equal = report.Equal && run.equal
		if f.html != "" {
			if run.distances, err = verify.Distances(ctx, sides[0].source(), sides[1].source(), in.args, tol); err != nil {
				return err
			}
		}
		if f.bisect && !run.equal {
			if err := sides.bisect(ctx, run, in.args, tol); err != nil {
				return err
			}
		}
	}
	if err := a.verifyReport(report, f); err != nil {
		return err
	}
	if f.html != "" {
		if err := a.comparePage(f.html, sides, report); err != nil {
			return err
		}
	}
	if !report.Equal {
		a.suggestTolerance(report)
		return errDiffer
	}
	if !slices.ContainsFunc(report.Runs, func(r *verifyRun) bool { return !r.blind() }) {
		return fmt.Errorf("every float result is NaN, so nothing was compared; give main's arguments with --arg or --fill")
	}
	return nil
}

// verifySides are both sides of a comparison.
type verifySides [2]*verifySide

// verifySides loads both programs.
func (a *app) verifySides(ctx context.Context, paths [2]string, f *verifyFlags) (sides verifySides, err error) {
	for i := range sides {
		s := &verifySide{session: session{app: a}, path: paths[i], flags: f, module: f.module}
		s.module.asWritten = f.module.asWritten && i == 0
		sides[i] = s
		if i == 1 && paths[1] == paths[0] {
			s.name, s.text = sides[0].name, sides[0].text // standard input can be read only once
		} else if s.name, s.text, err = a.ReadText(paths[i]); err != nil {
			return sides, err
		}
		if s.program, err = s.load(ctx); err != nil {
			return sides, err
		}
	}
	return sides, nil
}

// compile opens the backends and compiles both programs. Programs of dynamic shape are refined to the shapes of args.
func (sides verifySides) compile(ctx context.Context, opts backends.Options, types []hlocb.Type, args []*tensor.Tensor) error {
	dynamic := false
	for i, s := range sides {
		opened, err := s.app.open(ctx, s.program, s.flags.backend[i], opts, s.flags.timeout)
		if err != nil {
			return err
		}
		s.session = *opened
		dynamic = dynamic || needsShapes(s.program, s.backend, types)
	}
	for i, s := range sides {
		if dynamic { // the same shapes on both sides, so that --bisect finds the same types
			s.args = args // all inputs are given
			if err := refine(ctx, s.program, s.args); err != nil {
				return err
			}
		}
		compileOpts, err := s.options()
		if err != nil {
			return err
		}
		if s.watch != nil {
			s.binds[0].observeAs(s.watch, "AB"[i:i+1]+": "+s.name)
		}
		if err := s.binds[0].check(s.program); err != nil {
			return err
		}
		side := verify.Side{Program: s.program, Backend: s.backend, Options: compileOpts}
		if s.exe, err = onPlugin(ctx, s.flags.timeout, "compiling on", s.backend.Name(), side.Compile); err != nil {
			return err
		}
	}
	return nil
}

// run runs both programs with the same inputs and compares them.
func (sides verifySides) run(ctx context.Context, in verifyInputs, tol verify.Tolerance) (*verifyRun, error) {
	var outs [2]*verify.Outcome
	for i, s := range sides {
		var err error
		if outs[i], err = s.exe.Run(ctx, in.args); err != nil {
			return nil, fmt.Errorf("%s on %s, %s: %w", s.path, s.backend.Name(), in.name, err)
		}
	}
	run, err := sides.compare(outs, tol)
	if err != nil {
		return nil, err
	}
	run.Inputs = in.name
	return run, sides.compareStored(run, outs, in.results, tol)
}

// compareStored compares the results of both runs with those that the module's file stores.
func (sides verifySides) compareStored(run *verifyRun, outs [2]*verify.Outcome, stored []*tensor.Tensor, tol verify.Tolerance) error {
	for side, out := range outs {
		if stored == nil || side == 1 && sides[0].path == sides[1].path && sides[0].backend.Name() == sides[1].backend.Name() {
			break
		}
		m := sides[side].program.Module()
		if len(stored) != len(out.Results) {
			return entryErrorf(m, "main returns %s, but the file stores %s", plural(len(out.Results), "result"), plural(len(stored), "result"))
		}
		for i, want := range stored {
			c := verify.Compare(out.Results[i], want, tol)
			run.Stored = append(run.Stored, storedComparison{"AB"[side : side+1], i, c})
			if !c.Equal() {
				run.equal = false
				if run.where == nil {
					run.where = m.Errorf(resultOp(m, i), "result %d of main and the result that the file stores: %s", i, c.Summary())
				}
			}
		}
	}
	return nil
}

// storedComparison is the comparison of a result with the result that the module's file stores.
type storedComparison struct {
	Side   string             `json:"side"`
	Result int                `json:"result"`
	Value  *verify.Comparison `json:"value"`
}

// bisect finds the first op that differs in a run.
func (sides verifySides) bisect(ctx context.Context, run *verifyRun, args []*tensor.Tensor, tol verify.Tolerance) error {
	found, err := verify.Bisect(ctx, sides[0].source(), sides[1].source(), args, tol)
	if err != nil || found == nil {
		return err
	}
	run.First = firstOp(found)
	run.where = found.ModuleA.Errorf(found.A, "result %d of '%s' is the first value that differs, in execution %d: %s",
		found.Result, found.A.Name(), found.Execution+1, found.Value.Summary())
	if found.ModuleA.Source().Name() != found.ModuleB.Source().Name() {
		at := found.ModuleB.Errorf(found.B, "it is compared with this op")
		at.Severity = diag.Note
		run.where.Notes = append(run.where.Notes, at)
	}
	return nil
}

func entryErrorf(m *ir.Module, format string, args ...any) error {
	at := m.Op()
	if f, err := fn.Entry(m); err == nil {
		at = f.Op
	}
	return m.Errorf(at, format, args...)
}

func firstOp(found *verify.Difference) *verifyFirst {
	at := func(m *ir.Module, op *ir.Op) string {
		line, col := m.Source().LineColumn(op.Pos())
		return fmt.Sprintf("%s:%d:%d", m.Source().Name(), line, col)
	}
	return &verifyFirst{A: at(found.ModuleA, found.A), B: at(found.ModuleB, found.B), Op: found.A.Name(), Loc: hookformat.LocText(found.A.Loc()),
		Result: found.Result, Execution: found.Execution, Probed: found.Probed, Value: found.Value}
}

// verifyInputs are the arguments of one run.
type verifyInputs struct {
	name    string
	args    []*tensor.Tensor
	results []*tensor.Tensor    // that the module's file stores; nil for none
	gentler func() verifyInputs // other arguments to try if every float result is NaN; nil for none
}

// blind reports whether the comparison is meaningless: there are floats, and all are NaN on both sides.
func (run *verifyRun) blind() bool {
	floats := false
	for _, c := range run.Results {
		if c.AllNaN {
			floats = true
		} else if floatType.MatchString(c.Type) {
			return false
		}
	}
	return floats
}

// floatType matches the types of tensors of floats.
var floatType = regexp.MustCompile(`[<x](b?f\d|complex)`)

// nearULPs is the largest distance for which a tolerance is suggested; values further apart are wrong.
const nearULPs = 1 << 16

// suggestTolerance names the tolerance that accepts the differences, if they are small.
func (a *app) suggestTolerance(r *verifyReport) {
	most := uint64(0)
	for _, run := range r.Runs {
		all := slices.Clone(run.Results)
		for _, s := range run.Stored {
			all = append(all, s.Value)
		}
		if d := run.Events.First; d != nil {
			if d.Value == nil {
				return // an event is missing, or in another order
			}
			all = append(all, d.Value)
		}
		for _, c := range all {
			if c.Equal() {
				continue
			}
			if c.OtherType != "" || c.NaN > 0 || c.MaxULP > nearULPs || len(c.Histogram) == 0 {
				return
			}
			most = max(most, c.MaxULP)
		}
	}
	if most > 0 {
		a.note("the differences above are at most %d ULP; '--tolerance %d' accepts that", most, most)
	}
}

// verifyInputs returns the inputs of both programs.
func (a *app) verifyInputs(f *verifyFlags, p *hlocb.Program, types []hlocb.Type) ([]verifyInputs, error) {
	stored := storedArguments(p)
	if f.arguments.isSet() || len(types) == 0 || len(stored) == len(types) {
		args, err := a.arguments(p, types, &f.arguments)
		if err != nil {
			return nil, err
		}
		in := verifyInputs{name: "the inputs given", args: args}
		if stored != nil && !f.arguments.isSet() {
			in.name, in.results = "the inputs stored in the file", hlo.SnapshotOf(p.Module()).Result
		}
		return []verifyInputs{in}, nil
	}
	platform := entry.Of(p.Module(), p.Manifest()).Platform()
	for i, t := range types {
		if i == platform {
			return nil, noPlatform()
		}
		if entry.IsDynamic(t) {
			return nil, noFill(i, t)
		}
	}
	ordinary := f.generate(types, verify.Ordinary)
	ordinary.gentler = func() verifyInputs { return f.generate(types, verify.Positive) }
	if f.noEdges {
		return []verifyInputs{ordinary}, nil
	}
	return []verifyInputs{ordinary, f.generate(types, verify.Edges)}, nil
}

// generate returns inputs of a style.
func (f *verifyFlags) generate(types []hlocb.Type, style verify.Style) verifyInputs {
	in := verifyInputs{name: fmt.Sprintf("%s of seed %d", style, f.seed)}
	for i, t := range types {
		v := tensor.New(t.DType, t.Shape)
		verify.Fill(v, rand.New(rand.NewPCG(f.seed, uint64(i))), style)
		in.args = append(in.args, v)
	}
	return in
}

// compare compares the outcomes of two runs. It locates the first difference in the first program.
func (sides verifySides) compare(outs [2]*verify.Outcome, tol verify.Tolerance) (*verifyRun, error) {
	run := &verifyRun{equal: true, Results: []*verify.Comparison{}}
	m := sides[0].program.Module()
	run.Events = verify.CompareEvents(sides[0].program.Manifest(), sides[1].program.Manifest(), outs[0].Events, outs[1].Events, tol)
	if d := run.Events.First; d != nil {
		run.equal = false
		place := fmt.Sprintf("event %d of hook %q on device %d", d.Number, d.Hook, d.Device)
		if d.Operand >= 0 {
			place += fmt.Sprintf(", operand %d", d.Operand)
		}
		at := m.Op()
		if site := d.Site(); site != nil {
			at = cmp.Or(callOf(m, site.ID), at)
		}
		run.where = m.Errorf(at, "%s: %s", place, d.Message)
	}
	if len(outs[0].Results) != len(outs[1].Results) {
		return nil, entryErrorf(sides[1].program.Module(), "main returns %s, but main of the first module returns %s", plural(len(outs[1].Results), "result"), plural(len(outs[0].Results), "result"))
	}
	for i := range outs[0].Results {
		c := verify.Compare(outs[0].Results[i], outs[1].Results[i], tol)
		run.Results = append(run.Results, c)
		if !c.Equal() {
			run.equal = false
			if run.where == nil {
				run.where = m.Errorf(resultOp(m, i), "result %d of main: %s", i, c.Summary())
			}
		}
	}
	return run, nil
}

// resultOp returns the op that computes result i of main, not counting tokens, or the function if the result is an
// argument.
func resultOp(m *ir.Module, i int) *ir.Op {
	f, err := fn.Entry(m)
	if err != nil || f.External() || f.Body().Terminator() == nil {
		return m.Op()
	}
	results := slices.DeleteFunc(f.Body().Terminator().OperandList(), func(v *ir.Value) bool { return stablehlo.IsToken(v.Type()) })
	return cmp.Or(results[i].DefiningOp(), f.Op)
}

// verifyReport prints the report: as JSON, or as a line per result and the position of the first difference.
func (a *app) verifyReport(r *verifyReport, f *verifyFlags) error {
	if f.json {
		if err := writeJSON(a.Out, r); err != nil {
			return err
		}
	} else {
		var b strings.Builder
		for _, run := range r.Runs {
			run.print(&b)
		}
		if _, err := fmt.Fprint(a.Out, b.String()); err != nil {
			return err
		}
	}
	for _, run := range r.Runs {
		if run.where != nil {
			run.where.Render(a.Err)
			if f.bisect && run.First == nil {
				a.note("no observable value differs: the difference vanishes if values in between are observed")
			}
			break
		}
	}
	return nil
}

func (run *verifyRun) print(b *strings.Builder) {
	fmt.Fprintf(b, "%s:\n", run.Inputs)
	line := func(name string, c *verify.Comparison) {
		fmt.Fprintf(b, "  %s %s: %s", name, c.Type, c.Summary())
		if c.Equal() && c.MaxULP > 0 {
			fmt.Fprintf(b, " within the tolerance, at most %d ULP apart", c.MaxULP)
		}
		b.WriteByte('\n')
		if len(c.Histogram) > 0 && (!c.Equal() || c.MaxULP > 0) {
			printHistogram(b, c)
		}
	}
	for i, c := range run.Results {
		line(fmt.Sprintf("result %d", i), c)
	}
	for _, s := range run.Stored {
		line(fmt.Sprintf("%s, stored result %d", s.Side, s.Result), s.Value)
	}
	if d := run.Events.First; d != nil {
		fmt.Fprintf(b, "  events: hook %s, event %d on device %d: %s\n", diag.Escape(d.Hook), d.Number, d.Device, d.Message)
	} else if run.Events.Compared > 0 {
		fmt.Fprintf(b, "  events: %d equal\n", run.Events.Compared)
	}
}

func printHistogram(b *strings.Builder, c *verify.Comparison) {
	for _, h := range c.Histogram {
		label := fmt.Sprint(h.Low)
		if h.High > h.Low {
			label += "-" + fmt.Sprint(h.High)
		}
		fmt.Fprintf(b, "    %10s ULP  %d\n", label, h.Count)
	}
	if c.NaN > 0 {
		fmt.Fprintf(b, "    %10s      %d\n", "NaN", c.NaN)
	}
}
