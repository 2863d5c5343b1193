package cli

import (
	"fmt"
	"strings"
	"text/tabwriter"

	"github.com/spf13/cobra"

	"github.com/hlocb/hlocb/diag"
	"github.com/hlocb/hlocb/dialect/hlocb"
	"github.com/hlocb/hlocb/hook"
	"github.com/hlocb/hlocb/passes"
)

func (a *app) hooksCommand() *cobra.Command {
	var flags rewriteFlags
	var asJSON, dot, aliases bool
	var plugin string
	c := &cobra.Command{
		Use:   "hooks IN",
		Short: "List the hooks of a module, their order and their aliases",
		Long: `List the hooks of a module as 'hlocb rewrite' with the same flags would write them: name, kind, the notation they
are in, types and location; then which events must come before which, and which results share their operand's memory.

With --aliases only the latter, with the bytes of each result: kept for free, after a copy, or refused. --plugin compiles
the rewritten module too and puts beside each prediction what the plugin's compiler made of it.`,
		Example: "  hlocb hooks train.mlir\n  hlocb hooks train.mlir --aliases --plugin cpu\n  hlocb hooks train.mlir --json | jq '.hooks[].name'\n  hlocb hooks train.mlir --dot | dot -Tsvg > order.svg",
		Args:    exactArgs("IN"),
		RunE: command(func(cmd *cobra.Command, args []string) error {
			opts, err := flags.options()
			if err != nil {
				return err
			}
			if plugin != "" && !aliases {
				return usagef("--plugin says what a plugin made of the aliases; it needs --aliases")
			}
			m, err := a.module(args[0])
			if err != nil {
				return err
			}
			rewritten, err := passes.RewriteHooks(cmd.Context(), m, opts)
			if err != nil {
				return err
			}
			lines, described, err := a.compiledAliases(cmd.Context(), plugin, m, rewritten)
			if err != nil {
				return err
			}
			switch {
			case asJSON:
				return a.hooksJSON(rewritten.Manifest, lines, described)
			case aliases:
				return a.aliasTable(lines, described)
			case dot:
				return hook.WriteOrderDOT(a.stdout, rewritten.Manifest)
			}
			return a.hooksTable(rewritten)
		}),
	}
	flags.add(c)
	c.Flags().BoolVar(&asJSON, "json", false, "write JSON")
	c.Flags().BoolVar(&dot, "dot", false, "write the order as a graph in the language of Graphviz")
	c.Flags().BoolVar(&aliases, "aliases", false, "only the results that share memory, with bytes and reasons")
	c.Flags().StringVar(&plugin, "plugin", "", "with --aliases: compile with this plugin, a platform's name or a `path`, and compare")
	c.MarkFlagsMutuallyExclusive("json", "dot")
	c.MarkFlagsMutuallyExclusive("aliases", "dot")
	return c
}

func (a *app) hooksTable(r *passes.Rewritten) error {
	if len(r.Manifest.Sites) == 0 {
		fmt.Fprintln(a.stdout, "no hooks")
		return nil
	}
	w := tabwriter.NewWriter(a.stdout, 0, 8, 2, ' ', 0)
	fmt.Fprintln(w, "NAME\tKIND\tFORMAT\tID\tTYPE\tLOCATION")
	for i := range r.Manifest.Sites {
		s := &r.Manifest.Sites[i]
		fmt.Fprintf(w, "%s\t%s\t%s\t%s\t%s\t%s\n", diag.Escape(s.Name), s.Kind, s.Format, s.ID, signature(s), orDash(diag.Escape(s.Loc)))
	}
	if err := w.Flush(); err != nil {
		return err
	}
	fmt.Fprintln(a.stdout, "\norder:")
	var order strings.Builder
	if err := hook.WriteOrder(&order, r.Manifest); err != nil {
		return err
	}
	fmt.Fprint(a.stdout, indent(order.String()))
	if len(r.Aliases) > 0 {
		fmt.Fprintln(a.stdout, "\naliases:")
		for _, al := range r.Aliases {
			operand := ""
			if al.Operand >= 0 {
				operand = fmt.Sprintf(" is operand %d", al.Operand)
			}
			fmt.Fprintf(a.stdout, "  %s result %d%s: %s, %s\n", diag.Escape(al.Name), al.Result, operand, al.Verdict, diag.EscapeLines(al.Reason))
		}
	}
	return nil
}

func indent(s string) string {
	if s == "" {
		return s
	}
	return "  " + strings.ReplaceAll(strings.TrimSuffix(s, "\n"), "\n", "\n  ") + "\n"
}

func orDash(s string) string {
	if s == "" {
		return "-"
	}
	return s
}

// signature returns the types of a hook's operands and results as the handler sees them.
func signature(s *hlocb.Site) string {
	return "(" + typeList(s.Operands) + ") -> (" + typeList(s.Results) + ")"
}

func typeList(list []hlocb.TensorType) string {
	parts := make([]string, len(list))
	for i, t := range list {
		parts[i] = t.String()
	}
	return strings.Join(parts, ", ")
}

func (a *app) hooksJSON(m *hlocb.Manifest, aliases []aliasLine, plugin string) error {
	type document struct {
		*hlocb.Manifest
		Aliases []aliasLine `json:"aliases"`
		Plugin  string      `json:"plugin,omitempty"`
	}
	return a.writeJSON(document{m, aliases, plugin})
}
