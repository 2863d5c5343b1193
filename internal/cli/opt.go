package cli

import (
	"fmt"
	"strings"
	"text/tabwriter"
	"time"

	"github.com/spf13/cobra"

	"github.com/hlocb/hlocb/diag"
	"github.com/hlocb/hlocb/ir"
	"github.com/hlocb/hlocb/passes"
)

func (a *app) optCommand() *cobra.Command {
	var pipeline, out, before, after string
	var verify, timing, generic bool
	c := &cobra.Command{
		Use:   "opt IN",
		Short: "Run passes over a module",
		Long: `Run passes over a module, in MLIR's text form of pipelines.

Passes:
` + passHelp(),
		Example: "  hlocb opt in.mlir --passes 'raise-hooks,order-hooks{order=source},alias-hooks,lower-hooks'\n" +
			"  hlocb opt in.mlir --passes 'builtin.module(raise-hooks)' --print-ir-after all",
		Args: exactArgs("IN"),
		RunE: command(func(cmd *cobra.Command, args []string) error {
			p, err := passes.ParsePipeline(pipeline, passes.Builtin())
			if err != nil {
				return &usageError{err}
			}
			for _, name := range []string{before, after} {
				if _, err := passes.Builtin().New(name, nil); name != "" && name != "all" && err != nil {
					return &usageError{err}
				}
			}
			m, err := a.module(args[0])
			if err != nil {
				return err
			}
			type spent struct {
				name string
				took time.Duration
			}
			var times []spent
			show := func(when string, p passes.Pass, m *ir.Module) {
				fmt.Fprintf(a.stderr, "// -----// IR Dump %s %s //----- //\n%s\n", when, p.Info().Name, text(m))
			}
			d := &passes.Driver{
				Before: func(_ int, p passes.Pass, m *ir.Module) {
					if before == "all" || before == p.Info().Name {
						show("Before", p, m)
					}
				},
				After: func(_ int, p passes.Pass, m *ir.Module, took time.Duration) {
					times = append(times, spent{p.Info().Name, took})
					if after == "all" || after == p.Info().Name {
						show("After", p, m)
					}
				},
			}
			if verify {
				d.Verify = ir.Verify
			}
			ctx := passes.NewContext(cmd.Context())
			ctx.Report = func(x *diag.Diagnostic) { x.Render(a.stderr) }
			if err := d.Run(ctx, p, m); err != nil {
				return err
			}
			if timing {
				w := tabwriter.NewWriter(a.stderr, 0, 8, 2, ' ', tabwriter.AlignRight)
				for _, t := range times {
					fmt.Fprintf(w, "%.3f ms\t %s\n", float64(t.took)/float64(time.Millisecond), t.name)
				}
				w.Flush()
			}
			format := formats()[0]
			if generic {
				format = formats()[1]
			}
			return a.write(out, format.print(m))
		}),
	}
	c.Flags().StringVar(&pipeline, "passes", "", "the `pipeline`")
	c.Flags().StringVarP(&out, "output", "o", "", "write to this `file` instead of standard output")
	c.Flags().StringVar(&before, "print-ir-before", "", "print the module before this `pass`, or before all")
	c.Flags().StringVar(&after, "print-ir-after", "", "print the module after this `pass`, or after all")
	c.Flags().BoolVar(&verify, "verify-each", true, "verify the module before the first pass and after each one")
	c.Flags().BoolVar(&timing, "timing", false, "say how long each pass took")
	c.Flags().BoolVar(&generic, "generic", false, "write the generic form")
	return c
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
