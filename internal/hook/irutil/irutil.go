// Package irutil has small queries and edits of ops that the hook packages and the passes share.
package irutil

import (
	"slices"

	"github.com/hlocb/hlocb/dialect/mhlo"
	"github.com/hlocb/hlocb/dialect/sdy"
	"github.com/hlocb/hlocb/dialect/stablehlo"
	"github.com/hlocb/hlocb/dialect/view"
	"github.com/hlocb/hlocb/ir"
	"github.com/hlocb/hlocb/tensor"
)

// Integers returns the elements of v if v is an integer constant.
func Integers(v *ir.Value) ([]int64, bool) {
	def := v.DefiningOp()
	if def == nil || !def.IsOrMirrors(stablehlo.Constant) {
		return nil, false
	}
	d, ok := def.Attr(stablehlo.AttrValue).(*ir.DenseAttr)
	if !ok {
		return nil, false
	}
	t, ok := v.Type().(*ir.TensorType)
	if !ok || !t.Static() || tensor.Shape(t.Shape()).NumElements() > 4096 {
		return nil, false
	}
	vals, err := d.Int64s()
	return vals, err == nil
}

// HasType reports whether v is a tensor of the given element type and shape.
func HasType(v *ir.Value, d tensor.DType, shape ...int64) bool {
	t, ok := v.Type().(*ir.TensorType)
	return ok && t.Static() && t.DType() == d && tensor.Shape(t.Shape()).Equal(shape)
}

// IsZeroSize reports whether t is a tensor without elements.
func IsZeroSize(t ir.Type) bool {
	tt, ok := t.(*ir.TensorType)
	return ok && tt.Static() && tensor.Shape(tt.Shape()).NumElements() == 0
}

// Leaves appends the leaf types of types in order. It expands tuples.
func Leaves(list []ir.Type, types ...ir.Type) []ir.Type {
	for _, t := range types {
		if tt, ok := t.(*ir.TupleType); ok {
			list = Leaves(list, tt.Elems()...)
		} else {
			list = append(list, t)
		}
	}
	return list
}

// HoldsToken reports whether t is a token or a tuple that contains one.
func HoldsToken(t ir.Type) bool {
	switch t := t.(type) {
	case *ir.DialectType:
		return stablehlo.IsToken(t)
	case *ir.TupleType:
		return slices.ContainsFunc(t.Elems(), HoldsToken)
	}
	return false
}

// Unpack appends the leaves of vals. It expands tuples with get_tuple_element unless it finds the op that built them.
func Unpack(b *ir.Builder, list []*ir.Value, vals ...*ir.Value) []*ir.Value {
	for _, v := range vals {
		tt, ok := v.Type().(*ir.TupleType)
		if !ok {
			list = append(list, v)
			continue
		}
		if def := v.DefiningOp(); def != nil && def.IsOrMirrors(stablehlo.Tuple) {
			list = Unpack(b, list, def.OperandList()...)
			continue
		}
		for i := range tt.Elems() {
			gte := ir.Must(b.Build(stablehlo.GetTupleElement, []*ir.Value{v},
				ir.NamedAttr{Name: stablehlo.AttrIndex, Attr: ir.NewInteger(int64(i), ir.Int(32))}))
			list = Unpack(b, list, gte.Result(0))
		}
	}
	return list
}

// Pack packs the first leaves into a value of type t. It returns the value and the remaining leaves.
func Pack(b *ir.Builder, t ir.Type, leaves []*ir.Value) (*ir.Value, []*ir.Value) {
	tt, ok := t.(*ir.TupleType)
	if !ok {
		return leaves[0], leaves[1:]
	}
	elems := make([]*ir.Value, len(tt.Elems()))
	for i, e := range tt.Elems() {
		elems[i], leaves = Pack(b, e, leaves)
	}
	return ir.Must(b.Build(stablehlo.Tuple, elems)).Result(0), leaves
}

// FoldTuples replaces each get_tuple_element of v, a tuple that an op packs, with the element. It erases the tuple if
// nothing uses it afterwards.
func FoldTuples(v *ir.Value) {
	def := v.DefiningOp()
	if def == nil || !def.IsOrMirrors(stablehlo.Tuple) {
		return
	}
	for u := range v.Uses() {
		op := u.Owner()
		if !op.IsOrMirrors(stablehlo.GetTupleElement) {
			continue
		}
		if i, ok := view.OptionalInt(op.Attr(stablehlo.AttrIndex)); ok && int(i) < def.NumOperands() {
			elem := def.Operand(int(i))
			op.Result(0).ReplaceAllUsesWith(elem)
			op.Erase()
			FoldTuples(elem)
		}
	}
	EraseDead(def)
}

// EraseDead erases op if its results are unused, and then the removable ops that only op used.
func EraseDead(op *ir.Op) {
	if op.HasUses() {
		return
	}
	operands := op.OperandList()
	op.Erase()
	for _, v := range operands {
		if def := v.DefiningOp(); def != nil && Removable(def) && def.Block() != nil {
			EraseDead(def)
		}
	}
}

// Removable reports whether an op without users may be erased: raising makes it obsolete, and it has no effects.
func Removable(op *ir.Op) bool {
	switch op.Def().Original() {
	case stablehlo.Constant, stablehlo.Tuple, stablehlo.GetTupleElement, stablehlo.CreateToken, stablehlo.AfterAll, stablehlo.ReplicaID, stablehlo.BroadcastInDim, stablehlo.Or:
		return true
	}
	return false
}

// Prepend returns v followed by list.
func Prepend[T any](v T, list []T) []T {
	out := make([]T, 0, len(list)+1)
	return append(append(out, v), list...)
}

// Around returns op, or the op around it, in block b. It returns nil if op is not in b.
func Around(op *ir.Op, b *ir.Block) *ir.Op {
	for op != nil && op.Block() != b {
		op = op.Parent()
	}
	return op
}

// IsTarget reports whether op is a custom call of one of the given targets.
func IsTarget(op *ir.Op, targets ...string) bool {
	return slices.Contains(targets, view.String(op.Attr(stablehlo.AttrCallTargetName)))
}

// IsAnnotation reports whether op is a call that states for GSPMD's partitioner how a value is sharded. The value
// itself is unchanged.
func IsAnnotation(op *ir.Op) bool {
	return op.IsOrMirrors(stablehlo.CustomCall) && op.NumOperands() == 1 && op.NumResults() == 1 &&
		IsTarget(op, "Sharding", "SPMDFullToShardShape", "SPMDShardToFullShape")
}

// Zero creates a tensor of type t whose bits are all zero.
func Zero(b *ir.Builder, t *ir.TensorType) *ir.Value {
	zero := ir.NewDense(t, tensor.New(t.DType(), nil), true)
	if IsZeroSize(t) {
		zero = ir.NewDense(t, tensor.New(t.DType(), t.Shape()), false)
	}
	return Constant(b, zero)
}

// Constant creates a constant.
func Constant(b *ir.Builder, value ir.Attr) *ir.Value {
	return ir.Must(b.Build(stablehlo.Constant, nil, ir.NamedAttr{Name: stablehlo.AttrValue, Attr: value})).Result(0)
}

// Config returns the attributes that a custom call passes to its handler, from backend_config or, as in JAX, from
// mhlo.backend_config. It returns nil if there are none.
func Config(op *ir.Op) *ir.DictAttr {
	if d, ok := op.Attr(mhlo.AttrBackendConfig).(*ir.DictAttr); ok {
		return d
	}
	d, _ := op.Attr(stablehlo.AttrBackendConfig).(*ir.DictAttr)
	return d
}

// Without returns vals without v.
func Without(vals []*ir.Value, v *ir.Value) []*ir.Value {
	return slices.DeleteFunc(slices.Clone(vals), func(w *ir.Value) bool { return w == v })
}

// SplitTokens separates the tokens from the other values.
func SplitTokens(vals []*ir.Value) (tokens, data []*ir.Value) {
	for _, v := range vals {
		if stablehlo.IsToken(v.Type()) {
			tokens = append(tokens, v)
		} else {
			data = append(data, v)
		}
	}
	return tokens, data
}

// DataLeaves counts the leaves of vals that are not tokens. It expands tuples.
func DataLeaves(vals []*ir.Value) int {
	n := 0
	for _, v := range vals {
		for _, t := range Leaves(nil, v.Type()) {
			if !stablehlo.IsToken(t) {
				n++
			}
		}
	}
	return n
}

// Distinct returns vals without repetitions.
func Distinct(vals []*ir.Value) []*ir.Value {
	var out []*ir.Value
	for _, v := range vals {
		if !slices.Contains(out, v) {
			out = append(out, v)
		}
	}
	return out
}

// Partitions returns the number of devices that one run of the module uses, or 1 if the module does not specify it.
func Partitions(m *ir.Module) int64 {
	replicas, partitions := mhlo.Devices(m)
	return int64(max(1, replicas)) * int64(max(1, partitions))
}

// PerValue returns the entries of #sdy.sharding_per_value<[...]>.
func PerValue(a ir.Attr) ([]*sdy.Sharding, bool) {
	if p := view.Data[sdy.PerValue](a); p != nil {
		return p.Shardings, true
	}
	return nil, false
}
