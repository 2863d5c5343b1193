// Package opt implements opt binaries: command lines that read modules, run passes over them and print them. A compiler
// with its own dialects and passes needs three lines for an opt binary:
//
//	func main() {
//		streams := opt.Streams{In: os.Stdin, Out: os.Stdout, Err: os.Stderr}
//		os.Exit(opt.Main(os.Args[1:], streams, opt.Config{Dialects: dialects, Passes: passes}))
//	}
//
// 'hlocb opt' is this command line with hlocb's dialects and passes.
package opt

import (
	"fmt"
	"io"
	"os"
	"slices"
	"strings"

	"github.com/spf13/cobra"

	"github.com/hlocb/hlocb/diag"
	"github.com/hlocb/hlocb/hook/format"
	"github.com/hlocb/hlocb/internal/command"
	"github.com/hlocb/hlocb/internal/reader"
	"github.com/hlocb/hlocb/interp"
	"github.com/hlocb/hlocb/ir"
	"github.com/hlocb/hlocb/parse"
	"github.com/hlocb/hlocb/pass"
	"github.com/hlocb/hlocb/passes"
	"github.com/hlocb/hlocb/print"
)

// Config configures an opt binary.
type Config struct {
	Name     string           // of the command; empty is "opt"
	Dialects []*ir.Dialect    // dialects to read; ops of other dialects pass through unchanged
	Passes   *pass.Table      // passes that --passes can name; nil: hlocb's passes
	Formats  []*format.Format // of hooks, in addition to hlocb's, for hlocb's passes
	Example  string           // of the help
}

// Streams are the files that Main reads and writes.
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

// LongFlags returns args with two dashes before the long flags of c that have one, and before unknown flags that
// contain a dash: MLIR's tools accept both.
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
	pipeline, out            string
	program                  string // how the user calls the command: "hlocb opt"
	verifyEach               bool
	watch                    watcher
	split, expect            bool
	form                     print.Options
	listPasses, showDialects bool
	passFlags                pass.Pipeline // of flags named after passes, in order
	unregistered, oneThread  bool
	maxErrors                int
	console                  *command.Console
	cfg                      Config
	registry                 *ir.Registry
}

// evaluationLimit bounds the values of one op that a pass evaluates, in bytes.
const evaluationLimit = 1 << 30

// parseType reads a type in an option of a pass.
func parseType(m *ir.Module, text string) (ir.Type, error) {
	t, err := parse.Type(diag.NewSource("option", []byte(text)), m.Context())
	if d, ok := t.(*ir.DialectType); ok && err == nil && m.Registry().Dialect(d.Dialect()) == nil {
		err = fmt.Errorf("unknown dialect %s", d.Dialect())
	}
	return t, err
}

// Passes returns hlocb's passes. They evaluate ops with the engine, and read the given formats of hooks besides
// hlocb's.
func Passes(formats ...*format.Format) *pass.Table {
	return passes.Builtin(passes.Host{Formats: formats, Evaluator: interp.NewEvaluator(evaluationLimit), ParseType: parseType})
}

// Command returns the command for hlocb's command line, which has further commands. Other programs call Main.
func Command(console *command.Console, cfg Config) *cobra.Command {
	o := &flags{console: console, cfg: cfg}
	if o.cfg.Name == "" {
		o.cfg.Name = "opt"
	}
	if o.cfg.Passes == nil {
		o.cfg.Passes = Passes(cfg.Formats...)
	}
	c := &cobra.Command{
		Use:   o.cfg.Name + " [IN]",
		Short: "Run passes",
		Long: `Run passes over a module and print it. Without --passes the module is read, verified and printed.

IN is a file; without it, or for -, the module is read from standard input. --passes is a pipeline as MLIR writes it. Each pass is a flag, too: --cse, or --PASS='option=1 other=2'; such passes run in the order of the flags, and passes on functions run on every function. Long flags may have one dash. With --verify-diagnostics, the reported errors must match the comments of the module:
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
			o.program = cmd.CommandPath()
			return o.run(cmd.Context(), append(args, "-")[0])
		}),
	}
	f := c.Flags()
	f.StringVar(&o.pipeline, "passes", "", "`PIPELINE` passes to run, in order")
	f.StringVar(&o.pipeline, "pass-pipeline", "", "`PIPELINE` MLIR's name of the flag above")
	f.BoolVar(&o.listPasses, "list-passes", false, "list the passes and their options")
	f.BoolVar(&o.showDialects, "show-dialects", false, "list the dialects")
	command.Group(c, "Passes")
	f.StringVarP(&o.out, "output", "o", "", "`FILE` write to FILE instead of standard output")
	f.BoolVar(&o.form.Generic, "generic", false, "print the generic form")
	f.BoolVar(&o.form.Generic, "mlir-print-op-generic", false, "MLIR's name of the flag above")
	f.BoolVar(&o.form.DebugInfo, "debuginfo", false, "print a location for every op (default: for ops that have one)")
	f.BoolVar(&o.form.DebugInfo, "mlir-print-debuginfo", false, "MLIR's name of the flag above")
	f.BoolVar(&o.form.LocalScope, "mlir-print-local-scope", false, "print locations and attributes in place, without aliases")
	f.IntVar(&o.form.ElideLarger, "mlir-elide-elementsattrs-if-larger", 0, "`N` leave out literals of more than N elements")
	command.Group(c, "Output")
	o.watch.declare(f)
	f.BoolVar(&o.verifyEach, "verify-each", true, "verify the module after each pass, too")
	f.StringVar(&o.watch.reproducer, "crash-reproducer", "", "`FILE` if a pass fails, write the input and the command that fails on it to this file")
	f.BoolVar(&o.split, "split-input-file", false, "read the parts between lines of // ----- as separate modules")
	f.BoolVar(&o.expect, "verify-diagnostics", false, "compare the reported diagnostics with expected-error comments")
	f.IntVar(&o.maxErrors, "max-errors", reader.MaxErrors, "`N` report at most N errors of a text")
	f.BoolVar(&o.unregistered, "allow-unregistered-dialect", true, "accepted for MLIR's command lines: ops of unknown dialects always pass through")
	f.BoolVar(&o.oneThread, "mlir-disable-threading", false, "run passes on one function at a time")
	command.Group(c, "Debugging")
	for _, p := range o.cfg.Passes.Passes() {
		for _, name := range append([]string{p.Info().Name}, p.Info().Aliases...) {
			if f.Lookup(name) == nil {
				pf := f.VarPF(&passFlag{o, p.Info()}, name, "", p.Info().Doc)
				pf.Hidden, pf.NoOptDefVal = true, " "
			}
		}
	}
	command.Complete(c, "passes", func(_ *cobra.Command, _ []string, text string) ([]string, cobra.ShellCompDirective) {
		names := o.passNames()
		for i := range names { // after the passes that the text names
			names[i] = text[:strings.LastIndexAny(text, ",(")+1] + names[i]
		}
		return names, cobra.ShellCompDirectiveNoFileComp | cobra.ShellCompDirectiveNoSpace
	})
	for _, flag := range []string{"print-ir-before", "print-ir-after"} {
		command.CompleteFixed(c, flag, append(o.passNames(), "all")...)
	}
	return c
}

func (o *flags) passNames() []string {
	names := o.cfg.Passes.Names()
	slices.Sort(names)
	return names
}

func (o *flags) passHelp() string {
	var b strings.Builder
	for _, p := range o.cfg.Passes.Passes() {
		i := p.Info()
		name := i.Name
		if len(i.Aliases) > 0 {
			name += " (" + strings.Join(i.Aliases, ", ") + ")"
		}
		if i.Anchor != "" {
			name += ", on " + i.Anchor
		}
		fmt.Fprintf(&b, "  %s\n      %s\n", name, i.Doc)
		for _, opt := range pass.Options(p) {
			fmt.Fprintf(&b, "      %s=%s: %s\n", opt.Name, opt.Default, opt.Doc)
		}
	}
	return strings.TrimSuffix(b.String(), "\n")
}
