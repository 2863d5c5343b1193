package cli

import (
	"bytes"
	"cmp"
	"fmt"
	"regexp"
	"slices"
	"strings"

	"github.com/spf13/cobra"

	"github.com/hlocb/hlocb"
	"github.com/hlocb/hlocb/diag"
	"github.com/hlocb/hlocb/dialect/stablehlo"
	"github.com/hlocb/hlocb/hook"
	"github.com/hlocb/hlocb/internal/command"
	"github.com/hlocb/hlocb/internal/hook/order"
	"github.com/hlocb/hlocb/internal/probe"
	"github.com/hlocb/hlocb/ir"
	"github.com/hlocb/hlocb/print"
)

func (a *app) explainCommand() *cobra.Command {
	var flags rewriteFlags
	c := &cobra.Command{
		Use:   "explain IN [HOOK]",
		Short: "Show one hook before and after rewriting, and why",
		Long: `Show the lines of IN that define a hook, the call that 'hlocb rewrite' with the same flags writes for it, and the reason for each change.

HOOK is a name or an id; without it every hook is shown.`,
		Example: "  hlocb explain train.mlir loss\n  hlocb explain train.mlir --order source",
		Args:    command.Args("IN", "[HOOK]"),
		ValidArgsFunction: func(_ *cobra.Command, args []string, _ string) ([]string, cobra.ShellCompDirective) {
			if len(args) == 1 {
				return hookNames(args[0]), cobra.ShellCompDirectiveNoFileComp
			}
			return nil, cobra.ShellCompDirectiveDefault
		},
		RunE: command.Body(func(cmd *cobra.Command, args []string) error {
			opts, err := flags.options()
			if err != nil {
				return err
			}
			p, err := a.program(cmd.Context(), args[0], opts...)
			if err != nil {
				return err
			}
			sites := p.Hooks()
			if len(sites) == 0 {
				return fmt.Errorf("%s has no hooks%s", args[0], unknownTargets(p.Module()))
			}
			first := true
			for i := range sites {
				s := &sites[i]
				if len(args) == 2 && s.Name != args[1] && !strings.EqualFold(s.ID.String(), args[1]) {
					continue
				}
				if !first {
					fmt.Fprintln(a.stdout)
				}
				first = false
				a.explain(p, s)
			}
			if first {
				if guess := command.Suggest(args[1], names(sites)); guess != "" {
					return fmt.Errorf("%s has no hook %q%s", args[0], args[1], guess)
				}
				return fmt.Errorf("%s has no hook %q; its hooks are %s", args[0], args[1], strings.Join(names(sites), ", "))
			}
			return nil
		}),
	}
	flags.add(c)
	flags.group(c)
	return c
}

func (a *app) explain(p *hlocb.Program, s *hook.Site) {
	m, r := p.Module(), p.Rewritten()
	fmt.Fprintf(a.stdout, "%s (%s, id %s)\n\nbefore\n", a.Bold(diag.Escape(s.Name)), s.Kind, s.ID)
	if src := m.Source(); src != nil && src.Binary() {
		a.explainBinary(src, r.Origins[s.ID])
	} else {
		seen := map[int]bool{}
		for _, pos := range r.Origins[s.ID] {
			if line, text := sourceLine(src, pos); line > 0 && !seen[line] {
				seen[line] = true
				fmt.Fprintf(a.stdout, "%6d  %s\n", line, diag.Escape(text))
			}
		}
	}
	fmt.Fprintln(a.stdout, "\nafter")
	if op := callOf(m, s.ID); op != nil {
		fmt.Fprint(a.stdout, shortCall(strings.TrimSpace(print.Op(m, op, print.Options{})), a.Width()))
	}
	fmt.Fprintln(a.stdout, "\nwhy")
	for _, reason := range explanation(s, r.Manifest, order.PathsOf(m).Data(), r.Aliases) {
		for i, line := range strings.Split(command.Wrap(diag.EscapeLines(reason), a.Width()-4), "\n") {
			fmt.Fprintf(a.stdout, "  %s %s\n", [2]string{"-", " "}[min(i, 1)], line)
		}
	}
}

// explainBinary prints the ops at positions of a source without lines.
func (a *app) explainBinary(src *diag.Source, positions []diag.Pos) {
	m, err := readModule(src, 1)
	if err != nil {
		return
	}
	ops := print.NewOps(m, print.Options{})
	m.Walk(func(op *ir.Op) bool {
		if slices.Contains(positions, op.Pos()) {
			fmt.Fprintf(a.stdout, "        %s\n", strings.TrimSpace(ops.Text(op)))
		}
		return true
	})
}

// callOf returns hlocb's own call with an id, or nil if m has none.
func callOf(m *ir.Module, id hook.ID) (out *ir.Op) {
	m.Walk(func(op *ir.Op) bool {
		if probe.IsHook(op) {
			d, _ := op.Attr(stablehlo.AttrBackendConfig).(*ir.DictAttr)
			if i, ok := d.Get("id").(*ir.IntegerAttr); ok && hook.ID(i.Value()) == id {
				out = op
			}
		}
		return out == nil
	})
	return out
}

// shortCall writes a call with an attribute per line. It omits layouts, which are always row-major, and writes
// aliases as result = operand.
func shortCall(text string, width int) string {
	const indent = "        "
	if len(text)+len(indent) <= width {
		return indent + text + "\n"
	}
	open := strings.Index(text, " {")
	if open < 0 {
		return indent + text + "\n"
	}
	var b strings.Builder
	fmt.Fprintf(&b, "%s%s\n", indent, text[:open+2])
	rest := text[open+2:]
	depth, start := 0, 0
	for i := 0; i < len(rest); i++ {
		switch c := rest[i]; {
		case c == '"':
			for i++; i < len(rest) && rest[i] != '"'; i++ {
				if rest[i] == '\\' {
					i++
				}
			}
		case strings.IndexByte("{[(<", c) >= 0:
			depth++
		case c == '>' && rest[i-1] == '-':
		case strings.IndexByte(")]>", c) >= 0, c == '}' && depth > 0:
			depth--
		case (c == ',' || c == '}') && depth == 0:
			name := strings.TrimSpace(rest[start:i])
			switch {
			case strings.HasPrefix(name, "operand_layouts"), strings.HasPrefix(name, "result_layouts"):
			case strings.HasPrefix(name, "output_operand_aliases"):
				fmt.Fprintf(&b, "%s  output_operand_aliases = %s\n", indent, shortAliases(name))
			case name != "":
				fmt.Fprintf(&b, "%s  %s\n", indent, name)
			}
			start = i + 1
			if c == '}' {
				fmt.Fprintf(&b, "%s}%s\n", indent, rest[start:])
				return b.String()
			}
		}
	}
	return indent + text + "\n"
}

// oneAlias matches one entry of output_operand_aliases.
var oneAlias = regexp.MustCompile(`output_tuple_indices = \[(\d*)\], operand_index = (\d+)`)

// shortAliases writes aliases as "result 0 is operand 0".
func shortAliases(text string) string {
	var out []string
	for _, m := range oneAlias.FindAllStringSubmatch(text, -1) {
		out = append(out, fmt.Sprintf("result %s is operand %s", cmp.Or(m[1], "0"), m[2]))
	}
	return "[" + strings.Join(out, ", ") + "]"
}

// sourceLine returns the line at pos without surrounding space, and its number, counted from 1.
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
