package runtime

import (
	"context"
	"runtime/debug"
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
			return hookError(c, err)
		}
	}
	if b.Answer != nil {
		if err := b.Answer.Handle(ctx, c); err != nil {
			return hookError(c, err)
		}
	}
	return nil
}

func hookError(c *Call, cause error) *HookError {
	return &HookError{Hook: c.Site.Name, ID: c.Site.ID.String(), Loc: c.Site.Loc, Device: c.Device, Run: c.Run, Seq: c.Seq, Cause: cause}
}
