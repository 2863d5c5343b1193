//go:build cgo

package callbacks

import (
	"context"
	"errors"
	"fmt"
	"os"
	"path/filepath"
	"strings"
	"time"

	"github.com/hlocb/hlocb"
	"github.com/hlocb/hlocb/dialect/stablehlo"
	"github.com/hlocb/hlocb/hook"
	"github.com/hlocb/hlocb/internal/bench/meter"
	"github.com/hlocb/hlocb/ir"
	"github.com/hlocb/hlocb/runtime"
	"github.com/hlocb/hlocb/runtime/backends"
	"github.com/hlocb/hlocb/runtime/handlers"
	"github.com/hlocb/hlocb/runtime/pjrt"
	"github.com/hlocb/hlocb/tensor"
)

// trips is the number of callbacks in one execution of the loop. It is small: a busy machine interrupts long loops.
const trips = 2_000

// deviceLoop computes on a value n times, with an operation on it in each iteration.
func deviceLoop(n, elements int, operation string) string {
	return strings.NewReplacer("TRIPS", fmt.Sprint(n), "OPERATION", operation, "TYPE", fmt.Sprintf("tensor<%dxf32>", elements)).Replace(`func.func @main(%x: TYPE) -> TYPE {
  %zero = stablehlo.constant dense<0> : tensor<i32>
  %one = stablehlo.constant dense<1> : tensor<i32>
  %n = stablehlo.constant dense<TRIPS> : tensor<i32>
  %f = stablehlo.constant dense<1.0> : TYPE
  %out:2 = stablehlo.while(%i = %zero, %v = %x) : tensor<i32>, TYPE
   cond {
    %more = stablehlo.compare LT, %i, %n, SIGNED : (tensor<i32>, tensor<i32>) -> tensor<i1>
    stablehlo.return %more : tensor<i1>
  } do {
    %next = stablehlo.add %v, %f : TYPE
    OPERATION
    %j = stablehlo.add %i, %one : tensor<i32>
    stablehlo.return %j, %next : tensor<i32>, TYPE
  }
  return %out#1 : TYPE
}
`)
}

// hostCall calls the host. A hook without a result observes; a hook with a result gets an answer.
func hostCall(result, operand, results string, elements int) string {
	if result != "" {
		result += " = "
	}
	return fmt.Sprintf(`%sstablehlo.custom_call @host(%s) {api_version = 4 : i32, has_side_effect = true, backend_config = {name = "value"}} : (tensor<%dxf32>) -> %s`, result, operand, elements, results)
}

// withTarget returns a copy of m that calls target instead of hlocb's own target.
func withTarget(m *ir.Module, target string) *ir.Module {
	m = m.Clone()
	m.Walk(func(op *ir.Op) bool {
		if op.Is(stablehlo.CustomCall) {
			op.SetAttr(stablehlo.AttrCallTargetName, ir.NewString(target))
		}
		return true
	})
	return m
}

// loop measures one callback of four floats inside a device loop.
func (b *bench) loop() error {
	tapped, err := program(deviceLoop(trips, 4, hostCall("", "%next", "()", 4)))
	if err != nil {
		return err
	}
	empty, err := program(deviceLoop(trips, 4, ""))
	if err != nil {
		return err
	}
	yardsticks, err := b.backend.Plugin().RegisterYardsticks("cpu")
	if err != nil {
		return err
	}
	calls, sum := 0, float32(0)
	var read runtime.Bindings
	read.Answer("*", runtime.HandlerFunc(func(_ context.Context, c *runtime.Call) error {
		calls++
		sum += tensor.View[float32](c.Operands[0])[0]
		return nil
	}))
	var list []*subject
	add := func(name string, p *runtime.Program, opts runtime.CompileOptions) {
		if err == nil {
			var s *subject
			if s, err = b.subject(name, p, opts, vector(4)); err == nil {
				list = append(list, s)
			}
		}
	}
	add("the loop alone", empty, runtime.CompileOptions{})
	for _, y := range yardsticks {
		add(y.Does, &runtime.Program{Module: withTarget(tapped.Module, y.Target), Manifest: &hook.Manifest{}}, runtime.CompileOptions{})
	}
	add("finds run and hook, counts, makes the views", tapped, runtime.CompileOptions{})
	add("calls a handler that reads its operand", tapped, runtime.CompileOptions{Handlers: &read})
	add("with a timeout: copies, a goroutine, a timer", tapped, runtime.CompileOptions{Handlers: &read, Timeout: time.Minute})
	if err != nil {
		return err
	}
	rounds := 10 * b.o.rounds
	if err := measure(rounds, list...); err != nil {
		return err
	}
	if calls != 2*trips*(rounds+1) {
		return fmt.Errorf("%d callbacks arrived, expected %d", calls, 2*trips*(rounds+1))
	}
	base := list[0].t.best()
	per := func(d time.Duration) float64 { return float64((d - base).Nanoseconds()) / trips }
	inC, inGo := per(list[1].t.best()), per(list[5].t.best())
	fmt.Fprintf(b.w, "\none callback (4 floats) in a device loop of %d trips, the loop itself (%.0f ns a trip) taken off, %d rounds; each line includes the lines above it\n",
		trips, float64(base.Nanoseconds())/trips, rounds)
	rows := [][]string{{"", "best", "adds", "p50", "p99", "of C"}}
	before := 0.0
	for _, s := range list[1:] {
		ns := per(s.t.best())
		rows = append(rows, []string{s.name, fmt.Sprintf("%.0f ns", ns), fmt.Sprintf("%.0f ns", ns-before), fmt.Sprintf("%.0f ns", per(s.t.quantile(0.5))),
			fmt.Sprintf("%.0f ns", per(s.t.quantile(0.99))), fmt.Sprintf("%.1fx", ns/inC)})
		before = ns
	}
	if b.jax != nil {
		rows = append(rows, []string{"jax.debug.callback, jaxlib " + b.jax.Version, fmt.Sprintf("%.0f ns", b.jax.Debug*1e9), "", fmt.Sprintf("%.0f ns", b.jax.DebugP50*1e9), "", fmt.Sprintf("%.0fx", b.jax.Debug*1e9/inC)})
	}
	fmt.Fprint(b.w, table(rows))
	b.rows = append(b.rows, meter.Row{Name: "a Go handler beside a C handler that does nothing", Ours: inGo / 1e9, Peer: inC / 1e9, AtMost: 2.2})
	if b.jax != nil {
		b.rows = append(b.rows, meter.Row{Name: "a Go handler beside jax.debug.callback", Ours: inGo / 1e9, Peer: b.jax.Debug, AtLeast: 180})
	}
	return nil
}

// executions measures one execution with a call hook that copies its operand, for each size. Arguments and results are
// on the device.
func (b *bench) executions() error {
	fmt.Fprintf(b.w, "\none execution with one call hook that answers with its operand\n")
	head := []string{"operand", "best", "p50", "p99", "without the hook"}
	if b.jax != nil {
		head = append(head, "io_callback: best", "p50", "p99", "without", "times as fast")
	}
	rows := [][]string{head}
	var small, least meter.Row // with four floats, and the least ratio from 1 MiB on
	for i, n := range sizes {
		typ := fmt.Sprintf("tensor<%dxf32>", n)
		p, err := program(fmt.Sprintf("func.func @main(%%x: %s) -> %s {\n  %s\n  return %%y : %s\n}\n", typ, typ, hostCall("%y", "%x", typ, n), typ))
		if err != nil {
			return err
		}
		q, err := program(fmt.Sprintf("func.func @main(%%x: %s) -> %s {\n  %%y = stablehlo.add %%x, %%x : %s\n  return %%y : %s\n}\n", typ, typ, typ, typ))
		if err != nil {
			return err
		}
		var h runtime.Bindings
		h.Answer("*", runtime.HandlerFunc(func(_ context.Context, c *runtime.Call) error { return c.SetResult(0, c.Operands[0]) }))
		s, err := b.subject("call hook", p, runtime.CompileOptions{Handlers: &h}, vector(n))
		if err != nil {
			return err
		}
		none, err := b.subject("no hook", q, runtime.CompileOptions{}, vector(n))
		if err != nil {
			return err
		}
		if err := b.onDevice(s, none); err != nil {
			return err
		}
		if err := measure(max(10, min(20_000, 40_000_000/n)), s, none); err != nil {
			return err
		}
		row := []string{bytesText(4 * n), micro(s.t.best()), micro(s.t.quantile(0.5)), micro(s.t.quantile(0.99)), micro(none.t.best())}
		if b.jax != nil {
			j := b.jax.IO[i]
			r := j[0] / s.t.best().Seconds()
			beside := meter.Row{Name: bytesText(4*n) + " beside io_callback", Ours: s.t.best().Seconds(), Peer: j[0], AtLeast: 2}
			if i == 0 {
				small, small.AtLeast = beside, 30
			}
			if 4*n >= 1<<20 && (least.Ours == 0 || beside.Ratio() < least.Ratio()) {
				least = beside
			}
			row = append(row, fmt.Sprintf("%.1f µs", j[0]*1e6), fmt.Sprintf("%.1f µs", j[1]*1e6), fmt.Sprintf("%.1f µs", j[2]*1e6), fmt.Sprintf("%.1f µs", b.jax.Empty[i]*1e6), fmt.Sprintf("%.1f", r))
		}
		rows = append(rows, row)
	}
	fmt.Fprint(b.w, table(rows))
	if b.jax != nil {
		b.rows = append(b.rows, small, least)
	}
	return nil
}

// steps measures a training step of 300 MB of parameters that stay on the device, and the same step in a C loop. It
// uses processor time: XLA computes a step on all cores, so other work on the machine doubles the elapsed time.
func (b *bench) steps() error {
	const params, elements, count = 75, 1 << 20, 4
	var head, body, values, types []string
	for i := range params {
		head = append(head, fmt.Sprintf("%%p%d: TYPE {tf.aliasing_output = %d : i32}", i, i))
		body = append(body, strings.ReplaceAll(`  %g# = stablehlo.multiply %p#, %x : TYPE
  %d# = stablehlo.multiply %g#, %rate : TYPE
  %n# = stablehlo.subtract %p#, %d# : TYPE
`, "#", fmt.Sprint(i)))
		values, types = append(values, fmt.Sprintf("%%n%d", i)), append(types, "TYPE")
	}
	text := "func.func @main(" + strings.Join(head, ", ") + ", %x: TYPE) -> (" + strings.Join(types, ", ") + ") {\n  %rate = stablehlo.constant dense<1.0e-3> : TYPE\n" +
		strings.Join(body, "") + "  return " + strings.Join(values, ", ") + " : " + strings.Join(types, ", ") + "\n}\n"
	p, err := program(strings.ReplaceAll(text, "TYPE", fmt.Sprintf("tensor<%dxf32>", elements)))
	if err != nil {
		return err
	}
	args, carried := make([]*tensor.Tensor, params+1), make([]int64, params)
	for i := range args {
		args[i] = vector(elements)
	}
	for i := range carried {
		carried[i] = int64(i)
	}
	s, err := b.subject("step", p, runtime.CompileOptions{}, args...)
	if err != nil {
		return err
	}
	if err := b.onDevice(s); err != nil {
		return err
	}
	inC, err := s.exe.(*pjrt.Executable).InC(count, carried)
	if err != nil {
		return err
	}
	run := func(e runtime.Executable, n int) (time.Duration, error) {
		start := meter.ProcessorTime()
		for range n {
			results, err := runtime.Execute(context.Background(), e, s.held, runtime.ExecuteOptions{})
			if err != nil {
				return 0, err
			}
			for _, h := range s.held[:params] {
				h.Close()
			}
			copy(s.held, results)
			copy(b.held[len(b.held)-params-1:], results)
		}
		return (meter.ProcessorTime() - start) / count, nil
	}
	var c, step times
	for range max(10, b.o.rounds) {
		for _, side := range []struct {
			to *times
			e  runtime.Executable
			n  int
		}{{&c, inC, 1}, {&step, s.exe, count}} {
			t, err := run(side.e, side.n)
			if err != nil {
				return err
			}
			*side.to = append(*side.to, t)
		}
	}
	median := func(t times) time.Duration { return t.quantile(0.5) }
	fmt.Fprintf(b.w, "\na training step of %d MB of parameters that stay on the device, processor time: %s, in a C loop %s, %d rounds of %d steps\n",
		params*elements*4/1_000_000, micro(median(step)), micro(median(c)), len(c), count)
	b.rows = append(b.rows, meter.Row{Name: "a training step beside the C loop", Ours: median(step).Seconds(), Peer: median(c).Seconds(), AtMost: 1.02})
	return nil
}

// cholesky measures jnp.linalg.cholesky of 512x512 f64, whose program calls LAPACK, on both backends. Arguments and
// results are on the device.
func (b *bench) cholesky() error {
	if b.jax == nil {
		return nil
	}
	const n = 512
	x := tensor.New(tensor.F64, tensor.Shape{n, n})
	for i := range n * n {
		tensor.View[float64](x)[i] = 1
	}
	for i := range n {
		tensor.View[float64](x)[i*(n+1)] = n + 1
	}
	p, err := hlocb.Parse(context.Background(), "cholesky.mlir", []byte(b.jax.Cholesky.Text))
	if err != nil {
		return err
	}
	jax := b.jax.Cholesky
	ms := func(s float64) string { return fmt.Sprintf("%.2f ms", s*1e3) }
	rows := [][]string{{"", "best", "processor time", "of JAX's best"}, {"JAX", ms(jax.Best), ms(jax.Processor), "1.00x"}}
	for _, name := range []string{backends.Engine, "cpu"} {
		exe, err := p.Compile(context.Background(), hlocb.On(name))
		if err != nil {
			return err
		}
		held, err := exe.Put(context.Background(), 0, x)
		if err != nil {
			return errors.Join(err, exe.Close())
		}
		s := &subject{name: name, exe: exe.Runtime(), held: []*runtime.Buffer{held}}
		rounds := 8 * b.o.rounds
		before := meter.ProcessorTime()
		err = measure(rounds, s)
		used := meter.ProcessorTime() - before
		held.Close()
		if err := errors.Join(err, exe.Close()); err != nil {
			return err
		}
		r := s.t.best().Seconds() / jax.Best
		b.rows = append(b.rows, meter.Row{Name: "cholesky by " + name + " beside JAX", Ours: s.t.best().Seconds(), Peer: jax.Best, AtMost: 3})
		rows = append(rows, []string{name, ms(s.t.best().Seconds()), ms(used.Seconds() / float64(rounds+1)), fmt.Sprintf("%.2fx", r)})
	}
	fmt.Fprintf(b.w, "\njnp.linalg.cholesky of 512x512 f64, %d rounds\n%s", 8*b.o.rounds, table(rows))
	return nil
}

func bytesText(n int) string {
	switch {
	case n >= 1<<20:
		return fmt.Sprintf("%d MiB", n>>20)
	case n >= 1<<10:
		return fmt.Sprintf("%d KiB", n>>10)
	}
	return fmt.Sprintf("%d B", n)
}

// large measures an inout hook on an intermediate value of 64 MiB, and an optimization barrier in its place.
func (b *bench) large() error {
	const n = 16 << 20
	typ := fmt.Sprintf("tensor<%dxf32>", n)
	module := func(between string) (*runtime.Program, error) {
		return program(strings.ReplaceAll("func.func @main(%x: TYPE) -> TYPE {\n  %s = stablehlo.sine %x : TYPE\n  "+between+"\n  %y = stablehlo.add %r, %r : TYPE\n  return %y : TYPE\n}\n", "TYPE", typ))
	}
	// Kind inout: all results are operands, aliased one to one.
	inout, err := module(`%r = stablehlo.custom_call @host(%s) {api_version = 4 : i32, has_side_effect = true, backend_config = {name = "value"},
    output_operand_aliases = [#stablehlo.output_operand_alias<output_tuple_indices = [], operand_index = 0, operand_tuple_indices = []>]} : (TYPE) -> TYPE`)
	if err != nil {
		return err
	}
	if kind := inout.Manifest.Sites[0].Kind; kind != hook.InOut {
		return fmt.Errorf("the hook is of kind %s, expected inout", kind)
	}
	barrier, err := module(`%r = stablehlo.optimization_barrier %s : TYPE`)
	if err != nil {
		return err
	}
	calls := 0
	var h runtime.Bindings
	h.Answer("*", runtime.HandlerFunc(func(_ context.Context, c *runtime.Call) error { calls++; return nil }))
	x := vector(n)
	s, err := b.subject("inout hook", inout, runtime.CompileOptions{Handlers: &h}, x)
	if err != nil {
		return err
	}
	t, err := b.subject("optimization barrier", barrier, runtime.CompileOptions{}, x)
	if err != nil {
		return err
	}
	if err := measure(b.o.rounds, s, t); err != nil {
		return err
	}
	if calls != b.o.rounds+1 {
		return fmt.Errorf("%d callbacks arrived", calls)
	}
	fmt.Fprintf(b.w, "\nan intermediate value of 64 MiB, computed and used, %d rounds\n", b.o.rounds)
	rows := [][]string{{"between", "best", "p50", "p99"}}
	for _, s := range []*subject{s, t} {
		rows = append(rows, []string{s.name, micro(s.t.best()), micro(s.t.quantile(0.5)), micro(s.t.quantile(0.99))})
	}
	fmt.Fprint(b.w, table(rows))
	b.rows = append(b.rows, meter.Row{Name: "a hook of 64 MiB beside a barrier", Ours: s.t.best().Seconds(), Peer: t.t.best().Seconds(), AtMost: 1.1})
	return nil
}

// record measures the speed at which a running program's taps reach the disk, and the speed of writing the same bytes
// directly.
func (b *bench) record() error {
	dir, err := os.MkdirTemp(b.o.dir, "bench-callbacks-")
	if err != nil {
		return err
	}
	defer os.RemoveAll(dir)
	const elements = 2 << 20 // 8 MiB
	n := max(1, b.o.volume/(4*elements))
	volume := n * 4 * elements
	p, err := program(deviceLoop(n, elements, hostCall("", "%next", "()", elements)))
	if err != nil {
		return err
	}
	x := vector(elements)
	env := &handlers.Env{Create: createFile}
	recording := func(name string, raw int) (time.Duration, error) {
		path := filepath.Join(dir, name)
		r, err := handlers.CreateRecord(path, raw, env)
		if err != nil {
			return 0, err
		}
		var h runtime.Bindings
		h.Observe("*", r)
		exe, err := b.backend.Compile(context.Background(), p, runtime.CompileOptions{Handlers: &h})
		if err != nil {
			return 0, err
		}
		defer exe.Close()
		start := time.Now()
		if _, err = exe.Run(context.Background(), []*tensor.Tensor{x}); err == nil {
			err = r.Close()
		}
		if err == nil {
			err = syncFile(path + handlers.DataSuffix)
		}
		took := time.Since(start)
		return took, errors.Join(err, os.Remove(path), os.Remove(path+handlers.DataSuffix))
	}
	plain := func() (time.Duration, error) {
		path := filepath.Join(dir, "plain")
		start := time.Now()
		f, err := os.Create(path)
		if err != nil {
			return 0, err
		}
		for range n {
			if _, err := f.Write(x.Bytes()); err != nil {
				return 0, err
			}
		}
		err = errors.Join(f.Sync(), f.Close())
		return time.Since(start), errors.Join(err, os.Remove(path))
	}
	var disk, rec times
	for range 3 {
		d, err := plain()
		if err != nil {
			return err
		}
		r, err := recording("events.jsonl", handlers.RawBytes)
		if err != nil {
			return err
		}
		disk, rec = append(disk, d), append(rec, r)
	}
	speed := func(t times) float64 { return float64(volume) / t.best().Seconds() / 1e6 }
	fmt.Fprintf(b.w, "\n%s in values of 8 MiB to disk, until they are there (fsync), best of 3\n", bytesText(volume))
	fmt.Fprint(b.w, table([][]string{{"", "MB/s"}, {"written by itself", fmt.Sprintf("%.0f", speed(disk))}, {"recorded by a running program", fmt.Sprintf("%.0f", speed(rec))}}))
	b.rows = append(b.rows, meter.Row{Name: "a recording beside the disk", Ours: rec.best().Seconds(), Peer: disk.best().Seconds(), AtMost: 2})
	return nil
}
