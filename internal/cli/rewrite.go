package cli

import (
	"encoding"
	"io"
	"strings"

	"github.com/spf13/cobra"

	"github.com/hlocb/hlocb"
	hookformat "github.com/hlocb/hlocb/hook/format"
	"github.com/hlocb/hlocb/passes"
	"github.com/hlocb/hlocb/print"
)

// rewriteFlags are the flags that say how hooks are converted.
type rewriteFlags struct {
	targets []string
	order   string
	chain   string
	alias   string
	devices string
}

func (f *rewriteFlags) add(c *cobra.Command) {
	c.Flags().StringArrayVar(&f.targets, "hook-target", nil, "treat calls to this custom-call `target` as hooks too; may be repeated")
	c.Flags().StringVar(&f.order, "order", "program", "order of the hooks: program (all in program order), source (what tokens and data impose), none")
	c.Flags().StringVar(&f.chain, "chain", "state", "what orders them: state (a scalar) or token")
	c.Flags().StringVar(&f.alias, "alias", "all", "results that share their operand's memory: all, free (where nothing is copied) or none")
	c.Flags().StringVar(&f.devices, "per-device", "source", "how often hooks of partitioned programs fire: once (with the whole value), each (with the device's shard), source (as the source has it)")
	complete(c, "per-device", "source", "once", "each")
	complete(c, "order", "program", "source", "none")
	complete(c, "chain", "state", "token")
	complete(c, "alias", "all", "free", "none")
}

// options returns the flags as options of Load.
func (f *rewriteFlags) options() ([]hlocb.LoadOption, error) {
	opts, err := f.conversion()
	return []hlocb.LoadOption{hlocb.Rewrite(opts)}, err
}

// conversion returns the flags as options of the conversion.
func (f *rewriteFlags) conversion() (passes.RewriteOptions, error) {
	opts := passes.RewriteOptions{Targets: f.targets}
	for _, o := range []struct {
		flag, text string
		to         encoding.TextUnmarshaler
	}{
		{"order", f.order, &opts.Order},
		{"chain", f.chain, &opts.Chain},
		{"alias", f.alias, &opts.Alias},
		{"per-device", f.devices, &opts.PerDevice},
	} {
		if err := o.to.UnmarshalText([]byte(o.text)); err != nil {
			return opts, usagef("--%s: %w", o.flag, err)
		}
	}
	return opts, nil
}

// complete offers the values of a flag to the shell.
func complete(c *cobra.Command, flag string, values ...string) {
	c.RegisterFlagCompletionFunc(flag, cobra.FixedCompletions(values, cobra.ShellCompDirectiveNoFileComp))
}

func (a *app) rewriteCommand() *cobra.Command {
	var flags rewriteFlags
	var out, to, def, manifest string
	c := &cobra.Command{
		Use:   "rewrite IN",
		Short: "Convert the hooks of a module to one form",
		Long: `Convert the hooks of a module, in whatever notation it has them, to hlocb's own call with aliases and an order that
compilers keep, or to another notation. The result is verified, and the order is proven on it. IN is a file, or - for
standard input. A module without hooks stays as it is.

Notations (--to):
` + notations(),
		Example: `  hlocb rewrite train.mlir -o train.hooks.mlir
  hlocb rewrite train.mlir --to strip --default zeros
  hlocb rewrite train.mlir -o train.hooks.mlir --manifest train.hooks.json
  cat train.mlir | hlocb rewrite - --order source`,
		Args: exactArgs("IN"),
		RunE: command(func(cmd *cobra.Command, args []string) error {
			opts, err := flags.conversion()
			if err != nil {
				return err
			}
			output, err := hookformat.Builtin().Writer(to)
			if err != nil {
				return usagef("--to: %w", err)
			}
			if _, err := output.PerDevice(opts.PerDevice); err != nil {
				return usagef("--to %s: %w", to, err)
			}
			opts.To, opts.Default = to, def
			p, err := a.program(cmd.Context(), args[0], hlocb.Rewrite(opts))
			if err != nil {
				return err
			}
			m, r := p.Module(), p.Rewritten()
			if manifest != "" {
				var lines []aliasLine
				for _, report := range r.Aliases {
					lines = append(lines, aliasLine{AliasReport: report})
				}
				if err := a.writeWith(manifest, func(w io.Writer) error { return writeJSON(w, manifestOf(r.Manifest, dataOrder(m, opts), lines, "")) }); err != nil {
					return err
				}
			}
			return a.writeModule(out, m, print.Options{})
		}),
	}
	flags.add(c)
	c.Flags().StringVarP(&out, "output", "o", "", "write to this `file` instead of standard output")
	c.Flags().StringVar(&manifest, "manifest", "", "write what 'hlocb hooks --json' tells of the hooks to this `file`: ids, names, types, locations, order, aliases")
	c.Flags().StringVar(&to, "to", "ffi", "the notation to write hooks in")
	c.Flags().StringVar(&def, "default", "", "for --to strip: zeros stands for what a host would compute; without it such hooks are refused")
	var names []string
	for _, o := range hookformat.Builtin().Writers() {
		names = append(names, o.Name)
	}
	complete(c, "to", names...)
	return c
}

func notations() string {
	var b strings.Builder
	for _, o := range hookformat.Builtin().Writers() {
		b.WriteString("  " + o.Name + strings.Repeat(" ", max(1, 10-len(o.Name))) + o.Doc + "\n")
	}
	return strings.TrimSuffix(b.String(), "\n")
}
