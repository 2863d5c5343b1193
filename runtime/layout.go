package runtime

import (
	"context"

	"github.com/hlocb/hlocb/tensor"
)

// handle calls h, with values in the layouts of the hook's source if h asks for them. It is short, to be inlined.
func handle(ctx context.Context, h Handler, c *Call) error {
	if c.Site.OperandLayouts == nil {
		return h.Handle(ctx, c)
	}
	return handleLayouts(ctx, h, c)
}

func handleLayouts(ctx context.Context, h Handler, c *Call) error {
	if UseOf(h)&(HostViews|Layouts) != HostViews|Layouts {
		return h.Handle(ctx, c)
	}
	physical := *c
	physical.OperandLayouts, physical.ResultLayouts = c.Site.OperandLayouts, c.Site.ResultLayouts
	moved := map[*tensor.Tensor]*tensor.Tensor{} // a result of an inout hook is its operand
	copies := func(list []*tensor.Tensor, orders [][]int64) []*tensor.Tensor {
		out := make([]*tensor.Tensor, len(list))
		for i, t := range list {
			if moved[t] == nil {
				moved[t] = tensor.New(t.DType(), t.Shape())
				reorder(moved[t].Bytes(), t.Peek(), t, orders[i], false)
			}
			out[i] = moved[t]
		}
		return out
	}
	physical.Operands = copies(c.Operands, physical.OperandLayouts)
	physical.Results = copies(c.Results, physical.ResultLayouts)
	if err := h.Handle(ctx, &physical); err != nil {
		return err
	}
	for i, r := range c.Results {
		reorder(r.Bytes(), moved[r].Peek(), r, physical.ResultLayouts[i], true)
	}
	return nil
}

// reorder copies the elements of a value of t's type from row-major order to the order of its dimensions from minor to
// major, or back.
func reorder(dst, src []byte, t *tensor.Tensor, order []int64, back bool) {
	shape, size := t.Shape(), t.DType().Size()
	strides := make([]int, len(shape)) // in bytes
	stride := size
	for _, d := range order {
		strides[d] = stride
		stride *= int(shape[d])
	}
	index := make([]int64, len(shape))
	at := 0
	for i := 0; i < len(dst); i += size {
		if back {
			copy(dst[i:i+size], src[at:])
		} else {
			copy(dst[at:at+size], src[i:i+size])
		}
		for d := len(shape) - 1; d >= 0; d-- {
			index[d]++
			at += strides[d]
			if index[d] < shape[d] {
				break
			}
			at -= strides[d] * int(shape[d])
			index[d] = 0
		}
	}
}
