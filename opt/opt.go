// Package opt is an opt binary: a command line that reads modules, runs passes over them and prints them. A compiler
// with dialects and passes of its own needs three lines for one:
//
//	func main() {
//		streams := opt.Streams{In: os.Stdin, Out: os.Stdout, Err: os.Stderr}
//		os.Exit(opt.Main(os.Args[1:], streams, opt.Config{Dialects: dialects, Passes: passes}))
//	}
//
// 'hlocb opt' is this command line with hlocb's dialects and passes.
package opt

import (
	"context"
	"errors"
	"fmt"
	"io"
	"os"
	"slices"
	"strings"
	"text/tabwriter"
	"time"

	"github.com/spf13/cobra"

	"github.com/hlocb/hlocb/diag"
	"github.com/hlocb/hlocb/hook/format"
	"github.com/hlocb/hlocb/internal/command"
	"github.com/hlocb/hlocb/internal/reader"
	"github.com/hlocb/hlocb/interp"
	"github.com/hlocb/hlocb/ir"
	"github.com/hlocb/hlocb/pass"
	"github.com/hlocb/hlocb/passes"
	"github.com/hlocb/hlocb/print"
)

// Config is what an opt binary knows.
type Config struct {
	Name     string           // of the command; empty is "opt"
	Dialects []*ir.Dialect    // what it reads; ops of other dialects pass through untouched
	Passes   *pass.Table      // what --passes can name; nil is hlocb's own passes
	Formats  []*format.Format // of hooks, besides hlocb's own, for hlocb's own passes
	Example  string           // of the help
}

// Streams are where Main reads and writes.
type Streams struct {
	In       io.Reader
	Out, Err io.Writer
}

// Main runs the command line args, without the name of the program, and returns the exit code: 0 for success, 1 for bad
// input, 2 for a wrong command line. Ctrl-C and SIGTERM stop it.
func Main(args []string, s Streams, cfg Config) int {
	console := command.NewConsole(s.In, s.Out, s.Err, os.Getenv)
	ctx, stop := console.Signals()
	defer stop()
	root := Command(console, cfg)
	root.CompletionOptions.DisableDefaultCmd = true
	return console.Execute(ctx, root, LongFlags(root, args), command.Policy{})
}

// LongFlags returns args with two dashes before the long flags of c that have one, and before unknown flags that contain
// a dash: MLIR's tools accept both.
func LongFlags(c *cobra.Command, args []string) []string {
	out := slices.Clone(args)
	for i, a := range out {
		name, _, _ := strings.Cut(strings.TrimPrefix(a, "-"), "=")
		if strings.HasPrefix(a, "-") && len(name) > 1 && name[0] != '-' && (c.Flags().Lookup(name) != nil || strings.Contains(name, "-")) {
			out[i] = "-" + a
		}
	}
	return out
}

// flags are the flags of opt.
type flags struct {
	pipeline, out, before, after   string
	verifyEach, timing             bool
	split, expect                  bool
	generic, debugInfo, localScope bool
	listPasses, showDialects       bool
	flagged                        []string // the pipeline that flags named after passes add up to
	unregistered, oneThread        bool
	elideLarger, maxErrors         int
	console                        *command.Console
	cfg                            Config
	registry                       *ir.Registry
}

// evaluationLimit bounds the values of one op that a pass evaluates, in bytes.
const evaluationLimit = 1 << 30

// Command returns the command for a program that has others too. It is for hlocb's own; others use Main.
func Command(console *command.Console, cfg Config) *cobra.Command {
	o := &flags{console: console, cfg: cfg}
	if o.cfg.Name == "" {
		o.cfg.Name = "opt"
	}
	if o.cfg.Passes == nil {
		o.cfg.Passes = passes.Builtin(passes.Host{Formats: cfg.Formats, Evaluator: interp.NewEvaluator(evaluationLimit)})
	}
	c := &cobra.Command{
		Use:   o.cfg.Name + " [IN]",
		Short: "Run passes",
		Long: `Run passes over a module and print it. Without --passes the module is read, verified and printed.

IN is a file; without it, or for -, the module is read from standard input. --passes is a pipeline as MLIR writes it. Each pass is a flag, too: --cse, or --PASS='option=1 other=2'; such passes run in the order of the flags, and passes on functions run on every function. Long flags may have one dash. With --verify-diagnostics, what is reported must be what comments of the module expect:
  // expected-error@+1 {{part of the message}}

Passes:
` + o.passHelp(),
		Example: cfg.Example,
		Args:    command.Args("[IN]"),
		RunE: command.Body(func(cmd *cobra.Command, args []string) error {
			switch {
			case o.listPasses:
				_, err := fmt.Fprintf(console.Out, "%s\n", command.Wrap(o.passHelp(), console.Width()))
				return err
			case o.showDialects:
				for _, d := range o.cfg.Dialects {
					if _, err := fmt.Fprintln(console.Out, d.Name); err != nil {
						return err
					}
				}
				return nil
			}
			return o.run(cmd.Context(), append(args, "-")[0])
		}),
	}
	f := c.Flags()
	f.StringVar(&o.pipeline, "passes", "", "passes to run, in order")
	f.StringVar(&o.pipeline, "pass-pipeline", "", "the same, by MLIR's name")
	f.BoolVar(&o.listPasses, "list-passes", false, "list the passes and their options")
	f.BoolVar(&o.showDialects, "show-dialects", false, "list the dialects")
	f.StringVarP(&o.out, "output", "o", "", "write to FILE instead of standard output")
	f.BoolVar(&o.generic, "mlir-print-op-generic", false, "the same, by MLIR's name")
	f.BoolVar(&o.generic, "generic", false, "print the generic form")
	f.BoolVar(&o.debugInfo, "mlir-print-debuginfo", false, "the same, by MLIR's name")
	f.BoolVar(&o.debugInfo, "debuginfo", false, "print a location for every op (default: for those that have one)")
	f.BoolVar(&o.localScope, "mlir-print-local-scope", false, "print locations and attributes in place, without aliases")
	f.IntVar(&o.elideLarger, "mlir-elide-elementsattrs-if-larger", 0, "leave out literals of more than N elements")
	f.StringVar(&o.before, "print-ir-before", "", "print the module before this pass, or before all")
	f.StringVar(&o.after, "print-ir-after", "", "print the module after this pass, or after all")
	f.BoolVar(&o.verifyEach, "verify-each", true, "verify the module before the first pass and after each")
	f.BoolVar(&o.timing, "timing", false, "print the time of each pass")
	f.BoolVar(&o.split, "split-input-file", false, "read the parts between lines of // ----- as modules of their own")
	f.BoolVar(&o.expect, "verify-diagnostics", false, "compare what is reported with expected-error comments")
	f.IntVar(&o.maxErrors, "max-errors", reader.MaxErrors, "report at most N mistakes of a text")
	f.BoolVar(&o.unregistered, "allow-unregistered-dialect", true, "accepted for MLIR's command lines: ops of unknown dialects always pass through")
	f.BoolVar(&o.oneThread, "mlir-disable-threading", false, "run passes on one function at a time")
	for _, p := range o.cfg.Passes.Passes() {
		for _, name := range append([]string{p.Info().Name}, p.Info().Aliases...) {
			if f.Lookup(name) == nil {
				pf := f.VarPF(&passFlag{o, p.Info()}, name, "", p.Info().Doc)
				pf.Hidden, pf.NoOptDefVal = true, " "
			}
		}
	}
	command.Group(c, "Passes", "passes PIPELINE", "pass-pipeline PIPELINE", "list-passes", "show-dialects")
	command.Group(c, "Output", "output FILE", "generic", "mlir-print-op-generic", "debuginfo", "mlir-print-debuginfo", "mlir-print-local-scope",
		"mlir-elide-elementsattrs-if-larger N")
	command.Group(c, "Debugging", "print-ir-before PASS", "print-ir-after PASS", "verify-each", "timing", "split-input-file", "verify-diagnostics", "max-errors N", "allow-unregistered-dialect", "mlir-disable-threading")
	complete := func(flag string, values []string) {
		_ = c.RegisterFlagCompletionFunc(flag, cobra.FixedCompletions(values, cobra.ShellCompDirectiveNoFileComp))
	}
	complete("passes", o.passNames())
	complete("print-ir-before", append(o.passNames(), "all"))
	complete("print-ir-after", append(o.passNames(), "all"))
	return c
}

// usage returns a mistake in a pipeline, at its column in the flag's value.
func usage(err error) error {
	return command.Usagef("--passes:%s", strings.Replace(strings.TrimPrefix(err.Error(), "pipeline:"), ": error: ", ": ", 1))
}

// passFlag is a flag that adds a pass to the pipeline. Its value is the pass's options.
type passFlag struct {
	o    *flags
	pass *pass.Info
}

func (f *passFlag) String() string { return "" }
func (f *passFlag) Type() string   { return "options" }

func (f *passFlag) Set(options string) error {
	text := f.pass.Name
	if strings.TrimSpace(options) != "" {
		text += "{" + options + "}"
	}
	if f.pass.Anchor != "" {
		text = f.pass.Anchor + "(" + text + ")"
	}
	if _, err := pass.Parse(text, f.o.cfg.Passes); err != nil {
		return err
	}
	f.o.flagged = append(f.o.flagged, text)
	return nil
}

func (o *flags) run(ctx context.Context, path string) (err error) {
	if len(o.flagged) > 0 {
		if o.pipeline != "" {
			return command.Usagef("--passes and flags named after passes cannot be combined")
		}
		o.pipeline = strings.Join(o.flagged, ",")
	}
	pipeline, err := pass.Parse(o.pipeline, o.cfg.Passes)
	if err != nil {
		return usage(err)
	}
	for _, name := range []string{o.before, o.after} {
		if _, err := o.cfg.Passes.Find(name); name != "" && name != "all" && err != nil {
			return command.Usagef("%w", err)
		}
	}
	if o.registry, err = ir.NewRegistry(o.cfg.Dialects...); err != nil {
		return err
	}
	name, text, err := o.console.ReadText(path)
	if err != nil {
		return err
	}
	src := diag.NewSource(name, text)
	chunks := []*diag.Source{src}
	if o.split {
		chunks = src.Split()
	}
	if o.expect {
		var failed diag.List
		err := o.console.WriteFile(o.out, func(w io.Writer) error {
			written := false
			for _, chunk := range chunks {
				m, err := o.chunk(ctx, pipeline, chunk)
				failed = append(failed, expectationsOf(chunk, err)...)
				if m == nil {
					continue
				}
				if written {
					if _, err := io.WriteString(w, "\n// -----\n"); err != nil {
						return err
					}
				}
				written = true
				if err := print.Print(w, m, o.print(m)); err != nil {
					return err
				}
			}
			return nil
		})
		return errors.Join(failed.Err(), err)
	}
	// The first module is read before the output is opened, so that a mistake in it leaves the output alone.
	m, err := o.chunk(ctx, pipeline, chunks[0])
	if err != nil {
		return err
	}
	return o.console.WriteFile(o.out, func(w io.Writer) error {
		for i, chunk := range chunks {
			if i > 0 {
				if m, err = o.chunk(ctx, pipeline, chunk); err != nil {
					return err
				}
				if _, err := io.WriteString(w, "\n// -----\n"); err != nil {
					return err
				}
			}
			if err := o.write(w, m); err != nil {
				return err
			}
		}
		return nil
	})
}

// write writes m in the form that the output's suffix names, HLO for HLO without one, or as MLIR if a flag says how to
// print MLIR.
func (o *flags) write(w io.Writer, m *ir.Module) error {
	if o.generic || o.localScope || o.elideLarger > 0 {
		return print.Print(w, m, o.print(m))
	}
	return reader.Write(w, o.out, m, o.print(m))
}

// print returns how m is printed: with the locations that it has of its own.
func (o *flags) print(m *ir.Module) print.Options {
	return reader.Written(m, print.Options{Generic: o.generic, DebugInfo: o.debugInfo, LocalScope: o.localScope, ElideLarger: o.elideLarger})
}

// chunk reads one module and runs the pipeline over it. With --verify-diagnostics, the remarks and warnings of a module
// without errors are the error, beside the module.
func (o *flags) chunk(ctx context.Context, p pass.Pipeline, src *diag.Source) (*ir.Module, error) {
	m, err := reader.ReadVHLO(src, o.registry, o.maxErrors) // passes work on VHLO, too
	if err != nil {
		return nil, err
	}
	if !o.expect { // MLIR's tools do not warn of misspelled attributes, and their tests expect no warning
		for i, d := range reader.Misspelled(m) {
			if i == reader.MaxErrors {
				break
			}
			o.console.Show(d)
		}
	}
	type spent struct {
		name string
		took time.Duration
	}
	var times []spent
	show := func(when string, p pass.Pass, m *ir.Module) {
		fmt.Fprintf(o.console.Err, "// -----// IR Dump %s %s //----- //\n%s\n", when, p.Info().Name, print.Append(nil, m, reader.Written(m, print.Options{})))
	}
	d := &pass.Driver{Workers: map[bool]int{true: 1}[o.oneThread], Instruments: []pass.Instrument{{
		Before: func(s pass.Step) {
			if o.before == "all" || o.before == s.Pass.Info().Name {
				show("Before", s.Pass, s.Module)
			}
		},
		After: func(s pass.Step, out pass.Outcome) {
			times = append(times, spent{s.Pass.Info().Name, out.Took})
			if out.Err == nil && (o.after == "all" || o.after == s.Pass.Info().Name) {
				show("After", s.Pass, s.Module)
			}
		},
	}}}
	if o.verifyEach {
		d.Verify = ir.Verify
	}
	pc := pass.NewContext(ctx, m)
	var reported diag.List
	pc.Report = func(x *diag.Diagnostic) {
		if o.expect {
			reported.Add(x)
		} else {
			o.console.Show(x)
		}
	}
	if err := d.Run(pc, p); err != nil {
		if list := (diag.List{}); len(reported) > 0 && errors.As(err, &list) {
			return nil, append(reported, list...)
		} else if one := (*diag.Diagnostic)(nil); len(reported) > 0 && errors.As(err, &one) {
			return nil, append(reported, one)
		}
		return nil, err
	}
	if o.timing {
		w := tabwriter.NewWriter(o.console.Err, 0, 8, 2, ' ', tabwriter.AlignRight)
		for _, t := range times {
			fmt.Fprintf(w, "%.3f ms\t %s\n", float64(t.took)/float64(time.Millisecond), t.name)
		}
		w.Flush()
	}
	if len(reported) > 0 {
		return m, reported
	}
	return m, nil
}

// expectationsOf returns the differences between what was reported of a source and what its comments expect.
func expectationsOf(src *diag.Source, err error) diag.List {
	var found diag.List
	var one *diag.Diagnostic
	switch {
	case err == nil:
	case errors.As(err, &found):
	case errors.As(err, &one):
		found.Add(one)
	default:
		return diag.List{diag.Errorf(src, diag.At(0), "%v", err)}
	}
	return diag.VerifyExpectations(src, found)
}

func (o *flags) passNames() []string {
	names := o.cfg.Passes.Names()
	slices.Sort(names)
	return names
}

func (o *flags) passHelp() string {
	var b strings.Builder
	for _, p := range o.cfg.Passes.Passes() {
		fmt.Fprintf(&b, "  %s\n      %s\n", p.Info().Name, p.Info().Doc)
		for _, opt := range pass.Options(p) {
			fmt.Fprintf(&b, "      %s=%s: %s\n", opt.Name, opt.Default, opt.Doc)
		}
	}
	return strings.TrimSuffix(b.String(), "\n")
}
