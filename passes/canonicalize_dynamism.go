package passes

import (
	"slices"

	"github.com/hlocb/hlocb/diag"
	"github.com/hlocb/hlocb/dialect/fn"
	"github.com/hlocb/hlocb/dialect/stablehlo"
	"github.com/hlocb/hlocb/internal/hook/irutil"
	"github.com/hlocb/hlocb/internal/legalize"
	"github.com/hlocb/hlocb/internal/mlirtext"
	"github.com/hlocb/hlocb/ir"
	"github.com/hlocb/hlocb/pass"
	"github.com/hlocb/hlocb/rewrite"
)

// CanonicalizeDynamism replaces dynamic ops with constant shapes by static ops.
type CanonicalizeDynamism struct{ pass.Rules }

func (CanonicalizeDynamism) Info() *pass.Info {
	return &pass.Info{
		Name:    "stablehlo-canonicalize-dynamism",
		Aliases: []string{"canonicalize-dynamism"},
		Anchor:  fn.Func.Name,
		Doc: "Replaces dynamic_broadcast_in_dim, dynamic_reshape and other dynamic operations by their static counterparts if the operands that " +
			"hold shapes, sizes or paddings are constants. Also erases dead operations and folds.",
		Idempotent: true,
	}
}

func (p CanonicalizeDynamism) Run(ctx *pass.Context, f *ir.Op) error {
	reported := map[*ir.Op]bool{}
	shapes := &rewrite.Pattern{Name: "custom_call", Rows: []*ir.Def{stablehlo.CustomCall}, Rewrite: func(r *rewrite.Rewriter, op *ir.Op) (bool, error) {
		done, problem := dropShapeOperands(r, op)
		if problem != nil && !reported[op] {
			reported[op] = true
			ctx.Emit(problem)
		}
		return done, nil
	}}
	_, err := p.Greedy(ctx, f, append([]*rewrite.Pattern{shapes}, dynamismPatterns...), rewrite.Options{EraseDead: true, Constants: true, MaxIterations: 2})
	return err
}

var dynamismPatterns = []*rewrite.Pattern{
	replaceBy("dynamic_broadcast_in_dim", stablehlo.DynamicBroadcastInDim, func(op *ir.Op) *ir.OpState {
		d, _ := stablehlo.AsDynamicBroadcastInDim(op)
		if static(d.Operand(0)) == nil || static(op.Result(0)) == nil || !areConstant(d.Operand(1)) {
			return nil
		}
		return stateOf(stablehlo.BroadcastInDim, op, op.Operand(0)).with(op, stablehlo.AttrBroadcastDimensions)
	}),
	replaceBy("dynamic_conv", stablehlo.DynamicConv, staticForm),
	replaceBy("dynamic_gather", stablehlo.DynamicGather, staticForm),
	replaceBy("dynamic_iota", stablehlo.DynamicIota, func(op *ir.Op) *ir.OpState {
		if !areConstant(op.Operand(0)) || static(op.Result(0)) == nil {
			return nil
		}
		return stateOf(stablehlo.Iota, op).with(op, stablehlo.AttrIotaDimension)
	}),
	replaceBy("dynamic_pad", stablehlo.DynamicPad, staticForm),
	replaceBy("dynamic_reshape", stablehlo.DynamicReshape, func(op *ir.Op) *ir.OpState {
		if !areConstant(op.Operand(1)) || static(op.Result(0)) == nil {
			return nil
		}
		return stateOf(stablehlo.Reshape, op, op.Operand(0)).OpState
	}),
	{Name: "real_dynamic_slice to dynamic_slice", Rows: []*ir.Def{stablehlo.RealDynamicSlice}, Rewrite: toDynamicSlice},
	replaceBy("real_dynamic_slice", stablehlo.RealDynamicSlice, func(op *ir.Op) *ir.OpState {
		if st := staticForm(op); st != nil {
			return opState{st}.discardable(op)
		}
		return nil
	}),
}

// staticForms are the static counterparts of ops, with the attributes that hold the last operands.
var staticForms = []struct {
	dynamic, static *ir.Def
	attrs           []string
}{
	{stablehlo.DynamicConv, stablehlo.Convolution, []string{stablehlo.AttrPadding}},
	{stablehlo.DynamicGather, stablehlo.Gather, []string{stablehlo.AttrSliceSizes}},
	{stablehlo.DynamicPad, stablehlo.Pad, []string{stablehlo.AttrEdgePaddingLow, stablehlo.AttrEdgePaddingHigh, stablehlo.AttrInteriorPadding}},
	{stablehlo.RealDynamicSlice, stablehlo.Slice, []string{stablehlo.AttrStartIndices, stablehlo.AttrLimitIndices, stablehlo.AttrStrides}},
}

// staticForm returns the op of staticForms that replaces op, or nil if an operand that becomes an attribute is not a
// constant.
func staticForm(op *ir.Op) *ir.OpState {
	for _, f := range staticForms {
		if !op.IsOrMirrors(f.dynamic) {
			continue
		}
		kept := op.NumOperands() - len(f.attrs)
		st := stateOf(f.static, op, op.OperandList()[:kept]...)
		for _, a := range op.Attrs() {
			if a.Inherent {
				st.SetAttr(a.Name, a.Attr)
			}
		}
		for i, name := range f.attrs {
			list, ok := rewrite.ConstantInts(op.Operand(kept + i))
			if !ok {
				return nil
			}
			var a ir.Attr = ir.NewDenseArray(ir.Int(64), list)
			if name == stablehlo.AttrPadding {
				a = legalize.DenseInts(op.Module().Context(), []int64{int64(len(list) / 2), 2}, list)
			}
			st.SetAttr(name, a)
		}
		return st.OpState
	}
	return nil
}

// replaceBy returns the pattern that replaces ops of a kind by the op that state describes. If state returns nil, the
// op stays.
func replaceBy(name string, row *ir.Def, state func(*ir.Op) *ir.OpState) *rewrite.Pattern {
	return &rewrite.Pattern{Name: name, Rows: []*ir.Def{row}, Rewrite: func(r *rewrite.Rewriter, op *ir.Op) (bool, error) {
		st := state(op)
		if st == nil {
			return false, nil
		}
		return replaceWith(r, op, r.Before(op).Insert(st).ResultList()...)
	}}
}

// opState builds the op that replaces another one.
type opState struct{ *ir.OpState }

// stateOf returns the state of an op of kind def with the result types of op.
func stateOf(def *ir.Def, op *ir.Op, operands ...*ir.Value) opState {
	return opState{&ir.OpState{Def: def, Operands: operands, Types: op.ResultTypes()}}
}

// with copies attributes of op.
func (st opState) with(op *ir.Op, names ...string) *ir.OpState {
	for _, n := range names {
		if a := op.Attr(n); a != nil {
			st.SetAttr(n, a)
		}
	}
	return st.OpState
}

// discardable copies the discardable attributes of op.
func (st opState) discardable(op *ir.Op) *ir.OpState {
	for _, a := range op.Attrs() {
		if !a.Inherent {
			st.SetAttr(a.Name, a.Attr)
		}
	}
	return st.OpState
}

func areConstant(v *ir.Value) bool {
	_, ok := rewrite.ConstantInts(v)
	return ok
}

// shapeOperands returns the operand that holds the shape of each result of a custom call, with the elements of tuples
// as results, and the shapes. shapes is nil if there are none or they are not constants. problem says why the attribute
// does not fit the op.
func shapeOperands(op *ir.Op) (operands []int64, shapes [][]int64, problem *diag.Diagnostic) {
	d, ok := op.Attr(stablehlo.AttrShapeOperands).(*ir.DenseAttr)
	if !ok {
		return nil, nil, nil
	}
	fail := func(format string, args ...any) ([]int64, [][]int64, *diag.Diagnostic) {
		return nil, nil, op.Module().Errorf(op, "%s: "+format, append([]any{stablehlo.AttrShapeOperands}, args...)...)
	}
	t, ok := d.Type().(*ir.TensorType)
	types := irutil.Leaves(nil, op.ResultTypes()...)
	suffix := ""
	if len(types) != op.NumResults() {
		suffix = ", with tuples flattened"
	}
	operands, err := d.Int64s()
	switch {
	case err != nil || !ok:
		return nil, nil, nil
	case len(operands) != len(types):
		return fail("number of elements (%d) must be equal to the number of operation results (%d)%s", len(operands), len(types), suffix)
	case t.Rank() != 1:
		return fail("must have rank = 1")
	case t.Elem() != ir.Type(ir.Int(64)):
		return fail("must have i64 element type")
	}
	shapes = [][]int64{}
	for i, o := range operands {
		if o < 0 || o >= int64(op.NumOperands()) {
			return fail("index #%d (%d) must be within bounds for operation operands (from 0 to %d)", i, o, op.NumOperands())
		}
		shape, ok := rewrite.ConstantInts(op.Operand(int(o)))
		if !ok {
			return nil, nil, nil
		}
		if t, ok := types[i].(*ir.TensorType); ok && t.Ranked() && !fits(shape, t.Shape()) {
			return fail("refinement #%d (%s) must be compatible with operation result #%d ('%s')%s", i, mlirtext.AppendInts(nil, shape), i, t, suffix)
		}
		shapes = append(shapes, shape)
	}
	return operands, shapes, nil
}

// fits reports whether two shapes can be the same.
func fits(a, b []int64) bool {
	return slices.EqualFunc(a, b, func(m, n int64) bool { return m == n || m == ir.Dynamic || n == ir.Dynamic })
}

// dropShapeOperands removes the operands of a custom call that hold the shapes of its results, if all are static.
func dropShapeOperands(r *rewrite.Rewriter, op *ir.Op) (bool, *diag.Diagnostic) {
	drop, shapes, problem := shapeOperands(op)
	if shapes == nil || len(drop) != op.NumResults() {
		return false, problem
	}
	for _, v := range op.Results() {
		if static(v) == nil {
			return false, nil
		}
	}
	st := stateOf(stablehlo.CustomCall, op)
	for i, v := range op.Operands() {
		if !slices.Contains(drop, int64(i)) {
			st.Operands = append(st.Operands, v)
		}
	}
	for _, a := range op.Attrs() {
		switch a.Name {
		case stablehlo.AttrShapeOperands:
			continue
		case stablehlo.AttrOperandLayouts:
			if list, ok := a.Attr.(*ir.ArrayAttr); ok {
				var kept []ir.Attr
				for i, l := range list.Elems() {
					if !slices.Contains(drop, int64(i)) {
						kept = append(kept, l)
					}
				}
				a.Attr = ir.NewArray(kept)
			}
		}
		st.SetAttr(a.Name, a.Attr)
	}
	r.Replace(op, r.Before(op).Insert(st.OpState).ResultList()...)
	return true, nil
}

// sliceSizes returns the sizes of a real_dynamic_slice if its strides are 1 and limit = start + constant.
func sliceSizes(op *ir.Op) (sizes []int64, ok bool) {
	start, limit := op.Operand(1), op.Operand(2).DefiningOp()
	strides, ok := rewrite.ConstantInts(op.Operand(3))
	if !ok || limit == nil || !limit.IsOrMirrors(stablehlo.Add) || slices.ContainsFunc(strides, func(s int64) bool { return s != 1 }) {
		return nil, false
	}
	switch start {
	case limit.Operand(0):
		return rewrite.ConstantInts(limit.Operand(1))
	case limit.Operand(1):
		return rewrite.ConstantInts(limit.Operand(0))
	}
	return nil, false
}

// toDynamicSlice replaces a real_dynamic_slice of constant size by a dynamic_slice.
func toDynamicSlice(r *rewrite.Rewriter, op *ir.Op) (bool, error) {
	sizes, ok := sliceSizes(op)
	if !ok {
		return false, nil
	}
	b := r.Before(op)
	indices, err := scalarsOf(b, op.Operand(1), len(sizes))
	if err != nil {
		return false, err
	}
	st := stateOf(stablehlo.DynamicSlice, op, append([]*ir.Value{op.Operand(0)}, indices...)...)
	st.SetAttr(stablehlo.AttrSliceSizes, ir.NewDenseArray(ir.Int(64), sizes))
	return replaceWith(r, op, b.Insert(st.discardable(op)).Result(0))
}

// scalarsOf returns the n elements of a tensor of rank 1.
func scalarsOf(b *ir.Builder, x *ir.Value, n int) ([]*ir.Value, error) {
	scalar := x.Type().(*ir.TensorType)
	scalar = b.Module().Context().Tensor(nil, scalar.Elem(), nil)
	var out []*ir.Value
	for i := range int64(n) {
		s, err := stablehlo.BuildSlice(b, x, stablehlo.SliceAttrs{StartIndices: []int64{i}, LimitIndices: []int64{i + 1}, Strides: []int64{1}})
		if err != nil {
			return nil, err
		}
		out = append(out, ir.Must(stablehlo.BuildReshape(b, s.Result(0), scalar)).Result(0))
	}
	return out, nil
}
