package runtime

import (
	"cmp"
	"context"
	"errors"
	"fmt"
	"slices"
	"sync"

	"github.com/hlocb/hlocb/hook"
	"github.com/hlocb/hlocb/tensor"
)

// ExecuteOptions configure one run on buffers.
type ExecuteOptions struct {
	// Donate lists the arguments whose buffers the run consumes. nil lists the arguments that the program donates. The
	// run does not change the memory of other arguments.
	Donate []int
	// NoWait returns results when the run is queued on a device that computes in order, such as a GPU, so that the next
	// run follows without a gap. Then the results have the run's error. It has no effect for a program with hooks, and on
	// other devices.
	NoWait bool
}

// ArgumentError says why a buffer cannot be an argument of a run.
type ArgumentError struct {
	Index int
	Cause error
}

func (e *ArgumentError) Error() string { return fmt.Sprintf("argument %d: %v", e.Index, e.Cause) }

// Unwrap returns the cause.
func (e *ArgumentError) Unwrap() error { return e.Cause }

// DependencyError says that an argument has no value, because the run that should have computed it failed.
type DependencyError struct{ Cause error }

func (e *DependencyError) Error() string {
	return fmt.Sprintf("the run that computes it failed: %v", e.Cause)
}

// Unwrap returns the error of that run.
func (e *DependencyError) Unwrap() error { return e.Cause }

// Execute runs a program on buffers and leaves its results on the devices. The caller closes the results. A run that
// fails closes the buffers that were donated to it; a run that is refused leaves all arguments as they were.
func Execute(ctx context.Context, e Executable, args []*Buffer, opts ExecuteOptions) ([]*Buffer, error) {
	c, err := prepare(ctx, e, args, opts)
	if err != nil {
		return nil, err
	}
	defer c.free()
	c.noWait = opts.NoWait
	results, err := c.run(ctx)
	if err != nil {
		return nil, err
	}
	out := make([]*Buffer, len(results))
	for i, m := range results {
		out[i] = newBuffer(c.signature.Backend, c.signature.Results[i])
		out[i].finish(m)
	}
	return out, nil
}

// call is one run with the buffers that it holds.
type call struct {
	executable Executable
	signature  *Signature
	args       []*Buffer
	donated    []bool // the run may overwrite the memory
	noWait     bool
}

// prepare checks the arguments and holds them.
func prepare(ctx context.Context, e Executable, args []*Buffer, opts ExecuteOptions) (*call, error) {
	if ctx.Err() != nil {
		return nil, context.Cause(ctx)
	}
	s := e.Signature()
	if s.Arguments != nil && len(s.Arguments) != len(args) {
		return nil, fmt.Errorf("%d arguments given, the program expects %d", len(args), len(s.Arguments))
	}
	donate := make([]bool, len(args))
	if opts.Donate == nil {
		for i := range s.Arguments {
			donate[i] = s.Arguments[i].Donor
		}
	}
	for _, i := range opts.Donate {
		if i < 0 || i >= len(args) {
			return nil, fmt.Errorf("argument %d cannot be donated: the program has %d arguments", i, len(args))
		}
		donate[i] = true
	}
	first := make(map[*Buffer]int, len(args))
	for i, b := range args {
		if b == nil || b.backend == nil {
			return nil, &ArgumentError{i, errors.New("no buffer given")}
		}
		if err := s.accepts(i, b); err != nil {
			return nil, &ArgumentError{i, err}
		}
		k, again := first[b]
		if !again {
			first[b] = i
		} else if donate[i] || donate[k] {
			return nil, &ArgumentError{i, fmt.Errorf("the buffer is argument %d too, and donated", k)}
		}
	}
	c := &call{executable: e, signature: s, args: args, donated: donate}
	for i, b := range args {
		shared, err := b.hold(donate[i])
		if err != nil {
			for k, held := range args[:i] {
				if donate[k] {
					held.undonate()
				}
				held.free()
			}
			return nil, &ArgumentError{i, err}
		}
		donate[i] = donate[i] && !shared // others still read the memory
	}
	return c, nil
}

// accepts reports why a buffer cannot be argument i.
func (s *Signature) accepts(i int, b *Buffer) error {
	if b.backend != s.Backend {
		return fmt.Errorf("the buffer belongs to another client of backend %s than the program", b.backend.Name())
	}
	if s.Arguments == nil {
		return nil
	}
	want, got := s.Arguments[i], b.Type()
	if want.Type.DType != tensor.Invalid && !got.Fits(want.Type) {
		return fmt.Errorf("the buffer holds a %s, the program expects %s", got, want.Type)
	}
	if !b.value.Place.Equal(want.Place) {
		if g, w := b.value.Place.Ordinals(), want.Place.Ordinals(); !slices.Equal(g, w) {
			return fmt.Errorf("the buffer lies on device %v, the program expects it on %v", g, w)
		}
		return errors.New("the program expects another partitioning of the buffer")
	}
	return nil
}

// run waits for the arguments and runs the program.
func (c *call) run(ctx context.Context) ([]Memory, error) {
	memories := make([]Memory, len(c.args))
	for i, b := range c.args {
		if err := await(ctx, b.ready); err != nil {
			return nil, err
		}
		if b.err != nil {
			return nil, &ArgumentError{i, &DependencyError{b.err}}
		}
		memories[i] = b.memory
		if err := c.signature.accepts(i, b); err != nil { // the shape may not have been known
			return nil, &ArgumentError{i, err}
		}
	}
	if d, ok := c.executable.(Dispatcher); ok && c.noWait {
		return d.DispatchMemory(ctx, memories, c.donated)
	}
	return c.executable.RunMemory(ctx, memories, c.donated)
}

func (c *call) free() {
	for _, b := range c.args {
		b.free()
	}
}

// finish makes the buffer of a result ready.
func (b *Buffer) finish(m Memory) {
	if slices.ContainsFunc(b.value.Type.Shape, func(d int64) bool { return d < 0 }) {
		_ = m.View(func(t *tensor.Tensor) error {
			b.mu.Lock()
			defer b.mu.Unlock()
			b.value.Type = hook.TypeOf(t)
			return nil
		})
	}
	b.set(m, nil)
}

// Pending is a run that a Queue started.
type Pending struct {
	// Results are the run's results. They can be arguments of further runs before this run has ended. The caller closes
	// them, even if the run fails.
	Results []*Buffer

	done    chan struct{}
	number  int64 // in the queue
	err     error
	mu      sync.Mutex
	awaited bool
}

// Wait returns the run's error when it has ended, or the reason of ctx if that ends first.
func (p *Pending) Wait(ctx context.Context) error {
	if err := await(ctx, p.done); err != nil {
		return err
	}
	p.mu.Lock()
	defer p.mu.Unlock()
	p.awaited = true
	return p.err
}

// unreported returns the run's error unless Wait has returned it, or it is only the error of an earlier run.
func (p *Pending) unreported() error {
	<-p.done
	p.mu.Lock()
	defer p.mu.Unlock()
	if p.awaited || dependent(p.err) {
		return nil
	}
	p.awaited = true
	return p.err
}

func dependent(err error) bool { return errors.As(err, new(*DependencyError)) }

// Queue starts runs without waiting for their end. A run starts when its arguments are computed; runs that do not
// depend on each other may overlap. The zero value is ready for use.
type Queue struct {
	// Ahead is the number of runs that may be in progress; Start waits while there are more. 0 means 16.
	Ahead int

	mu      sync.Mutex
	ended   sync.Cond  // on mu
	pending []*Pending // in progress, in the order of Start
	failed  []*Pending // since the last Wait
	number  int64
}

const defaultAhead = 16

// queueKey marks the contexts of the runs of a queue. Their handlers may start runs without waiting: the queue could be
// full of the runs that called them.
type queueKey struct{}

// Start starts a run and returns without waiting for its end. It waits while too many runs are in progress, until ctx
// ends. It refuses what Execute refuses; the pending run and its results have the other errors.
func (q *Queue) Start(ctx context.Context, e Executable, args []*Buffer, opts ExecuteOptions) (*Pending, error) {
	p := &Pending{done: make(chan struct{})}
	if err := q.enter(ctx, p); err != nil {
		return nil, err
	}
	c, err := prepare(ctx, e, slices.Clone(args), opts)
	if err != nil {
		q.leave(p, false)
		return nil, err
	}
	p.Results = make([]*Buffer, len(c.signature.Results))
	for i, v := range c.signature.Results {
		p.Results[i] = newBuffer(c.signature.Backend, v)
	}
	results := slices.Clone(p.Results)
	go func() {
		var memories []Memory
		err := error(ErrGoexit) // unless run returns
		defer func() {
			c.free()
			for i, b := range results {
				if err != nil {
					b.set(nil, err)
				} else {
					b.finish(memories[i])
				}
			}
			p.err = err
			close(p.done)
			q.leave(p, err != nil && !dependent(err))
		}()
		memories, err = c.run(context.WithValue(ctx, queueKey{}, q))
	}()
	return p, nil
}

// enter waits until another run may start, and counts it.
func (q *Queue) enter(ctx context.Context, p *Pending) error {
	q.mu.Lock()
	defer q.mu.Unlock()
	q.ended.L = &q.mu
	limit := q.Ahead
	if limit <= 0 {
		limit = defaultAhead
	}
	if len(q.pending) >= limit && ctx.Value(queueKey{}) != q {
		stop := context.AfterFunc(ctx, func() {
			q.mu.Lock()
			defer q.mu.Unlock()
			q.ended.Broadcast()
		})
		defer stop()
		for len(q.pending) >= limit {
			if ctx.Err() != nil {
				return context.Cause(ctx)
			}
			q.ended.Wait()
		}
	}
	q.number++
	p.number = q.number
	q.pending = append(q.pending, p)
	return nil
}

// leave removes a run that has ended, or was refused.
func (q *Queue) leave(p *Pending, failed bool) {
	q.mu.Lock()
	defer q.mu.Unlock()
	i := slices.Index(q.pending, p)
	q.pending = slices.Delete(q.pending, i, i+1)
	if failed {
		q.failed = append(q.failed, p)
	}
	q.ended.Broadcast()
}

// Wait waits for all runs that were started. It returns the errors that no Pending.Wait has returned, in the order of
// Start. It omits runs that failed only because the run that computes an argument failed.
func (q *Queue) Wait() error {
	q.mu.Lock()
	last := q.number
	for len(q.pending) > 0 && q.pending[0].number <= last {
		q.ended.Wait()
	}
	failed := q.failed
	q.failed = nil
	q.mu.Unlock()
	slices.SortFunc(failed, func(a, b *Pending) int { return cmp.Compare(a.number, b.number) })
	var errs []error
	for _, p := range failed {
		errs = append(errs, p.unreported())
	}
	return errors.Join(errs...)
}
