package passes

import (
	"slices"

	"github.com/hlocb/hlocb/dialect/fn"
	"github.com/hlocb/hlocb/dialect/stablehlo"
	"github.com/hlocb/hlocb/internal/hook/irutil"
	"github.com/hlocb/hlocb/ir"
	"github.com/hlocb/hlocb/pass"
	"github.com/hlocb/hlocb/rewrite"
)

// TokenCleanup drops joins of tokens that order nothing.
type TokenCleanup struct{ pass.Rules }

func (TokenCleanup) Info() *pass.Info {
	return &pass.Info{
		Name:       "token-cleanup",
		Doc:        "Simplifies after_all: removes repeated tokens and tokens that wait for nothing, and merges a join into the only join that uses it.",
		Anchor:     fn.Func.Name,
		Idempotent: true,
	}
}

func (p TokenCleanup) Run(ctx *pass.Context, op *ir.Op) error {
	_, err := p.Greedy(ctx, op, []*rewrite.Pattern{rule("after-all", simplifyAfterAll, stablehlo.AfterAll)}, optimizing)
	return err
}

// simplifyAfterAll: after_all(a, a) = after_all(a); after_all(a, after_all()) = after_all(a); after_all(after_all(a,
// b), c) = after_all(a, b, c); after_all(a) = a.
func simplifyAfterAll(r *rewrite.Rewriter, op *ir.Op) (bool, error) {
	var list []*ir.Value
	for _, v := range op.Operands() {
		in := v.DefiningOp()
		switch {
		case in != nil && in.Is(stablehlo.CreateToken):
		case in != nil && in.Is(stablehlo.AfterAll) && (in.NumOperands() == 0 || v.HasOneUse()):
			list = append(list, in.OperandList()...)
		default:
			list = append(list, v)
		}
	}
	list = irutil.Distinct(list)
	switch {
	case len(list) == 1:
		r.Replace(op, list[0])
	case slices.Equal(list, op.OperandList()):
		return false, nil
	default:
		r.Update(op, func() { op.SetOperands(list) })
	}
	return true, nil
}
