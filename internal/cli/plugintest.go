package cli

import (
	"fmt"
	"os"
	"os/exec"
	"regexp"
	"strconv"
	"time"

	"github.com/spf13/cobra"

	"github.com/hlocb/hlocb/runtime/backends"
	"github.com/hlocb/hlocb/runtime/conformance"
)

func (a *app) pluginTestCommand() *cobra.Command {
	var plugin, junit, pattern string
	var limit time.Duration
	var worker int
	c := &cobra.Command{
		Use:   "test",
		Short: "Test a plugin against the embedded engine",
		Long: `Test a plugin against the embedded engine: operations, element types, hooks and the behaviour of runs. The cases
run in a process of their own, so that a plugin that crashes or hangs fails a case and not the command.

The exit code is 1 where a case failed.`,
		Example: "  hlocb plugin test\n  hlocb plugin test --plugin ./my_plugin.so --junit report.xml\n  hlocb plugin test --run '^hooks/'",
		Args:    exactArgs(),
		RunE: command(func(cmd *cobra.Command, _ []string) error {
			wanted, err := regexp.Compile(pattern)
			if err != nil {
				return usagef("--run: %v", err)
			}
			var cases []conformance.Case
			for _, c := range conformance.Suite() {
				if wanted.MatchString(c.Group + "/" + c.Name) {
					cases = append(cases, c)
				}
			}
			if len(cases) == 0 {
				return usagef("no case matches %q", pattern)
			}
			b, err := backends.Open(cmd.Context(), plugin, a.backendOptions())
			if err != nil {
				return err
			}
			describe := b.Describe()
			if worker >= 0 {
				defer b.Close()
				ref, err := backends.Open(cmd.Context(), "interp", a.backendOptions())
				if err != nil {
					return err
				}
				defer ref.Close()
				return conformance.Serve(cmd.Context(), a.stdout, b, ref, cases, worker)
			}
			if err := b.Close(); err != nil {
				return err
			}

			self, err := os.Executable()
			if err != nil {
				return err
			}
			a.note("testing %s", describe)
			var results []conformance.Result
			err = conformance.RunIsolated(cmd.Context(), cases, limit, func(from int) *exec.Cmd {
				return exec.Command(self, "plugin", "test", "--plugin", plugin, "--run", pattern, "--worker", strconv.Itoa(from))
			}, func(r conformance.Result) { results = append(results, r) })
			if err != nil {
				return err
			}
			if junit != "" {
				f, err := os.Create(junit)
				if err != nil {
					return err
				}
				defer f.Close()
				if err := conformance.WriteJUnit(f, plugin, results); err != nil {
					return err
				}
				if err := f.Close(); err != nil {
					return err
				}
			}
			if err := conformance.WriteTable(a.stdout, results); err != nil {
				return err
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
		}),
	}
	c.Flags().StringVar(&plugin, "plugin", "cpu", "the plugin to test: cpu, cuda or a path")
	c.Flags().StringVar(&junit, "junit", "", "write the results as JUnit XML to this file too")
	c.Flags().StringVar(&pattern, "run", "", "run the cases whose GROUP/NAME matches this regular expression")
	c.Flags().DurationVar(&limit, "limit", time.Minute, "how long one case may take")
	c.Flags().IntVar(&worker, "worker", -1, "")
	_ = c.Flags().MarkHidden("worker")
	return c
}
