package legalize

import (
	"slices"
	"sync"

	"github.com/hlocb/hlocb/dialect/chlo"
	"github.com/hlocb/hlocb/dialect/mhlo"
	"github.com/hlocb/hlocb/dialect/stablehlo"
	"github.com/hlocb/hlocb/ir"
	"github.com/hlocb/hlocb/tensor"
)

// Expand replaces each op of m that chosen selects by simpler ops, until none is left. The values of these ops must
// have static shapes. Expand stops at an op that has no expansion, for example because of its element type, and returns
// this op.
func Expand(m *ir.Module, chosen func(*ir.Op) bool) (uncovered *ir.Op, err error) {
	for {
		list := selected(m, chosen)
		for _, op := range list {
			row := op.Def().Original()
			f := staticRules()[row]
			if Promotes(op) {
				f = expandPromotion
			} else if IsQuantized(op) && (f == nil || row == stablehlo.Einsum || row == stablehlo.UnaryEinsum || slices.Contains(ExpressedRows, row)) {
				f = expandOnReals
			}
			if f == nil {
				return op, nil
			}
			if ok, err := replaceOp(m, op, f); !ok || err != nil {
				return op, err
			}
		}
		if len(list) == 0 {
			return nil, nil
		}
	}
}

// Contains reports whether m has an op that chosen selects.
func Contains(m *ir.Module, chosen func(*ir.Op) bool) bool {
	found := false
	m.Walk(func(op *ir.Op) bool {
		found = found || chosen(op)
		return !found
	})
	return found
}

// selected returns the ops of m that chosen selects. The ops in regions come before the op that has the regions.
func selected(m *ir.Module, chosen func(*ir.Op) bool) (list []*ir.Op) {
	m.Op().WalkPost(func(op *ir.Op) bool {
		if chosen(op) {
			list = append(list, op)
		}
		return true
	})
	return list
}

// replaceOp replaces op by its expansion. It reports whether the expansion covers op.
func replaceOp(m *ir.Module, op *ir.Op, expand expansion) (bool, error) {
	e := newEmitter(m.Before(op), op)
	e.uniform = true
	values := expand(e, op, op.OperandList())
	if e.err != nil {
		return false, m.Errorf(op, "'%s' op %v", op.Name(), e.err)
	}
	if values == nil {
		return false, nil
	}
	for i, v := range op.Results() {
		v.ReplaceAllUsesWith(values[i])
	}
	op.Erase()
	return true, nil
}

// staticRules holds the expansions for static shapes, by row.
var staticRules = sync.OnceValue(func() map[*ir.Def]expansion {
	rules := map[*ir.Def]expansion{}
	for _, r := range slices.Concat(chloRules, deprecatedRules) {
		rules[r.row] = r.expand
		if slices.ContainsFunc(r.row.Attrs, func(a ir.AttrSpec) bool { return a.Name == chlo.AttrBroadcastDimensions }) {
			rules[r.row] = alongDimensions(r.expand)
		}
	}
	for _, row := range []*ir.Def{chlo.Acos, chlo.Acosh, chlo.Asin, chlo.Asinh, chlo.Atan, chlo.Atanh} {
		rules[row] = widened(rules[row]) // rounds narrow floats once
	}
	for _, row := range []*ir.Def{chlo.IsInf, chlo.IsNegInf, chlo.IsPosInf} {
		rules[row] = ofWidened(rules[row]) // a narrow type may have no infinity
	}
	rules[mhlo.Bitcast] = expandBitcast
	rules[chlo.BroadcastSelect] = expandStaticSelect
	rules[chlo.RaggedDot] = expandStaticRaggedDot
	rules[stablehlo.BatchNormGrad] = expandBatchNormGrad
	rules[stablehlo.BatchNormInference] = expandBatchNormInference
	rules[stablehlo.BatchNormTraining] = expandBatchNormTraining
	rules[stablehlo.Einsum] = expandEinsum
	rules[stablehlo.UnaryEinsum] = expandUnaryEinsum
	rules[stablehlo.SelectAndScatter] = expandSelectAndScatter
	rules[stablehlo.TorchIndexSelect] = expandTorchIndexSelect
	return rules
})

// ofWidened converts an operand of less than 32 bits to f32 before f.
func ofWidened(f expansion) expansion {
	return func(e *emitter, op *ir.Op, args []*ir.Value) []*ir.Value {
		if dtypeOf(args[0]).Bits() < 32 {
			args = []*ir.Value{e.convert(args[0], ir.Float(tensor.F32))}
		}
		return f(e, op, args)
	}
}

// alongDimensions broadcasts an operand along broadcast_dimensions before f, which aligns the last dimensions.
func alongDimensions(f expansion) expansion {
	return func(e *emitter, op *ir.Op, args []*ir.Value) []*ir.Value {
		if dims, ok := op.Attr(chlo.AttrBroadcastDimensions).(*ir.DenseArrayAttr); ok {
			args = slices.Clone(args)
			shape := tensorType(op.Result(0)).Shape()
			for i, x := range args {
				if n := tensorType(x).Rank(); n == len(dims.Values()) && n < len(shape) {
					args[i] = e.broadcast(x, shape, dims.Values()...)
				}
			}
		}
		return f(e, op, args)
	}
}

// expandStaticSelect is expandBroadcastSelect for static shapes.
func expandStaticSelect(e *emitter, op *ir.Op, args []*ir.Value) []*ir.Value {
	sizes, err := commonSizes(args)
	if err != nil {
		e.err = err
		return nil
	}
	wide := make([]*ir.Value, len(args))
	for i, x := range args {
		wide[i] = e.broadcastTo(x, sizes)
	}
	return []*ir.Value{e.op(stablehlo.Select, wide...)}
}
