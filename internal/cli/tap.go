package cli

import (
	"cmp"
	"fmt"
	"regexp"
	"slices"
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
	var specs []string
	var out string
	var sample probe.Sample
	var list, verbose, asJSON bool
	c := &cobra.Command{
		Use:   "tap IN --tap REGEX[=PROBE]",
		Short: "Add probes to values",

		SuggestFor: []string{"probe", "print", "debug", "watch"},
		Long: `Add probes to values of a module. 'hlocb run --probes' runs them; every other command treats them as hooks of kind tap. 'hlocb run --tap' does both in one step.

--tap selects values whose name, op or location matches a regular expression, as in 'hlocb run'. Names are as in the text, with '%': '%loss', '%1', '%out#1'. Locations are written file:line:column, such as 'step.py:3'. --list prints them. Hooks are converted as by 'hlocb rewrite', so that probes and hooks keep one order.

Probes:
  print    prints the value
  stats    prints minimum, maximum, mean, and the number of NaN and Inf
  finite   ends the run at the first value with a NaN or Inf
  record   writes the value as a line of JSON

stats and finite reduce the values where the program runs; only a few bytes cross to the host. finite reports the values of a block together. --every and --first skip executions; a skipped execution costs a byte.

Values in regions without a defined order (of reduce, sort, scatter, ...), tokens, tuples and tensors of unknown size cannot be observed. Values in functions that a custom call names are skipped.`,
		Example: `  hlocb tap train.mlir --list
  hlocb tap train.mlir --tap '^%loss$' | hlocb run - --probes --fill iota
  hlocb tap f.mlir --tap dot_general=finite --tap layer.py:3=stats -o g.mlir
  hlocb tap loop.mlir --tap '%loss' --every 100 | hlocb run - --probes`,
		Args: command.Args("IN"),
		RunE: command.Body(func(cmd *cobra.Command, args []string) error {
			opts, err := flags.options()
			if err != nil {
				return err
			}
			if len(specs) == 0 && !list {
				return usagef("missing --tap REGEX, or --list to list the values")
			}
			if asJSON && !list {
				return usagef("--json needs --list")
			}
			if err := command.Exclusive(cmd, "list", "output", "every", "first"); err != nil {
				return err
			}
			if err := checkSample(sample, true); err != nil {
				return err
			}
			taps, err := tapsOf(specs, probe.Print, sample)
			if err != nil {
				return err
			}
			if list {
				m, err := a.module(args[0])
				if err != nil {
					return err
				}
				return a.listValues(m, taps, verbose, asJSON)
			}
			n := 0
			p, err := a.program(cmd.Context(), args[0], append(opts, hlocb.BeforeConversion(func(m *ir.Module) (err error) {
				_, n, err = a.addProbes(m, args[0], taps)
				return err
			}))...)
			if err != nil {
				return err
			}
			kinds := namesOf(taps, func(t probe.Tap) string { return t.Kind })
			slices.Sort(kinds)
			a.note("probe %s on %s", strings.Join(slices.Compact(kinds), ", "), plural(n, "value"))
			return a.writeModule(cmd.Context(), out, p.Module(), print.Options{})
		}),
	}
	c.Flags().StringArrayVar(&specs, "tap", nil, "`REGEX[=PROBE]` probe the values that REGEX selects; PROBE is print (default), stats, finite or record")
	c.Flags().BoolVar(&list, "list", false, "list the values that --tap selects, all without it, and add no probe")
	addSampleFlags(c, &sample)
	command.Group(c, "Values")
	c.Flags().StringVarP(&out, "output", "o", "", "`FILE` write to FILE instead of standard output")
	c.Flags().BoolVar(&asJSON, "json", false, "with --list: print JSON")
	c.Flags().BoolVarP(&verbose, "verbose", "v", false, "list locations in full")
	command.Group(c, "Output")
	flags.add(c)
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

// tapsOf returns the taps of --tap. kind is the probe of a REGEX without one.
func tapsOf(specs []string, kind string, s probe.Sample) (taps []probe.Tap, err error) {
	for _, spec := range specs {
		pattern, own := probe.Split(spec)
		p, err := regexp.Compile(pattern)
		if err != nil {
			return nil, usagef("--tap %s: %w", pattern, err)
		}
		taps = append(taps, probe.Tap{Patterns: []*regexp.Regexp{p}, Kind: cmp.Or(own, kind), Sample: s})
	}
	return taps, nil
}

// listValues prints the values that taps select: name, op, type and location.
func (a *app) listValues(m *ir.Module, taps []probe.Tap, verbose, asJSON bool) error {
	var patterns []*regexp.Regexp
	for _, t := range taps {
		patterns = append(patterns, t.Patterns...)
	}
	list := probe.List(m, patterns...)
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
func (a *app) addProbes(m *ir.Module, in string, taps []probe.Tap) (ids []hook.ID, values int, err error) {
	added, err := probe.Add(m, taps)
	if err != nil {
		return nil, 0, err
	}
	for n, t := range taps {
		ids, values = append(ids, added[n].IDs...), values+added[n].Values
		for i, re := range t.Patterns {
			switch added[n].Matches[i] {
			case probe.Observable:
			case probe.Unobservable:
				return nil, 0, fmt.Errorf("--tap %q selects only values that cannot be observed; 'hlocb tap %s --list' lists values that can", re, in)
			default:
				return nil, 0, fmt.Errorf("--tap %q selects no value; 'hlocb tap %s --list' lists all%s", re, in, probeHint(re.String()))
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
