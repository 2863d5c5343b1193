package cli

import (
	"bytes"
	"fmt"
	"slices"
	"strings"

	"github.com/spf13/cobra"

	"github.com/hlocb/hlocb"
	"github.com/hlocb/hlocb/diag"
	"github.com/hlocb/hlocb/dialect/stablehlo"
	"github.com/hlocb/hlocb/hook"
	hookformat "github.com/hlocb/hlocb/hook/format"
	"github.com/hlocb/hlocb/internal/command"
	"github.com/hlocb/hlocb/internal/hook/order"
	"github.com/hlocb/hlocb/internal/probe"
	"github.com/hlocb/hlocb/internal/reader"
	"github.com/hlocb/hlocb/ir"
	"github.com/hlocb/hlocb/print"
)

func (a *app) explainCommand() *cobra.Command {
	var flags rewriteFlags
	var asJSON, verbose bool
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
			var shown []explained
			for i := range sites {
				s := &sites[i]
				if len(args) == 2 && s.Name != args[1] && !strings.EqualFold(s.ID.String(), args[1]) {
					continue
				}
				shown = append(shown, explain(p, s))
			}
			if len(shown) == 0 {
				if guess := command.Suggest(args[1], names(sites)); guess != "" {
					return fmt.Errorf("%s has no hook %q%s", args[0], args[1], guess)
				}
				return fmt.Errorf("%s has no hook %q; its hooks are %s", args[0], args[1], strings.Join(names(sites), ", "))
			}
			if asJSON {
				return writeJSON(a.Out, shown)
			}
			for i := range shown {
				if i > 0 {
					fmt.Fprintln(a.Out)
				}
				a.showExplained(p.Module(), &shown[i], verbose)
			}
			return nil
		}),
	}
	c.Flags().BoolVar(&asJSON, "json", false, "print JSON")
	c.Flags().BoolVarP(&verbose, "verbose", "v", false, "print lines wider than the terminal in full")
	command.Group(c, "Output")
	flags.add(c)
	return c
}

// explained is one hook before and after its conversion. 'hlocb explain --json' prints it.
type explained struct {
	Name   string       `json:"name"`
	Kind   hook.Kind    `json:"kind"`
	ID     hook.ID      `json:"id"`
	Before []sourceText `json:"before"`
	After  string       `json:"after"` // the call, without the regions around it
	Why    []string     `json:"why"`

	call *ir.Op
}

// sourceText is a line of the source, or an op of a source without lines.
type sourceText struct {
	Line int    `json:"line,omitempty"`
	Text string `json:"text"`
}

func explain(p *hlocb.Program, s *hook.Site) explained {
	m, r := p.Module(), p.Rewritten()
	e := explained{Name: s.Name, Kind: s.Kind, ID: s.ID, Before: []sourceText{}, call: callOf(m, s.ID)}
	if src := m.Source(); src != nil && src.Binary() {
		e.Before = binaryText(src, r.Origins[s.ID])
	} else {
		seen := map[int]bool{}
		for _, pos := range r.Origins[s.ID] {
			if line, text := sourceLine(src, pos); line > 0 && !seen[line] {
				seen[line] = true
				e.Before = append(e.Before, sourceText{line, text})
			}
		}
	}
	if e.call != nil {
		e.After = strings.TrimSpace(print.Op(m, e.call, print.Options{}))
	}
	e.Why = explanation(s, r.Manifest, order.PathsOf(m).Data(), r.Aliases)
	return e
}

// showExplained prints a hook for people. Without verbose it cuts lines of the source at the terminal's width.
func (a *app) showExplained(m *ir.Module, e *explained, verbose bool) {
	fmt.Fprintf(a.Out, "%s (%s, id %s)\n\nbefore\n", a.Bold(diag.Escape(e.Name)), e.Kind, e.ID)
	for _, s := range e.Before {
		line := "        " + diag.Escape(s.Text)
		if s.Line > 0 {
			line = fmt.Sprintf("%6d  %s", s.Line, diag.Escape(s.Text))
		}
		if !verbose {
			line = a.Clip(line)
		}
		fmt.Fprintln(a.Out, line)
	}
	fmt.Fprintln(a.Out, "\nafter")
	if e.call != nil {
		a.writeCall(m, e.call)
	}
	fmt.Fprintln(a.Out, "\nwhy")
	for _, reason := range e.Why {
		for i, line := range strings.Split(command.Wrap(diag.EscapeLines(reason), a.Width()-4), "\n") {
			fmt.Fprintf(a.Out, "  %s %s\n", [2]string{"-", " "}[min(i, 1)], line)
		}
	}
}

// binaryText returns the ops at positions of a source without lines.
func binaryText(src *diag.Source, positions []diag.Pos) []sourceText {
	list := []sourceText{}
	m, err := reader.Read(src)
	if err != nil {
		return list
	}
	ops := print.NewOps(m, print.Options{})
	m.Walk(func(op *ir.Op) bool {
		if slices.Contains(positions, op.Pos()) {
			list = append(list, sourceText{Text: strings.TrimSpace(ops.Text(op))})
		}
		return true
	})
	return list
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

// writeCall writes hlocb's own call: if it is wider than the output with an attribute per line, without layouts, which
// are always row-major, and with aliases as result = operand.
func (a *app) writeCall(m *ir.Module, op *ir.Op) {
	const indent = "        "
	text := strings.TrimSpace(print.Op(m, op, print.Options{}))
	open, end := strings.Index(text, " {"), strings.LastIndex(text, "} : ")
	if len(text)+len(indent) <= a.Width() || open < 0 || end < 0 {
		fmt.Fprintf(a.Out, "%s%s\n", indent, text)
		return
	}
	fmt.Fprintf(a.Out, "%s%s {\n", indent, text[:open])
	for _, e := range op.Attrs() {
		value := e.Attr.String()
		switch e.Name {
		case stablehlo.AttrCallTargetName, stablehlo.AttrOperandLayouts, stablehlo.AttrResultLayouts:
			continue
		case stablehlo.AttrOutputOperandAliases:
			var parts []string
			call, _ := stablehlo.AsCustomCall(op)
			for _, alias := range call.OutputOperandAliases() {
				result := append(slices.Clone(alias.OutputTupleIndices), 0)[0]
				parts = append(parts, fmt.Sprintf("result %d is operand %d", result, alias.OperandIndex))
			}
			value = "[" + strings.Join(parts, ", ") + "]"
		}
		fmt.Fprintf(a.Out, "%s  %s = %s\n", indent, e.Name, value)
	}
	fmt.Fprintf(a.Out, "%s}%s\n", indent, text[end+1:])
}

// sourceLine returns the line at pos without surrounding space, and its number, counted from 1.
func sourceLine(src *diag.Source, pos diag.Pos) (int, string) {
	if src == nil || !pos.IsValid() {
		return 0, ""
	}
	line, _ := src.LineColumn(pos)
	text, _, _ := bytes.Cut(src.Text()[src.PosAt(line, 1).Offset():], []byte("\n"))
	return line, strings.TrimSpace(string(text))
}

// explanation returns the reasons for the conversion of a hook, one sentence each. data is the order that only data
// imposes.
func explanation(s *hook.Site, m *hook.Manifest, data []hook.Edge, aliases []hook.AliasReport) []string {
	var out []string
	say := func(format string, args ...any) { out = append(out, fmt.Sprintf(format, args...)) }
	for _, f := range hookformat.Builtin().Readers() {
		if f.Name == s.Format {
			say("recognized as %s: %s", f.Name, f.Doc)
		}
	}
	switch s.Kind {
	case hook.Tap:
		say("a tap: the host only observes the operands")
	case hook.InOut:
		say("inout: each result is an operand, which the host may write in place")
	case hook.Call:
		say("a call: the host computes the results, so running needs a handler")
	case hook.Feed:
		say("a feed: the host supplies the results and gets no operands, so running needs a handler")
	}
	if strings.HasPrefix(s.Name, "hook") && s.Format != hookformat.OwnName {
		say("the name %s counts the hooks in program order, unless the source states it; hlocb keeps names of the source", s.Name)
	}
	if s.SourceID != "" {
		say("its source id %s is valid in the source's own process only, so the call does not contain it", s.SourceID)
	}
	if s.Format == hookformat.OwnName {
		say("its id %s is in the module and stays", s.ID)
	} else {
		say("its id %s is a hash of its function, format, types, stated name and place among equal hooks; it is the same on every machine", s.ID)
	}
	switch {
	case !s.SideEffect:
		say("not ordered: it has no side effect, so a compiler may move it, or remove it if nothing needs it")
	case !s.Chained:
		say("not chained: neither the source nor --order puts it after another hook")
	default:
		before := sources(m, m.Edges, s.ID)
		say("chained by operand 0 and result 0, because compilers reorder side effects that no data connects")
		if len(before) > 0 {
			say("its events come after the events of %s", strings.Join(before, ", "))
		} else {
			say("it is the first of its chain")
		}
	}
	if before := sources(m, data, s.ID); len(before) > 0 {
		say("it needs a value from %s, so its events follow theirs with every --order", strings.Join(before, ", "))
	}
	for _, a := range aliases {
		if a.Hook != s.ID {
			continue
		}
		switch {
		case a.Verdict == hook.AliasRefused:
			say("result %d has separate memory: %s", a.Result, a.Reason)
		case s.Kind == hook.Tap:
			say("operand %d is passed through as result %d, which later ops use; otherwise XLA computes it twice (%s)", a.Operand, a.Result, a.Reason)
		case a.Verdict == hook.AliasCopied:
			say("result %d shares the memory of operand %d after a copy: %s", a.Result, a.Operand, a.Reason)
		default:
			say("result %d shares the memory of operand %d for free: %s", a.Result, a.Operand, a.Reason)
		}
	}
	return out
}

// sources returns the names of the hooks from which an edge leads to a hook.
func sources(m *hook.Manifest, edges []hook.Edge, to hook.ID) []string {
	var names []string
	for _, e := range edges {
		if e.To == to {
			if from := m.Find(e.From); from != nil {
				names = append(names, from.Name)
			}
		}
	}
	return names
}
