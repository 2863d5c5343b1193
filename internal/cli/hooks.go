package cli

import (
	"fmt"
	"slices"
	"strings"
	"text/tabwriter"

	"github.com/spf13/cobra"

	"github.com/hlocb/hlocb"
	"github.com/hlocb/hlocb/diag"
	"github.com/hlocb/hlocb/hook"
	"github.com/hlocb/hlocb/internal/hook/order"
	"github.com/hlocb/hlocb/ir"
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

With --order and no value only the order: as text, with --json or with --dot. A hook comes after another by its chain, or by
data: it needs what the other gives. What only data imposes is told apart, and left out with --order=program, where all follows from
the chain.

With --aliases only the aliases, with the bytes of each result: kept for free, after a copy, or refused. --plugin compiles
the rewritten module too and puts beside each prediction what the plugin's compiler made of it.`,
		Example: "  hlocb hooks train.mlir\n  hlocb hooks train.mlir --aliases --plugin cpu\n  hlocb hooks train.mlir --json | jq '.hooks[].name'\n  hlocb hooks train.mlir --order\n  hlocb hooks train.mlir --dot | dot -Tsvg > order.svg",
		Args: func(cmd *cobra.Command, args []string) error {
			args, _ = orderAndArgs(flags.order, args)
			return exactArgs("IN")(cmd, args)
		},
		RunE: command(func(cmd *cobra.Command, args []string) error {
			args, flags.order = orderAndArgs(flags.order, args)
			alone := flags.order == orderAlone
			if alone {
				flags.order = hook.OrderProgram.String()
			}
			opts, err := flags.conversion()
			if err != nil {
				return err
			}
			if plugin != "" && !aliases {
				return usagef("--plugin says what a plugin made of the aliases; it needs --aliases")
			}
			p, err := a.program(cmd.Context(), args[0], hlocb.Rewrite(opts))
			if err != nil {
				return err
			}
			m, rewritten := p.Module(), p.Rewritten()
			lines, described, err := a.compiledAliases(cmd.Context(), plugin, p)
			if err != nil {
				return err
			}
			data := dataOrder(m, opts)
			switch {
			case asJSON && alone:
				return a.writeJSON(orderDocument{manifestOf(rewritten.Manifest, nil, nil, "").Edges, data})
			case asJSON:
				return a.writeJSON(manifestOf(rewritten.Manifest, data, lines, described))
			case aliases:
				return a.aliasTable(lines, described)
			case dot:
				return order.WriteDOT(a.stdout, rewritten.Manifest, data)
			case alone:
				return order.Write(a.stdout, rewritten.Manifest, data)
			}
			return a.hooksTable(rewritten, data)
		}),
	}
	flags.add(c)
	c.Flags().Lookup("order").NoOptDefVal = orderAlone
	c.Flags().BoolVar(&asJSON, "json", false, "write JSON")
	c.Flags().BoolVar(&dot, "dot", false, "write the order as a graph in the language of Graphviz")
	c.Flags().BoolVar(&aliases, "aliases", false, "only the results that share memory, with bytes and reasons")
	c.Flags().StringVar(&plugin, "plugin", "", "with --aliases: compile with this plugin, a platform's name or a `path`, and compare")
	c.MarkFlagsMutuallyExclusive("json", "dot")
	c.MarkFlagsMutuallyExclusive("aliases", "dot")
	return c
}

// orderAlone is the value of an --order without one.
const orderAlone = "alone"

// orderAndArgs returns the arguments and the value of --order: a flag that may stand without a value takes none from the next
// argument, but people write '--order source' all the same.
func orderAndArgs(order string, args []string) ([]string, string) {
	if order == orderAlone && len(args) > 1 {
		for i, arg := range args {
			if new(hook.Order).UnmarshalText([]byte(arg)) == nil {
				return slices.Concat(args[:i], args[i+1:]), arg
			}
		}
	}
	return args, order
}

// orderDocument is what 'hlocb hooks --order --json' writes.
type orderDocument struct {
	Order []hook.Edge `json:"order"`
	Data  []hook.Edge `json:"data_order,omitempty"`
}

func (a *app) hooksTable(r *passes.Rewritten, data []hook.Edge) error {
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
	var text strings.Builder
	if err := order.Write(&text, r.Manifest, data); err != nil {
		return err
	}
	fmt.Fprint(a.stdout, indent(text.String()))
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
func signature(s *hook.Site) string {
	return "(" + typeList(s.Operands) + ") -> (" + typeList(s.Results) + ")"
}

func typeList(list []hook.TensorType) string {
	parts := make([]string, len(list))
	for i, t := range list {
		parts[i] = t.String()
	}
	return strings.Join(parts, ", ")
}

// manifestDocument is what 'hlocb hooks --json' and 'hlocb rewrite --manifest' write.
type manifestDocument struct {
	*hook.Manifest
	Data    []hook.Edge `json:"data_order,omitempty"`
	Aliases []aliasLine `json:"aliases"`
	Plugin  string      `json:"plugin,omitempty"`
}

func manifestOf(m *hook.Manifest, data []hook.Edge, aliases []aliasLine, plugin string) manifestDocument {
	out := *m // lists that are empty are written as such
	if out.Sites == nil {
		out.Sites = []hook.Site{}
	}
	if out.Edges == nil {
		out.Edges = []hook.Edge{}
	}
	if aliases == nil {
		aliases = []aliasLine{}
	}
	return manifestDocument{&out, data, aliases, plugin}
}

// dataOrder returns the order that only data imposes on the hooks of a rewritten module, which is none where one chain goes
// through all.
func dataOrder(m *ir.Module, opts passes.RewriteOptions) []hook.Edge {
	if opts.Order == hook.OrderProgram {
		return nil
	}
	return order.PathsOf(m).Data()
}
