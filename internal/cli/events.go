package cli

import (
	"fmt"
	"io"
	"regexp"
	"strconv"
	"strings"
	"text/tabwriter"
	"time"

	"github.com/spf13/cobra"

	"github.com/hlocb/hlocb/diag"
	"github.com/hlocb/hlocb/internal/command"
	"github.com/hlocb/hlocb/internal/events"
)

func (a *app) eventsCommand() *cobra.Command {
	var hooks []string
	var out, steps string
	var device int
	var bad, asJSON bool
	c := &cobra.Command{
		Use:   "events FILE...",
		Short: "Summarize, merge, filter and convert files of events",
		Long: `Summarize files of events: for each hook and operand the number of events, the range, mean and last value, and NaN and infinities. If several processes or devices reach a hook, a table says who is late, on average and in which step.

A FILE is what --events of 'hlocb run' and 'hlocb exec' writes (lines of JSON, or FILE.parquet), or a recording. With several files, each is a process.

-o writes the events instead, in the order of their times. The name chooses the form: FILE.parquet, FILE.csv, tb:DIR, trace:FILE, lines of JSON to any other FILE, and to - standard output. docs/events.md describes the forms.

The step of an event counts the events of its hook on its device, from 0. Only files with times can say who is late: recordings, tables, and the events of 'hlocb exec'.`,
		Example: `  hlocb events run.parquet
  hlocb events host0.parquet host1.parquet --hook loss
  hlocb events a.jsonl b.jsonl -o all.parquet
  hlocb events run.jsonl --bad --steps 100:200 -o bad.csv`,
		Args: func(_ *cobra.Command, args []string) error {
			if len(args) == 0 {
				return usagef("missing FILE: hlocb events FILE...")
			}
			return nil
		},
		RunE: command.Body(func(cmd *cobra.Command, args []string) error {
			filter := events.Filter{Device: device, Bad: bad}
			for _, text := range hooks {
				re, err := regexp.Compile(text)
				if err != nil {
					return usagef("--hook %s: %w", text, err)
				}
				filter.Hooks = append(filter.Hooks, re)
			}
			if steps != "" {
				var err error
				if filter.From, filter.To, err = parseSteps(steps); err != nil {
					return err
				}
			}
			if asJSON && out != "" {
				return usagef("--json and -o cannot be combined")
			}
			if out != "" {
				return a.convertEvents(cmd, args, &filter, out)
			}
			s := events.NewSummary()
			if err := events.Merge(args, func(e *events.Event) error {
				if filter.Selects(e) {
					s.Add(e)
				}
				return cmd.Context().Err()
			}); err != nil {
				return err
			}
			s.End()
			if asJSON {
				return writeJSON(a.Out, s)
			}
			if s.Aligned && len(s.Arrivals) > 0 {
				a.note("the processes did not run at one time: the times of each count from its first event")
			}
			return a.printSummary(s)
		}),
	}
	c.Flags().StringArrayVar(&hooks, "hook", nil, "`REGEX` only hooks whose name, id or location matches; may be repeated")
	c.Flags().StringVar(&steps, "steps", "", "`A:B` only the steps from A, before B")
	c.Flags().IntVar(&device, "device", -1, "`N` only this device (default all)")
	c.Flags().BoolVar(&bad, "bad", false, "only events with a NaN or an infinity")
	command.Group(c, "Which events")
	c.Flags().StringVarP(&out, "output", "o", "", "`FILE` write the events to FILE instead of a summary")
	c.Flags().BoolVar(&asJSON, "json", false, "print the summary as JSON")
	command.Group(c, "Output")
	return c
}

// parseSteps reads A:B, A: or :B.
func parseSteps(text string) (from, to int64, err error) {
	left, right, ok := strings.Cut(text, ":")
	number := func(s string) int64 {
		if s == "" {
			return 0
		}
		n, bad := strconv.ParseInt(s, 10, 64)
		ok = ok && bad == nil && n >= 0
		return n
	}
	from, to = number(left), number(right)
	if !ok || right != "" && to <= from {
		return 0, 0, usagef("--steps %s: expected A:B, two numbers, the smaller one first", text)
	}
	return from, to, nil
}

// convertEvents writes the selected events to the sink of a name.
func (a *app) convertEvents(cmd *cobra.Command, files []string, filter *events.Filter, name string) error {
	var outputs command.Outputs
	outputs.Inputs = files
	create := func(name string) (io.WriteCloser, error) {
		if name == "-" {
			return command.KeepOpen(a.Out), nil
		}
		return outputs.Add(name, true, false), nil
	}
	var sink events.Sink
	var err error
	if events.IsRecord(name) {
		w, err := create(name)
		if err != nil {
			return err
		}
		if strings.HasSuffix(name, ".csv") {
			sink = events.NewCSV(w)
		} else {
			sink = events.NewJSONL(w)
		}
	} else if sink, err = events.Open(name, &events.Env{Create: create, Directory: func(name string) string { return name }}); err != nil {
		return usagef("-o %s: %w", name, err)
	}
	if err := outputs.Check(); err != nil {
		return err
	}
	if err := outputs.Open(cmd.Context()); err != nil {
		return err
	}
	if err := events.Merge(files, func(e *events.Event) error {
		if filter.Selects(e) {
			if err := sink.Write(e); err != nil {
				return err
			}
		}
		return cmd.Context().Err()
	}); err != nil {
		outputs.Discard()
		return err
	}
	return sink.Close()
}

// printSummary prints tables.
func (a *app) printSummary(s *events.Summary) error {
	w := tabwriter.NewWriter(a.Out, 0, 8, 2, ' ', 0)
	fmt.Fprintln(w, "HOOK\tTYPE\tEVENTS\tMIN\tMAX\tMEAN\tLAST\tNAN\tINF\tLOCATION")
	number := func(v any) string {
		if f, ok := v.(float64); ok {
			return strconv.FormatFloat(f, 'g', 6, 64)
		}
		return fmt.Sprint(v)
	}
	for _, v := range s.Values {
		name := diag.Escape(v.Hook)
		if v.Operand > 0 {
			name += "/" + strconv.Itoa(v.Operand)
		}
		fmt.Fprintf(w, "%s\t%s\t%d\t%s\t%s\t%s\t%s\t%d\t%d\t%s\n", name, v.Type, v.Events, number(v.Min), number(v.Max), number(v.Mean), number(v.Last), v.NaN, v.Inf,
			diag.Escape(v.Location))
	}
	if len(s.Arrivals) > 0 {
		fmt.Fprintln(w, "\nHOOK\tPROCESS\tDEVICE\tSTEPS\tLAST IN\tLATE BY\tAT MOST\tIN STEP")
		for _, l := range s.Arrivals {
			fmt.Fprintf(w, "%s\t%s\t%d\t%d\t%d\t%v\t%v\t%d\n", diag.Escape(l.Hook), processName(l.Process), l.Device, l.Steps, l.Last, delay(l.Mean), delay(l.Max), l.Step)
		}
		fmt.Fprintln(w, "\nHOOK\tSTEP\tLATE BY\tLAST PROCESS\tDEVICE")
		for _, d := range s.Worst {
			fmt.Fprintf(w, "%s\t%d\t%v\t%s\t%d\n", diag.Escape(d.Hook), d.Step, delay(d.Delay), processName(d.Process), d.Device)
		}
	}
	return w.Flush()
}

func processName(name string) string {
	if name == "" {
		return "-"
	}
	return diag.Escape(name)
}

// delay rounds a time for people.
func delay(ns int64) time.Duration {
	d := time.Duration(ns)
	for _, unit := range []time.Duration{time.Second, time.Millisecond, time.Microsecond} {
		if d >= unit {
			return d.Round(unit / 1000)
		}
	}
	return d
}
