package hooks

import (
	"strings"

	"github.com/hlocb/hlocb/dialect/stablehlo"
	"github.com/hlocb/hlocb/ir"
	"github.com/hlocb/hlocb/tensor"
)

// stable returns the op's mnemonic in StableHLO, "" for ops of other dialects. MHLO spells the same ops with
// another prefix.
func stable(op *ir.Op) string {
	name := op.Name()
	if s, ok := strings.CutPrefix(name, "stablehlo."); ok {
		return s
	}
	if s, ok := strings.CutPrefix(name, "mhlo."); ok {
		return s
	}
	return ""
}

// isReturn reports whether op hands its operands to the op around it.
func isReturn(op *ir.Op) bool {
	switch op.Name() {
	case "stablehlo.return", "mhlo.return", "func.return", "sdy.return":
		return true
	}
	return false
}

// constant returns the elements of the integer constant that v is.
func constant(v *ir.Value) ([]int64, bool) {
	def := v.DefiningOp()
	if def == nil || stable(def) != "constant" {
		return nil, false
	}
	d, ok := def.Attr("value").(*ir.DenseAttr)
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

// isConstant reports whether v is a constant, possibly broadcast.
func isConstant(v *ir.Value) bool {
	def := v.DefiningOp()
	if def == nil {
		return false
	}
	switch stable(def) {
	case "constant", "iota", "create_token":
		return true
	case "broadcast_in_dim", "reshape":
		return isConstant(def.Operand(0))
	}
	return false
}

// filled reports whether v is made of a constant by filling memory with it: XLA does so for each user anew.
func filled(v *ir.Value) bool {
	def := v.DefiningOp()
	if def == nil {
		return false
	}
	switch stable(def) {
	case "constant":
		d, ok := def.Attr("value").(*ir.DenseAttr)
		t, ranked := v.Type().(*ir.TensorType)
		if !ok || !ranked || t.Rank() == 0 || d.NumElements() < 2 {
			return false
		}
		_, splat, err := d.Elements()
		return err == nil && splat
	case "iota", "broadcast_in_dim":
		return true
	case "reshape":
		return filled(def.Operand(0))
	}
	return false
}

// hasType reports whether v is a tensor of the given element type and shape.
func hasType(v *ir.Value, d tensor.DType, shape ...int64) bool {
	t, ok := v.Type().(*ir.TensorType)
	return ok && t.Static() && t.DType() == d && tensor.Shape(t.Shape()).Equal(shape)
}

// isZeroSize reports whether t is a tensor without elements.
func isZeroSize(t ir.Type) bool {
	tt, ok := t.(*ir.TensorType)
	return ok && tt.Static() && tensor.Shape(tt.Shape()).NumElements() == 0
}

// stringAttr returns the value of a string attribute, "" where there is none.
func stringAttr(a ir.Attr) string {
	if s, ok := a.(*ir.StringAttr); ok {
		return s.Value()
	}
	return ""
}

// intAttr returns the value of an integer attribute.
func intAttr(a ir.Attr) (int64, bool) {
	if i, ok := a.(*ir.IntegerAttr); ok && i.Wide() == nil {
		return i.Value(), true
	}
	return 0, false
}

// isTrue reports whether a is the boolean true.
func isTrue(a ir.Attr) bool {
	i, ok := a.(*ir.IntegerAttr)
	return ok && i.Value() != 0
}

// leaves appends the types that t holds, tuples taken apart, in order.
func leaves(list []ir.Type, t ir.Type) []ir.Type {
	if tt, ok := t.(*ir.TupleType); ok {
		for _, e := range tt.Elems() {
			list = leaves(list, e)
		}
		return list
	}
	return append(list, t)
}

// holdsToken reports whether t is a token or a tuple that holds one.
func holdsToken(t ir.Type) bool {
	switch t := t.(type) {
	case *ir.DialectType:
		return stablehlo.IsToken(t)
	case *ir.TupleType:
		for _, e := range t.Elems() {
			if holdsToken(e) {
				return true
			}
		}
	}
	return false
}

// unpack returns the leaves of v, taking tuples apart with get_tuple_element in front of at where they were
// not made in plain sight.
func unpack(b *ir.Builder, list []*ir.Value, v *ir.Value) []*ir.Value {
	tt, ok := v.Type().(*ir.TupleType)
	if !ok {
		return append(list, v)
	}
	if def := v.DefiningOp(); def != nil && stable(def) == "tuple" {
		for _, o := range def.Operands() {
			list = unpack(b, list, o)
		}
		return list
	}
	m := b.Module()
	for i := range tt.Elems() {
		gte := ir.Must(b.Build(m.Def("stablehlo.get_tuple_element"), []*ir.Value{v},
			ir.NamedAttr{Name: "index", Attr: ir.NewInteger(int64(i), m.Context().I32())}))
		list = unpack(b, list, gte.Result(0))
	}
	return list
}

// pack returns a value of type t made of the next leaves, with tuple ops, and the leaves that are left.
func pack(b *ir.Builder, t ir.Type, leaves []*ir.Value) (*ir.Value, []*ir.Value) {
	tt, ok := t.(*ir.TupleType)
	if !ok {
		return leaves[0], leaves[1:]
	}
	elems := make([]*ir.Value, len(tt.Elems()))
	for i, e := range tt.Elems() {
		elems[i], leaves = pack(b, e, leaves)
	}
	return ir.Must(b.Build(b.Module().Def("stablehlo.tuple"), elems)).Result(0), leaves
}

// foldTuples replaces get_tuple_element of a tuple made in plain sight by the element and erases tuples that
// are then unused. It looks at the users of v, a tuple.
func foldTuples(v *ir.Value) {
	def := v.DefiningOp()
	if def == nil || stable(def) != "tuple" {
		return
	}
	for u := range v.Uses() {
		op := u.Owner()
		if stable(op) != "get_tuple_element" {
			continue
		}
		if i, ok := intAttr(op.Attr("index")); ok && int(i) < def.NumOperands() {
			elem := def.Operand(int(i))
			op.Result(0).ReplaceAllUsesWith(elem)
			op.Erase()
			foldTuples(elem)
		}
	}
	eraseDead(def)
}

// eraseDead erases op if nothing uses its results, and then the constants and other plain ops that fed it only.
func eraseDead(op *ir.Op) {
	for _, r := range op.Results() {
		if r.HasUses() {
			return
		}
	}
	operands := op.OperandList()
	op.Erase()
	for _, v := range operands {
		if def := v.DefiningOp(); def != nil && removable(def) && def.Block() != nil {
			eraseDead(def)
		}
	}
}

// removable reports whether an op without users may be erased: only ops that this package makes obsolete and
// that certainly do nothing.
func removable(op *ir.Op) bool {
	switch stable(op) {
	case "constant", "tuple", "get_tuple_element", "create_token", "after_all", "replica_id", "broadcast_in_dim", "or":
		return true
	}
	return false
}

// typeList returns the types of vals.
func typeList(vals []*ir.Value) []ir.Type {
	out := make([]ir.Type, len(vals))
	for i, v := range vals {
		out[i] = v.Type()
	}
	return out
}

// prepend returns v followed by list.
func prepend[T any](v T, list []T) []T {
	out := make([]T, 0, len(list)+1)
	return append(append(out, v), list...)
}

// takeRegions returns new regions that hold the blocks of op's.
func takeRegions(m *ir.Module, op *ir.Op) []*ir.Region {
	var out []*ir.Region
	for _, r := range op.Regions() {
		n := m.NewRegion()
		n.TakeBlocks(r)
		out = append(out, n)
	}
	return out
}

// rebuild replaces op by one of the same kind, attributes and regions with other operands and result types. The
// caller replaces the uses of op's results and erases op.
func rebuild(m *ir.Module, op *ir.Op, operands []*ir.Value, types []ir.Type) *ir.Op {
	n := m.Before(op).Insert(&ir.OpState{Def: op.Def(), Operands: operands, Types: types, Attrs: op.Attrs(), Bodies: takeRegions(m, op)})
	return n
}
