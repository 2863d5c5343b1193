package cli

import (
	"fmt"
	"regexp"
	"slices"
	"strconv"
	"strings"
	"text/tabwriter"

	"github.com/spf13/cobra"

	"github.com/hlocb/hlocb"
	"github.com/hlocb/hlocb/diag"
	"github.com/hlocb/hlocb/dialect/stablehlo"
	"github.com/hlocb/hlocb/hook"
	hookformat "github.com/hlocb/hlocb/hook/format"
	"github.com/hlocb/hlocb/internal/command"
	"github.com/hlocb/hlocb/ir"
	"github.com/hlocb/hlocb/ir/flow"
	"github.com/hlocb/hlocb/print"
	"github.com/hlocb/hlocb/runtime"
	"github.com/hlocb/hlocb/runtime/handlers"
)

// probeHandlers are the handlers that a probe may name. They only observe, and write at most to standard output,
// because the module chooses among them.
func probeHandlers() map[string]string {
	return map[string]string{"print": "print", "stats": "stats", "finite": "finite", "record": "record:-"}
}

// probeKinds are the probes in the order of the help.
var probeKinds = []string{"print", "stats", "finite", "record"}

func (a *app) tapCommand() *cobra.Command {
	var flags rewriteFlags
	var at []string
	var probe, out string
	var list, verbose bool
	c := &cobra.Command{
		Use:   "tap IN --at REGEX",
		Short: "Add probes to values",

		SuggestFor: []string{"probe", "print", "debug", "watch"},
		Long: `Add probes to values of a module. 'hlocb run --probes' runs them; every other command treats them as hooks of kind tap. 'hlocb run --tap' does both in one step.

--at selects values whose name, op or location matches a regular expression. Names are those of the text, with '%': '%loss', '%1', '%out#1'. Locations are written file:line:column, such as 'step.py:3'. --list prints them. Hooks are converted as by 'hlocb rewrite', so that probes and hooks keep one order.

Probes:
  print    prints the value
  stats    prints minimum, maximum, mean, and the number of NaN and Inf
  finite   ends the run at the first NaN or Inf and says where it is
  record   writes the value as a line of JSON

Values in regions without a defined order (of reduce, sort, scatter, ...), tokens, tuples and tensors of unknown size cannot be observed. Values in functions that a custom call names are skipped.`,
		Example: `  hlocb tap train.mlir --list
  hlocb tap train.mlir --at '^%loss$' | hlocb run - --probes --fill iota
  hlocb tap f.mlir --at 'dot_general' --at 'layer.py:3' --probe finite -o probed.mlir`,
		Args: command.Args("IN"),
		RunE: command.Body(func(cmd *cobra.Command, args []string) error {
			opts, err := flags.options()
			if err != nil {
				return err
			}
			if probeHandlers()[probe] == "" {
				return usagef("--probe %s: expected %s%s", probe, command.OneOf(probeKinds), command.Suggest(probe, probeKinds))
			}
			if len(at) == 0 && !list {
				return usagef("missing --at REGEX, or --list to see what there is")
			}
			t := &tap{probe: probe, flag: "--at", in: args[0]}
			for _, p := range at {
				if err := t.pattern(p); err != nil {
					return err
				}
			}
			if list {
				m, err := a.module(args[0])
				if err != nil {
					return err
				}
				return a.listValues(m, t, verbose)
			}
			n := 0
			p, err := a.program(cmd.Context(), args[0], append(opts, hlocb.Change(func(m *ir.Module) error {
				ids, err := a.addProbes(m, t)
				n = len(ids)
				return err
			}))...)
			if err != nil {
				return err
			}
			a.note("probe %s on %s", probe, plural(n, "value"))
			return a.writeModule(out, p.Module(), print.Options{})
		}),
	}
	c.Flags().StringArrayVar(&at, "at", nil, "probe the values that REGEX selects; may be repeated")
	c.Flags().BoolVar(&list, "list", false, "list the values that --at selects, all without it, and add no probe")
	c.Flags().StringVar(&probe, "probe", "print", command.OneOf(probeKinds))
	c.Flags().StringVarP(&out, "output", "o", "", "write to FILE instead of standard output")
	c.Flags().BoolVarP(&verbose, "verbose", "v", false, "list locations in full")
	flags.add(c)
	command.Group(c, "Values", "at REGEX", "list", "probe KIND")
	command.Group(c, "Output", "output FILE", "verbose")
	flags.group(c)
	complete(c, "probe", probeKinds...)
	return c
}

// tap lists the values to probe and the probe for each.
type tap struct {
	probe    string
	flag, in string // for messages
	patterns []*regexp.Regexp
}

func (t *tap) pattern(text string) error {
	p, err := regexp.Compile(text)
	if err != nil {
		return usagef("%s %s: %w", t.flag, text, err)
	}
	t.patterns = append(t.patterns, p)
	return nil
}

// parseTap reads REGEX or REGEX=PROBE.
func parseTap(spec string) (*tap, error) {
	t := &tap{probe: "print", flag: "--tap", in: "IN"}
	if i := strings.LastIndexByte(spec, '='); i >= 0 && probeHandlers()[spec[i+1:]] != "" {
		spec, t.probe = spec[:i], spec[i+1:]
	}
	return t, t.pattern(spec)
}

// eachValue calls f for every value of a module, with its defining op or nil for a block argument.
func eachValue(m *ir.Module, f func(v *ir.Value, op *ir.Op)) {
	m.Walk(func(op *ir.Op) bool {
		for _, r := range op.Regions() {
			for _, b := range r.Blocks() {
				for _, v := range b.Args() {
					f(v, nil)
				}
			}
		}
		for _, v := range op.Results() {
			f(v, op)
		}
		return true
	})
}

// listValues prints the values that a tap selects: name, op, type and location.
func (a *app) listValues(m *ir.Module, t *tap, verbose bool) error {
	w := tabwriter.NewWriter(a.stdout, 0, 8, 2, ' ', 0)
	fmt.Fprintln(w, "NAME\tOP\tTYPE\tLOCATION")
	eachValue(m, func(v *ir.Value, op *ir.Op) {
		if len(t.patterns) > 0 && !slices.ContainsFunc(t.patterns, func(p *regexp.Regexp) bool { return selects(p, m.Source(), v, op) }) {
			return
		}
		if !hookformat.CanTap(v) || isHookOp(op) {
			return
		}
		name, what := valueName(m.Source(), v), "argument"
		if op != nil {
			what = op.Name()
		}
		if name != "" {
			name = "%" + name
		}
		fmt.Fprintf(w, "%s\t%s\t%s\t%s\n", orDash(diag.Escape(name)), diag.Escape(what), diag.Escape(v.Type().String()), location(locText(v, op), verbose))
	})
	return w.Flush()
}

// addProbes taps the values that any of the patterns selects and returns the ids of the probes. A pattern that
// selects no value that can be observed is an error.
func (a *app) addProbes(m *ir.Module, t *tap) ([]hook.ID, error) {
	prober, err := hookformat.NewProber(m)
	if err != nil {
		return nil, err
	}
	apart := unordered(m)
	var chosen []*ir.Value
	seen := make([]bool, len(t.patterns))    // selected something that can be observed
	refused := make([]bool, len(t.patterns)) // selected something that cannot
	skipped := 0
	eachValue(m, func(v *ir.Value, op *ir.Op) {
		matched := false
		can := hookformat.CanTap(v) && !isHookOp(op)
		inside := can && apart[functionOf(v)]
		can = can && !inside
		for i, p := range t.patterns {
			if selects(p, m.Source(), v, op) {
				matched = true
				seen[i] = seen[i] || can
				refused[i] = refused[i] || !can
			}
		}
		switch {
		case matched && can:
			chosen = append(chosen, v)
		case matched && inside:
			skipped++
		}
	})
	for i, p := range t.patterns {
		switch {
		case seen[i]:
		case refused[i]:
			return nil, fmt.Errorf("%s %s selects only values that cannot be observed; 'hlocb tap %s --list' lists those that can", t.flag, strconv.Quote(p.String()), t.in)
		default:
			return nil, fmt.Errorf("%s %s selects no value; 'hlocb tap %s --list' lists all", t.flag, strconv.Quote(p.String()), t.in)
		}
	}
	if skipped > 0 {
		a.note("skipped %s in functions that a custom call names", plural(skipped, "value"))
	}
	// From the last to the first: each probe goes right after its value's definition, so probes of one op end up in
	// order.
	labels := make([]string, len(chosen))
	for i, v := range chosen {
		labels[i] = valueLabel(m.Source(), v)
	}
	taken := prober.Names(labels)
	ids := make([]hook.ID, len(chosen))
	for i := len(chosen) - 1; i >= 0; i-- {
		op := prober.Tap(chosen[i], taken[i], t.probe)
		cfg, _ := op.Attr(stablehlo.AttrBackendConfig).(*ir.DictAttr)
		if id, ok := cfg.Get("id").(*ir.IntegerAttr); ok {
			ids[i] = hook.ID(id.Value())
		}
	}
	return ids, nil
}

// unordered returns the functions in which no hook can be ordered. Such a function is named by an op that does not
// call it, as in a custom call, or called from a region without a defined order, or called by another such function.
func unordered(m *ir.Module) map[*ir.Op]bool {
	out := map[*ir.Op]bool{}
	g := flow.Of(m, nil)
	for again := true; again; {
		again = false
		for _, f := range g.Functions() {
			if out[f] {
				continue
			}
			bad := g.NamedBy(f) != nil
			for _, c := range g.Callers(f) {
				bad = bad || out[flow.FunctionOf(c)] || !hookformat.CanHold(c)
			}
			if bad {
				out[f], again = true, true
			}
		}
	}
	return out
}

func isHookOp(op *ir.Op) bool {
	if op == nil || !op.Is(stablehlo.CustomCall) {
		return false
	}
	s, _ := op.Attr(stablehlo.AttrCallTargetName).(*ir.StringAttr)
	return s != nil && s.Value() == hook.Target
}

// functionOf returns the function that a value is in.
func functionOf(v *ir.Value) *ir.Op {
	if op := v.DefiningOp(); op != nil {
		return flow.FunctionOf(op)
	}
	parent := v.ParentBlock().Parent()
	if f := parent.Def().Flow; f != nil && f.Function {
		return parent
	}
	return flow.FunctionOf(parent)
}

// locText returns the location of a value as MLIR text.
func locText(v *ir.Value, op *ir.Op) string {
	switch {
	case op != nil:
		return hookformat.LocText(op.Loc())
	case v.Loc() != nil:
		return hookformat.LocText(v.Loc())
	}
	return ""
}

// plainPositions turns the file positions of a location, "step.py":3:8, into step.py:3:8.
var plainPositions = regexp.MustCompile(`"([^"\\]*)":(\d+):(\d+)`)

// selects reports whether a pattern matches a value's name, its op's name or its location, as MLIR writes it or with
// plain positions.
func selects(p *regexp.Regexp, src *diag.Source, v *ir.Value, op *ir.Op) bool {
	if name := valueName(src, v); name != "" && p.MatchString("%"+name) {
		return true
	}
	if op != nil && p.MatchString(op.Name()) {
		return true
	}
	loc := locText(v, op)
	return loc != "" && (p.MatchString(loc) || p.MatchString(plainPositions.ReplaceAllString(loc, "$1:$2:$3")))
}

// valueName returns the name that a value has in the text it was read from, with #N for one of several results.
func valueName(src *diag.Source, v *ir.Value) string {
	op := v.DefiningOp()
	if op == nil {
		return v.Name()
	}
	name := op.Result(0).Name()
	if name == "" {
		name = writtenName(src, op)
	}
	if name == "" || op.NumResults() == 1 {
		return name
	}
	if own := v.Name(); v.Index() > 0 && own != "" {
		return own
	}
	return name + "#" + strconv.Itoa(v.Index())
}

// results matches the text before an op: '%1 = ' or '%out:2 = '.
var results = regexp.MustCompile(`%([\w.$-]+)(?::\d+)?\s*=\s*"?$`)

// writtenName returns the name of an op's first result in the text of the module. The model does not keep numbers.
func writtenName(src *diag.Source, op *ir.Op) string {
	if src == nil || !op.Pos().IsValid() {
		return ""
	}
	text := src.Text()
	at := min(op.Pos().Offset(), len(text))
	m := results.FindSubmatch(text[max(0, at-200):at])
	if m == nil {
		return ""
	}
	return string(m[1])
}

// valueLabel returns the name of a probe on v: the value's name if it is not a number, otherwise its op's.
func valueLabel(src *diag.Source, v *ir.Value) string {
	name := valueName(src, v)
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

// bindProbes binds the handlers of the probes that --tap added and, with --probes, of the module's own probes. A
// module alone must not choose its handlers, so bindProbes reports the probes that it does not run.
func (f *bindFlags) bindProbes(a *app, m *hook.Manifest) error {
	unserved := 0
	made := map[string]runtime.Handler{}
	env := a.handlerEnv(&f.outputs, false)
	for i := range m.Sites {
		site := &m.Sites[i]
		name, err := strconv.Unquote(site.Attrs[hookformat.AttrProbe])
		spec := probeHandlers()[name]
		if err != nil || spec == "" {
			continue
		}
		if !f.probes && !slices.Contains(f.tapped, site.ID) {
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
		a.note("%s not run; --probes runs them", plural(unserved, "probe"))
	}
	return nil
}
