package cli

import (
	"context"
	"errors"
	"fmt"
	"io"
	"os"
	"os/exec"
	"path/filepath"
	"strings"
	"time"

	"github.com/spf13/cobra"

	"github.com/hlocb/hlocb/diag"
	"github.com/hlocb/hlocb/internal/command"
	"github.com/hlocb/hlocb/internal/reader"
	"github.com/hlocb/hlocb/internal/reduce"
	"github.com/hlocb/hlocb/ir"
)

func (a *app) reduceCommand() *cobra.Command {
	var test, out string
	var timeout time.Duration
	c := &cobra.Command{
		Use:   "reduce IN --test COMMAND",
		Short: "Make a module smaller while it stays interesting",
		Long: `Make a module smaller while a command still finds it interesting: while the command ends with exit code 0.

The shell runs the command with the name of a file in place of {}, or at its end. hlocb removes functions, ops, results, arguments and loops until none can be removed alone, then attributes and large literals, and makes shapes smaller. It writes each smaller module to OUT (default: IN with the suffix .reduced.mlir). If OUT exists, is interesting and smaller than IN, hlocb continues with it. The same command therefore continues an interrupted reduction.`,
		Example: `  hlocb reduce crash.mlir --test 'hlocb opt {} --cse 2>&1 | grep -q invalid'
  hlocb reduce wrong.mlir --test './differs.sh' -o small.mlir --timeout 30s`,
		Args: command.Args("IN"),
		RunE: command.Body(func(cmd *cobra.Command, args []string) error {
			if test == "" {
				return usagef("--test is missing: the command that finds a module interesting")
			}
			if out == "-" || out == "" && args[0] == "-" {
				return usagef("missing -o FILE: each smaller module is written there")
			}
			if out == "" {
				out = strings.TrimSuffix(args[0], filepath.Ext(args[0])) + ".reduced.mlir"
			}
			if timeout <= 0 {
				return usagef("--timeout must be positive")
			}
			if err := keepInput(args[0], out); err != nil {
				return err
			}
			return a.reduce(cmd.Context(), args[0], test, out, timeout)
		}),
	}
	c.Flags().StringVar(&test, "test", "", "`COMMAND` command that ends with exit code 0 if the module in the file {} is interesting")
	c.Flags().StringVarP(&out, "output", "o", "", "`FILE` write to FILE")
	c.Flags().DurationVar(&timeout, "timeout", time.Minute, "`DURATION` time limit of each test; after that a module is not interesting")
	command.Group(c, "Flags")
	return c
}

func (a *app) reduce(ctx context.Context, in, test, out string, timeout time.Duration) error {
	parse := func(name string, text []byte) (*ir.Module, error) {
		return reader.Read(diag.NewSource(name, text))
	}
	name, text, err := a.ReadText(in)
	if err != nil {
		return err
	}
	m, err := parse(name, text)
	if err != nil {
		return err
	}
	dir, err := os.MkdirTemp("", "hlocb-reduce-")
	if err != nil {
		return err
	}
	defer os.RemoveAll(dir)
	path := filepath.Join(dir, "module.mlir")
	line := strings.ReplaceAll(test, "{}", path)
	if line == test {
		line += " " + path
	}
	var ended string // how the last test ended
	interesting := func(ctx context.Context, text []byte) (bool, error) {
		if err := os.WriteFile(path, text, 0o666); err != nil {
			return false, err
		}
		ctx, cancel := context.WithTimeout(ctx, timeout)
		defer cancel()
		cmd := exec.CommandContext(ctx, "sh", "-c", line)
		cmd.WaitDelay = time.Second
		err := cmd.Run()
		if ended = fmt.Sprintf("ended with %v", err); ctx.Err() != nil {
			ended = fmt.Sprintf("did not end within %s", timeout)
		}
		var exit *exec.ExitError
		if err == nil || errors.As(err, &exit) || ctx.Err() != nil {
			return err == nil, nil
		}
		return false, fmt.Errorf("--test: %w", err)
	}
	if earlier, err := os.ReadFile(out); err == nil && len(earlier) < len(text) {
		if smaller, err := parse(out, earlier); err == nil {
			if ok, err := interesting(ctx, earlier); err != nil {
				return err
			} else if ok {
				a.note("continuing with %s", out)
				m = smaller
			}
		}
	}
	best, status, err := reduce.Reduce(ctx, m, reduce.Options{
		Test:  interesting,
		Parse: func(text []byte) (*ir.Module, error) { return parse(out, text) },
		Better: func(text []byte, _ reduce.Status) error {
			return a.WriteFile(out, func(w io.Writer) error {
				_, err := w.Write(text)
				return err
			})
		},
		Progress: func(s reduce.Status) { a.Progress(s.String()) },
	})
	a.Progress("")
	if errors.Is(err, reduce.NotInterestingError{}) {
		return fmt.Errorf("%s: %w; it %s", in, err, ended)
	}
	if best != nil {
		if err := a.write(out, best); err != nil {
			return err
		}
		a.note("%s: %d ops, %d bytes after %d tests", out, status.Ops, status.Bytes, status.Tests)
	}
	return err
}
