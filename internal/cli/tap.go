package cli

import (
	"cmp"
	"fmt"
	"regexp"
	"slices"
	"strconv"
	"strings"
	"text/tabwriter"

	"github.com/spf13/cobra"

	"github.com/hlocb/hlocb"
	"github.com/hlocb/hlocb/diag"
	"github.com/hlocb/hlocb/hook"
	"github.com/hlocb/hlocb/internal/command"
	"github.com/hlocb/hlocb/internal/probe"
	"github.com/hlocb/hlocb/ir"
	"github.com/hlocb/hlocb/print"
)

func (a *app) tapCommand() *cobra.Command {
	var flags rewriteFlags
	var at []string
	var kind, out string
	var sample probe.Sample
	var list, verbose, asJSON bool
	c := &cobra.Command{
		Use:   "tap IN --at REGEX",
		Short: "Add probes to values",

		SuggestFor: []string{"probe", "print", "debug", "watch"},
		Long: `Add probes to values of a module. 'hlocb run --probes' runs them; every other command treats them as hooks of kind tap. 'hlocb run --tap' does both in one step.

--at selects values whose name, op or location matches a regular expression. Names are as in the text, with '%': '%loss', '%1', '%out#1'. Locations are written file:line:column, such as 'step.py:3'. --list prints them. Hooks are converted as by 'hlocb rewrite', so that probes and hooks keep one order.

Probes:
  print    prints the value
  stats    prints minimum, maximum, mean, and the number of NaN and Inf
  finite   ends the run at the first value with a NaN or Inf
  record   writes the value as a line of JSON

stats and finite reduce the values where the program runs; only a few bytes cross to the host. finite reports the values of a block together. --every and --first skip executions; a skipped execution costs a byte.

Values in regions without a defined order (of reduce, sort, scatter, ...), tokens, tuples and tensors of unknown size cannot be observed. Values in functions that a custom call names are skipped.`,
		Example: `  hlocb tap train.mlir --list
  hlocb tap train.mlir --at '^%loss$' | hlocb run - --probes --fill iota
  hlocb tap f.mlir --at dot_general --at layer.py:3 --probe finite -o g.mlir
  hlocb tap loop.mlir --at '%loss' --every 100 | hlocb run - --probes`,
		Args: command.Args("IN"),
		RunE: command.Body(func(cmd *cobra.Command, args []string) error {
			opts, err := flags.options()
			if err != nil {
				return err
			}
			if err := oneOf("--probe", kind, probe.Kinds()); err != nil {
				return err
			}
			if len(at) == 0 && !list {
				return usagef("missing --at REGEX, or --list to list the values")
			}
			if asJSON && !list {
				return usagef("--json needs --list")
			}
			if err := command.Exclusive(cmd, "list", "output", "probe", "every", "first"); err != nil {
				return err
			}
			if err := checkSample(sample, true); err != nil {
				return err
			}
			t, err := newTap("--at", args[0], kind, sample, at...)
			if err != nil {
				return err
			}
			if list {
				m, err := a.module(args[0])
				if err != nil {
					return err
				}
				return a.listValues(m, t, verbose, asJSON)
			}
			n := 0
			p, err := a.program(cmd.Context(), args[0], append(opts, hlocb.Change(func(m *ir.Module) (err error) {
				_, n, err = a.addProbes(m, t)
				return err
			}))...)
			if err != nil {
				return err
			}
			a.note("probe %s on %s", kind, plural(n, "value"))
			return a.writeModule(cmd.Context(), out, p.Module(), print.Options{})
		}),
	}
	c.Flags().StringArrayVar(&at, "at", nil, "`REGEX` probe the values that REGEX selects; may be repeated")
	c.Flags().BoolVar(&list, "list", false, "list the values that --at selects, all without it, and add no probe")
	c.Flags().StringVar(&kind, "probe", probe.Print, "`KIND` "+command.OneOf(probe.Kinds()))
	addSampleFlags(c, &sample)
	command.Group(c, "Values")
	c.Flags().StringVarP(&out, "output", "o", "", "`FILE` write to FILE instead of standard output")
	c.Flags().BoolVar(&asJSON, "json", false, "with --list: print JSON")
	c.Flags().BoolVarP(&verbose, "verbose", "v", false, "list locations in full")
	command.Group(c, "Output")
	flags.add(c)
	complete(c, "probe", probe.Kinds()...)
	return c
}

// addSampleFlags adds the flags that select executions.
func addSampleFlags(c *cobra.Command, s *probe.Sample) {
	c.Flags().Int64Var(&s.Every, "every", 0, "`N` probe only every Nth execution of a value, from the first on")
	c.Flags().Int64Var(&s.First, "first", 0, "`N` probe at most N executions of a value")
}

// checkSample reports a mistake in a sample. tapped says whether there is a tap.
func checkSample(s probe.Sample, tapped bool) error {
	switch {
	case s.Every < 0 || s.First < 0:
		return usagef("--every and --first must not be negative")
	case s != probe.Sample{} && !tapped:
		return usagef("--every and --first need --tap")
	}
	return nil
}

// tap is a probe.Tap with the flag and the file that its messages name.
type tap struct {
	probe.Tap
	flag, in string
}

func newTap(flag, in, kind string, s probe.Sample, patterns ...string) (*tap, error) {
	t := &tap{probe.Tap{Kind: kind, Sample: s}, flag, in}
	for _, text := range patterns {
		p, err := regexp.Compile(text)
		if err != nil {
			return nil, usagef("%s %s: %w", flag, text, err)
		}
		t.Patterns = append(t.Patterns, p)
	}
	return t, nil
}

// listValues prints the values that a tap selects: name, op, type and location.
func (a *app) listValues(m *ir.Module, t *tap, verbose, asJSON bool) error {
	list := probe.List(m, t.Patterns...)
	if asJSON {
		return writeJSON(a.Out, list)
	}
	w := tabwriter.NewWriter(a.Out, 0, 8, 2, ' ', 0)
	fmt.Fprintln(w, "NAME\tOP\tTYPE\tLOCATION")
	for _, v := range list {
		fmt.Fprintf(w, "%s\t%s\t%s\t%s\n", cmp.Or(diag.Escape(v.Name), "-"), diag.Escape(v.Op), diag.Escape(v.Type), location(v.Loc, verbose))
	}
	return w.Flush()
}

// addProbes adds the probes of taps. It returns their ids and the number of probed values. A pattern that selects no
// value that can be observed is an error.
func (a *app) addProbes(m *ir.Module, taps ...*tap) (ids []hook.ID, values int, err error) {
	list := make([]probe.Tap, len(taps))
	for i, t := range taps {
		list[i] = t.Tap
	}
	added, err := probe.Add(m, list)
	if err != nil {
		return nil, 0, err
	}
	for n, t := range taps {
		ids, values = append(ids, added[n].IDs...), values+added[n].Values
		for i, re := range t.Patterns {
			switch added[n].Matches[i] {
			case probe.Observable:
			case probe.Unobservable:
				return nil, 0, fmt.Errorf("%s %s selects only values that cannot be observed; 'hlocb tap %s --list' lists values that can", t.flag, strconv.Quote(re.String()), t.in)
			default:
				return nil, 0, fmt.Errorf("%s %s selects no value; 'hlocb tap %s --list' lists all%s", t.flag, strconv.Quote(re.String()), t.in, probeHint(re.String()))
			}
		}
		if added[n].Skipped > 0 {
			a.note("skipped %s in functions that a custom call names", plural(added[n].Skipped, "value"))
		}
	}
	return ids, values, nil
}

// probeHint returns advice about a pattern that selects no value and ends like a probe: "tanh=stat".
func probeHint(pattern string) string {
	i := strings.LastIndexByte(pattern, '=')
	if i < 0 {
		return ""
	}
	if guess := command.Suggest(pattern[i+1:], probe.Kinds()); guess != "" {
		return guess
	}
	return fmt.Sprintf("; %q is not a probe (%s)", pattern[i+1:], command.OneOf(probe.Kinds()))
}

// bindProbes binds the handlers of the probes that --tap added and, with --probes, of the module's own probes. A
// module alone must not choose its handlers, so bindProbes reports the probes that it does not run.
func (f *bindFlags) bindProbes(a *app, m *hook.Manifest) error {
	unserved := 0
	f.handlers = &probe.Handlers{Env: a.handlerEnv(&f.outputs, false)}
	f.manifest = m
	f.closers = append(f.closers, f.handlers.Flush)
	for i := range m.Sites {
		site := &m.Sites[i]
		if !f.probes && !slices.Contains(f.taps, site.ID) {
			if slices.Contains(probe.Kinds(), probe.KindOf(site)) {
				unserved++
			}
			continue
		}
		if probe.KindOf(site) == probe.Record && slices.Contains(f.events, "-") {
			continue // --events writes the line
		}
		h, answer, err := f.handlers.For(m, site)
		switch {
		case err != nil:
			return err
		case h == nil:
		case answer:
			f.bindings.Answer(site.ID.String(), h)
		default:
			f.bindings.Observe(site.ID.String(), h)
		}
	}
	if unserved > 0 {
		a.note("%s not run; --probes runs them", plural(unserved, "probe"))
	}
	return nil
}
