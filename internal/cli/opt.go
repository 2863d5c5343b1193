package cli

import (
	"context"
	"errors"
	"fmt"
	"io"
	"strings"
	"text/tabwriter"
	"time"

	"github.com/spf13/cobra"

	"github.com/hlocb/hlocb/diag"
	"github.com/hlocb/hlocb/internal/reader"
	"github.com/hlocb/hlocb/ir"
	"github.com/hlocb/hlocb/passes"
	"github.com/hlocb/hlocb/print"
)

// optOptions are the flags of opt.
type optOptions struct {
	pipeline, out, before, after   string
	verifyEach, timing             bool
	split, expect                  bool
	generic, debugInfo, localScope bool
	elideLarger, maxErrors         int
}

func (a *app) optCommand() *cobra.Command {
	var o optOptions
	c := &cobra.Command{
		Use:   "opt IN",
		Short: "Run passes over a module",
		Long: `Run passes over a module, in MLIR's text form of pipelines; without --passes the module is read, verified and printed.

With --verify-diagnostics what is reported must be what comments of the module expect, as MLIR's own tools read them:
  // expected-error@+1 {{part of the message}}
Without it, attributes that are nearly an op's own are warned of, as every command does that reads a module: MLIR takes them.

Passes:
` + passHelp(),
		Example: "  hlocb opt in.mlir --passes 'raise-hooks,order-hooks{order=source},alias-hooks,lower-hooks'\n" +
			"  hlocb opt in.mlir --passes 'builtin.module(raise-hooks)' --print-ir-after all\n" +
			"  hlocb opt tests.mlir --split-input-file --verify-diagnostics",
		Args: exactArgs("IN"),
		RunE: command(func(cmd *cobra.Command, args []string) error {
			p, err := passes.ParsePipeline(o.pipeline, passes.Builtin())
			if err != nil {
				return &usageError{err}
			}
			for _, name := range []string{o.before, o.after} {
				if _, err := passes.Builtin().New(name, nil); name != "" && name != "all" && err != nil {
					return &usageError{err}
				}
			}
			name, text, err := a.text(args[0])
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
				for _, chunk := range chunks {
					_, err := a.optChunk(cmd.Context(), &o, p, chunk)
					failed = append(failed, expectationsOf(chunk, err)...)
				}
				return failed.Err()
			}
			m, err := a.optChunk(cmd.Context(), &o, p, chunks[0])
			if err != nil {
				return err
			}
			if len(chunks) == 1 {
				return a.writeModule(o.out, m, o.print())
			}
			return a.writeWith(o.out, func(w io.Writer) error {
				for i, chunk := range chunks {
					if i > 0 {
						if m, err = a.optChunk(cmd.Context(), &o, p, chunk); err != nil {
							return err
						}
						if _, err := io.WriteString(w, "\n// -----\n"); err != nil {
							return err
						}
					}
					form := o.print()
					form.DebugInfo = form.DebugInfo || reader.HasLocations(m)
					if err := print.Print(w, m, form); err != nil {
						return err
					}
				}
				return nil
			})
		}),
	}
	f := c.Flags()
	f.StringVar(&o.pipeline, "passes", "", "the `pipeline`")
	f.StringVarP(&o.out, "output", "o", "", "write to this `file` instead of standard output")
	f.StringVar(&o.before, "print-ir-before", "", "print the module before this `pass`, or before all")
	f.StringVar(&o.after, "print-ir-after", "", "print the module after this `pass`, or after all")
	f.BoolVar(&o.verifyEach, "verify-each", true, "verify the module before the first pass and after each one")
	f.BoolVar(&o.timing, "timing", false, "say how long each pass took")
	f.BoolVar(&o.split, "split-input-file", false, "take the parts between lines of // ----- for modules of their own")
	f.BoolVar(&o.expect, "verify-diagnostics", false, "compare what is reported with the expected-error comments of the module")
	f.BoolVar(&o.generic, "mlir-print-op-generic", false, "write the generic form")
	f.BoolVar(&o.generic, "generic", false, "write the generic form")
	f.BoolVar(&o.debugInfo, "mlir-print-debuginfo", false, "write locations, also where the module has none of its own")
	f.BoolVar(&o.localScope, "mlir-print-local-scope", false, "write locations and attributes in place, without aliases")
	f.IntVar(&o.elideLarger, "mlir-elide-elementsattrs-if-larger", 0, "leave out literals of more than `N` elements; 0 leaves out none")
	f.IntVar(&o.maxErrors, "max-errors", reader.MaxErrors, "report at most `N` mistakes of a text")
	var names []string
	for _, k := range passes.Builtin().Kinds() {
		names = append(names, k.Info.Name)
	}
	complete(c, "passes", names...)
	complete(c, "print-ir-before", append(names, "all")...)
	complete(c, "print-ir-after", append(names, "all")...)
	return c
}

func (o *optOptions) print() print.Options {
	return print.Options{Generic: o.generic, DebugInfo: o.debugInfo, LocalScope: o.localScope, ElideLarger: o.elideLarger}
}

// optChunk reads one module and runs the pipeline over it.
func (a *app) optChunk(ctx context.Context, o *optOptions, p passes.Pipeline, src *diag.Source) (*ir.Module, error) {
	m, err := readModule(src, o.maxErrors)
	if err != nil {
		return nil, err
	}
	if !o.expect { // MLIR's tools report nothing of the kind, and their tests expect nothing
		a.warnAll(m)
	}
	type spent struct {
		name string
		took time.Duration
	}
	var times []spent
	show := func(when string, p passes.Pass, m *ir.Module) {
		fmt.Fprintf(a.stderr, "// -----// IR Dump %s %s //----- //\n%s\n", when, p.Info().Name, print.Append(nil, m, print.Options{DebugInfo: reader.HasLocations(m)}))
	}
	d := &passes.Driver{
		Before: func(_ int, p passes.Pass, m *ir.Module) {
			if o.before == "all" || o.before == p.Info().Name {
				show("Before", p, m)
			}
		},
		After: func(_ int, p passes.Pass, m *ir.Module, took time.Duration) {
			times = append(times, spent{p.Info().Name, took})
			if o.after == "all" || o.after == p.Info().Name {
				show("After", p, m)
			}
		},
	}
	if o.verifyEach {
		d.Verify = ir.Verify
	}
	pc := passes.NewContext(ctx)
	var reported diag.List
	pc.Report = func(x *diag.Diagnostic) {
		if o.expect {
			reported.Add(x)
		} else {
			x.Render(a.stderr)
		}
	}
	if err := d.Run(pc, p, m); err != nil {
		return nil, err
	}
	if o.timing {
		w := tabwriter.NewWriter(a.stderr, 0, 8, 2, ' ', tabwriter.AlignRight)
		for _, t := range times {
			fmt.Fprintf(w, "%.3f ms\t %s\n", float64(t.took)/float64(time.Millisecond), t.name)
		}
		w.Flush()
	}
	if len(reported) > 0 {
		return nil, reported
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

func passHelp() string {
	var b strings.Builder
	for _, k := range passes.Builtin().Kinds() {
		fmt.Fprintf(&b, "  %s\n      %s\n", k.Info.Name, k.Info.Doc)
		for _, o := range k.Info.Options {
			fmt.Fprintf(&b, "      %s=%s: %s\n", o.Name, o.Default, o.Doc)
		}
	}
	return strings.TrimSuffix(b.String(), "\n")
}
