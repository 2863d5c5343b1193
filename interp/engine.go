package interp

import (
	"context"
	"errors"
	"fmt"
	"sync"
	"sync/atomic"
	"time"

	"github.com/hlocb/hlocb/ir"
	"github.com/hlocb/hlocb/runtime"
	"github.com/hlocb/hlocb/tensor"
)

// Options configures the engine. The zero value holds the defaults.
type Options struct {
	Entry       string // the function to run; "" means main, or the only function
	MemoryLimit int64  // limit for the values of one run on all its devices together, in bytes; 0 means no limit
	Partitions  int    // overrides the module's count; 0 keeps it
	Replicas    int
	// Progress is called from another goroutine every ProgressEvery during a run; nil means never.
	Progress      func(Progress)
	ProgressEvery time.Duration
	// Kernels holds the kernels for ops of dialects that the engine does not know, by op definition.
	Kernels map[*ir.Def]Kernel
}

// Backend is the embedded engine as a runtime.Backend. It holds no resources but the memory of open buffers.
type Backend struct {
	opts    Options
	buffers atomic.Int64 // open ones
}

// New returns the embedded engine.
func New(opts Options) *Backend { return &Backend{opts: opts} }

// Name returns "engine".
func (b *Backend) Name() string { return "engine" }

// Describe returns one line about the engine.
func (b *Backend) Describe() string {
	return "embedded engine (pure Go, " + gemmName() + " matrix kernel)"
}

// Close fails if buffers are open.
func (b *Backend) Close() error {
	if n := b.buffers.Load(); n > 0 {
		return fmt.Errorf("%d buffers of backend %s are not closed", n, b.Name())
	}
	return nil
}

// Compile plans the program's module. Its errors are located at an op. It reports unsupported ops here, before any of
// them executes.
func (b *Backend) Compile(ctx context.Context, p *runtime.Program, opts runtime.CompileOptions) (_ runtime.Executable, err error) {
	defer func() {
		if v := recover(); v != nil {
			err = fmt.Errorf("internal error while compiling: %v", v)
		}
	}()
	c, entry, err := compile(p.Module, p, b.opts, opts)
	if err != nil {
		return nil, err
	}
	e := &Executable{prog: c.program, entry: entry, opts: b.opts, constants: c.constants, replicas: c.replicas, partitions: 1}
	if c.partitions > 1 && spans(p.Module) {
		e.partitions = c.partitions
	}
	e.backend, e.signature = b, sync.OnceValue(e.describe)
	return e, nil
}

// Executable is a compiled module.
type Executable struct {
	backend    *Backend
	signature  func() *runtime.Signature
	prog       *program
	entry      *function
	opts       Options
	constants  int64 // bytes held by plans
	replicas   int
	partitions int // devices per replica; 1 if no op executes per partition
	runs       atomic.Int64

	mu     sync.Mutex
	closed bool
	active sync.WaitGroup
	idle   *machine // kept between runs for its buffers
}

// runState identifies one run on one device.
type runState struct {
	run       int64
	seq       int64
	device    int
	replica   int
	partition int
}

// Run executes the program once, on all its devices concurrently. Arguments and results are whole values. Every replica
// gets the same arguments; Run returns the results of the first replica.
//
// With a timeout, Run may return while an op continues in its goroutine: it waits for the op only for a grace period.
// Do not change the arguments before the op ends.
func (e *Executable) Run(ctx context.Context, args []*tensor.Tensor) ([]*tensor.Tensor, error) {
	return e.start(ctx, args, nil)
}

// start is Run that may overwrite the donated arguments.
func (e *Executable) start(ctx context.Context, args []*tensor.Tensor, donated []bool) ([]*tensor.Tensor, error) {
	if err := ctx.Err(); err != nil {
		return nil, err
	}
	e.mu.Lock()
	if e.closed {
		e.mu.Unlock()
		return nil, errors.New("executable is closed")
	}
	e.active.Add(1)
	m := e.idle
	e.idle = nil
	e.mu.Unlock()
	defer e.active.Done()
	if m == nil {
		m = newMachine(e.prog)
	}
	m.run = runState{run: e.runs.Add(1)}
	w := &watch{memory: account{limit: e.opts.MemoryLimit}}
	w.memory.held.Store(e.constants + m.recycled())
	m.watch, m.first, m.donated = w, true, donated
	ctx, end := w.start(ctx, e.prog.module.Source(), e.prog.timeout, e.opts.Progress, e.opts.ProgressEvery)
	defer end()
	if w.timer == nil {
		return e.execute(ctx, m, args)
	}
	// One long-running op does not check the time.
	type outcome struct {
		results []*tensor.Tensor
		err     error
	}
	done := make(chan outcome, 1)
	go func() {
		results, err := e.execute(ctx, m, args)
		done <- outcome{results, err}
	}()
	select {
	case o := <-done:
		return o.results, o.err
	case <-ctx.Done():
	}
	select {
	case o := <-done:
		return o.results, o.err
	case <-time.After(graceTime):
	}
	err := context.Cause(ctx)
	if ins := w.at.Load(); ins != nil {
		err = locate(e.prog.module, ins.op, err)
	}
	return nil, err
}

// execute runs the program on its devices.
func (e *Executable) execute(ctx context.Context, m *machine, args []*tensor.Tensor) ([]*tensor.Tensor, error) {
	if e.replicas*e.partitions > 1 {
		return e.runDevices(ctx, m, args)
	}
	results, err := m.main(ctx, e.entry, args)
	if err == nil {
		e.mu.Lock()
		e.idle = m
		e.mu.Unlock()
	}
	return results, err
}

// Close waits for the runs in progress.
func (e *Executable) Close() error {
	e.mu.Lock()
	e.closed = true
	e.idle = nil
	e.mu.Unlock()
	e.active.Wait()
	return nil
}

// main executes the entry function. It is the only place that recovers from a kernel's panic.
func (m *machine) main(ctx context.Context, f *function, args []*tensor.Tensor) (results []*tensor.Tensor, err error) {
	m.ctx = ctx
	m.probes, m.held = nil, nil
	defer func() {
		if v := recover(); v != nil {
			err = m.internal(v)
		}
	}()
	if err := checkArgs(m.prog.module, f, args); err != nil {
		return nil, err
	}
	fr, err := m.enter(f)
	if err != nil {
		return nil, err
	}
	next := 0
	for i, s := range f.body.args {
		if f.args[i].class == classToken {
			fr.slots[s] = m.token()
			continue
		}
		own := next < len(m.donated) && m.donated[next]
		if own {
			m.watch.memory.held.Add(int64(len(args[next].Peek())))
		}
		fr.slots[s] = &buf{t: *args[next], refs: 1, fixed: !own}
		next++
	}
	out := make([]*buf, len(f.results))
	if err := m.block(fr, f.body, out); err != nil {
		if m.at == nil { // stopped before it began
			return nil, locate(m.prog.module, f.op, err)
		}
		return nil, m.locate(m.at, err)
	}
	m.leave(f, fr)
	for _, st := range m.held {
		st.release(m)
	}
	for i, b := range out {
		results = m.result(results, f.results[i], b)
	}
	return results, nil
}

// internal turns a panic into an error at the op that was executing.
func (m *machine) internal(v any) error {
	err := fmt.Errorf("internal error: %v", v)
	if m.at != nil {
		return m.locate(m.at, err)
	}
	return err
}

// checkArgs compares the arguments with the function's argument types, skipping tokens.
func checkArgs(mod *ir.Module, f *function, args []*tensor.Tensor) error {
	next := 0
	for _, t := range f.args {
		if t.class == classToken {
			continue
		}
		if t.class != classTensor {
			return locate(mod, f.op, errors.New("has a tuple argument"))
		}
		if next >= len(args) {
			next++
			continue
		}
		a := args[next]
		if a.DType() != t.dt || !fits(t, a.Shape()) {
			return fmt.Errorf("argument %d is tensor<%s%s>, but function @%s takes %s", next, ir.AppendShape(nil, a.Shape()), a.DType(), f.name, t)
		}
		next++
	}
	if next != len(args) {
		return fmt.Errorf("function @%s takes %d arguments, not %d", f.name, next, len(args))
	}
	return nil
}

func fits(t vtype, got tensor.Shape) bool {
	want := t.shape
	if want == nil && t.n < 0 { // unranked
		return true
	}
	if len(want) != len(got) {
		return false
	}
	for i, w := range want {
		if w != got[i] && w >= 0 {
			return false
		}
	}
	return t.beyond(got) < 0
}

// result appends the value of b to the results of the run. It flattens tuples, omits tokens, and copies payloads that
// have other references.
func (m *machine) result(out []*tensor.Tensor, t vtype, b *buf) []*tensor.Tensor {
	switch t.class {
	case classToken:
		return out
	case classTuple:
		for i, e := range b.elems {
			out = m.result(out, t.elems[i], e)
		}
		return out
	}
	if b.writable() && b.base == nil {
		m.watch.memory.held.Add(-int64(len(b.t.Bytes())))
		return append(out, &b.t)
	}
	c := b.t.Clone()
	m.release(b)
	return append(out, c)
}
