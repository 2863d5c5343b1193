package cli

import (
	"context"
	"fmt"
	"math"
	"path/filepath"
	"strconv"
	"strings"
	"time"

	"github.com/spf13/cobra"

	"github.com/hlocb/hlocb/diag"
	"github.com/hlocb/hlocb/internal/heap"
	"github.com/hlocb/hlocb/interp"
	"github.com/hlocb/hlocb/runtime"
	"github.com/hlocb/hlocb/runtime/backends"
)

// limitFlags limit a run and choose its progress reports.
type limitFlags struct {
	memory  string
	verbose bool
}

// progressEvery is the interval of a long run's progress reports to an output that is not a terminal.
const progressEvery = 5 * time.Second

func (f *limitFlags) add(c *cobra.Command) {
	c.Flags().StringVar(&f.memory, "memory-limit", "", "`SIZE` limit for the values of a run, such as 2GiB, or none; engine only (default 3/4 of the memory)")
}

func (f *limitFlags) addVerbose(c *cobra.Command) {
	c.Flags().BoolVarP(&f.verbose, "verbose", "v", false, "report progress, and locations and backends in full")
}

// bytes returns the limit, 0 for none.
func (f *limitFlags) bytes() (int64, error) {
	if f.memory == "" {
		return int64(float64(heap.Memory()) * 0.75), nil
	}
	n, err := parseSize(f.memory)
	if err != nil {
		return 0, usagef("--memory-limit %s: %w", f.memory, err)
	}
	return n, nil
}

// onPlugin returns the result of f, or the cause of ctx's end. It limits f to timeout unless timeout is 0. f does work,
// named op, on a backend. A plugin may never return; f then continues until the process ends. The engine obeys ctx.
func onPlugin[T any](ctx context.Context, timeout time.Duration, op, backend string, f func(context.Context) (T, error)) (T, error) {
	if backend == backends.Engine || backend == "interp" {
		return f(ctx)
	}
	type result struct {
		value T
		err   error
	}
	if timeout > 0 {
		late := &lateError{op + " " + backend, timeout}
		limited, stop := context.WithTimeoutCause(ctx, timeout, late)
		defer stop()
		ctx = limited
	}
	done := make(chan result, 1)
	go func() {
		value, err := f(ctx)
		done <- result{value, err}
	}()
	select {
	case r := <-done:
		if r.err != nil && ctx.Err() != nil {
			r.err = context.Cause(ctx)
		}
		return r.value, r.err
	case <-ctx.Done():
		var none T
		return none, context.Cause(ctx)
	}
}

// lateError says that a plugin was not ready in time.
type lateError struct {
	what  string
	limit time.Duration
}

func (e *lateError) Error() string {
	return fmt.Sprintf("%s takes longer than %v (--timeout)", e.what, e.limit)
}

// Unwrap returns the error that sets the exit code.
func (e *lateError) Unwrap() error {
	return &runtime.TimeoutError{After: e.limit.String(), Program: true}
}

// engine returns the engine's options.
func (f *limitFlags) engine(a *app) (interp.Options, error) {
	limit, err := f.bytes()
	opts := interp.Options{MemoryLimit: limit}
	switch {
	case a.Terminal() != nil:
		opts.ProgressEvery = time.Second
		opts.Progress = func(p interp.Progress) {
			if p.Elapsed > time.Second {
				a.Progress(progressText(p))
			}
		}
	case f.verbose:
		opts.ProgressEvery = progressEvery
		opts.Progress = func(p interp.Progress) { a.note("%s", progressText(p)) }
	}
	return opts, err
}

// progressText describes the progress of a run in one line.
func progressText(p interp.Progress) string {
	s := "running " + p.Elapsed.Round(time.Second).String()
	if p.Op != "" {
		s += " · " + p.Op[strings.LastIndexByte(p.Op, '.')+1:]
		if p.Source != nil && p.Pos.IsValid() {
			line, _ := p.Source.LineColumn(p.Pos)
			s += fmt.Sprintf(" (%s:%d)", diag.Escape(filepath.Base(p.Source.Name())), line)
		}
	}
	if p.Loops > 0 {
		s += " · " + countText(p.Loops) + " iterations"
	}
	return s + fmt.Sprintf(" · %s · %s", plural(int(p.Events), "callback"), sizeText(p.Held))
}

// countText formats a count with about three digits.
func countText(n int64) string {
	if n < 10_000 {
		return fmt.Sprint(n)
	}
	return scaled(n, 1000, "k", "M", "G", "T")
}

// sizeText formats a size with about three digits.
func sizeText(n int64) string {
	if n < 1024 {
		return fmt.Sprintf("%d B", n)
	}
	return scaled(n, 1024, " KiB", " MiB", " GiB", " TiB")
}

// scaled formats n, which is at least base, in the largest of the units. Each unit is base times the unit before it.
func scaled(n int64, base float64, units ...string) string {
	v := float64(n) / base
	for len(units) > 1 && v >= base {
		v, units = v/base, units[1:]
	}
	return fmt.Sprintf("%.3g%s", v, units[0])
}

var sizeUnits = [...]struct {
	name  string
	bytes float64
}{{"KiB", 1 << 10}, {"MiB", 1 << 20}, {"GiB", 1 << 30}, {"TiB", 1 << 40}, {"KB", 1e3}, {"MB", 1e6}, {"GB", 1e9}, {"TB", 1e12}, {"B", 1}, {"", 1}}

// parseSize reads a number of bytes, with or without a unit; the empty text is 0.
func parseSize(s string) (int64, error) {
	if s == "none" {
		return 0, nil
	}
	for _, u := range sizeUnits {
		digits, ok := strings.CutSuffix(s, u.name)
		if !ok {
			continue
		}
		v, err := strconv.ParseFloat(strings.TrimSpace(digits), 64)
		if err != nil || !(v > 0) || v*u.bytes >= math.MaxInt64 || v*u.bytes < 1 {
			break
		}
		return int64(v * u.bytes), nil
	}
	return 0, fmt.Errorf("expected a size such as 500MB or 2GiB, or none")
}
