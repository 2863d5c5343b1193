package runtime

import (
	"context"
	"errors"
	"runtime/debug"

	"github.com/hlocb/hlocb/hook"
)

// Deliver hands one call to the handlers of its site: the observers in order, then the answerer. It is what
// every backend calls, so that errors and panics read the same on all of them. It returns nil or a *HookError.
func Deliver(ctx context.Context, b *Bound, c *Call) (err error) {
	defer func() {
		if v := recover(); v != nil {
			err = hookError(c, &PanicError{Value: v, Stack: debug.Stack()})
		}
	}()
	for _, o := range b.Observers {
		if err := o.Handle(ctx, c); err != nil {
			return hookError(c, timedOut(ctx, err))
		}
	}
	if b.Answer == nil {
		return nil
	}
	fresh := c.Site.Kind == hook.Call || c.Site.Kind == hook.Feed
	if fresh {
		marks.mark(c)
	}
	if err := b.Answer.Handle(ctx, c); err != nil {
		return hookError(c, timedOut(ctx, err))
	}
	if fresh {
		if err := marks.unwritten(c); err != nil {
			return hookError(c, err)
		}
	}
	return nil
}

// DeliverInTime is Deliver under a time limit, which ends ctx with a *TimeoutError as its cause: a handler that returns
// after it was too late, whoever notices first.
func DeliverInTime(ctx context.Context, b *Bound, c *Call) error {
	err := Deliver(ctx, b, c)
	if late := (*TimeoutError)(nil); err == nil && errors.As(context.Cause(ctx), &late) {
		return hookError(c, late)
	}
	return err
}

// timedOut returns the *TimeoutError that ended ctx where that is why the handler gave up: a handler that minds its
// context and the watchdog that does not wait for it then say the same.
func timedOut(ctx context.Context, err error) error {
	var timeout *TimeoutError
	if errors.Is(err, context.DeadlineExceeded) && errors.As(context.Cause(ctx), &timeout) {
		return timeout
	}
	return err
}

func hookError(c *Call, cause error) *HookError {
	return &HookError{Hook: c.Site.Name, ID: c.Site.ID.String(), Loc: c.Site.Loc, Device: c.Device, Run: c.Run, Seq: c.Seq, Cause: cause}
}
