package cli

import (
	"bytes"
	"context"
	"fmt"
	"os"
	"os/exec"
	"regexp"
	"strconv"
	"time"

	"github.com/spf13/cobra"

	"github.com/hlocb/hlocb/diag"
	"github.com/hlocb/hlocb/runtime/backends"
	"github.com/hlocb/hlocb/runtime/conformance"
)

// pluginTest is the command line of 'hlocb plugin test'.
type pluginTest struct {
	plugin, junit, pattern, known string
	asJSON, list                  bool
	limit                         time.Duration
	worker                        int // the case to begin with, in the process that runs them; -1 elsewhere
}

func (a *app) pluginTestCommand() *cobra.Command {
	var f pluginTest
	c := &cobra.Command{
		Use:   "test",
		Short: "Test a plugin against the embedded engine",
		Long: `Test a plugin against the embedded engine: operations, element types, hooks and the behaviour of runs. The cases
run in a process of their own, so that a plugin that crashes or hangs fails a case and not the command.

What a plugin does not have can be kept in a file, GROUP/NAME a line, for --known: those cases still run, and are told
apart from new failures. The exit code is 1 where a case failed that is not known to.`,
		Example: "  hlocb plugin test\n  hlocb plugin test --plugin ./my_plugin.so --junit report.xml --known known.txt\n  hlocb plugin test --run '^hooks/'\n  hlocb plugin test --list --run f8",
		Args:    exactArgs(),
		RunE: command(func(cmd *cobra.Command, _ []string) error {
			cases, err := f.cases()
			if err != nil {
				return err
			}
			if f.list {
				for _, c := range cases {
					fmt.Fprintln(a.stdout, c.ID())
				}
				return nil
			}
			if f.worker >= 0 {
				return a.serveCases(cmd.Context(), &f, cases)
			}
			return a.testPlugin(cmd.Context(), &f, cases)
		}),
	}
	c.Flags().StringVar(&f.plugin, "plugin", "cpu", "the plugin: a platform's name or a `path`")
	c.Flags().StringVar(&f.junit, "junit", "", "write the results as JUnit XML to this `file` too, - is standard output")
	c.Flags().StringVar(&f.pattern, "run", "", "run the cases whose GROUP/NAME matches this `regexp`")
	c.Flags().StringVar(&f.known, "known", "", "`file` with the cases that are known to fail")
	c.Flags().BoolVar(&f.asJSON, "json", false, "write JSON")
	c.Flags().BoolVar(&f.list, "list", false, "list the cases and run none")
	c.Flags().DurationVar(&f.limit, "limit", time.Minute, "how long one case may take")
	c.Flags().IntVar(&f.worker, "worker", -1, "")
	_ = c.Flags().MarkHidden("worker")
	return c
}

// cases returns those that --run chooses.
func (f *pluginTest) cases() ([]conformance.Case, error) {
	wanted, err := regexp.Compile(f.pattern)
	if err != nil {
		return nil, usagef("--run: %v", err)
	}
	var cases []conformance.Case
	for _, c := range conformance.Suite() {
		if wanted.MatchString(c.ID()) {
			cases = append(cases, c)
		}
	}
	if len(cases) == 0 {
		return nil, usagef("no case matches %q", f.pattern)
	}
	return cases, nil
}

// serveCases runs cases for another process, from the one it asks for on.
func (a *app) serveCases(ctx context.Context, f *pluginTest, cases []conformance.Case) error {
	b, err := backends.Open(ctx, f.plugin, a.backendOptions())
	if err != nil {
		return err
	}
	defer b.Close()
	ref, err := backends.Open(ctx, "interp", a.backendOptions())
	if err != nil {
		return err
	}
	defer ref.Close()
	return conformance.Serve(ctx, a.stdout, b, ref, cases, f.worker)
}

// testPlugin has the cases run in processes of their own and reports them.
func (a *app) testPlugin(ctx context.Context, f *pluginTest, cases []conformance.Case) error {
	known, err := readKnown(f.known)
	if err != nil {
		return err
	}
	b, err := backends.Open(ctx, f.plugin, a.backendOptions())
	if err != nil {
		return err
	}
	describe := b.Describe()
	if err := b.Close(); err != nil {
		return err
	}
	self, err := os.Executable()
	if err != nil {
		return err
	}
	a.note("testing %s", describe)
	var results []conformance.Result
	show := a.progress(len(cases))
	err = conformance.RunIsolated(ctx, cases, f.limit, func(from int) *exec.Cmd {
		return exec.Command(self, "plugin", "test", "--plugin", f.plugin, "--run", f.pattern, "--worker", strconv.Itoa(from))
	}, func(r conformance.Result) {
		results = append(results, r)
		show(len(results), r.Case.ID())
	})
	show(len(cases), "")
	if err != nil {
		return err
	}
	passing := conformance.ApplyKnown(results, known)
	if err := a.reportTest(f, describe, results); err != nil {
		return err
	}
	for _, name := range passing {
		a.note("%s passes, but %s says that it fails", name, f.known)
	}
	failed := 0
	for _, r := range results {
		if r.Status == conformance.Failed {
			failed++
		}
	}
	if failed > 0 {
		return fmt.Errorf("%d of %d cases failed", failed, len(results))
	}
	return nil
}

// reportTest writes the results in the forms that were asked for; the table is left out where standard output is taken.
func (a *app) reportTest(f *pluginTest, describe string, results []conformance.Result) error {
	if f.junit != "" {
		var text bytes.Buffer
		if err := conformance.WriteJUnit(&text, f.plugin, results); err != nil {
			return err
		}
		if err := a.write(f.junit, text.Bytes()); err != nil {
			return err
		}
	}
	switch {
	case f.asJSON:
		return a.writeJSON(testReport(describe, results))
	case f.junit == "-":
		return nil
	}
	return conformance.WriteTable(a.stdout, results)
}

func readKnown(file string) (map[string]bool, error) {
	if file == "" {
		return nil, nil
	}
	f, err := os.Open(file)
	if err != nil {
		return nil, err
	}
	defer f.Close()
	known, err := conformance.ReadKnown(f)
	if err != nil {
		return nil, fmt.Errorf("%s: %w", file, err)
	}
	return known, nil
}

// testedCase is a case in what 'hlocb plugin test --json' writes.
type testedCase struct {
	Group   string             `json:"group"`
	Name    string             `json:"name"`
	Status  conformance.Status `json:"status"`
	Message string             `json:"message,omitempty"`
	Seconds float64            `json:"seconds"`
}

func testReport(plugin string, results []conformance.Result) any {
	var out struct {
		Plugin string                     `json:"plugin"`
		Count  map[conformance.Status]int `json:"count"`
		Cases  []testedCase               `json:"cases"`
	}
	out.Plugin = plugin
	out.Count = map[conformance.Status]int{conformance.Passed: 0, conformance.Failed: 0, conformance.Known: 0, conformance.Skipped: 0}
	for _, r := range results {
		out.Count[r.Status]++
		out.Cases = append(out.Cases, testedCase{r.Case.Group, r.Case.Name, r.Status, r.Message, r.Took.Seconds()})
	}
	return out
}

// progress returns what shows how far a long command is, on a terminal only: how much of total is done, and what was done
// last. An empty name takes it away.
func (a *app) progress(total int) func(done int, name string) {
	if a.terminal == nil {
		return func(int, string) {}
	}
	return func(done int, name string) {
		if name == "" {
			fmt.Fprint(a.stderr, "\r\x1b[K")
			return
		}
		fmt.Fprintf(a.stderr, "\r\x1b[K%d of %d  %s", done, total, diag.Escape(name))
	}
}
