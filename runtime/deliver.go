package runtime

import (
	"context"
	"errors"
	"runtime/debug"
	"slices"
	"sync"
	"sync/atomic"
	"time"

	"github.com/hlocb/hlocb/hook"
	"github.com/hlocb/hlocb/tensor"
)

// Deliver calls the handlers of a hook: the observers in order, then the responder. All backends call Deliver, so
// errors and panics read the same everywhere. It returns nil or a *HookError.
func Deliver(ctx context.Context, b *Bound, c *Call) (err error) {
	returned := false
	defer func() {
		if !returned {
			if v := recover(); v != nil {
				err = c.HookError(&PanicError{Value: v, Stack: debug.Stack()})
			}
		}
	}()
	err = b.deliver(ctx, c)
	returned = true
	return err
}

func (b *Bound) deliver(ctx context.Context, c *Call) error {
	if b.timers != nil {
		defer func(start time.Time) {
			took := time.Since(start)
			for _, t := range b.timers {
				t.Returned(c, took)
			}
		}(time.Now())
	}
	for _, o := range b.observers {
		if err := Handle(ctx, o, c); err != nil {
			return c.HookError(timeoutOr(ctx, err))
		}
	}
	if b.answer == nil {
		return nil
	}
	if len(c.returned) > 0 {
		c.returned = c.returned[:0]
	}
	fresh := b.writes && c.Site.Kind != hook.InOut
	if fresh {
		marks.mark(c)
	}
	if err := Handle(ctx, b.answer, c); err != nil {
		return c.HookError(timeoutOr(ctx, err))
	}
	if fresh {
		if err := marks.unwritten(c); err != nil {
			return c.HookError(err)
		}
	}
	if b.writes {
		for i, r := range c.Results {
			if c.Returned(i) == nil {
				r.Normalize() // other languages write any byte for true
			}
		}
	}
	return nil
}

// DeliverWithin calls the handlers of a hook on a new goroutine, through start unless start is nil, and returns at
// once. It then calls done exactly once, on another goroutine: with nil or a *HookError after the handlers have
// returned, or with a *HookError when the time is up or ctx is cancelled. The handlers may still run after that, so
// they get copies of the operands and results; the copies are written back before done(nil). The call and its tensors
// must stay valid until done is called.
func DeliverWithin(ctx context.Context, timeout time.Duration, b *Bound, c *Call, start func(handle func()), done func(error)) {
	copies := *c
	copies.Operands, copies.Results, copies.returned = nil, nil, nil
	own := map[*tensor.Tensor]*tensor.Tensor{} // a result of an inout hook is its operand
	for _, t := range c.Operands {
		own[t] = emptyLike(t)
		copy(own[t].Bytes(), t.Peek())
		copies.Operands = append(copies.Operands, own[t])
	}
	for _, t := range c.Results {
		if own[t] == nil {
			own[t] = emptyLike(t)
		}
		copies.Results = append(copies.Results, own[t])
	}
	copies.Heads = nil
	for _, t := range c.Heads {
		copies.Heads = append(copies.Heads, t.Clone())
	}
	var remote *revocable
	if c.Remote != nil {
		remote = &revocable{Remote: c.Remote}
		copies.Remote = remote
	}
	ctx, cancel := context.WithTimeoutCause(ctx, timeout, &TimeoutError{After: timeout.String()})
	var settled atomic.Bool // the side that sets it calls done
	stop := context.AfterFunc(ctx, func() {
		if settled.CompareAndSwap(false, true) {
			remote.revoke()
			done(copies.HookError(context.Cause(ctx)))
		}
	})
	handle := func() {
		defer cancel()
		returned := false
		defer func() {
			if !returned && settled.CompareAndSwap(false, true) {
				done(copies.HookError(ErrGoexit))
			}
		}()
		err := Deliver(ctx, b, &copies)
		remote.revoke()
		returned = true
		stop()
		if !settled.CompareAndSwap(false, true) {
			return
		}
		if late := (*TimeoutError)(nil); err == nil && errors.As(context.Cause(ctx), &late) {
			err = copies.HookError(late)
		}
		if err == nil {
			for i, t := range c.Results {
				if v := copies.Returned(i); v == nil {
					copy(t.Bytes(), copies.Results[i].Bytes())
				} else if k := slices.Index(copies.Operands, v); k >= 0 {
					err = c.Return(i, c.Operands[k])
				} else {
					err = c.Return(i, v)
				}
			}
		}
		done(err)
	}
	if start == nil {
		go handle()
		return
	}
	go start(handle)
}

// emptyLike returns zeros of the type and shape of t, without memory if t has none.
func emptyLike(t *tensor.Tensor) *tensor.Tensor {
	if len(t.Peek()) > 0 {
		return tensor.New(t.DType(), t.Shape())
	}
	out := new(tensor.Tensor)
	out.Borrow(t.DType(), t.Shape(), nil)
	return out
}

// revocable is a Remote for handlers that may run longer than their call.
type revocable struct {
	Remote
	mu      sync.Mutex
	revoked bool
}

// Read implements Remote.
func (r *revocable) Read(i, n int) (*tensor.Tensor, error) {
	r.mu.Lock()
	defer r.mu.Unlock()
	if r.revoked {
		return nil, errors.New("the call is over")
	}
	return r.Remote.Read(i, n)
}

// revoke ends reading. r may be nil.
func (r *revocable) revoke() {
	if r != nil {
		r.mu.Lock()
		defer r.mu.Unlock()
		r.revoked = true
	}
}

// ErrGoexit is the cause of a HookError whose handler ended its goroutine instead of returning.
var ErrGoexit = errors.New("the handler called runtime.Goexit (testing.T.FailNow does); return an error instead")

// timeoutOr returns the *TimeoutError that ended ctx if the handler gave up for that reason, else err. Handlers that
// watch their context and handlers that do not then fail with the same error.
func timeoutOr(ctx context.Context, err error) error {
	var timeout *TimeoutError
	if errors.Is(err, context.DeadlineExceeded) && errors.As(context.Cause(ctx), &timeout) {
		return timeout
	}
	return err
}

// HookError returns the error of a call that failed for a cause.
func (c *Call) HookError(cause error) *HookError {
	return &HookError{Hook: c.Site.Name, ID: c.Site.ID.String(), Loc: c.Site.Loc, Device: c.Device, Run: c.Run, Seq: c.Seq, Cause: cause}
}
