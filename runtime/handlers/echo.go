package handlers

import (
	"context"
	"fmt"
	"unsafe"

	"github.com/hlocb/hlocb/hook"
	"github.com/hlocb/hlocb/runtime"
	"github.com/hlocb/hlocb/tensor"
)

// Echo returns a handler that answers with the operands: each result gets the first operand of its type that no other
// result got. It fails for a result without such an operand.
func Echo() runtime.Handler { return echo{} }

func newEcho(string, *Env) (runtime.Handler, error) { return Echo(), nil }

type echo struct{}

// MemoryUse implements runtime.MemoryUser: the operands stay on their device.
func (echo) MemoryUse() runtime.MemoryUse { return runtime.MemoryUse{} }

// Handle implements runtime.Handler.
func (echo) Handle(_ context.Context, c *runtime.Call) error {
	if c.Site.Kind == hook.InOut || c.Site.Kind == hook.Tap {
		return nil // the results are the operands already
	}
	source := c.MatchOperands()
	for i, o := range source {
		if o == nil {
			return fmt.Errorf("echo has no operand for result %d of type %s", i, hook.TypeOf(c.Results[i]))
		}
	}
	// Copy an operand before its memory is overwritten by a result that shares it.
	for i, r := range c.Results {
		for k := i + 1; k < len(c.Results); k++ {
			if sameMemory(r, source[k]) {
				source[k] = source[k].Clone()
			}
		}
		if !sameMemory(r, source[i]) {
			if err := c.Return(i, source[i]); err != nil {
				return err
			}
		}
	}
	return nil
}

func sameType(a, b *tensor.Tensor) bool { return a.DType() == b.DType() && a.Shape().Equal(b.Shape()) }

func sameMemory(a, b *tensor.Tensor) bool {
	return len(a.Bytes()) > 0 && len(b.Bytes()) > 0 && unsafe.SliceData(a.Bytes()) == unsafe.SliceData(b.Bytes())
}
