package runtime

import (
	"context"
	"encoding/binary"
	"errors"
	"runtime/debug"

	"github.com/hlocb/hlocb/dialect/hlocb"
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
	fresh := c.Site.Kind == hlocb.Call || c.Site.Kind == hlocb.Feed
	if fresh {
		mark(c)
	}
	if err := b.Answer.Handle(ctx, c); err != nil {
		return hookError(c, timedOut(ctx, err))
	}
	if fresh {
		if i := unwritten(c); i >= 0 {
			return hookError(c, &UnwrittenError{i})
		}
	}
	return nil
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

// unlikely stands at the beginning of results until the handler writes them: 64 bits that no computation is
// likely to give. Without it a forgotten result would hold what was in memory before, another value each time.
const unlikely = 0x9b3f_c2e8_71a5_d60d

// mark writes the mark where a result has room for it, and zeros where it has not.
func mark(c *Call) {
	for _, r := range c.Results {
		if data := r.Bytes(); ownMemory(c, data) {
			if len(data) >= 8 {
				binary.LittleEndian.PutUint64(data, unlikely)
			} else {
				clear(data)
			}
		}
	}
}

// unwritten returns the first result that still begins with the mark, else -1.
func unwritten(c *Call) int {
	for i, r := range c.Results {
		if data := r.Bytes(); len(data) >= 8 && binary.LittleEndian.Uint64(data) == unlikely && ownMemory(c, data) {
			return i
		}
	}
	return -1
}

// ownMemory reports whether a result's memory is not an operand's.
func ownMemory(c *Call, data []byte) bool {
	if len(data) == 0 {
		return false
	}
	for _, o := range c.Operands {
		if b := o.Bytes(); len(b) > 0 && &b[0] == &data[0] {
			return false
		}
	}
	return true
}

func hookError(c *Call, cause error) *HookError {
	return &HookError{Hook: c.Site.Name, ID: c.Site.ID.String(), Loc: c.Site.Loc, Device: c.Device, Run: c.Run, Seq: c.Seq, Cause: cause}
}
