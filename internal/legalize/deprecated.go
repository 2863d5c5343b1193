package legalize

import (
	"errors"
	"fmt"
	"slices"
	"strings"

	"github.com/hlocb/hlocb/dialect/stablehlo"
	"github.com/hlocb/hlocb/ir"
	"github.com/hlocb/hlocb/rewrite"
	"github.com/hlocb/hlocb/tensor"
)

// Deprecated replaces deprecated ops inside scope: broadcast, create_token, cross-replica-sum, dot and unary_einsum.
func Deprecated(scope *ir.Op, apply rewrite.Driver) error {
	var list []*rewrite.Pattern
	for _, c := range deprecatedRules {
		list = append(list, pattern(c, nil))
	}
	_, err := apply(scope, list, rewrite.Options{})
	return err
}

var deprecatedRules = []rule{
	{stablehlo.Broadcast, func(e *emitter, op *ir.Op, args []*ir.Value) []*ir.Value {
		t, ok := args[0].Type().(*ir.TensorType)
		if !ok || !t.Ranked() {
			return nil
		}
		b, _ := stablehlo.AsBroadcast(op)
		dims := lastDims(t.Rank(), len(b.BroadcastSizes())+t.Rank())
		return []*ir.Value{e.result(stablehlo.BuildBroadcastInDim(e.Builder, args[0], op.Result(0).Type(), stablehlo.BroadcastInDimAttrs{BroadcastDimensions: dims}))}
	}},
	{stablehlo.CreateToken, func(e *emitter, op *ir.Op, _ []*ir.Value) []*ir.Value {
		return []*ir.Value{e.typed(stablehlo.AfterAll, op.Result(0).Type())}
	}},
	{stablehlo.Dot, func(e *emitter, op *ir.Op, args []*ir.Value) []*ir.Value {
		t, ok := args[0].Type().(*ir.TensorType)
		if !ok || !t.Ranked() {
			return nil
		}
		st := &ir.OpState{Def: stablehlo.DotGeneral, Operands: args, Types: op.ResultTypes()}
		st.SetAttr(stablehlo.AttrDotDimensionNumbers, stablehlo.DotAttr.New(&stablehlo.DotDims{
			LHSContracting: []int64{int64(t.Rank() - 1)}, RHSContracting: []int64{0},
		}))
		if a := op.Attr(stablehlo.AttrPrecisionConfig); a != nil {
			st.SetAttr(stablehlo.AttrPrecisionConfig, a)
		}
		return e.Insert(st).ResultList()
	}},
	{stablehlo.UnaryEinsum, func(e *emitter, op *ir.Op, args []*ir.Value) []*ir.Value {
		t, ok := args[0].Type().(*ir.TensorType)
		if !ok {
			return nil
		}
		einsum, _ := stablehlo.AsUnaryEinsum(op)
		one := Splat(e.Builder, e.ctx.Tensor(nil, t.Elem(), nil), 1)
		return []*ir.Value{e.result(stablehlo.BuildEinsum(e.Builder, one, args[0], op.Result(0).Type(), stablehlo.EinsumAttrs{EinsumConfig: "," + einsum.EinsumConfig()}))}
	}},
	{stablehlo.CrossReplicaSum, func(e *emitter, op *ir.Op, args []*ir.Value) []*ir.Value {
		if _, ok := op.Result(0).Type().(*ir.TensorType); !ok {
			return nil
		}
		st := &ir.OpState{Def: stablehlo.AllReduce, Operands: args, Types: op.ResultTypes(), Regions: 1}
		if a := op.Attr(stablehlo.AttrReplicaGroups); a != nil {
			st.SetAttr(stablehlo.AttrReplicaGroups, a)
		}
		return e.insertSum(st).ResultList()
	}},
}

// expandEinsum replaces an einsum such as "ab,bc->ac" by a product. Labels in both operands and the result are batch
// dimensions. Labels in both operands but not in the result are contracted. Labels in only one operand and not in the
// result are summed first. A label repeated within one operand selects the diagonal of its dimensions.
func expandEinsum(e *emitter, op *ir.Op, args []*ir.Value) []*ir.Value {
	einsum, _ := stablehlo.AsEinsum(op)
	left, result, _ := strings.Cut(einsum.EinsumConfig(), "->")
	left, right, ok := strings.Cut(left, ",")
	out := []rune(strings.TrimSpace(result))
	inOther := func(other string) func(rune) bool {
		return func(c rune) bool { return strings.ContainsRune(other, c) || slices.Contains(out, c) }
	}
	x, l := e.einsumOperand(args[0], left, inOther(right))
	y, r := e.einsumOperand(args[1], right, inOther(left))
	if !ok || e.err != nil {
		e.fail(fmt.Errorf("has einsum_config %q", einsum.EinsumConfig()))
		return nil
	}
	d := &stablehlo.DotDims{}
	var order, rest []rune // labels of the product's dimensions
	for i, c := range l {
		switch at := int64(slices.Index(r, c)); {
		case at < 0:
			rest = append(rest, c)
		case slices.Contains(out, c):
			d.LHSBatching, d.RHSBatching = append(d.LHSBatching, int64(i)), append(d.RHSBatching, at)
			order = append(order, c)
		default:
			d.LHSContracting, d.RHSContracting = append(d.LHSContracting, int64(i)), append(d.RHSContracting, at)
		}
	}
	order = append(order, rest...)
	for _, c := range r {
		if !slices.Contains(l, c) {
			order = append(order, c)
		}
	}
	shape := make([]int64, len(order))
	for i, c := range order {
		if k := slices.Index(l, c); k >= 0 {
			shape[i] = tensorType(x).Shape()[k]
		} else {
			shape[i] = tensorType(y).Shape()[slices.Index(r, c)]
		}
	}
	t := e.ctx.Tensor(shape, elemOf(op.Result(0)), nil)
	return e.arranged(e.result(stablehlo.BuildDotGeneral(e.Builder, x, y, t, stablehlo.DotGeneralAttrs{Dims: d})), order, out)
}

// expandUnaryEinsum sums and permutes dimensions: "ab->ba" or "ab->a".
func expandUnaryEinsum(e *emitter, op *ir.Op, args []*ir.Value) []*ir.Value {
	einsum, _ := stablehlo.AsUnaryEinsum(op)
	left, result, _ := strings.Cut(einsum.EinsumConfig(), "->")
	out := []rune(strings.TrimSpace(result))
	x, labels := e.einsumOperand(args[0], left, func(c rune) bool { return slices.Contains(out, c) })
	return e.arranged(x, labels, out)
}

// arranged permutes the dimensions of x, which have distinct labels, to the order of to.
func (e *emitter) arranged(x *ir.Value, labels, to []rune) []*ir.Value {
	perm := make([]int64, len(to))
	for i, c := range to {
		perm[i] = int64(slices.Index(labels, c))
	}
	if len(labels) != len(to) || slices.Contains(perm, -1) {
		e.fail(errors.New("has a result label that no operand has"))
		return nil
	}
	t, err := stablehlo.BuildTranspose(e.Builder, x, stablehlo.TransposeAttrs{Permutation: perm})
	return []*ir.Value{e.result(t.Op, err)}
}

// einsumOperand takes the diagonal of dimensions with the same label and sums the dimensions that keep rejects. It
// returns the labels of the other dimensions.
func (e *emitter) einsumOperand(x *ir.Value, text string, keep func(rune) bool) (*ir.Value, []rune) {
	labels := []rune(strings.TrimSpace(text))
	t := tensorType(x)
	if len(labels) != t.Rank() {
		e.fail(fmt.Errorf("has %d labels for %s", len(labels), t))
		return x, nil
	}
	var over []int64
	var kept []rune
	for i, c := range labels {
		at := slices.Index(labels, c)
		if at < i { // keep the elements with equal positions in both dimensions
			if t.Shape()[at] != t.Shape()[i] {
				e.fail(fmt.Errorf("has label %c for dimensions of sizes %d and %d", c, t.Shape()[at], t.Shape()[i]))
				return x, nil
			}
			x = e.sel(e.eq(e.iota(t.Shape(), ir.Int(64), int64(at)), e.iota(t.Shape(), ir.Int(64), int64(i))), x, e.num(0, x))
		}
		if at < i || !keep(c) {
			over = append(over, int64(i))
		} else {
			kept = append(kept, c)
		}
	}
	if len(over) > 0 {
		x = e.total(x, over...)
	}
	return x, kept
}

// expandTorchIndexSelect gathers from the operand as [batch][before][dim][inner] by the indices as [batch][index].
func expandTorchIndexSelect(e *emitter, op *ir.Op, args []*ir.Value) []*ir.Value {
	v, _ := stablehlo.AsTorchIndexSelect(op)
	dim, batch := int(v.Dim()), int(v.BatchDims())
	in, index := tensorType(args[0]).Shape(), tensorType(args[1]).Shape()
	if dim < 0 || dim >= len(in) || batch < 0 || batch > dim || batch > len(index) {
		return nil
	}
	count := func(shape []int64) int64 { return tensor.Shape(shape).NumElements() }
	before, inner := count(in[batch:dim]), count(in[dim+1:])
	x := e.reshape(args[0], count(in[:batch]), before, in[dim], inner)
	at := e.reshape(args[1], count(in[:batch]), count(index[batch:]))
	g, err := stablehlo.BuildGather(e.Builder, x, at, stablehlo.GatherAttrs{SliceSizes: []int64{1, before, 1, inner}, Dims: &stablehlo.GatherDims{
		OffsetDims: []int64{1, 3}, CollapsedSliceDims: []int64{2}, OperandBatchingDims: []int64{0}, StartIndicesBatchingDims: []int64{0},
		StartIndexMap: []int64{2}, IndexVectorDim: 2,
	}})
	return []*ir.Value{e.reshape(e.result(g.Op, err), tensorType(op.Result(0)).Shape()...)}
}
