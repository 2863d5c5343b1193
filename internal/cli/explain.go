package cli

import (
	"bytes"
	"fmt"
	"strings"

	"github.com/spf13/cobra"

	"github.com/hlocb/hlocb/diag"
	"github.com/hlocb/hlocb/hook"
	"github.com/hlocb/hlocb/internal/hook/order"
	"github.com/hlocb/hlocb/ir"
	"github.com/hlocb/hlocb/passes"
	"github.com/hlocb/hlocb/print"
)

func (a *app) explainCommand() *cobra.Command {
	var flags rewriteFlags
	var name string
	c := &cobra.Command{
		Use:     "explain IN --hook NAME",
		Short:   "Show one hook before and after the rewrite, and why",
		Long:    "Show the lines of the source that one hook was made of, the call that 'hlocb rewrite' with the same flags makes of\nthem, and the reason for each change. NAME is the hook's name or its id.",
		Example: "  hlocb explain train.mlir --hook loss",
		Args:    exactArgs("IN"),
		RunE: command(func(cmd *cobra.Command, args []string) error {
			opts, err := flags.options()
			if err != nil {
				return err
			}
			if name == "" {
				return usagef("explain needs --hook NAME")
			}
			p, err := a.program(cmd.Context(), args[0], opts...)
			if err != nil {
				return err
			}
			m, r := p.Module(), p.Rewritten()
			var names []string
			for i := range r.Manifest.Sites {
				s := &r.Manifest.Sites[i]
				if s.Name == name || strings.EqualFold(s.ID.String(), name) {
					a.explain(m, r, s)
					return nil
				}
				names = append(names, s.Name)
			}
			if len(names) == 0 {
				return fmt.Errorf("%s has no hooks", args[0])
			}
			return fmt.Errorf("%s has no hook %q; its hooks are %s", args[0], name, strings.Join(names, ", "))
		}),
	}
	flags.add(c)
	c.Flags().StringVar(&name, "hook", "", "`name` or id of the hook")
	return c
}

func (a *app) explain(m *ir.Module, r *passes.Rewritten, s *hook.Site) {
	fmt.Fprintf(a.stdout, "%s (%s, id %s)\n\nbefore\n", s.Name, s.Kind, s.ID)
	seen := map[int]bool{}
	for _, pos := range r.Origins[s.ID] {
		if line, text := sourceLine(m.Source(), pos); line > 0 && !seen[line] {
			seen[line] = true
			fmt.Fprintf(a.stdout, "%6d  %s\n", line, text)
		}
	}
	fmt.Fprintln(a.stdout, "\nafter")
	m.Walk(func(op *ir.Op) bool {
		if op.Name() == "stablehlo.custom_call" {
			if d, ok := op.Attr("backend_config").(*ir.DictAttr); ok {
				if id, ok := d.Get("id").(*ir.IntegerAttr); ok && hook.ID(id.Value()) == s.ID {
					fmt.Fprintf(a.stdout, "        %s\n", strings.TrimSpace(print.Op(m, op, print.Options{})))
					return false
				}
			}
		}
		return true
	})
	fmt.Fprintln(a.stdout, "\nwhy")
	for _, reason := range explanation(s, r.Manifest, order.PathsOf(m).Data(), r.Aliases) {
		fmt.Fprintf(a.stdout, "  - %s\n", reason)
	}
}

// sourceLine returns the line that pos stands in, its number from 1, without the space around it.
func sourceLine(src *diag.Source, pos diag.Pos) (int, string) {
	if src == nil || !pos.IsValid() {
		return 0, ""
	}
	line, _ := src.LineColumn(pos)
	text := src.Text()
	off := min(pos.Offset(), len(text))
	start := bytes.LastIndexByte(text[:off], '\n') + 1
	end := len(text)
	if i := bytes.IndexByte(text[off:], '\n'); i >= 0 {
		end = off + i
	}
	return line, strings.TrimSpace(string(text[start:end]))
}
