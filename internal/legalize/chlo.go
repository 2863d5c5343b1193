package legalize

import (
	"fmt"

	"github.com/hlocb/hlocb/dialect/chlo"
	"github.com/hlocb/hlocb/dialect/stablehlo"
	"github.com/hlocb/hlocb/ir"
	"github.com/hlocb/hlocb/rewrite"
)

// CHLO replaces the CHLO ops inside scope by StableHLO ops, except for the ops that keep selects; nil keeps none. For
// dynamic shapes it also creates ops of the dialects shape and tensor. It returns an error at an op that has no
// expansion, for example because of its element type or shape.
func CHLO(scope *ir.Op, keep func(*ir.Op) bool, apply rewrite.Driver) error {
	return replaceCHLO(scope, chloRules, keep, apply)
}

// CHLOOfXLA is CHLO for programs that are serialized for plugins. XLA's StableHLO expands chlo.scan to other ops.
func CHLOOfXLA(scope *ir.Op) error {
	return replaceCHLO(scope, append([]rule{{chlo.Scan, expandScanOfXLA}}, chloRules...), nil, rewrite.Greedy)
}

// InHLO reports whether op is an op of CHLO with an HLO instruction, which XLA's translation to HLO keeps.
func InHLO(op *ir.Op) bool {
	return op.Is(chlo.Constant) || op.Is(chlo.TopK) || op.Is(chlo.RaggedDot) || op.Is(chlo.Scan) || op.Is(chlo.Erf)
}

func replaceCHLO(scope *ir.Op, rules []rule, keep func(*ir.Op) bool, apply rewrite.Driver) error {
	var list []*rewrite.Pattern
	for _, c := range rules {
		list = append(list, pattern(c, keep))
	}
	list = append(list, &rewrite.Pattern{Name: "uncovered", Dialect: chlo.Tan.Dialect(), Rewrite: func(r *rewrite.Rewriter, op *ir.Op) (bool, error) {
		if keep != nil && keep(op) {
			return false, nil
		}
		return false, illegal(op)
	}})
	_, err := apply(scope, list, rewrite.Options{})
	return err
}

// expansion inserts the ops that replace op, with the given operands, and returns the values of its results. It returns
// nil, before it inserts any op, if it does not cover op.
type expansion func(e *emitter, op *ir.Op, args []*ir.Value) []*ir.Value

// rule is the expansion of one kind of op.
type rule struct {
	row    *ir.Def
	expand expansion
}

func pattern(c rule, keep func(*ir.Op) bool) *rewrite.Pattern {
	return &rewrite.Pattern{Name: c.row.Name, Rows: []*ir.Def{c.row}, Rewrite: func(r *rewrite.Rewriter, op *ir.Op) (bool, error) {
		if keep != nil && keep(op) {
			return false, nil
		}
		e := newEmitter(r.Before(op), op)
		values := c.expand(e, op, op.OperandList())
		if e.err != nil {
			return false, fmt.Errorf("%w in the expansion", e.err)
		}
		if values == nil {
			return false, nil
		}
		r.Replace(op, values...)
		return true, nil
	}}
}

// chloRules holds the expansion of every CHLO op.
var chloRules = []rule{
	{chlo.BroadcastAdd, broadcastOp(stablehlo.Add)},
	{chlo.BroadcastAnd, broadcastOp(stablehlo.And)},
	{chlo.BroadcastAtan2, broadcastOp(stablehlo.Atan2)},
	{chlo.BroadcastComplex, broadcastOp(stablehlo.Complex)},
	{chlo.BroadcastDivide, broadcastOp(stablehlo.Divide)},
	{chlo.BroadcastMaximum, broadcastOp(stablehlo.Maximum)},
	{chlo.BroadcastMinimum, broadcastOp(stablehlo.Minimum)},
	{chlo.BroadcastMultiply, broadcastOp(stablehlo.Multiply)},
	{chlo.BroadcastNextAfter, broadcastOp(chlo.NextAfter)},
	{chlo.BroadcastOr, broadcastOp(stablehlo.Or)},
	{chlo.BroadcastPolygamma, broadcastOp(chlo.Polygamma)},
	{chlo.BroadcastPower, broadcastOp(stablehlo.Power)},
	{chlo.BroadcastRemainder, broadcastOp(stablehlo.Remainder)},
	{chlo.BroadcastShiftLeft, broadcastOp(stablehlo.ShiftLeft)},
	{chlo.BroadcastShiftRightArithmetic, broadcastOp(stablehlo.ShiftRightArithmetic)},
	{chlo.BroadcastShiftRightLogical, broadcastOp(stablehlo.ShiftRightLogical)},
	{chlo.BroadcastSubtract, broadcastOp(stablehlo.Subtract)},
	{chlo.BroadcastXor, broadcastOp(stablehlo.Xor)},
	{chlo.BroadcastZeta, broadcastOp(chlo.Zeta)},
	{chlo.BroadcastCompare, broadcastOp(stablehlo.Compare)},
	{chlo.BroadcastSelect, expandBroadcastSelect},
	{chlo.Constant, expandConstant},
	{chlo.ConstantLike, expandConstantLike},

	{chlo.AsinAcosKernel, explicit(asinAcosKernel)},
	{chlo.Acos, perDomain(acosReal, acosComplex)},
	{chlo.Acosh, perDomain(acoshReal, acoshComplex)},
	{chlo.Asin, perDomain(asinReal, asinComplex)},
	{chlo.Asinh, perDomain(asinhReal, asinhComplex)},
	{chlo.Atan, perDomain(atanReal, atanComplex)},
	{chlo.Atanh, perDomain(atanhReal, atanhComplex)},
	{chlo.Square, perDomain(squareReal, squareComplex)},
	{chlo.Conj, perDomain(conjReal, conjComplex)},
	{chlo.Tan, explicit(func(e *emitter, x *ir.Value) *ir.Value { return e.function(stablehlo.Tan, x) })},
	{chlo.IsInf, unary(func(e *emitter, x *ir.Value) *ir.Value {
		return e.typed(chlo.IsPosInf, withElem(e.ctx, x.Type(), ir.Int(1)), e.abs(x))
	})},
	{chlo.IsPosInf, unary(func(e *emitter, x *ir.Value) *ir.Value { return e.eq(x, e.inf(1, x)) })},
	{chlo.IsNegInf, unary(func(e *emitter, x *ir.Value) *ir.Value { return e.eq(x, e.inf(-1, x)) })},

	{chlo.BesselI1e, common(widened(precise(besselI1e32, besselI1e64)))},
	{chlo.Cosh, widened(unary(cosh))},
	{chlo.Digamma, widened(unary(digamma))},
	{chlo.Erf, common(widened(precise(erf32, erf64)))},
	{chlo.ErfInv, widened(precise(erfInv32, erfInv64))},
	{chlo.Erfc, common(widened(precise(erfc32, erfc64)))},
	{chlo.Lgamma, widened(unary(lgamma))},
	{chlo.Polygamma, widened(binary(polygamma))},
	{chlo.Sinh, widened(unary(sinh))},
	{chlo.Zeta, widened(binary(zeta))},

	{chlo.Mulhi, expandMulhi},
	{chlo.NextAfter, func(e *emitter, op *ir.Op, args []*ir.Value) []*ir.Value {
		if dtypeOf(args[0]).Bits() == 6 {
			return nil // no integer type is that wide
		}
		return binary(nextAfter)(e, op, args)
	}},
	{chlo.RaggedDot, expandRaggedDot},
	{chlo.Scan, expandScan},
	{chlo.TopK, expandTopK},
}
