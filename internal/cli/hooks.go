package cli

import (
	"bytes"
	"errors"
	"fmt"
	"io"
	"path/filepath"
	"strings"
	"text/tabwriter"

	"github.com/spf13/cobra"

	"github.com/hlocb/hlocb"
	"github.com/hlocb/hlocb/diag"
	"github.com/hlocb/hlocb/hook"
	"github.com/hlocb/hlocb/internal/command"
	"github.com/hlocb/hlocb/internal/hook/order"
	"github.com/hlocb/hlocb/internal/reader"
	"github.com/hlocb/hlocb/ir"
	"github.com/hlocb/hlocb/passes"
)

// hookParts are the parts of the output of 'hlocb hooks'.
var hookParts = []string{"hooks", "order", "aliases"}

// parseShow reads a list of parts. An empty list means all parts.
func parseShow(list []string) (map[string]bool, error) {
	if len(list) == 0 {
		list = hookParts
	}
	out := map[string]bool{}
	for _, part := range list {
		if err := oneOf("--show", part, hookParts); err != nil {
			return nil, err
		}
		out[part] = true
	}
	return out, nil
}

func (a *app) hooksCommand() *cobra.Command {
	var flags rewriteFlags
	var asJSON, dot, verbose bool
	var show []string
	var backend, html string
	c := &cobra.Command{
		Use:   "hooks IN",
		Short: "List hooks, their order and aliases",
		Long: `List the hooks of a module as 'hlocb rewrite' with the same flags converts them: name, kind, format, types and location; then the order of events, and the results that share their operand's memory.

A hook comes after another because of its chain, or because of data: it needs a value that the other hook returns. The list marks an order that only data imposes.

An alias is kept for free, needs a copy, or is refused. With --backend, hlocb compiles the module and shows each alias of the compiled program beside the prediction.`,
		Example: `  hlocb hooks train.mlir
  hlocb hooks train.mlir --show order
  hlocb hooks train.mlir --show aliases --backend cpu
  hlocb hooks train.mlir --json | jq '.hooks[].name'
  hlocb hooks train.mlir --dot | dot -Tsvg > order.svg`,
		Args: command.Args("IN"),
		RunE: command.Body(func(cmd *cobra.Command, args []string) error {
			if err := command.Exclusive(cmd, "dot", "json", "show"); err != nil {
				return err
			}
			parts, err := parseShow(show)
			if err != nil {
				return err
			}
			opts, err := flags.conversion()
			if err != nil {
				return err
			}
			if backend != "" && !parts["aliases"] {
				return usagef("--backend shows the aliases that a plugin compiles; it needs --show aliases")
			}
			p, before, err := a.programBefore(cmd.Context(), args[0], opts)
			if errors.As(err, new(*reader.CompiledError)) && html == "" {
				p, err = a.described(cmd.Context(), args[0])
			}
			if err != nil {
				return err
			}
			if html != "" {
				if err := a.writePage(html, viewProgram(filepath.Base(args[0]), before, p, opts)); err != nil {
					return err
				}
			}
			lines, described, err := a.compiledAliases(cmd.Context(), backend, p)
			if err != nil {
				return err
			}
			manifest, data := p.Manifest(), dataOrder(p.Module(), opts)
			switch {
			case asJSON && len(show) == 1 && parts["order"]:
				return writeJSON(a.Out, orderDocument{manifestOf(manifest, nil, nil, "").Edges, data})
			case asJSON:
				return writeJSON(a.Out, manifestOf(manifest, data, lines, described))
			case dot:
				return order.WriteDOT(a.Out, manifest, data)
			case len(manifest.Sites) == 0:
				_, err := fmt.Fprintf(a.Out, "no hooks%s\n", unknownTargets(p.Module()))
				return err
			}
			return a.hooksTables(p, parts, data, lines, described, verbose)
		}),
	}
	c.Flags().StringSliceVar(&show, "show", nil, "`PARTS` parts to print: hooks, order or aliases (default all)")
	c.Flags().BoolVar(&asJSON, "json", false, "print JSON")
	c.Flags().BoolVar(&dot, "dot", false, "print the order as a Graphviz graph")
	c.Flags().StringVar(&html, "html", "", "`FILE` also write a page that shows the module and its hooks")
	c.Flags().BoolVarP(&verbose, "verbose", "v", false, "print locations in full, and lines wider than the terminal")
	c.Flags().StringVar(&backend, "backend", "", "`NAME|PATH` compile for a plugin, and compare the aliases")
	command.Group(c, "Output")
	flags.add(c)
	command.CompleteFixed(c, "show", hookParts...)
	command.CompleteFixed(c, "backend", "cpu", "cuda")
	return c
}

// orderDocument is the output of 'hlocb hooks --show order --json'.
type orderDocument struct {
	Order []hook.Edge `json:"order"`
	Data  []hook.Edge `json:"data_order,omitempty"`
}

// hooksTables prints the chosen parts, with titles if there are several.
func (a *app) hooksTables(p *hlocb.Program, parts map[string]bool, data []hook.Edge, lines []aliasLine, described string, verbose bool) error {
	several := len(parts) > 1
	printed := false
	title := func(text string) {
		if printed {
			fmt.Fprintln(a.Out)
		}
		if printed = true; several && text != "" {
			fmt.Fprintf(a.Out, "%s:\n", text)
		}
	}
	if parts["hooks"] {
		title("")
		if err := a.sites(p.Hooks(), verbose); err != nil {
			return err
		}
	}
	if parts["order"] {
		title("order")
		var listed strings.Builder
		if err := order.Write(&listed, p.Manifest(), data); err != nil {
			return err
		}
		for line := range strings.Lines(listed.String()) {
			if several {
				line = "  " + line
			}
			fmt.Fprint(a.Out, line)
		}
	}
	if !parts["aliases"] || len(lines) == 0 && several {
		return nil
	}
	title("aliases")
	if !several || described != "" {
		return a.aliasTable(lines, described)
	}
	for _, al := range lines {
		operand := ""
		if al.Operand >= 0 {
			operand = fmt.Sprintf(" is operand %d", al.Operand)
		}
		fmt.Fprintf(a.Out, "  %s result %d%s: %s, %s\n", diag.Escape(al.Name), al.Result, operand, al.Verdict, diag.EscapeLines(al.Reason))
	}
	return nil
}

// sites prints a line per hook. On a terminal the name is bold.
func (a *app) sites(sites []hook.Site, verbose bool) error {
	var table bytes.Buffer
	w := tabwriter.NewWriter(&table, 0, 8, 2, ' ', 0)
	fmt.Fprintln(w, "NAME\tKIND\tFORMAT\tID\tTYPE\tLOCATION")
	for i := range sites {
		s := &sites[i]
		fmt.Fprintf(w, "%s\t%s\t%s\t%s\t%s\t%s\n", diag.Escape(s.Name), s.Kind, s.Format, s.ID, signature(s), location(s.Loc, verbose))
	}
	if err := w.Flush(); err != nil {
		return err
	}
	for i, line := range strings.SplitAfter(table.String(), "\n") {
		if i > 0 && i <= len(sites) {
			name := diag.Escape(sites[i-1].Name)
			line = a.Bold(name) + line[len(name):]
		}
		if !verbose {
			line = a.Clip(line)
		}
		if _, err := io.WriteString(a.Out, line); err != nil {
			return err
		}
	}
	return nil
}

// signature returns the types of a hook's operands and results as the handler sees them.
func signature(s *hook.Site) string {
	return "(" + typeList(s.Operands) + ") -> (" + typeList(s.Results) + ")"
}

func typeList(list []hook.TensorType) string {
	return strings.Join(namesOf(list, hook.TensorType.String), ", ")
}

// manifestDocument is the output of 'hlocb hooks --json' and 'hlocb rewrite --manifest'.
type manifestDocument struct {
	*hook.Manifest
	Data    []hook.Edge `json:"data_order,omitempty"`
	Aliases []aliasLine `json:"aliases"`
	Plugin  string      `json:"plugin,omitempty"`
}

func manifestOf(m *hook.Manifest, data []hook.Edge, aliases []aliasLine, plugin string) manifestDocument {
	out := *m // write empty lists as [], not null
	out.Sites, out.Edges = append([]hook.Site{}, m.Sites...), append([]hook.Edge{}, m.Edges...)
	return manifestDocument{&out, data, append([]aliasLine{}, aliases...), plugin}
}

// dataOrder returns the order that only data imposes on the hooks of a rewritten module. It is empty if one chain goes
// through all hooks.
func dataOrder(m *ir.Module, opts passes.RewriteHooks) []hook.Edge {
	if opts.Order == hook.OrderProgram {
		return nil
	}
	return order.PathsOf(m).Data()
}
