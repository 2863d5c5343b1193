package rewrite

import (
	"context"

	"github.com/hlocb/hlocb/ir"
	"github.com/hlocb/hlocb/tensor"
)

// Evaluator computes ops whose operands are known. Passes that fold constants have an Evaluator as an option; the
// engine implements one.
type Evaluator interface {
	// Evaluate returns the results of op for the given operands, which have the static types of op's operands. It does
	// not change op or the operands. It returns an error if it cannot compute op; the caller then keeps op.
	Evaluate(ctx context.Context, op *ir.Op, operands []*tensor.Tensor) ([]*tensor.Tensor, error)
}
