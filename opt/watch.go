package opt

import (
	"context"
	"errors"
	"fmt"
	"io"
	"maps"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"text/tabwriter"
	"time"

	"github.com/spf13/pflag"

	"github.com/hlocb/hlocb/hook/format"
	"github.com/hlocb/hlocb/internal/command"
	"github.com/hlocb/hlocb/internal/hook/order"
	"github.com/hlocb/hlocb/internal/reader"
	"github.com/hlocb/hlocb/internal/view"
	"github.com/hlocb/hlocb/ir"
	"github.com/hlocb/hlocb/pass"
	"github.com/hlocb/hlocb/print"
)

// watcher shows the work of passes on the parts of one input.
type watcher struct {
	// the flags
	before, after, rules   []string
	change                 bool
	tree, reproducer, html string
	timing, stats, opStats bool

	o      *flags
	input  string // as the command line names it
	parts  int
	part   int // from 1
	phases []phase
	counts []passCount

	recorder *pass.Recorder      // nil: no flag needs the module before a pass
	shots    []view.Step         // for the page
	made     map[*ir.Op][]string // the rules that made or changed ops in the pass that runs
	steps    []string            // of this part, in pipeline syntax
	text     []byte              // of the part's module before the passes, for the reproducer
	pipeline pass.Pipeline
	err      error // of the first file that could not be written
}

func (w *watcher) declare(s *pflag.FlagSet) {
	s.StringArrayVar(&w.before, "print-ir-before", nil, "`PASS` print the module before this pass, or before all; several times for several passes")
	s.StringArrayVar(&w.after, "print-ir-after", nil, "`PASS` print the module after this pass, or after all; several times for several passes")
	s.StringArrayVar(&w.rules, "print-ir-after-rule", nil, "`RULE` print the module after each application of this rule of a pass, or of all; several times for several rules")
	s.BoolVar(&w.change, "print-ir-after-change", false, "print the changes of each pass, op by op")
	s.StringVar(&w.tree, "print-ir-tree-dir", "", "`DIR` write the input and the module after each pass to files of this directory")
	s.StringVar(&w.html, "html", "", "`FILE` write a page that shows the module after each pass")
	s.BoolVar(&w.timing, "timing", false, "print the time of parsing, verifying, each pass and printing")
	s.BoolVar(&w.stats, "stats", false, "print the statistics of each pass, with the number of applications of each rule")
	s.BoolVar(&w.opStats, "op-stats", false, "print how often each op occurs in the result")
}

// check returns an error if a flag names an unknown pass.
func (w *watcher) check(t *pass.Table) error {
	for _, names := range [...]struct {
		flag string
		list []string
	}{{"print-ir-before", w.before}, {"print-ir-after", w.after}} {
		for i, name := range names.list {
			if name == "all" {
				continue
			}
			p, err := t.Find(name)
			if err != nil {
				return command.Usagef("--%s: %w", names.flag, err)
			}
			names.list[i] = p.Info().Name // of an alias
		}
	}
	return nil
}

type phase struct {
	name string
	took time.Duration
}

type passCount struct {
	pass string
	pass.Count
}

// open starts the work on an input of several parts. It creates the directory of --print-ir-tree-dir.
func (w *watcher) open(o *flags, input string, parts int) error {
	w.o, w.input, w.parts = o, input, parts
	if w.html != "" && parts > 1 {
		return command.Usagef("--html: the input has %d parts, and a page shows one", parts)
	}
	if w.tree != "" {
		if err := os.MkdirAll(w.tree, 0o777); err != nil {
			return fmt.Errorf("--print-ir-tree-dir: %w", err)
		}
	}
	return nil
}

// spend adds to the time of a phase.
func (w *watcher) spend(name string, took time.Duration) {
	if i := slices.IndexFunc(w.phases, func(p phase) bool { return p.name == name }); i >= 0 {
		w.phases[i].took += took
		return
	}
	w.phases = append(w.phases, phase{name, took})
}

// begin starts a part: the module before its passes.
func (w *watcher) begin(m *ir.Module, p pass.Pipeline) error {
	w.part++
	w.pipeline, w.steps, w.recorder = p, nil, nil
	if w.change || w.html != "" {
		w.recorder = &pass.Recorder{}
	}
	if w.html != "" {
		w.shots, w.made = []view.Step{{Name: filepath.Base(w.input), Module: m.Clone()}}, map[*ir.Op][]string{}
	}
	if w.reproducer != "" {
		w.text = moduleText(m)
		// The file exists while the passes run, because a pass may end the process.
		if err := w.reproduce("the passes did not end"); err != nil {
			return err
		}
	}
	if w.tree != "" {
		return w.file("input", "// The input: "+w.input, m)
	}
	return nil
}

func moduleText(m *ir.Module) []byte { return print.Append(nil, m, reader.Written(m, print.Options{})) }

// reproduce writes the reproducer, if a flag requests it.
func (w *watcher) reproduce(reason string) error {
	path := w.reproducer
	if path == "" {
		return nil
	}
	head := fmt.Sprintf("// %s\n// %s %s --passes '%s'\n", strings.ReplaceAll(reason, "\n", "\n// "), w.o.program, path, w.pipeline)
	if err := replace(path, append([]byte(head), w.text...)); err != nil {
		return fmt.Errorf("--crash-reproducer: %w", err)
	}
	return nil
}

// end ends a part whose passes succeeded.
func (w *watcher) end(ctx context.Context, m *ir.Module) error {
	if path := w.reproducer; path != "" {
		if err := os.Remove(path); err != nil {
			return err
		}
	}
	if w.opStats {
		w.countOps(m)
	}
	return errors.Join(w.err, w.page(ctx))
}

// file writes a numbered file of the tree.
func (w *watcher) file(name, head string, m *ir.Module) error {
	return replace(w.path(len(w.steps), name), append([]byte(head+"\n"), moduleText(m)...))
}

// replace writes a file that is whole at any time.
func replace(path string, text []byte) error {
	return command.Replace(path, func(to io.Writer) error {
		_, err := to.Write(text)
		return err
	})
}

// path returns the path of the file of a step.
func (w *watcher) path(step int, name string) string {
	dir := w.tree
	if w.parts > 1 {
		dir = filepath.Join(dir, fmt.Sprintf("part-%02d", w.part))
		if err := os.MkdirAll(dir, 0o777); err != nil && w.err == nil {
			w.err = err
		}
	}
	return filepath.Join(dir, fmt.Sprintf("%03d-%s.mlir", step, name))
}

// instruments returns the instruments that the flags request.
func (w *watcher) instruments() []pass.Instrument {
	list := []pass.Instrument{{
		Before: func(s pass.Step) {
			if slices.Contains(w.before, "all") || slices.Contains(w.before, s.Pass.Info().Name) {
				w.show("Before", s)
			}
		},
		After: func(s pass.Step, out pass.Outcome) {
			name := s.Pass.Info().Name
			w.steps = append(w.steps, s.Text())
			w.spend("pass "+s.Text(), out.Took)
			for _, n := range out.Counts {
				w.counts = append(w.counts, passCount{name, n})
			}
			if out.Err != nil {
				return
			}
			if slices.Contains(w.after, "all") || slices.Contains(w.after, name) {
				w.show("After", s)
			}
			if w.tree != "" {
				head := fmt.Sprintf("// %s %s --passes '%s(%s)'", w.o.program, w.path(0, "input"), ir.ModuleName, strings.Join(w.steps, ","))
				if err := w.file(name, head, s.Module); err != nil && w.err == nil {
					w.err = fmt.Errorf("--print-ir-tree-dir: %w", err)
				}
			}
		},
		Verified: func(took time.Duration, _ error) { w.spend("verify", took) },
	}}
	if len(w.rules) > 0 {
		list = append(list, pass.Instrument{Rule: func(s pass.Step, rule string, _ *ir.Op) {
			if slices.Contains(w.rules, "all") || slices.Contains(w.rules, rule) {
				w.show("After rule "+rule+" of", s)
			}
		}})
	}
	if w.recorder != nil {
		list = append(list, pass.Instrument{After: func(s pass.Step, out pass.Outcome) {
			shots := w.recorder.Snapshots
			last := shots[len(shots)-1]
			if w.html != "" && out.Err == nil {
				w.shots = append(w.shots, view.Step{Name: s.Text(), Module: last.After, Rules: rulesOf(out.Counts), Made: copied(w.made, s.Module, last.After)})
				clear(w.made)
			}
			if w.change && out.Err == nil {
				c := last.Compare()
				if len(c.Changes) > 0 {
					fmt.Fprintf(w.o.console.Err, "// -----// %s: %s //----- //\n", s.Text(), c.Counts())
					_ = c.Write(w.o.console.Err) // the console keeps the error
				}
			}
			w.recorder.Snapshots = nil
		}}, w.recorder.Instrument())
	}
	if w.html != "" {
		list = append(list, pass.Instrument{Made: func(_ pass.Step, rule string, op *ir.Op) {
			if !slices.Contains(w.made[op], rule) {
				w.made[op] = append(w.made[op], rule)
			}
		}})
	}
	return list
}

// copied returns made, which is about ops of m, for the ops of a copy of m.
func copied(made map[*ir.Op][]string, m, of *ir.Module) map[*ir.Op][]string {
	if len(made) == 0 {
		return nil
	}
	var copies []*ir.Op
	of.Walk(func(op *ir.Op) bool {
		copies = append(copies, op)
		return true
	})
	out, i := map[*ir.Op][]string{}, 0
	m.Walk(func(op *ir.Op) bool {
		if rules := made[op]; len(rules) > 0 && i < len(copies) {
			out[copies[i]] = rules
		}
		i++
		return true
	})
	return out
}

// rulesOf returns the rules among the counts of a pass.
func rulesOf(counts []pass.Count) (out []view.Rule) {
	for _, c := range counts {
		if name, ok := strings.CutPrefix(c.Name, "rule "); ok && c.N > 0 {
			out = append(out, view.Rule{Name: name, Count: c.N})
		}
	}
	return out
}

// page writes the page of --html. It shows the hooks of the last module that the passes left.
func (w *watcher) page(ctx context.Context) error {
	if w.html == "" || len(w.shots) == 0 {
		return nil
	}
	d := &view.Document{Title: filepath.Base(w.input), Steps: w.shots}
	m := w.shots[len(w.shots)-1].Module
	if manifest, err := format.ManifestOf(m); err == nil && len(manifest.Sites) > 0 {
		d.Hooks = &view.Hooks{Manifest: manifest, Data: order.PathsOf(m).Data()}
		if err := order.Prove(ctx, m); err != nil {
			d.Hooks.Proof = err.Error()
		}
	}
	return w.o.console.WriteFile(w.html, func(out io.Writer) error { return view.Page(out, d) })
}

func (w *watcher) show(when string, s pass.Step) {
	fmt.Fprintf(w.o.console.Err, "// -----// IR Dump %s %s //----- //\n%s\n", when, s.Pass.Info().Name, moduleText(s.Module))
}

// countOps prints the number of ops of each kind.
func (w *watcher) countOps(m *ir.Module) {
	counts := map[string]int{}
	total := 0
	m.Walk(func(op *ir.Op) bool {
		counts[op.Name()]++
		total++
		return true
	})
	w.table(func(t io.Writer) {
		for _, n := range slices.Sorted(maps.Keys(counts)) {
			fmt.Fprintf(t, "%d\t %s\n", counts[n], n)
		}
		fmt.Fprintf(t, "%d\t ops\n", total)
	})
}

// report prints the times and counts of all parts.
func (w *watcher) report() {
	for _, rule := range w.rules {
		if rule != "all" && !slices.ContainsFunc(w.counts, func(c passCount) bool { return c.Name == "rule "+rule }) {
			fmt.Fprintf(w.o.console.Err, "hlocb: --print-ir-after-rule: no rule %s was applied\n", rule)
		}
	}
	if w.stats {
		w.table(func(t io.Writer) {
			for _, c := range w.counts {
				fmt.Fprintf(t, "%d\t %s: %s\n", c.N, c.pass, c.Name)
			}
		})
	}
	if w.timing {
		var all time.Duration
		for _, p := range w.phases {
			all += p.took
		}
		w.table(func(t io.Writer) {
			for _, p := range append(w.phases, phase{"all", all}) {
				fmt.Fprintf(t, "%.3f ms\t%.1f%%\t %s\n", float64(p.took)/float64(time.Millisecond), 100*float64(p.took)/float64(max(all, 1)), p.name)
			}
		})
	}
}

func (w *watcher) table(rows func(io.Writer)) {
	t := tabwriter.NewWriter(w.o.console.Err, 0, 8, 2, ' ', tabwriter.AlignRight)
	rows(t)
	t.Flush()
}
