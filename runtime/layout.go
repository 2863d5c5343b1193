package runtime

import (
	"context"

	"github.com/hlocb/hlocb/tensor"
)

// Handle calls h, with values in the layouts of the hook's source if h asks for them. A handler that calls another one
// and itself reads values calls it so. Handle is short, to be inlined.
func Handle(ctx context.Context, h Handler, c *Call) error {
	if c.Site.OperandLayouts == nil {
		return h.Handle(ctx, c)
	}
	return handleLayouts(ctx, h, c)
}

func handleLayouts(ctx context.Context, h Handler, c *Call) error {
	if use := UseOf(h); !use.HostViews || !use.Layouts {
		return h.Handle(ctx, c)
	}
	physical := *c
	physical.Remote = nil
	physical.OperandLayouts, physical.ResultLayouts = c.Site.OperandLayouts, c.Site.ResultLayouts
	moved := map[*tensor.Tensor]*tensor.Tensor{} // a result of an inout hook is its operand
	copies := func(list []*tensor.Tensor, orders [][]int64) []*tensor.Tensor {
		out := make([]*tensor.Tensor, len(list))
		for i, t := range list {
			if moved[t] == nil {
				moved[t] = tensor.New(t.DType(), t.Shape())
				tensor.Reorder(moved[t].Bytes(), t.Peek(), t.DType().Size(), t.Shape(), orders[i], false)
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
		tensor.Reorder(r.Bytes(), moved[r].Peek(), r.DType().Size(), r.Shape(), physical.ResultLayouts[i], true)
	}
	return nil
}
