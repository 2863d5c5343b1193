package interp

import (
	"context"
	"errors"
	"fmt"
	"io"
	goruntime "runtime"
	"sync"
	"sync/atomic"
	"time"

	"github.com/hlocb/hlocb/interp/internal/exec"
	"github.com/hlocb/hlocb/interp/internal/kernel"
	"github.com/hlocb/hlocb/interp/internal/ops"
	"github.com/hlocb/hlocb/interp/internal/plan"
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
	Progress      func(exec.Progress)
	ProgressEvery time.Duration
	// Plan receives the plan of each program that is compiled, as text, for runs on GOMAXPROCS cores; nil means none.
	Plan io.Writer
	// Profile collects the time of each op; nil means none.
	Profile *Profile
	// Kernels holds the kernels for ops of dialects that the engine does not know, by op definition.
	Kernels map[*ir.Def]Kernel
	// Functions holds functions of the elements of two operands, for ops of such dialects. The engine fuses these ops with
	// others and splits their work over the cores.
	Functions map[*ir.Def]Function
	// Memory allocates the payloads of values; nil means Go's heap. Executable.RunOwned needs it.
	Memory Allocator
	// Targets returns the kernel for a custom call to a target that the engine does not know, or nil. An error states
	// the missing requirement. Operands and results are row-major, whatever the layouts of the call are.
	Targets func(target string, call *ir.Op) (Kernel, error)
}

// Allocator allocates and frees the payloads of values, for example outside Go's heap. Free gets the whole slice that
// Alloc returned, of the same length. An Allocator is safe for concurrent use. A payload is not initialized.
type Allocator = exec.Allocator

// Backend is the embedded engine as a runtime.Backend. It holds no resources but the memory of open buffers.
type Backend struct {
	opts    Options
	closed  atomic.Bool
	buffers atomic.Int64 // open ones
	runs    atomic.Int64 // in progress
}

var errClosed = errors.New("the backend is closed")

// New returns the embedded engine.
func New(opts Options) *Backend { return &Backend{opts: opts} }

// Name returns "engine".
func (b *Backend) Name() string { return "engine" }

// Describe returns one line about the engine.
func (b *Backend) Describe() string {
	return "embedded engine (pure Go, " + kernel.GemmName() + " matrix kernel)"
}

// Close fails if buffers are open. A closed backend compiles no programs and accepts no buffers.
func (b *Backend) Close() error {
	if n := b.buffers.Load(); n > 0 {
		return fmt.Errorf("%d buffers of backend %s are not closed", n, b.Name())
	}
	b.closed.Store(true)
	return nil
}

// Stats returns the number of runs in progress. Runs do not wait for each other.
func (b *Backend) Stats() runtime.Stats { return runtime.Stats{Runs: int(b.runs.Load())} }

// Compile plans the program's module. Its errors are located at an op. It reports unsupported ops here, before any of
// them executes.
func (b *Backend) Compile(ctx context.Context, p *runtime.Program, opts runtime.CompileOptions) (runtime.Executable, error) {
	if b.closed.Load() {
		return nil, errClosed
	}
	if n := len(opts.Devices); n > 1 || n == 1 && opts.Devices[0] != 0 {
		return nil, fmt.Errorf("the embedded engine has no devices to choose from, and %v are asked for", opts.Devices)
	}
	if len(opts.Options) > 0 {
		return nil, errors.New("the embedded engine has no compiler options")
	}
	var c *plan.Compiler
	var entry *exec.Function
	if err := kernel.Try(func() { c, entry = compile(p, b.opts, opts) }); err != nil {
		return nil, err
	}
	if ctx.Err() != nil {
		return nil, context.Cause(ctx)
	}
	if b.opts.Plan != nil {
		if err := plan.Print(b.opts.Plan, entry, c.Constants, goruntime.GOMAXPROCS(0)); err != nil {
			return nil, err
		}
	}
	c.Memory = b.opts.Memory
	e := &Executable{prog: c.Program, entry: entry, opts: b.opts, constants: c.Constants, replicas: c.Replicas, partitions: 1}
	if c.Partitions > 1 && ops.Spans(p.Module, c.Symbols) {
		e.partitions = c.Partitions
	}
	e.backend, e.signature = b, sync.OnceValue(e.describe)
	return e, nil
}

// Executable is a compiled module.
type Executable struct {
	backend    *Backend
	signature  func() *runtime.Signature
	prog       *exec.Program
	entry      *exec.Function
	opts       Options
	constants  int64 // bytes held by plans
	replicas   int
	partitions int // devices per replica; 1 if no op executes per partition
	runs       atomic.Int64

	mu     sync.Mutex
	closed bool
	active sync.WaitGroup
	idle   *exec.Machine // kept between runs for its buffers
}

// Run executes the program once, on all its devices concurrently. Arguments and results are whole values. Every replica
// gets the same arguments; Run returns the results of the first replica.
//
// After a timeout or the end of ctx, Run may return while an op or a handler continues in its goroutine: Run waits for
// it only for a grace period. Do not change the arguments before the op ends.
func (e *Executable) Run(ctx context.Context, args []*tensor.Tensor) ([]*tensor.Tensor, error) {
	all, err := e.start(ctx, [][]*tensor.Tensor{args}, nil, false)
	if err != nil {
		return nil, err
	}
	results := all[0]
	if e.opts.Memory != nil { // the results are Go's
		for i, t := range results {
			results[i] = t.Clone()
			e.free(t)
		}
	}
	return results, nil
}

// start executes the program once. args holds the arguments of each replica, or one list for all. The run may overwrite
// the donated arguments. The results are those of each replica, or with all unset of the first.
func (e *Executable) start(ctx context.Context, args [][]*tensor.Tensor, donated []bool, all bool) ([][]*tensor.Tensor, error) {
	if ctx.Err() != nil {
		e.discard(args[0], donated)
		return nil, context.Cause(ctx)
	}
	e.mu.Lock()
	if e.closed {
		e.mu.Unlock()
		e.discard(args[0], donated)
		return nil, errors.New("the executable is closed")
	}
	e.active.Add(1)
	m := e.idle
	e.idle = nil
	e.mu.Unlock()
	defer e.active.Done()
	e.backend.runs.Add(1)
	defer e.backend.runs.Add(-1)
	bounded := ctx.Done() != nil || e.prog.Timeout > 0
	if m == nil {
		m = exec.NewMachine(e.prog)
	}
	m.Run = exec.RunState{Run: e.runs.Add(1)}
	w := &exec.Watch{Memory: exec.Account{Limit: e.opts.MemoryLimit}, Profile: e.opts.Profile}
	w.Memory.Held.Store(e.constants + m.Recycled())
	m.Watch, m.First, m.Donated = w, true, donated
	ctx, end := w.Start(ctx, e.prog.Module.Source(), e.prog.Timeout, e.opts.Progress, e.opts.ProgressEvery)
	defer end()
	if !bounded {
		return e.execute(ctx, m, args, all)
	}
	// One long-running op or handler does not check the time.
	type outcome struct {
		results [][]*tensor.Tensor
		err     error
	}
	done := make(chan outcome, 1)
	go func() {
		o := outcome{err: runtime.ErrGoexit} // unless execute returns
		defer func() {
			o.err = named(m, o.err)
			done <- o
		}()
		o.results, o.err = e.execute(ctx, m, args, all)
	}()
	select {
	case o := <-done:
		return o.results, o.err
	case <-ctx.Done():
	}
	select {
	case o := <-done:
		return o.results, o.err
	case <-time.After(exec.GraceTime):
	}
	err := context.Cause(ctx)
	if ins := w.At.Load(); ins != nil {
		err = exec.Locate(e.prog.Module, ins.Op, err)
	}
	return nil, err
}

// named adds the hook to the error of a handler that ended its goroutine.
func named(m *exec.Machine, err error) error {
	if err == runtime.ErrGoexit && m.Call.Site != nil {
		return m.Call.HookError(err)
	}
	return err
}

// execute runs the program on its devices.
func (e *Executable) execute(ctx context.Context, m *exec.Machine, args [][]*tensor.Tensor, all bool) ([][]*tensor.Tensor, error) {
	if e.replicas*e.partitions > 1 {
		return e.runDevices(ctx, m, args, all)
	}
	results, err := m.RunMain(ctx, e.entry, args[0])
	m.Watch.CloseMachines()
	if err != nil || !e.keep(m) {
		m.Close()
	}
	if err != nil {
		return nil, err
	}
	return [][]*tensor.Tensor{results}, nil
}

// keep keeps a machine for the next run, unless another machine waits for it.
func (e *Executable) keep(m *exec.Machine) bool {
	e.mu.Lock()
	defer e.mu.Unlock()
	if e.closed || e.idle != nil && e.opts.Memory != nil {
		return false
	}
	e.idle = m
	return true
}

// Close waits for the runs in progress.
func (e *Executable) Close() error {
	e.mu.Lock()
	e.closed = true
	idle := e.idle
	e.idle = nil
	e.mu.Unlock()
	if idle != nil {
		idle.Close()
	}
	e.active.Wait()
	return nil
}

// runDevices executes the program on several devices.
func (e *Executable) runDevices(ctx context.Context, m *exec.Machine, args [][]*tensor.Tensor, all bool) ([][]*tensor.Tensor, error) {
	m.Own(args[0], m.Donated)
	w := exec.NewDeviceGroup(e.replicas, e.partitions)
	results := make([][]*tensor.Tensor, e.replicas*e.partitions)
	var gone atomic.Pointer[exec.Machine] // its handler ended the device's goroutine
	err := w.Each(func(d int) (err error) {
		device := exec.SubMachine(m, w, d)
		device.Run.Device = device.Run.Replica*e.prog.Partitions + device.Run.Partition
		returned := false
		defer func() {
			if !returned {
				gone.Store(device)
			}
		}()
		results[d], err = device.RunMain(ctx, e.entry, args[device.Run.Replica%len(args)])
		returned = true
		if (d > 0 && !all || d%e.partitions > 0) && e.opts.Memory != nil { // the results are not returned
			for _, t := range results[d] {
				e.free(t)
			}
		}
		return err
	})
	m.Watch.CloseMachines()
	m.Close()
	if err != nil {
		if m := gone.Load(); m != nil {
			err = named(m, err)
		}
		return nil, err
	}
	var out [][]*tensor.Tensor
	for d := 0; d < len(results) && (d == 0 || all); d += e.partitions {
		out = append(out, results[d])
	}
	return out, nil
}
