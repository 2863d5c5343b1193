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
	"github.com/hlocb/hlocb/internal/command"
	"github.com/hlocb/hlocb/internal/plugintest"
	"github.com/hlocb/hlocb/runtime/backends"
)

// pluginTest is the command line of 'hlocb plugin test'.
type pluginTest struct {
	plugin, junit, pattern, known string
	asJSON, list                  bool
	limit                         time.Duration
	worker                        int // the first case to run, in a child process; -1 in the parent
}

func (a *app) pluginTestCommand() *cobra.Command {
	var f pluginTest
	c := &cobra.Command{
		Use:   "test [NAME|PATH]",
		Short: "Test a plugin against the embedded engine",
		Long: `Test a plugin against the embedded engine: operations, element types, hooks and the behaviour of runs.

The cases run in a child process: a plugin that crashes or hangs fails a case, not the command. --known names a file of cases that are known to fail, one GROUP/NAME per line. Those cases run too, but count separately. The exit code is 1 if another case fails.`,
		Example:           "  hlocb plugin test\n  hlocb plugin test ./my_plugin.so --junit report.xml --known known.txt\n  hlocb plugin test cpu --run '^hooks/'\n  hlocb plugin test --list --run f8",
		Args:              command.Args("[NAME|PATH]"),
		ValidArgsFunction: a.completePlugins,
		RunE: command.Body(func(cmd *cobra.Command, args []string) error {
			if err := command.Exclusive(cmd, "list", "known", "junit", "json", "timeout"); err != nil {
				return err
			}
			if f.limit <= 0 {
				return usagef("--timeout must be positive")
			}
			f.plugin = pluginName(args)
			cases, err := f.cases()
			if err != nil {
				return err
			}
			if f.list {
				for _, c := range cases {
					fmt.Fprintln(a.Out, c.ID())
				}
				return nil
			}
			if f.worker >= 0 {
				return a.serveCases(cmd.Context(), &f, cases)
			}
			return a.testPlugin(cmd.Context(), &f, cases)
		}),
	}
	c.Flags().StringVar(&f.pattern, "run", "", "`REGEX` run the cases whose GROUP/NAME matches")
	c.Flags().BoolVar(&f.list, "list", false, "list the cases and run none")
	c.Flags().DurationVar(&f.limit, "timeout", time.Minute, "`DURATION` limit per case")
	c.Flags().StringVar(&f.known, "known", "", "`FILE` cases that are known to fail")
	command.Group(c, "Cases")
	c.Flags().BoolVar(&f.asJSON, "json", false, "print JSON")
	c.Flags().StringVar(&f.junit, "junit", "", "`FILE` also write JUnit XML; - is standard output")
	command.Group(c, "Output")
	c.Flags().IntVar(&f.worker, "worker", -1, "")
	_ = c.Flags().MarkHidden("worker")
	return c
}

// cases returns the cases that --run selects.
func (f *pluginTest) cases() ([]plugintest.Case, error) {
	wanted, err := regexp.Compile(f.pattern)
	if err != nil {
		return nil, usagef("--run: %v", err)
	}
	var cases []plugintest.Case
	for _, c := range plugintest.Suite() {
		if wanted.MatchString(c.ID()) {
			cases = append(cases, c)
		}
	}
	if len(cases) == 0 {
		return nil, usagef("no case matches %q", f.pattern)
	}
	return cases, nil
}

// serveCases runs cases for a parent process, from case f.worker on.
func (a *app) serveCases(ctx context.Context, f *pluginTest, cases []plugintest.Case) error {
	b, err := backends.Open(ctx, f.plugin, a.backendOptions())
	if err != nil {
		return err
	}
	defer b.Close()
	ref, err := backends.Open(ctx, backends.Engine, a.backendOptions())
	if err != nil {
		return err
	}
	defer ref.Close()
	return plugintest.Serve(ctx, a.Out, b, ref, cases, f.worker)
}

// testPlugin runs the cases in child processes and reports them.
func (a *app) testPlugin(ctx context.Context, f *pluginTest, cases []plugintest.Case) error {
	known, err := readKnown(f.known)
	if err != nil {
		return err
	}
	b, err := a.openPlugin(ctx, []string{f.plugin})
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
	var results []plugintest.Result
	err = plugintest.RunIsolated(ctx, cases, f.limit, func(from int) *exec.Cmd {
		return exec.Command(self, "plugin", "test", f.plugin, "--run", f.pattern, "--worker", strconv.Itoa(from))
	}, func(r plugintest.Result) {
		results = append(results, r)
		a.Progress(fmt.Sprintf("%d of %d  %s", len(results), len(cases), diag.Escape(r.Case.ID())))
	})
	a.Progress("")
	if err != nil {
		return err
	}
	passing := plugintest.ApplyKnown(results, known)
	if err := a.reportTest(f, describe, results); err != nil {
		return err
	}
	for _, name := range passing {
		a.note("%s passes, but %s says that it fails", name, f.known)
	}
	failed := 0
	for _, r := range results {
		if r.Status == plugintest.Failed {
			failed++
		}
	}
	if failed > 0 {
		return fmt.Errorf("%d of %d cases failed", failed, len(results))
	}
	return nil
}

// reportTest writes the results in the chosen forms. It leaves out the table if JUnit goes to standard output.
func (a *app) reportTest(f *pluginTest, describe string, results []plugintest.Result) error {
	if f.junit != "" {
		var text bytes.Buffer
		if err := plugintest.WriteJUnit(&text, f.plugin, results); err != nil {
			return err
		}
		if err := a.write(f.junit, text.Bytes()); err != nil {
			return err
		}
	}
	switch {
	case f.asJSON:
		return writeJSON(a.Out, testReport(describe, results))
	case f.junit == "-":
		return nil
	}
	return plugintest.WriteTable(a.Out, results)
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
	known, err := plugintest.ReadKnown(f)
	if err != nil {
		return nil, fmt.Errorf("%s: %w", file, err)
	}
	return known, nil
}

// caseResult is a case in the output of 'hlocb plugin test --json'.
type caseResult struct {
	Group   string            `json:"group"`
	Name    string            `json:"name"`
	Status  plugintest.Status `json:"status"`
	Message string            `json:"message,omitempty"`
	Seconds float64           `json:"seconds"`
}

func testReport(plugin string, results []plugintest.Result) any {
	var out struct {
		Plugin string                    `json:"plugin"`
		Count  map[plugintest.Status]int `json:"count"`
		Cases  []caseResult              `json:"cases"`
	}
	out.Plugin = plugin
	out.Count = map[plugintest.Status]int{plugintest.Passed: 0, plugintest.Failed: 0, plugintest.Known: 0, plugintest.Skipped: 0}
	for _, r := range results {
		out.Count[r.Status]++
		out.Cases = append(out.Cases, caseResult{r.Case.Group, r.Case.Name, r.Status, r.Message, r.Took.Seconds()})
	}
	return out
}
