package legalize

import (
	"slices"

	"github.com/hlocb/hlocb/diag"
	"github.com/hlocb/hlocb/dialect/builtin"
	"github.com/hlocb/hlocb/dialect/shape"
	"github.com/hlocb/hlocb/dialect/stablehlo"
	"github.com/hlocb/hlocb/internal/dialect/arith"
	"github.com/hlocb/hlocb/internal/dialect/tensors"
	"github.com/hlocb/hlocb/ir"
)

// Shape expresses computations of shapes inside scope by StableHLO ops: ops of the dialects shape and tensor, products
// and casts of indices, and dynamic ops with operands of indices. StableHLO has sizes of type i32, so casts from and to
// indices remain. They cancel if Shape expressed the whole computation. It returns an error at an op that has no
// expansion.
func Shape(scope *ir.Op) error {
	var list []*ir.Op
	scope.Walk(func(op *ir.Op) bool {
		if op != scope && needsSizes(op) {
			list = append(list, op)
		}
		return true
	})
	// Expansions see the ops that other expansions replace, because constants among these have a meaning.
	values := make([][]*ir.Value, len(list))
	for i, op := range list {
		e := &shapes{newEmitter(op.Module().Before(op).From(op), op)}
		if expand := shapeRules[op.Def()]; expand != nil {
			values[i] = expand(e, op)
		}
		if e.err != nil {
			return e.err
		}
		if values[i] == nil {
			return illegal(op)
		}
	}
	for i, op := range slices.Backward(list) { // a value may be a result of an earlier op in list
		for k, v := range op.Results() {
			v.ReplaceAllUsesWith(values[i][k])
		}
		op.Erase()
	}
	return nil
}

// illegal returns MLIR's error for an op that a conversion does not cover.
func illegal(op *ir.Op) *diag.Diagnostic {
	return op.Module().Errorf(op, "failed to legalize operation '%s' that was explicitly marked illegal", op.Name())
}

// needsSizes reports whether Shape must replace op.
func needsSizes(op *ir.Op) bool {
	switch op.Def().Dialect() {
	case shape.ShapeOf.Dialect():
		return true
	case tensors.Dim.Dialect():
		return !op.Is(tensors.Cast)
	case stablehlo.Add.Dialect():
		return slices.ContainsFunc(op.OperandList(), isIndex)
	}
	return op.Is(arith.IndexCast) || op.Is(arith.MulI)
}

// shapes inserts the ops of one expansion.
type shapes struct{ *emitter }

// shapeRules holds the expansions of Shape. An expansion returns nil if it does not cover the op.
var shapeRules = map[*ir.Def]func(e *shapes, op *ir.Op) []*ir.Value{
	arith.IndexCast:                 (*shapes).indexCast,
	arith.MulI:                      (*shapes).product,
	shape.Broadcast:                 (*shapes).broadcast,
	shape.ConstShape:                (*shapes).constShape,
	shape.NumElements:               (*shapes).numElements,
	shape.ShapeOf:                   (*shapes).shapeOf,
	stablehlo.DynamicBroadcastInDim: (*shapes).castOperands,
	stablehlo.DynamicReshape:        (*shapes).castOperands,
	tensors.Dim:                     (*shapes).dim,
	tensors.Extract:                 (*shapes).extract,
	tensors.FromElements:            (*shapes).fromElements,
}

// isIndex reports whether v is an index or a tensor of indices.
func isIndex(v *ir.Value) bool {
	t := v.Type()
	if tt, ok := t.(*ir.TensorType); ok {
		t = tt.Elem()
	}
	_, ok := t.(*ir.IndexType)
	return ok
}

func (e *shapes) i32(shape ...int64) *ir.TensorType { return e.ctx.Tensor(shape, ir.Int(32), nil) }

func (e *shapes) cast(v *ir.Value, t ir.Type) *ir.Value {
	return e.typed(builtin.UnrealizedConversionCast, t, v)
}

// sizes returns v, an index or a static tensor of indices or of i32, as a tensor of i32. It returns nil for others.
func (e *shapes) sizes(v *ir.Value) *ir.Value {
	t, ok := v.Type().(*ir.TensorType)
	switch {
	case !ok && isIndex(v):
		return e.cast(v, e.i32())
	case !ok || !t.Static():
		return nil
	case t.Elem() == ir.Type(ir.Int(32)):
		return v
	case isIndex(v):
		return e.cast(v, e.i32(t.Shape()...))
	}
	return nil
}

// sizesOf is sizes, but a constant index becomes a constant.
func (e *shapes) sizesOf(v *ir.Value) *ir.Value {
	if n, ok := constantIndex(v); ok {
		return e.constant(n, e.i32())
	}
	return e.sizes(v)
}

// indices returns v, a tensor of i32, as indices of type t, in a list for a result. It returns nil if t has another
// shape.
func (e *shapes) indices(v *ir.Value, t ir.Type) []*ir.Value {
	var have ir.Type = e.ctx.Index()
	if tt := tensorType(v); tt.Rank() > 0 {
		have = e.ctx.Tensor(tt.Shape(), have, nil)
	}
	if have != t {
		return nil
	}
	return []*ir.Value{e.cast(v, t)}
}

// constantIndex returns the value of an arith.constant of type index.
func constantIndex(v *ir.Value) (int64, bool) {
	if op := v.DefiningOp(); op != nil && op.Is(arith.Constant) {
		if i, ok := op.Attr(stablehlo.AttrValue).(*ir.IntegerAttr); ok && isIndex(v) {
			return i.Value(), true
		}
	}
	return 0, false
}

// constantShape returns the sizes of a shape.const_shape.
func constantShape(v *ir.Value) ([]int64, bool) {
	op := v.DefiningOp()
	if op == nil || !op.Is(shape.ConstShape) {
		return nil, false
	}
	d, ok := op.Attr(shape.AttrShape).(*ir.DenseAttr)
	if !ok {
		return nil, false
	}
	list, err := d.Int64s()
	return list, err == nil
}

// constants returns constant sizes as a result of type t, or nil if t is not the type of a tensor.
func (e *shapes) constants(list []int64, t ir.Type) []*ir.Value {
	if _, ok := t.(*ir.TensorType); !ok {
		return nil
	}
	return []*ir.Value{e.cast(e.ints(ir.Int(32), list...), t)}
}

func (e *shapes) constShape(op *ir.Op) []*ir.Value {
	list, ok := constantShape(op.Result(0))
	if !ok {
		return nil
	}
	return e.constants(list, op.Result(0).Type())
}

// indexCast replaces casts between index and i32, and from index to another integer.
func (e *shapes) indexCast(op *ir.Op) []*ir.Value {
	in, t := op.Operand(0), op.Result(0).Type()
	if tt, ok := t.(*ir.TensorType); ok {
		v := e.sizes(in)
		switch {
		case v == nil:
			return nil
		case isIndex(op.Result(0)):
			return e.indices(v, t)
		case tt.Elem() != ir.Type(ir.Int(32)):
			return nil
		}
		return []*ir.Value{v}
	}
	if !isIndex(in) {
		return []*ir.Value{e.cast(e.cast(in, e.ctx.Tensor(nil, in.Type(), nil)), t)}
	}
	v := e.sizes(in)
	if t != ir.Type(ir.Int(32)) {
		v = e.convert(v, t)
	}
	return []*ir.Value{e.cast(v, t)}
}

// product replaces products of indices. MLIR has constants on the right, and folds products with 0 and 1.
func (e *shapes) product(op *ir.Op) []*ir.Value {
	x, y := op.Operand(0), op.Operand(1)
	if !isIndex(x) {
		return nil
	}
	if _, ok := constantIndex(x); ok {
		if _, both := constantIndex(y); !both {
			x, y = y, x
		}
	}
	switch n, ok := constantIndex(y); {
	case ok && n == 0:
		return []*ir.Value{y}
	case ok && n == 1:
		return []*ir.Value{x}
	}
	a := e.sizesOf(x)
	b := e.sizesOf(y)
	if a == nil || b == nil {
		return nil
	}
	return e.indices(e.mul(a, b), op.Result(0).Type())
}

// broadcast computes the broadcast of constant shapes, and replaces the broadcast of two others by the maximum of their
// sizes.
func (e *shapes) broadcast(op *ir.Op) []*ir.Value {
	t := op.Result(0).Type()
	if op.NumOperands() == 1 && op.Operand(0).Type() == t {
		return op.OperandList()
	}
	if list, ok := broadcastShapes(op.OperandList()); ok {
		return e.constants(list, t)
	}
	if op.NumOperands() != 2 {
		return nil
	}
	x, y := e.sizes(op.Operand(0)), e.sizes(op.Operand(1))
	if x == nil || y == nil {
		return nil
	}
	switch missing := tensorType(x).Shape()[0] - tensorType(y).Shape()[0]; {
	case missing < 0:
		x = e.concatenate([]*ir.Value{e.constant(1, e.i32(-missing)), x})
	case missing > 0:
		y = e.concatenate([]*ir.Value{e.constant(1, e.i32(missing)), y})
	}
	return e.indices(e.max(x, y), t)
}

// broadcastShapes returns the shape to which constant shapes broadcast, if they do.
func broadcastShapes(shapes []*ir.Value) ([]int64, bool) {
	var out []int64
	for _, v := range shapes {
		list, ok := constantShape(v)
		if !ok {
			return nil, false
		}
		if len(list) > len(out) {
			list, out = out, slices.Clone(list)
		}
		for i, n := range list {
			switch at := &out[len(out)-len(list)+i]; {
			case *at == 1:
				*at = n
			case n != 1 && n != *at:
				return nil, false
			}
		}
	}
	return out, len(shapes) > 0
}

func (e *shapes) numElements(op *ir.Op) []*ir.Value {
	sizes := e.sizes(op.Operand(0))
	if sizes == nil {
		return nil
	}
	product := e.constant(1, e.i32())
	for i := range tensorType(sizes).Shape()[0] {
		product = e.mul(product, e.reshape(e.slice(sizes, []int64{i}, []int64{i + 1})))
	}
	return e.indices(product, op.Result(0).Type())
}

func (e *shapes) shapeOf(op *ir.Op) []*ir.Value {
	x := op.Operand(0)
	t, ok := x.Type().(*ir.TensorType)
	if !ok || !t.Ranked() {
		return nil
	}
	if t.Rank() == 0 {
		return e.constants(nil, op.Result(0).Type())
	}
	parts := make([]*ir.Value, t.Rank())
	for i := range parts {
		parts[i] = e.reshape(e.dimension(x, int64(i)), 1)
	}
	return e.indices(e.concatenate(parts), op.Result(0).Type())
}

func (e *shapes) dim(op *ir.Op) []*ir.Value {
	n, ok := constantIndex(op.Operand(1))
	if !ok {
		return nil
	}
	return e.indices(e.dimension(op.Operand(0), n), op.Result(0).Type())
}

func (e *shapes) extract(op *ir.Op) []*ir.Value {
	source, t := op.Operand(0), op.Result(0).Type()
	var start, limit []int64
	for i, v := range op.OperandList()[1:] {
		n, ok := constantIndex(v)
		if !ok || n < 0 || n >= tensorType(source).Shape()[i] { // a dynamic size is negative
			return nil
		}
		start, limit = append(start, n), append(limit, n+1)
	}
	if def := source.DefiningOp(); def != nil && def.Is(tensors.FromElements) {
		at := int64(0)
		for i, n := range start {
			at = at*tensorType(source).Shape()[i] + n
		}
		return []*ir.Value{def.Operand(int(at))}
	}
	sizes := e.sizes(source)
	if sizes == nil {
		return nil
	}
	v := e.reshape(e.slice(sizes, start, limit))
	if isIndex(op.Result(0)) {
		return e.indices(v, t)
	}
	return []*ir.Value{e.cast(v, t)}
}

func (e *shapes) fromElements(op *ir.Op) []*ir.Value {
	t := tensorType(op.Result(0))
	if t.Rank() == 0 {
		return []*ir.Value{e.cast(op.Operand(0), t)}
	}
	if t.Rank() != 1 || !isIndex(op.Result(0)) || op.NumOperands() == 0 {
		return nil
	}
	parts := make([]*ir.Value, op.NumOperands())
	for i, v := range op.Operands() {
		if n, ok := constantIndex(v); ok {
			parts[i] = e.constant(n, e.i32(1))
		} else {
			parts[i] = e.reshape(e.sizes(v), 1)
		}
	}
	return e.indices(e.concatenate(parts), t)
}

// castOperands casts the operands of indices.
func (e *shapes) castOperands(op *ir.Op) []*ir.Value {
	st := op.State()
	st.Operands, st.Attrs = op.OperandList(), slices.Clone(op.Attrs())
	for i, v := range st.Operands {
		if isIndex(v) {
			if st.Operands[i] = e.sizes(v); st.Operands[i] == nil {
				return nil
			}
		}
	}
	return e.Insert(st).ResultList()
}
