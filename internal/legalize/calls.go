package legalize

import (
	"slices"
	"strings"

	"github.com/hlocb/hlocb/dialect/chlo"
	"github.com/hlocb/hlocb/dialect/fn"
	"github.com/hlocb/hlocb/dialect/mhlo"
	"github.com/hlocb/hlocb/dialect/stablehlo"
	"github.com/hlocb/hlocb/ir"
	"github.com/hlocb/hlocb/rewrite"
)

// callRows lists the expansions of custom calls that represent ops, by target. An expansion leaves a call that does not
// have the form of its target.
var callRows = map[string]expansion{
	stablehlo.TargetTopK:                expandTopKCall,
	stablehlo.TargetApproxTopK:          expandApproxTopK,
	stablehlo.TargetDynamicApproxTopK:   expandApproxTopK,
	stablehlo.TargetDynamicTopK:         expandDynamicCall,
	stablehlo.TargetDynamicReduceWindow: expandDynamicCall,
	stablehlo.TargetDynamicRngBits:      expandDynamicCall,
	stablehlo.TargetSliceToDynamic:      expandSliceToDynamic,
	stablehlo.TargetPadToStatic:         expandPadToStatic,
}

// IsModuleNote reports whether op is in the module's body, in a dialect that hlocb does not know, and has no results,
// such as llvm.module_flags. The module's functions do not depend on it, so no plugin gets it.
func IsModuleNote(op *ir.Op) bool {
	return !op.Def().Known() && op.NumResults() == 0 && op.Parent() == op.Module().Op() && op.Attr(ir.SymbolName) == nil
}

// KnowsCall reports whether Calls replaces calls of a target.
func KnowsCall(target string) bool { return callRows[target] != nil }

// callExpansion returns the expansion of op, or nil.
func callExpansion(op *ir.Op) expansion {
	call, ok := stablehlo.AsCustomCall(op)
	if !ok {
		return nil
	}
	if _, ok := tupleOf(op); ok && slices.Contains(tupleTargets, call.CallTargetName()) {
		return expandTupleCall
	}
	if f := callRows[call.CallTargetName()]; f != nil {
		return f
	}
	if mhloDef(op.Module(), call.CallTargetName()) != nil {
		return expandMHLOCall
	}
	return nil
}

// mhloDef returns the row of the op that a target such as mhlo.erf names, or nil. CHLO has some of these ops under the
// same name, and MHLO has not.
func mhloDef(m *ir.Module, target string) *ir.Def {
	name, ok := strings.CutPrefix(target, mhlo.TopK.Dialect()+".")
	if !ok {
		return nil
	}
	for _, def := range []*ir.Def{m.Def(target), m.Def(chlo.TopK.Dialect() + "." + name)} {
		if def.Known() {
			return def
		}
	}
	return nil
}

// CallsCHLO reports whether op is a custom call of an op of CHLO by a name in MHLO, which has no such op.
func CallsCHLO(op *ir.Op) bool {
	def := CalledDef(op)
	return def != nil && def.Dialect() == chlo.TopK.Dialect()
}

// CalledDef returns the row of the op that a custom call names, or nil.
func CalledDef(op *ir.Op) *ir.Def {
	call, ok := stablehlo.AsCustomCall(op)
	if !ok {
		return nil
	}
	return mhloDef(op.Module(), call.CallTargetName())
}

// tupleTargets are the targets of XLA's calls that can return tuples.
var tupleTargets = []string{"Qr", "Eigh", stablehlo.TargetTopK, stablehlo.TargetPadToStatic}

// tupleOf returns the type of op's only result if it is a tuple.
func tupleOf(op *ir.Op) (*ir.TupleType, bool) {
	if op.NumResults() != 1 {
		return nil, false
	}
	t, ok := op.Result(0).Type().(*ir.TupleType)
	return t, ok
}

// expandTupleCall replaces a call that returns a tuple by a call that returns the tuple's elements.
func expandTupleCall(e *emitter, op *ir.Op, args []*ir.Value) []*ir.Value {
	t, _ := tupleOf(op)
	call := e.Insert(&ir.OpState{Def: op.Def(), Operands: args, Types: t.Elems(), Attrs: slices.Clone(op.Attrs())})
	return e.Insert(&ir.OpState{Def: stablehlo.Tuple, Operands: call.ResultList(), Types: op.ResultTypes()}).ResultList()
}

// HasCalls reports whether m has custom calls that Calls may replace.
func HasCalls(m *ir.Module) bool {
	return Contains(m, func(op *ir.Op) bool { return callExpansion(op) != nil })
}

// HasDynamicCalls reports whether m has calls that Calls can replace only after their shapes are known.
func HasDynamicCalls(m *ir.Module) bool {
	dynamic := func(v *ir.Value) bool {
		t, ok := v.Type().(*ir.TensorType)
		return ok && !t.Static()
	}
	return Contains(m, func(op *ir.Op) bool {
		call, ok := stablehlo.AsCustomCall(op)
		return ok && callRows[call.CallTargetName()] != nil && !sizeCall(call.CallTargetName()) && slices.ContainsFunc(append(op.OperandList(), op.ResultList()...), dynamic)
	})
}

// Calls replaces custom calls that represent ops by these ops: XLA's TopK and ApproxTopK, the ops of MHLO that
// PyTorch/XLA calls by name, and the dynamic ops of jax.export if their shapes are known.
func Calls(m *ir.Module) error {
	return calls(m, func(op *ir.Op) bool { return callExpansion(op) != nil })
}

// MHLOCalls replaces the custom calls whose targets are names of MHLO's ops by these ops.
func MHLOCalls(m *ir.Module) error {
	return calls(m, func(op *ir.Op) bool {
		call, ok := stablehlo.AsCustomCall(op)
		return ok && callRows[call.CallTargetName()] == nil && callExpansion(op) != nil
	})
}

// calls replaces chosen calls. A call that returns a tuple first becomes a call that returns the tuple's elements.
func calls(m *ir.Module, chosen func(*ir.Op) bool) error {
	for _, tuples := range []bool{true, false} {
		now := func(op *ir.Op) bool {
			_, tuple := tupleOf(op)
			return chosen(op) && tuple == tuples
		}
		for _, op := range selected(m, now) {
			if _, err := replaceOp(m, op, callExpansion(op)); err != nil {
				return err
			}
		}
	}
	return nil
}

// expandMHLOCall replaces a call of a target such as mhlo.erf by the op of this name.
func expandMHLOCall(e *emitter, op *ir.Op, args []*ir.Value) []*ir.Value {
	call, _ := stablehlo.AsCustomCall(op)
	st := &ir.OpState{Def: mhloDef(op.Module(), call.CallTargetName()), Operands: args, Types: op.ResultTypes()}
	if len(st.Def.Regions) > 0 || len(call.CalledComputations()) > 0 {
		return nil
	}
	if d, ok := op.Attr(mhlo.AttrCallAttributes).(*ir.DictAttr); ok {
		st.Attrs = slices.Clone(d.Entries())
	}
	return e.Insert(st).ResultList()
}

// sizeCall reports whether a target's calls are about dynamic sizes themselves.
func sizeCall(target string) bool {
	return target == stablehlo.TargetSliceToDynamic || target == stablehlo.TargetPadToStatic
}

// expandSliceToDynamic sets the sizes of the dynamic dimensions. The operands are a padded value and a size for each of
// its dimensions.
func expandSliceToDynamic(e *emitter, op *ir.Op, args []*ir.Value) []*ir.Value {
	t, ok := op.Result(0).Type().(*ir.TensorType)
	from, also := args[0].Type().(*ir.TensorType)
	if !ok || !also || op.NumResults() != 1 || from.Rank() != t.Rank() || len(args) != t.Rank()+1 {
		return nil
	}
	v := args[0]
	for i, d := range t.Shape() {
		if d >= 0 {
			continue
		}
		v = e.setSize(v, args[i+1], i, t)
	}
	if v == args[0] {
		return nil
	}
	return []*ir.Value{v}
}

// setSize sets the size of dimension i of v, whose type afterwards has the dimensions of t up to i.
func (e *emitter) setSize(v, size *ir.Value, i int, t *ir.TensorType) *ir.Value {
	shape := slices.Clone(v.Type().(*ir.TensorType).Shape())
	copy(shape[:i+1], t.Shape())
	bounds := make([]int64, len(shape))
	bounded := false
	for k, d := range shape {
		bounds[k] = ir.Dynamic
		for _, from := range []*ir.TensorType{t, v.Type().(*ir.TensorType)} {
			if of := stablehlo.BoundsOf(from); d < 0 && of != nil && bounds[k] < 0 {
				bounds[k] = of[k]
			}
		}
		bounded = bounded || bounds[k] >= 0
	}
	var encoding ir.Attr
	if bounded {
		encoding = stablehlo.BoundsAttr.New(&stablehlo.Bounds{Bounds: bounds})
	}
	return e.sized(stablehlo.SetDimensionSize, i, e.ctx.Tensor(shape, t.Elem(), encoding), v, size)
}

// sized inserts an op about the size of dimension i.
func (e *emitter) sized(def *ir.Def, i int, t ir.Type, operands ...*ir.Value) *ir.Value {
	return e.Insert(&ir.OpState{Def: def, Operands: operands, Types: []ir.Type{t},
		Attrs: []ir.NamedAttr{{Name: stablehlo.AttrDimension, Attr: ir.NewInteger(int64(i), ir.Int(64))}}}).Result(0)
}

// IsSizeCall reports whether op is a call of XLA that sets sizes, or returns a value up to its bounds.
func IsSizeCall(op *ir.Op) bool {
	call, ok := stablehlo.AsCustomCall(op)
	return ok && sizeCall(call.CallTargetName())
}

// SizeCall replaces such a call. XLA's CPU plugin has no PadToStatic, and inserts one for each use of the result of
// SliceToDynamic.
func SizeCall(r *rewrite.Rewriter, op *ir.Op) {
	e := newEmitter(r.Before(op), op)
	call, _ := stablehlo.AsCustomCall(op)
	var out []*ir.Value
	switch tuple, ok := tupleOf(op); {
	case call.CallTargetName() == stablehlo.TargetSliceToDynamic:
		if out = expandSliceToDynamic(e, op, op.OperandList()); out != nil && out[0].Type() != op.Result(0).Type() {
			return
		}
	case op.NumOperands() != 1:
	case !ok:
		out = padToStatic(e, op.Operand(0), op.ResultTypes())
	default:
		if out = padToStatic(e, op.Operand(0), tuple.Elems()); out != nil {
			out = e.Insert(&ir.OpState{Def: stablehlo.Tuple, Operands: out, Types: op.ResultTypes()}).ResultList()
		}
	}
	if out != nil && e.err == nil {
		r.Replace(op, out...)
	}
}

// Padded inserts ops that extend v, whose type is bounded, to its bounds, and returns the sizes of its dynamic
// dimensions.
func Padded(b *ir.Builder, v *ir.Value) (whole *ir.Value, sizes []*ir.Value) {
	e := newEmitter(b, v.DefiningOp())
	from := v.Type().(*ir.TensorType)
	shape, i32 := slices.Clone(from.Shape()), e.ctx.Tensor(nil, ir.Int(32), nil)
	to := []ir.Type{nil}
	for i, bound := range stablehlo.BoundsOf(from) {
		shape[i] = max(shape[i], bound)
		to = append(to, i32)
	}
	to[0] = e.ctx.Tensor(shape, from.Elem(), nil)
	out := padToStatic(e, v, to)
	for i, d := range from.Shape() {
		if d < 0 {
			sizes = append(sizes, out[i+1])
		}
	}
	return out[0], sizes
}

// expandPadToStatic returns the operand with zeros up to its bounds, and the sizes of its dimensions.
func expandPadToStatic(e *emitter, op *ir.Op, args []*ir.Value) []*ir.Value {
	if len(args) != 1 {
		return nil
	}
	return padToStatic(e, args[0], op.ResultTypes())
}

// padToStatic returns the values of a call of PadToStatic, or nil if types are not those of its results.
func padToStatic(e *emitter, v *ir.Value, types []ir.Type) []*ir.Value {
	from, ok := v.Type().(*ir.TensorType)
	if !ok || len(types) != from.Rank()+1 {
		return nil
	}
	to, ok := types[0].(*ir.TensorType)
	if !ok || !to.Static() || from.Rank() != to.Rank() {
		return nil
	}
	out := []*ir.Value{v}
	for i, d := range to.Shape() {
		out = append(out, e.sized(stablehlo.GetDimensionSize, i, types[i+1], v))
		if out[0].Type().(*ir.TensorType).Shape()[i] < 0 {
			out[0] = e.setSize(out[0], e.integer(d, out[i+1]), i, to)
		}
	}
	return out
}

// expandTopKCall sorts the operand together with the positions, by the called comparator.
func expandTopKCall(e *emitter, op *ir.Op, args []*ir.Value) []*ir.Value {
	if len(args) != 1 || op.NumResults() != 2 {
		return nil
	}
	t, ok := args[0].Type().(*ir.TensorType)
	if !ok || !t.Static() || t.Rank() == 0 {
		return nil
	}
	dim := int64(t.Rank() - 1)
	index := e.iota(t.Shape(), elemOf(op.Result(1)), dim)
	return e.sortFirst(op, dim, args[0], index)
}

// expandApproxTopK sorts all operands: an exact result is a valid approximation.
func expandApproxTopK(e *emitter, op *ir.Op, args []*ir.Value) []*ir.Value {
	config, ok := op.Attr(mhlo.AttrBackendConfig).(*ir.DictAttr)
	if !ok {
		return nil
	}
	dim, ok := config.Get(stablehlo.AttrReductionDim).(*ir.IntegerAttr)
	n := op.NumResults()
	if !ok || len(args) < 2*n || dim.Value() < 0 {
		return nil
	}
	return e.sortFirst(op, dim.Value(), args[:n]...)
}

// sortFirst sorts values along a dimension with the comparator that op calls, and returns as many elements as the
// results of op have. The comparator may compare only the first of the values.
func (e *emitter) sortFirst(op *ir.Op, dim int64, values ...*ir.Value) []*ir.Value {
	call, _ := stablehlo.AsCustomCall(op)
	names := call.CalledComputations()
	if len(names) != 1 {
		return nil
	}
	f, ok := fn.Named(op, names[0])
	if !ok || f.External() || len(f.Region(0).Blocks()) != 1 || len(f.Body().Args()) > 2*len(values) {
		return nil
	}
	for i, v := range values {
		from, ok1 := v.Type().(*ir.TensorType)
		to, ok2 := op.Result(i).Type().(*ir.TensorType)
		if !ok1 || !ok2 || !from.Static() || !to.Static() || from.Rank() != to.Rank() || int(dim) >= from.Rank() || to.Shape()[dim] > from.Shape()[dim] {
			return nil
		}
	}
	sorted := e.Insert(e.sort(true, dim, values...))
	b := sorted.Region(0).AddBlock()
	for _, v := range values {
		t := e.ctx.Tensor(nil, elemOf(v), nil)
		e.argument(b, t)
		e.argument(b, t)
	}
	e.callee(f, b)
	out := make([]*ir.Value, len(values))
	for i := range out {
		to := tensorType(op.Result(i)).Shape()
		out[i] = e.slice(sorted.Result(i), make([]int64, len(to)), to)
	}
	return out
}

// callee copies the body of a function to a block of a region.
func (e *emitter) callee(f fn.FuncOp, b *ir.Block) {
	inner := e.inside(b)
	ir.Must(stablehlo.BuildReturn(inner.Builder, inner.body(f.Region(0), b.Args()...)))
	e.adopt(inner)
}

// expandDynamicCall replaces a dynamic op of known shapes by the static op.
func expandDynamicCall(e *emitter, op *ir.Op, _ []*ir.Value) []*ir.Value {
	st := DynamicCall(op)
	if st == nil {
		return nil
	}
	for _, v := range op.Results() {
		t, ok := v.Type().(*ir.TensorType)
		if !ok || !t.Static() {
			return nil
		}
		st.Types = append(st.Types, t)
	}
	if st.Def == stablehlo.ReduceWindow {
		call, _ := stablehlo.AsCustomCall(op)
		f, ok := fn.Named(op, slices.Concat(call.CalledComputations(), []string{""})[0])
		if !ok || f.External() || len(f.Region(0).Blocks()) != 1 || len(f.Body().Args()) != len(st.Operands) {
			return nil
		}
		st.Bodies, st.Regions = nil, 1
		static := e.Insert(st)
		b := static.Region(0).AddBlock()
		for _, a := range f.Body().Args() {
			e.argument(b, a.Type())
		}
		e.callee(f, b)
		return static.ResultList()
	}
	return e.Insert(st).ResultList()
}

// DynamicCall returns the static op that a custom call of jax.export represents, without the types of its results, if
// the operands that represent its attributes are constants. Otherwise it returns nil.
func DynamicCall(op *ir.Op) *ir.OpState {
	call, ok := stablehlo.AsCustomCall(op)
	if !ok {
		return nil
	}
	args, ctx := op.OperandList(), op.Module().Context()
	st := &ir.OpState{Loc: op.Loc(), Pos: op.Pos()}
	switch call.CallTargetName() {
	case stablehlo.TargetDynamicTopK:
		if len(args) != 2 || op.NumResults() != 2 {
			return nil
		}
		k, ok := rewrite.ConstantInts(args[1])
		if !ok || len(k) != 1 {
			return nil
		}
		st.Def, st.Operands = chlo.TopK, args[:1]
		st.SetAttr(chlo.AttrK, ir.NewInteger(k[0], ir.Int(64)))
	case stablehlo.TargetDynamicRngBits:
		if len(args) != 2 || op.NumResults() != 2 {
			return nil
		}
		st.Def, st.Operands = stablehlo.RngBitGenerator, args[:1]
		st.SetAttr(stablehlo.AttrRngAlgorithm, op.Attr(stablehlo.AttrRngAlgorithm))
	case stablehlo.TargetDynamicReduceWindow:
		n := len(args) - 5
		if n < 2 || n%2 != 0 {
			return nil
		}
		st.Def, st.Operands = stablehlo.ReduceWindow, args[:n]
		for i, name := range []string{stablehlo.AttrWindowDimensions, stablehlo.AttrWindowStrides, stablehlo.AttrBaseDilations, stablehlo.AttrWindowDilations} {
			list, ok := rewrite.ConstantInts(args[n+i])
			if !ok {
				return nil
			}
			st.SetAttr(name, ir.NewDenseArray(ir.Int(64), list))
		}
		list, ok := rewrite.ConstantInts(args[n+4])
		if !ok || len(list)%2 != 0 {
			return nil
		}
		st.SetAttr(stablehlo.AttrPadding, DenseInts(ctx, []int64{int64(len(list) / 2), 2}, list))
	default:
		return nil
	}
	return st
}
