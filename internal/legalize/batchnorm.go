package legalize

import (
	"slices"

	"github.com/hlocb/hlocb/dialect/stablehlo"
	"github.com/hlocb/hlocb/ir"
	"github.com/hlocb/hlocb/tensor"
)

// batchNorm holds what the expansions of the batch_norm ops share. They compute narrow floats in f32.
type batchNorm struct {
	*emitter
	x       *ir.Value // the operand
	feature int64
	over    []int64 // the other dimensions
	count   float64 // elements of a feature
	epsilon float64
}

// newBatchNorm returns the shared values and the operands in the type of the computation.
func newBatchNorm(e *emitter, args []*ir.Value, feature int64, epsilon float64) (*batchNorm, []*ir.Value) {
	args = slices.Clone(args)
	for i, a := range args {
		if dtypeOf(a).Bits() < 32 {
			args[i] = e.convert(a, ir.Float(tensor.F32))
		}
	}
	b := &batchNorm{emitter: e, x: args[0], feature: feature, count: 1, epsilon: epsilon}
	for i, n := range tensorType(b.x).Shape() {
		if int64(i) != feature {
			b.over, b.count = append(b.over, int64(i)), b.count*float64(n)
		}
	}
	return b, args
}

// wide broadcasts a value for each feature to the shape of the operand.
func (b *batchNorm) wide(v *ir.Value) *ir.Value {
	return b.broadcast(v, tensorType(b.x).Shape(), b.feature)
}

// root inserts the standard deviation, with epsilon.
func (b *batchNorm) root(variance *ir.Value) *ir.Value {
	return b.sqrt(b.add(variance, b.num(b.epsilon, variance)))
}

// mean divides sums by the number of elements.
func (b *batchNorm) mean(sum *ir.Value) *ir.Value { return b.div(sum, b.num(b.count, sum)) }

// results converts values to the types of op's results.
func (b *batchNorm) results(op *ir.Op, values ...*ir.Value) []*ir.Value {
	for i, v := range values {
		if v.Type() != op.Result(i).Type() {
			values[i] = b.convert(v, elemOf(op.Result(i)))
		}
	}
	return values
}

// normalized inserts (x - mean) scale / sqrt(variance + epsilon) + offset.
func (b *batchNorm) normalized(scale, offset, mean, variance *ir.Value) *ir.Value {
	factor := b.wide(b.div(scale, b.root(variance)))
	return b.add(b.mul(b.sub(b.x, b.wide(mean)), factor), b.wide(offset))
}

func expandBatchNormInference(e *emitter, op *ir.Op, args []*ir.Value) []*ir.Value {
	v, _ := stablehlo.AsBatchNormInference(op)
	b, in := newBatchNorm(e, args, v.FeatureIndex(), v.Epsilon())
	return b.results(op, b.normalized(in[1], in[2], in[3], in[4]))
}

func expandBatchNormTraining(e *emitter, op *ir.Op, args []*ir.Value) []*ir.Value {
	v, _ := stablehlo.AsBatchNormTraining(op)
	b, in := newBatchNorm(e, args, v.FeatureIndex(), v.Epsilon())
	mean := b.mean(b.total(b.x, b.over...))
	d := b.sub(b.x, b.wide(mean))
	variance := b.mean(b.total(b.mul(d, d), b.over...))
	return b.results(op, b.normalized(in[1], in[2], mean, variance), mean, variance)
}

// expandBatchNormGrad computes factor (grad - mean of grad - (x - mean) slope), with the slope of grad along x.
func expandBatchNormGrad(e *emitter, op *ir.Op, args []*ir.Value) []*ir.Value {
	v, _ := stablehlo.AsBatchNormGrad(op)
	b, in := newBatchNorm(e, args, v.FeatureIndex(), v.Epsilon())
	scale, variance, grad := in[1], in[3], in[4]
	d := b.sub(b.x, b.wide(in[2]))
	sum, dot, root := b.total(grad, b.over...), b.total(b.mul(grad, d), b.over...), b.root(variance)
	slope := b.div(b.mean(dot), b.mul(root, root))
	rest := b.sub(b.sub(grad, b.wide(b.mean(sum))), b.mul(d, b.wide(slope)))
	return b.results(op, b.mul(b.wide(b.div(scale, root)), rest), b.div(dot, root), sum)
}
