//go:build cgo

package pjrt

// #include "calls.h"
// #include "crash.h"
import "C"

import (
	"context"
	"errors"
	"fmt"
	"slices"
	"sync"
	"sync/atomic"
	"time"
	"unsafe"

	"github.com/hlocb/hlocb/hook"
	"github.com/hlocb/hlocb/internal/sharding"
	"github.com/hlocb/hlocb/internal/xlatypes"
	"github.com/hlocb/hlocb/ir"
	"github.com/hlocb/hlocb/runtime"
	"github.com/hlocb/hlocb/tensor"
)

// Executable is a compiled program with its handlers. It implements runtime.Executable.
type Executable struct {
	backend   *Backend
	sites     *siteTable
	source    *runtime.Program
	text      []byte                                                       // of a loaded program
	compile   func(ctx context.Context, c *Client) (*loadedProgram, error) // for another level of nesting
	devices   int
	parts     int
	assigned  []int // the ordinals of the devices; nil: the plugin chooses
	position  []int32
	ordinals  []int     // the devices, in the order of the argument lists
	inputs    []ir.Type // of main; nil if not known
	donors    []bool    // inputs that main donates
	outputs   []ir.Type
	results   []hook.TensorType // on one device
	signature func() *runtime.Signature
	// The shardings of main's arguments and results, or the error that hides them. If they are nil, every partition gets
	// the whole arguments, and the first partition returns the results.
	argShardings, resultShardings []*sharding.Sharding
	shardingErr                   error
	timeout                       time.Duration // for one hook; 0 means no limit

	name      string // of the program, for messages
	reentrant bool
	number    atomic.Int64

	// The backend's mu guards these. An executable is open, closing (Close waits for its runs) or closed. A program is
	// nil while a goroutine compiles it.
	state     state
	programs  map[clientKey]*loadedProgram // by level and spare
	runs      int                          // in progress, without the abandoned ones
	abandoned int                          // runs whose caller has returned
}

type state int

const (
	open state = iota
	closing
	closed
)

// Compile implements runtime.Backend. If the program has a module, Compile refuses the programs that Check refuses
// and uses the module's number of devices, and Run compares its arguments with main's. None of this applies to
// programs that are only text.
func (b *Backend) Compile(ctx context.Context, p *runtime.Program, opts runtime.CompileOptions) (runtime.Executable, error) {
	var shape moduleShape
	if p.Module != nil {
		if err := Check(p.Module); err != nil {
			return nil, err
		}
		shape = shapeOf(p.Module)
	}
	if err := b.enter(); err != nil {
		return nil, err
	}
	defer b.leave()
	e, err := b.compileWith(ctx, p, shape, opts)
	if err != nil {
		return nil, err
	}
	return e, nil
}

func (b *Backend) compileWith(ctx context.Context, p *runtime.Program, shape moduleShape, opts runtime.CompileOptions) (*Executable, error) {
	o := &compileOptions{replicas: max(1, opts.Replicas), partitions: max(1, opts.Partitions), shardy: shape.shardy}
	if b.plugin.attribute(attrXLA) != nil {
		o.overrides = jaxOptions
	}
	if opts.Replicas == 0 {
		o.replicas = max(1, shape.replicas)
	}
	if opts.Partitions == 0 {
		o.partitions = max(1, shape.partitions)
	}
	sites, err := bind(p.Manifest, opts)
	if err != nil {
		return nil, err
	}
	if err := o.override(opts.Options); err != nil {
		return nil, err
	}
	c, err := b.client(clientKey{}, 1)
	if err != nil {
		return nil, err
	}
	changed := sites.withSizes(sites.withoutAttrs(sites.withoutCopies(c.repaired(p))))
	if c.memory != nil && !c.memory.Readable() && o.partitions == 1 { // a shard's statistics are not the whole value's
		changed = sites.withStatistics(changed)
	}
	code, err := b.plugin.code(ctx, changed)
	if err != nil {
		return nil, err
	}
	return b.build(ctx, p, shape, o, sites, opts,
		func(ctx context.Context, c *Client) (*loadedProgram, error) {
			own := *o
			for _, n := range opts.Devices {
				d, err := c.device(n)
				if err != nil {
					return nil, err
				}
				own.assignment = append(own.assignment, d.ID)
			}
			return c.compile(ctx, code, &own)
		})
}

// bind chooses the handlers of the hooks of m, which may be nil.
func bind(m *hook.Manifest, opts runtime.CompileOptions) (*siteTable, error) {
	if m == nil {
		m = &hook.Manifest{}
	}
	bound, err := opts.Handlers.Bind(m)
	for _, b := range bound {
		if err := xlatypes.CheckFFI(b.Site()); err != nil {
			return nil, fmt.Errorf("hook %q (%s, id %s): %w", b.Site().Name, b.Site().Kind, b.Site().ID, err)
		}
	}
	if err == nil && opts.Timeout > 0 {
		err = runtime.CheckTimeout(bound)
	}
	if err != nil {
		return nil, err
	}
	return newSiteTable(bound), nil
}

// maxDevices limits the devices of a program. XLA numbers the devices of one process up to 2,048, and starts two
// threads for each. With more devices it compiles for several processes, or aborts when it cannot start a thread.
const maxDevices = 2048

// build compiles the program on the first client that it needs.
func (b *Backend) build(ctx context.Context, p *runtime.Program, shape moduleShape, o *compileOptions, sites *siteTable, opts runtime.CompileOptions, compile func(context.Context, *Client) (*loadedProgram, error)) (*Executable, error) {
	if ctx.Err() != nil {
		return nil, context.Cause(ctx)
	}
	if o.replicas > maxDevices || o.partitions > maxDevices/o.replicas {
		return nil, fmt.Errorf("%d replicas of %d partitions are more than %d devices", o.replicas, o.partitions, maxDevices)
	}
	for i, n := range opts.Devices {
		if n < 0 || slices.Contains(opts.Devices[:i], n) {
			return nil, fmt.Errorf("device %d is negative or named twice", n)
		}
	}
	if n := len(opts.Devices); n != 0 && n != o.replicas*o.partitions {
		return nil, fmt.Errorf("%d devices are assigned, the program runs on %d", n, o.replicas*o.partitions)
	}
	e := &Executable{backend: b, sites: sites, source: p, compile: compile, timeout: opts.Timeout, reentrant: opts.Reentrant, assigned: opts.Devices,
		devices: o.replicas * o.partitions, parts: o.partitions, name: "a program", programs: map[clientKey]*loadedProgram{}}
	if p.Module != nil && p.Module.Source() != nil && p.Module.Source().Name() != "" {
		e.name = p.Module.Source().Name()
	}
	if shape.main.Op != nil {
		e.inputs, e.outputs = append([]ir.Type{}, shape.main.Type().Inputs()...), shape.main.Type().Results()
	}
	for i := range e.inputs {
		_, donor := shape.main.Donation(i)
		e.donors = append(e.donors, donor)
	}
	e.signature = sync.OnceValue(e.describe)
	s := &session{level: level(ctx)}
	c, err := b.clientWith(s.client(), e.devices, e.assigned)
	if err != nil {
		return nil, err
	}
	if len(sites.all) > 0 {
		if err := b.registerHooks(c); err != nil {
			return nil, err
		}
	}
	if err := b.registerTargets(shape.module, c); err != nil {
		return nil, err
	}
	l, err := e.program(ctx, s)
	if err != nil {
		return nil, err
	}
	if err := e.checkResults(l); err != nil {
		l.destroy()
		return nil, err
	}
	e.position = positions(l.devices)
	e.results = l.results
	for _, d := range l.devices {
		e.ordinals = append(e.ordinals, d.LocalID)
	}
	if o.partitions > 1 {
		e.findShardings(l, shape)
	}
	b.mu.Lock()
	defer b.mu.Unlock()
	if b.closed {
		l.destroy()
		return nil, errClosed
	}
	b.executables[e] = struct{}{}
	return e, nil
}

// checkResults refuses a program whose results the plugin compiled to other element types than main states.
func (e *Executable) checkResults(l *loadedProgram) error {
	if len(e.outputs) != len(l.results) {
		return nil // main has tokens
	}
	for i, t := range e.outputs {
		tt, ok := t.(*ir.TensorType)
		if !ok || tt.DType() == tensor.Invalid {
			continue
		}
		if got := l.results[i].DType; got != tt.DType() {
			return fmt.Errorf("the plugin compiled result %d to %s, main states %s", i, got, tt.DType())
		}
	}
	return nil
}

func (b *Backend) registerHooks(c *Client) error {
	if err := b.findLayout(c); err != nil {
		return err
	}
	return b.plugin.RegisterHooks(c.platform)
}

// findLayout prepares the plugin for the registration of handlers.
func (b *Backend) findLayout(c *Client) error {
	if c.memory == nil {
		return &NoFFIError{b.plugin.path, fmt.Sprintf("operands of hooks on platform %q are not in the host's memory, and the plugin has no %s", c.platform, C.HL_DEVICE_COPY)}
	}
	if b.opts.Probe != nil {
		if err := b.plugin.FindLayout(c.platform, b.opts.Probe); err != nil {
			return err
		}
	}
	return nil
}

// client returns the client of the session, without the number of devices.
func (s *session) client() clientKey {
	if s.spare {
		return clientKey{spare: true}
	}
	return clientKey{level: s.level}
}

// program returns the program compiled for the session's client. It compiles without the lock; other callers wait.
func (e *Executable) program(ctx context.Context, s *session) (*loadedProgram, error) {
	b, key := e.backend, s.client()
	b.mu.Lock()
	defer b.mu.Unlock()
	compiling := func() bool {
		l, found := e.programs[key]
		return found && l == nil
	}
	if err := b.wait(ctx, compiling); err != nil {
		return nil, err
	}
	if l := e.programs[key]; l != nil {
		return l, nil
	}
	e.programs[key] = nil
	b.mu.Unlock()
	l, err := e.compileFor(ctx, key)
	b.mu.Lock()
	delete(e.programs, key)
	b.changed.Broadcast()
	if err != nil {
		return nil, err
	}
	e.programs[key] = l
	return l, nil
}

func (e *Executable) compileFor(ctx context.Context, key clientKey) (*loadedProgram, error) {
	c, err := e.backend.clientWith(key, e.devices, e.assigned)
	if err != nil {
		return nil, err
	}
	C.hl_subject(cText(e.name))
	l, err := e.compile(ctx, c)
	if err != nil {
		return nil, err
	}
	if len(l.devices) != e.devices {
		l.destroy()
		return nil, fmt.Errorf("the program was compiled for %d devices instead of %d", len(l.devices), e.devices)
	}
	return l, nil
}

// positions maps device ordinals to positions in the list of devices.
func positions(devices []Device) []int32 {
	n := 0
	for _, d := range devices {
		n = max(n, d.LocalID+1)
	}
	out := make([]int32, n)
	for i := range out {
		out[i] = -1
	}
	for i, d := range devices {
		out[d.LocalID] = int32(i)
	}
	return out
}

var errExecutableClosed = errors.New("the executable is closed")

// begin counts a new run, so that Close waits for it, and returns the program for its client. After Close it refuses.
func (e *Executable) begin(ctx context.Context, s *session) (*loadedProgram, error) {
	b := e.backend
	b.mu.Lock()
	switch {
	case e.state != open:
		b.mu.Unlock()
		return nil, errExecutableClosed
	case b.lost != nil:
		defer b.mu.Unlock()
		return nil, b.lost
	}
	e.count(s)
	l := e.programs[s.client()]
	b.mu.Unlock()
	if l != nil {
		return l, nil
	}
	l, err := e.program(ctx, s)
	if err != nil {
		e.finish(s)
	}
	return l, err
}

// count counts a run in progress. The caller holds the backend's mu.
func (e *Executable) count(s *session) {
	e.runs++
	if s.spare {
		e.backend.useSpare(1)
	}
}

// finish counts the end of a run. The last abandoned run destroys the programs if the executable was closed meanwhile.
func (e *Executable) finish(s *session) {
	b := e.backend
	b.mu.Lock()
	s.ended = true
	if s.spare {
		b.useSpare(-1)
	}
	if !s.abandoned {
		if e.runs--; e.runs == 0 {
			b.changed.Broadcast()
		}
		b.mu.Unlock()
		return
	}
	e.abandoned--
	last := e.state == closed && e.abandoned == 0
	b.mu.Unlock()
	if last {
		e.destroy()
	}
	b.mu.Lock()
	defer b.mu.Unlock()
	b.abandoned--
	b.changed.Broadcast()
}

// Run implements runtime.Executable. On several devices arguments and results are whole values: Run partitions the
// arguments according to the module's shardings and passes the same arguments to every replica. It returns the
// results of the first replica. RunDevices accepts arguments for each device.
//
// If ctx ends, the next hook ends the run. A program that reaches no hook cannot be stopped: if it has not ended a
// second later, Run returns a *runtime.LostError and the backend runs nothing else.
func (e *Executable) Run(ctx context.Context, args []*tensor.Tensor) ([]*tensor.Tensor, error) {
	if err := e.checkArguments(args); err != nil {
		return nil, err
	}
	values := make([]*value, len(args))
	for i, t := range args {
		shards := []*tensor.Tensor{t}
		if e.argShardings != nil {
			var err error
			if shards, err = e.argShardings[i].Split(t, e.parts); err != nil {
				return nil, fmt.Errorf("argument %d: %w", i, err)
			}
		}
		values[i] = &value{host: shards}
	}
	results, err := e.run(ctx, &request{values: values})
	out := make([]*tensor.Tensor, len(results))
	for i, v := range results {
		if err == nil {
			if out[i], err = v.Read(); err != nil {
				err = fmt.Errorf("result %d: %w", i, err)
			}
		}
		v.Release() // now, because large results would be in memory twice
	}
	if err != nil {
		return nil, err
	}
	return out, nil
}

// findShardings determines how arguments and results are partitioned: from the compiled program, or else from main's
// shardings.
func (e *Executable) findShardings(l *loadedProgram, shape moduleShape) {
	in, out, known, err := l.shardings(e.parts)
	if known && err == nil && (e.inputs == nil || len(in) == len(e.inputs)) && len(out) == len(l.results) {
		e.argShardings, e.resultShardings = in, out
		return
	}
	if shape.main.Op != nil {
		e.argShardings, e.resultShardings, e.shardingErr = shape.shardings(e.parts)
		if e.shardingErr == nil && len(e.resultShardings) != len(l.results) {
			e.shardingErr = fmt.Errorf("the program returns %d results, main has %d", len(l.results), len(e.resultShardings))
		}
	}
}

// RunDevices executes the program once, with a list of arguments for each device (replicas outermost), and returns each
// device's results.
func (e *Executable) RunDevices(ctx context.Context, args [][]*tensor.Tensor) ([][]*tensor.Tensor, error) {
	if len(args) != e.devices {
		return nil, fmt.Errorf("arguments for %d devices given, the program runs on %d", len(args), e.devices)
	}
	values := make([]*value, len(args[0]))
	for i := range values {
		values[i] = &value{}
	}
	for d := range args {
		if len(args[d]) != len(values) {
			return nil, fmt.Errorf("device %d gets %d arguments and device 0 gets %d", d, len(args[d]), len(values))
		}
		if e.parts == 1 {
			if err := e.checkArguments(args[d]); err != nil {
				return nil, err
			}
		}
		for i, t := range args[d] {
			values[i].host = append(values[i].host, t)
		}
	}
	results, err := e.run(ctx, &request{values: values})
	out := make([][]*tensor.Tensor, e.devices)
	for _, v := range results {
		for d := range out {
			t, e := v.piece(d)
			out[d], err = append(out[d], t), errors.Join(err, e)
		}
		v.Release()
	}
	if err != nil {
		return nil, err
	}
	return out, nil
}

// run executes the program once. The caller releases the results.
func (e *Executable) run(ctx context.Context, r *request) ([]*value, error) {
	if e.shardingErr != nil {
		return nil, e.shardingErr
	}
	if r.donated == nil {
		r.donated = make([]bool, len(r.values))
	}
	l, buffers, err := e.start(ctx, r)
	if err != nil {
		return nil, err
	}
	s := e.signature()
	out := make([]*value, len(e.results))
	for i := range out {
		v := &value{backend: e.backend, client: l.client, typ: s.Results[i].Type, part: e.results[i], place: s.Results[i].Place, direct: &l.direct[i], queued: r.noWait}
		_, v.dynamic = e.dynamicOutput(i)
		for d := range e.devices {
			v.pieces = append(v.pieces, buffer{ptr: buffers[d*len(out)+i]})
		}
		out[i] = v
	}
	return out, nil
}

// start executes the program once and returns its results, device by device, with the client's program that computed
// them.
func (e *Executable) start(ctx context.Context, r *request) (*loadedProgram, []unsafe.Pointer, error) {
	if ctx.Err() != nil {
		return nil, nil, context.Cause(ctx)
	}
	s := e.session(ctx, level(ctx), e.number.Add(1))
	l, err := e.begin(ctx, s)
	if err != nil {
		return nil, nil, err
	}
	s.memory = l.client.memory
	r.noWait = r.noWait && s.memory != nil && !s.memory.Readable()
	if err := enter(s); err != nil {
		e.finish(s)
		return nil, nil, err
	}
	crowded := l.client.join(s)
	if ctx.Done() == nil && !crowded && e.runLimit() == 0 {
		defer e.finish(s)
		defer leave(s)
		defer l.client.leave(s)
		buffers, err := e.outcome(s, l, r)
		return l, buffers, err
	}
	if e.reentrant && crowded {
		s.race = &race{}
	}
	return e.watch(ctx, s, l, r)
}

// session creates the session of a run.
func (e *Executable) session(ctx context.Context, level int, number int64) *session {
	s := newSession(context.WithValue(ctx, levelKey{}, level+1), e.sites, e.devices, e.parts)
	s.position, s.level, s.timeout, s.number, s.program = e.position, level, e.timeout, number, e.name
	return s
}

// checkArguments compares arguments with main's types. The plugin compares only sizes in bytes.
func (e *Executable) checkArguments(args []*tensor.Tensor) error {
	if e.inputs == nil {
		return nil
	}
	if len(args) != len(e.inputs) {
		return fmt.Errorf("%d arguments given, the program expects %d", len(args), len(e.inputs))
	}
	for i, t := range args {
		want, ok := e.inputs[i].(*ir.TensorType)
		if !ok {
			continue
		}
		if got := (hook.TensorType{DType: t.DType(), Shape: t.Shape()}); want.DType() != t.DType() || !t.Shape().Equal(want.Shape()) {
			return fmt.Errorf("argument %d is %s, the program expects %s", i, got, want)
		}
	}
	return nil
}

// outcome executes the program. If a hook failed, it returns the session's error, which is more detailed than XLA's.
func (e *Executable) outcome(s *session, l *loadedProgram, r *request) ([]unsafe.Pointer, error) {
	buffers, err := l.execute(s.launchID, r)
	if err == nil {
		err = e.backend.countBuffers(l.client, len(l.results))
	}
	if failed := s.err(); failed != nil {
		e.drop(l, buffers)
		return nil, failed
	}
	return buffers, err
}

// Close implements runtime.Executable. It refuses new runs at once and waits for the runs that have started, unless the
// backend is lost. A handler must not close the executable whose run called it.
func (e *Executable) Close() error {
	b := e.backend
	b.mu.Lock()
	if e.state == open {
		e.state = closing
	}
	_ = b.wait(context.Background(), func() bool { return e.runs > 0 && b.lost == nil })
	done := e.state == closed
	e.state = closed
	wait := b.lost != nil || e.abandoned > 0 // destroying a running program would crash the process
	b.mu.Unlock()
	if !done && !wait {
		e.destroy()
	}
	return nil
}

// destroy destroys the programs of an executable that nothing runs.
func (e *Executable) destroy() {
	b := e.backend
	b.mu.Lock()
	programs := e.programs
	e.programs = nil
	delete(b.executables, e)
	b.users++ // the clients must outlive the programs
	b.changed.Broadcast()
	b.mu.Unlock()
	defer b.leave()
	for _, l := range programs {
		l.destroy()
	}
}

var _ runtime.Executable = (*Executable)(nil)
