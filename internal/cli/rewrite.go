package cli

import (
	"cmp"
	"encoding"
	"io"
	"slices"
	"strings"

	"github.com/spf13/cobra"

	"github.com/hlocb/hlocb"
	hookformat "github.com/hlocb/hlocb/hook/format"
	"github.com/hlocb/hlocb/internal/command"
	"github.com/hlocb/hlocb/passes"
	"github.com/hlocb/hlocb/print"
)

// conversion is a choice of rewriteFlags. The first value is the default.
type conversion struct {
	name, doc string
	values    []string
}

var conversions = [...]conversion{
	{"order", "program, source or none ('hlocb help order')", []string{"program", "source", "none"}},
	{"chain", "value that orders hooks: state or token", []string{"state", "token"}},
	{"alias", "results that share memory: all, free or none", []string{"all", "free", "none"}},
	{"per-device", "hooks of partitioned programs fire once, each or source", []string{"source", "once", "each"}},
}

// conversionFlags returns the names of the flags of conversions.
func conversionFlags() []string {
	return namesOf(conversions[:], func(o conversion) string { return o.name })
}

// rewriteFlags are the flags that control the conversion of hooks.
type rewriteFlags struct {
	targets []string
	chosen  [len(conversions)]string
}

// add declares the flags. Flags of the command that belong to no group yet join theirs.
func (f *rewriteFlags) add(c *cobra.Command) {
	c.Flags().StringArrayVar(&f.targets, "hook-target", nil, "`NAME` also treat custom calls of this target as hooks")
	for i, o := range conversions {
		c.Flags().StringVar(&f.chosen[i], o.name, o.values[0], "`KIND` "+o.doc)
		command.CompleteFixed(c, o.name, o.values...)
	}
	command.Group(c, "How hooks are converted")
}

// options returns the flags as options of Load.
func (f *rewriteFlags) options() ([]hlocb.LoadOption, error) {
	opts, err := f.conversion()
	return []hlocb.LoadOption{hlocb.Rewrite(opts)}, err
}

// conversion returns the flags as options of the conversion.
func (f *rewriteFlags) conversion() (passes.RewriteHooks, error) {
	opts := passes.RewriteHooks{Targets: f.targets}
	to := [len(conversions)]encoding.TextUnmarshaler{&opts.Order, &opts.Chain, &opts.Alias, &opts.PerDevice}
	for i, o := range conversions {
		if err := oneOf("--"+o.name, f.chosen[i], o.values); err != nil {
			return opts, err
		}
		if err := to[i].UnmarshalText([]byte(f.chosen[i])); err != nil {
			return opts, err
		}
	}
	return opts, nil
}

// oneOf returns a usage error if the value of a flag is none of values.
func oneOf(flag, value string, values []string) error {
	if slices.Contains(values, value) {
		return nil
	}
	return usagef("%s %s: expected %s%s", flag, value, command.OneOf(values), command.Suggest(value, values))
}

func (a *app) rewriteCommand() *cobra.Command {
	var flags rewriteFlags
	var out, to, def, manifest string
	var debugInfo bool
	c := &cobra.Command{
		Use:   "rewrite IN",
		Short: "Convert hooks to one format",

		SuggestFor: []string{"convert", "lower"},
		Long: `Convert the hooks of a module from any format to hlocb's own call, with aliases and an order that compilers keep, or to another format.

The result is verified and its order is proven. IN is a file, or - for standard input. A module without hooks does not change. Locations are written for ops that have one in IN.

Formats (--to):
` + outputFormats(),
		Example: `  hlocb rewrite train.mlir -o train.hooks.mlir
  hlocb rewrite train.mlir --to strip --default zeros
  hlocb rewrite train.mlir -o train.hooks.mlir --manifest train.hooks.json
  cat train.mlir | hlocb rewrite - --order source`,
		Args: command.Args("IN"),
		RunE: command.Body(func(cmd *cobra.Command, args []string) error {
			opts, err := flags.conversion()
			if err != nil {
				return err
			}
			if err := oneOf("--to", to, outputNames()); err != nil {
				return err
			}
			if def != "" {
				if err := oneOf("--default", def, []string{"zeros"}); err != nil {
					return err
				}
				if to != "strip" {
					return usagef("--default needs --to strip")
				}
			}
			if manifest != "" {
				if err := keepInput(args[0], manifest); err != nil {
					return err
				}
				var outputs command.Outputs // out may be IN
				outputs.Add(manifest, false, false)
				outputs.Add(cmp.Or(out, "-"), false, false)
				if err := outputs.Check(); err != nil {
					return err
				}
			}
			output, err := hookformat.Builtin().Writer(to)
			if err != nil {
				return err
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
				document := manifestOf(r.Manifest, dataOrder(m, opts), predictedAliases(p), "")
				if err := a.WriteFile(manifest, func(w io.Writer) error { return writeJSON(w, document) }); err != nil {
					return err
				}
			}
			return a.writeModule(cmd.Context(), out, m, print.Options{DebugInfo: debugInfo})
		}),
	}
	c.Flags().StringVar(&to, "to", "ffi", "`FORMAT` format to write hooks in")
	c.Flags().StringVar(&def, "default", "", "`zeros` with --to strip: zeros replaces the results that a host would compute (default: refuse)")
	c.Flags().StringVarP(&out, "output", "o", "", "`FILE` write to FILE instead of standard output")
	c.Flags().StringVar(&manifest, "manifest", "", "`FILE` write the output of 'hlocb hooks --json'")
	c.Flags().BoolVar(&debugInfo, "debuginfo", false, "write a location for every op")
	command.Group(c, "Output")
	flags.add(c)
	command.CompleteFixed(c, "to", outputNames()...)
	return c
}

// outputFormats lists the formats that hooks can be written in.
func outputFormats() string {
	var b strings.Builder
	for _, o := range hookformat.Builtin().Writers() {
		b.WriteString("  " + o.Name + strings.Repeat(" ", max(1, 10-len(o.Name))) + o.Doc + "\n")
	}
	return strings.TrimSuffix(b.String(), "\n")
}

func outputNames() []string {
	return namesOf(hookformat.Builtin().Writers(), func(o *hookformat.Writer) string { return o.Name })
}
