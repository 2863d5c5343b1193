package cli

import (
	"fmt"
	"regexp"
	"strconv"
	"strings"

	"github.com/spf13/cobra"

	"github.com/hlocb/hlocb"
	"github.com/hlocb/hlocb/hook"
	hookformat "github.com/hlocb/hlocb/hook/format"
	"github.com/hlocb/hlocb/ir"
	"github.com/hlocb/hlocb/print"
	"github.com/hlocb/hlocb/runtime"
	"github.com/hlocb/hlocb/runtime/handlers"
)

// probeHandlers are the handlers that a probe may name, as 'hlocb run' makes them: they look on, and write to
// standard output at most, because the module says which to use.
func probeHandlers() map[string]string {
	return map[string]string{"print": "print", "stats": "stats", "finite": "finite", "record": "record:-"}
}

func (a *app) tapCommand() *cobra.Command {
	var flags rewriteFlags
	var at []string
	var probe, out string
	c := &cobra.Command{
		Use:   "tap IN",
		Short: "Put probes on values of a module",
		Long: `Put probes on values of a module: hooks of kind tap, which 'hlocb run --probes' serves as --probe says and which every
other command treats like the hooks that the module has. --at selects values whose name, whose op's name or whose location
matches a regular expression; a value is written with its '%', a result of several as %name#1. The module is rewritten
as by 'hlocb rewrite', so that probes and hooks keep one order.

Probes:
  print    prints the value
  stats    prints minimum, maximum, mean, and how many NaN and Inf
  finite   ends the run at the first NaN or Inf and says where it is
  record   writes the value as a line of JSON

Values in regions that have no defined order (of reduce, sort, scatter, ...), tokens, tuples and tensors of unknown size
cannot be observed.`,
		Example: `  hlocb tap train.mlir --at '^%loss$' --probe print | hlocb run - --probes --fill iota
  hlocb tap f.mlir --at 'stablehlo.dot_general' --at 'layer3' --probe finite -o probed.mlir`,
		Args: exactArgs("IN"),
		RunE: command(func(cmd *cobra.Command, args []string) error {
			opts, err := flags.options()
			if err != nil {
				return err
			}
			if probeHandlers()[probe] == "" {
				return usagef("--probe %s: expected print, stats, finite or record", probe)
			}
			patterns := make([]*regexp.Regexp, len(at))
			for i, p := range at {
				if patterns[i], err = regexp.Compile(p); err != nil {
					return usagef("--at %s: %w", p, err)
				}
			}
			n := 0
			p, err := a.program(cmd.Context(), args[0], append(opts, hlocb.Change(func(m *ir.Module) (err error) {
				n, err = addProbes(m, patterns, probe)
				return err
			}))...)
			if err != nil {
				return err
			}
			a.note("probe %s on %s", probe, plural(n, "value"))
			return a.writeModule(out, p.Module(), print.Options{})
		}),
	}
	flags.add(c)
	c.Flags().StringArrayVar(&at, "at", nil, "probe the values that this regular `expression` selects; may be repeated")
	c.Flags().StringVar(&probe, "probe", "print", "what to do with them: print, stats, finite or record")
	c.Flags().StringVarP(&out, "output", "o", "", "write to this `file` instead of standard output")
	if err := c.MarkFlagRequired("at"); err != nil {
		panic(err) // the flag is defined above
	}
	complete(c, "probe", "print", "stats", "finite", "record")
	return c
}

// addProbes taps the values that any of the patterns selects and returns how many. A pattern that selects no value that
// can be observed is an error.
func addProbes(m *ir.Module, patterns []*regexp.Regexp, probe string) (int, error) {
	prober, err := hookformat.NewProber(m)
	if err != nil {
		return 0, err
	}
	var chosen []*ir.Value
	seen := make([]bool, len(patterns))    // selected something that can be observed
	refused := make([]bool, len(patterns)) // selected something that cannot
	try := func(v *ir.Value, op *ir.Op) {
		matched := false
		can := hookformat.CanTap(v) && !isHookOp(op)
		for i, p := range patterns {
			if selects(p, v, op) {
				matched = true
				seen[i] = seen[i] || can
				refused[i] = refused[i] || !can
			}
		}
		if matched && can {
			chosen = append(chosen, v)
		}
	}
	m.Walk(func(op *ir.Op) bool {
		for _, r := range op.Regions() {
			for _, b := range r.Blocks() {
				for _, v := range b.Args() {
					try(v, nil)
				}
			}
		}
		for _, v := range op.Results() {
			try(v, op)
		}
		return true
	})
	for i, p := range patterns {
		switch {
		case seen[i]:
		case refused[i]:
			return 0, m.Errorf(m.Op(), "%s selects only values that cannot be observed", strconv.Quote(p.String()))
		default:
			return 0, m.Errorf(m.Op(), "%s selects no value", strconv.Quote(p.String()))
		}
	}
	// From the last to the first: each goes right behind its definition, so results of one op end up in order.
	labels := make([]string, len(chosen))
	for i, v := range chosen {
		labels[i] = valueLabel(v)
	}
	taken := prober.Names(labels)
	for i := len(chosen) - 1; i >= 0; i-- {
		prober.Tap(chosen[i], taken[i], probe)
	}
	return len(chosen), nil
}

func isHookOp(op *ir.Op) bool {
	if op == nil || op.Name() != "stablehlo.custom_call" {
		return false
	}
	s, _ := op.Attr("call_target_name").(*ir.StringAttr)
	return s != nil && s.Value() == hook.Target
}

// selects reports whether a pattern matches a value's name, its op's name or its location.
func selects(p *regexp.Regexp, v *ir.Value, op *ir.Op) bool {
	if name := valueName(v); name != "" && p.MatchString("%"+name) {
		return true
	}
	if op == nil {
		return v.Loc() != nil && p.MatchString(hookformat.LocText(v.Loc()))
	}
	return p.MatchString(op.Name()) || p.MatchString(hookformat.LocText(op.Loc()))
}

// valueName returns the name that a value was written with, with #N for one of several results.
func valueName(v *ir.Value) string {
	if v.DefiningOp() == nil || v.DefiningOp().NumResults() == 1 {
		return v.Name()
	}
	if first := v.DefiningOp().Result(0).Name(); first != "" {
		return first + "#" + strconv.Itoa(v.Index())
	}
	return ""
}

// valueLabel returns what a probe on v is called: the value's name where that tells more than a number, else its op's.
func valueLabel(v *ir.Value) string {
	name := valueName(v)
	if name != "" && (name[0] < '0' || name[0] > '9') {
		return name
	}
	if v.DefiningOp() == nil {
		return "arg" + strconv.Itoa(v.Index())
	}
	op := v.DefiningOp().Name()
	op = op[strings.LastIndexByte(op, '.')+1:]
	if name != "" {
		return op + "_" + name
	}
	if v.DefiningOp().NumResults() > 1 {
		return fmt.Sprintf("%s#%d", op, v.Index())
	}
	return op
}

// bindProbes binds the handlers that the module's probes name, where the command line lets the module do that, and says
// so where it does not: a module alone binds nothing.
func (f *bindFlags) bindProbes(a *app, m *hook.Manifest) error {
	unserved := 0
	made := map[string]runtime.Handler{}
	env := a.handlerEnv()
	for i := range m.Sites {
		site := &m.Sites[i]
		name, err := strconv.Unquote(site.Attrs[hookformat.AttrProbe])
		spec := probeHandlers()[name]
		if err != nil || spec == "" {
			continue
		}
		if !f.probes {
			unserved++
			continue
		}
		if made[name] == nil {
			h, _, err := handlers.Parse(spec, env)
			if err != nil {
				return err
			}
			if c, ok := h.(interface{ Close() error }); ok {
				f.closing = append(f.closing, c)
			}
			made[name] = h
		}
		f.bindings.Observe(site.ID.String(), made[name])
	}
	if unserved > 0 {
		a.note("%s not served: --probes does what they ask for", plural(unserved, "probe"))
	}
	return nil
}
