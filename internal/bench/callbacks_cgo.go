//go:build cgo

package main

import (
	"context"
	"errors"
	"fmt"
	"io"
	"strings"
	"time"

	"github.com/hlocb/hlocb/dialect/hlocb"
	"github.com/hlocb/hlocb/runtime"
	"github.com/hlocb/hlocb/runtime/backends"
	"github.com/hlocb/hlocb/runtime/pjrt"
	"github.com/hlocb/hlocb/runtime/plugins"
	"github.com/hlocb/hlocb/tensor"
)

// measured is the time of one execution.
type measured struct{ p50, p99 time.Duration }

// executions runs p often and returns the time of an execution.
func executions(b runtime.Backend, p *runtime.Program, opts runtime.CompileOptions, n int) (measured, error) {
	ctx := context.Background()
	exe, err := b.Compile(ctx, p, opts)
	if err != nil {
		return measured{}, err
	}
	args := []*tensor.Tensor{tensor.New(tensor.F32, tensor.Shape{4})}
	var times []time.Duration
	for i := range n + n/10 + 1 {
		start := time.Now()
		if _, err := exe.Run(ctx, args); err != nil {
			return measured{}, errors.Join(err, exe.Close())
		}
		if i > n/10 {
			times = append(times, time.Since(start))
		}
	}
	return measured{quantile(times, 0.5), quantile(times, 0.99)}, exe.Close()
}

func callbackSpeed(w io.Writer, theirs *peerTimes, rounds int) error {
	b, err := backends.Open(context.Background(), "cpu", backends.Options{Plugins: pluginEnvironment()})
	var missing *plugins.NotFoundError
	if errors.As(err, &missing) {
		fmt.Fprintln(w, "skipped: callbacks, the CPU plugin is not installed ('hlocb plugin install cpu')")
		return nil
	}
	if err != nil {
		return err
	}
	defer b.Close()
	if err := b.(*pjrt.Backend).Plugin().RegisterNoop("cpu"); err != nil {
		return err
	}

	loop, err := program(strings.Replace(loopModule, "HOOK", loopHook, 1))
	if err != nil {
		return err
	}
	empty, err := program(strings.Replace(loopModule, "HOOK", "", 1))
	if err != nil {
		return err
	}
	inC := &runtime.Program{Text: []byte(strings.ReplaceAll(string(loop.Text), "@"+hlocb.Target, "@"+pjrt.NoopTarget())), Manifest: &hlocb.Manifest{}}
	var sum float32
	calls := 0
	var handlers runtime.Bindings
	handlers.Answer("*", runtime.HandlerFunc(func(_ context.Context, c *runtime.Call) error {
		calls++
		sum += tensor.View[float32](c.Operands[0])[0]
		if len(c.Results) > 0 {
			copy(c.Results[0].Bytes(), c.Operands[0].Bytes())
		}
		return nil
	}))

	type entry struct {
		name string
		p    *runtime.Program
		opts runtime.CompileOptions
		time measured
	}
	entries := []*entry{
		{name: "C handler that does nothing", p: inC},
		{name: "Go handler", p: loop, opts: runtime.CompileOptions{Handlers: &handlers}},
		{name: "Go handler with a timeout", p: loop, opts: runtime.CompileOptions{Handlers: &handlers, Timeout: time.Minute}},
	}
	base, err := executions(b, empty, runtime.CompileOptions{}, rounds)
	if err != nil {
		return err
	}
	for _, e := range entries {
		if e.time, err = executions(b, e.p, e.opts, rounds); err != nil {
			return fmt.Errorf("%s: %w", e.name, err)
		}
	}
	if calls < trips*rounds*2 {
		return fmt.Errorf("only %d callbacks arrived", calls)
	}
	per := func(d time.Duration) float64 { return float64((d - base.p50).Nanoseconds()) / trips }
	fmt.Fprintf(w, "\none callback (4 floats) in a device loop of %d trips, the loop itself (%.0f ns a trip) taken off, median and 99%% of %d\n",
		trips, float64(base.p50.Nanoseconds())/trips, rounds)
	t := newTable(w, "", "p50", "p99", "of C")
	inLoopC := per(entries[0].time.p50)
	for _, e := range entries {
		t.row(e.name, fmt.Sprintf("%.0f ns", per(e.time.p50)), fmt.Sprintf("%.0f ns", per(e.time.p99)), fmt.Sprintf("%.1fx", per(e.time.p50)/inLoopC))
	}
	ours := per(entries[1].time.p50)
	if theirs != nil {
		t.row("jax.debug.callback", fmt.Sprintf("%.0f ns", theirs.DebugCallback*1e9), "-", fmt.Sprintf("%.0fx", theirs.DebugCallback*1e9/inLoopC))
	}
	if err := t.flush(); err != nil {
		return err
	}
	if theirs != nil {
		fmt.Fprintf(w, "the Go handler is %.0f times as fast as jax.debug.callback\n", theirs.DebugCallback*1e9/ours)
	}

	call, err := program(callModule)
	if err != nil {
		return err
	}
	one, err := executions(b, call, runtime.CompileOptions{Handlers: &handlers}, 20000)
	if err != nil {
		return err
	}
	fmt.Fprintf(w, "\none execution with one call hook (4 floats in, 4 out)\n")
	t = newTable(w, "", "p50", "p99", "")
	t.row("hlocb", fmt.Sprintf("%.1f µs", one.p50.Seconds()*1e6), fmt.Sprintf("%.1f µs", one.p99.Seconds()*1e6), "")
	if theirs != nil {
		t.row("jax io_callback", fmt.Sprintf("%.1f µs", theirs.IOCallback*1e6), "-", fmt.Sprintf("%.0fx", theirs.IOCallback/one.p50.Seconds()))
	}
	return t.flush()
}
