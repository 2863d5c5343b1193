// Package irutil has the small questions about ops and edits of them that the work on hooks shares.
package irutil

import (
	"github.com/hlocb/hlocb/dialect/fn"
	"github.com/hlocb/hlocb/dialect/sdy"
	"github.com/hlocb/hlocb/dialect/stablehlo"
	"github.com/hlocb/hlocb/ir"
	"github.com/hlocb/hlocb/tensor"
)

// Constant returns the elements of the integer constant that v is.
func Constant(v *ir.Value) ([]int64, bool) {
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

// IsConstant reports whether v is a constant, possibly broadcast.
func IsConstant(v *ir.Value) bool {
	def := v.DefiningOp()
	if def == nil {
		return false
	}
	switch def.Def().Original() {
	case stablehlo.Constant, stablehlo.Iota, stablehlo.CreateToken:
		return true
	case stablehlo.BroadcastInDim, stablehlo.Reshape:
		return IsConstant(def.Operand(0))
	}
	return false
}

// Filled reports whether v is made of a constant by filling memory with it: XLA does so for each user anew.
func Filled(v *ir.Value) bool {
	def := v.DefiningOp()
	if def == nil {
		return false
	}
	switch def.Def().Original() {
	case stablehlo.Constant:
		d, ok := def.Attr(stablehlo.AttrValue).(*ir.DenseAttr)
		t, ranked := v.Type().(*ir.TensorType)
		if !ok || !ranked || t.Rank() == 0 || d.NumElements() < 2 {
			return false
		}
		_, splat, err := d.Elements()
		return err == nil && splat
	case stablehlo.Iota, stablehlo.BroadcastInDim:
		return true
	case stablehlo.Reshape:
		return Filled(def.Operand(0))
	}
	return false
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

// StringAttr returns the value of a string attribute, "" where there is none.
func StringAttr(a ir.Attr) string {
	if s, ok := a.(*ir.StringAttr); ok {
		return s.Value()
	}
	return ""
}

// IntAttr returns the value of an integer attribute.
func IntAttr(a ir.Attr) (int64, bool) {
	if i, ok := a.(*ir.IntegerAttr); ok && i.Wide() == nil {
		return i.Value(), true
	}
	return 0, false
}

// IsTrue reports whether a is the boolean true.
func IsTrue(a ir.Attr) bool {
	i, ok := a.(*ir.IntegerAttr)
	return ok && i.Value() != 0
}

// Leaves appends the types that t holds, tuples taken apart, in order.
func Leaves(list []ir.Type, t ir.Type) []ir.Type {
	if tt, ok := t.(*ir.TupleType); ok {
		for _, e := range tt.Elems() {
			list = Leaves(list, e)
		}
		return list
	}
	return append(list, t)
}

// HoldsToken reports whether t is a token or a tuple that holds one.
func HoldsToken(t ir.Type) bool {
	switch t := t.(type) {
	case *ir.DialectType:
		return stablehlo.IsToken(t)
	case *ir.TupleType:
		for _, e := range t.Elems() {
			if HoldsToken(e) {
				return true
			}
		}
	}
	return false
}

// Unpack returns the leaves of v, taking tuples apart with get_tuple_element in front of at where they were
// not made in plain sight.
func Unpack(b *ir.Builder, list []*ir.Value, v *ir.Value) []*ir.Value {
	tt, ok := v.Type().(*ir.TupleType)
	if !ok {
		return append(list, v)
	}
	if def := v.DefiningOp(); def != nil && def.IsOrMirrors(stablehlo.Tuple) {
		for _, o := range def.Operands() {
			list = Unpack(b, list, o)
		}
		return list
	}
	m := b.Module()
	for i := range tt.Elems() {
		gte := ir.Must(b.Build(stablehlo.GetTupleElement, []*ir.Value{v},
			ir.NamedAttr{Name: stablehlo.AttrIndex, Attr: ir.NewInteger(int64(i), m.Context().I32())}))
		list = Unpack(b, list, gte.Result(0))
	}
	return list
}

// Pack returns a value of type t made of the next leaves, with tuple ops, and the leaves that are left.
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

// FoldTuples replaces get_tuple_element of a tuple made in plain sight by the element and erases tuples that
// are then unused. It looks at the users of v, a tuple.
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
		if i, ok := IntAttr(op.Attr(stablehlo.AttrIndex)); ok && int(i) < def.NumOperands() {
			elem := def.Operand(int(i))
			op.Result(0).ReplaceAllUsesWith(elem)
			op.Erase()
			FoldTuples(elem)
		}
	}
	EraseDead(def)
}

// EraseDead erases op if nothing uses its results, and then the constants and other plain ops that fed it only.
func EraseDead(op *ir.Op) {
	for _, r := range op.Results() {
		if r.HasUses() {
			return
		}
	}
	operands := op.OperandList()
	op.Erase()
	for _, v := range operands {
		if def := v.DefiningOp(); def != nil && Removable(def) && def.Block() != nil {
			EraseDead(def)
		}
	}
}

// Removable reports whether an op without users may be erased: only ops that this package makes obsolete and
// that certainly do nothing.
func Removable(op *ir.Op) bool {
	switch op.Def().Original() {
	case stablehlo.Constant, stablehlo.Tuple, stablehlo.GetTupleElement, stablehlo.CreateToken, stablehlo.AfterAll, stablehlo.ReplicaID, stablehlo.BroadcastInDim, stablehlo.Or:
		return true
	}
	return false
}

// TypeList returns the types of vals.
func TypeList(vals []*ir.Value) []ir.Type {
	out := make([]ir.Type, len(vals))
	for i, v := range vals {
		out[i] = v.Type()
	}
	return out
}

// Prepend returns v followed by list.
func Prepend[T any](v T, list []T) []T {
	out := make([]T, 0, len(list)+1)
	return append(append(out, v), list...)
}

// TakeRegions returns new regions that hold the blocks of op's.
func TakeRegions(m *ir.Module, op *ir.Op) []*ir.Region {
	var out []*ir.Region
	for _, r := range op.Regions() {
		n := m.NewRegion()
		n.TakeBlocks(r)
		out = append(out, n)
	}
	return out
}

// Rebuild replaces op by one of the same kind, attributes and regions with other operands and result types. The
// caller replaces the uses of op's results and erases op.
func Rebuild(m *ir.Module, op *ir.Op, operands []*ir.Value, types []ir.Type) *ir.Op {
	n := m.Before(op).Insert(&ir.OpState{Def: op.Def(), Operands: operands, Types: types, Attrs: op.Attrs(), Bodies: TakeRegions(m, op)})
	return n
}

// IsTarget reports whether op is a custom call of one of the given targets.
func IsTarget(op *ir.Op, targets ...string) bool {
	t := StringAttr(op.Attr(stablehlo.AttrCallTargetName))
	for _, s := range targets {
		if t == s {
			return true
		}
	}
	return false
}

// Config returns the attributes that a custom call hands its handler, from backend_config or, as JAX writes
// them, from mhlo.backend_config; nil where it has none.
func Config(op *ir.Op) *ir.DictAttr {
	if d, ok := op.Attr("mhlo.backend_config").(*ir.DictAttr); ok {
		return d
	}
	d, _ := op.Attr(stablehlo.AttrBackendConfig).(*ir.DictAttr)
	return d
}

// SplitTokens parts the tokens from the rest.
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

// DataLeaves counts the results of op, tuples taken apart, that are no tokens.
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

// ResultList returns the results of op.
func ResultList(op *ir.Op) []*ir.Value {
	out := make([]*ir.Value, op.NumResults())
	for i := range out {
		out[i] = op.Result(i)
	}
	return out
}

// TypesOf returns the result types of op.
func TypesOf(op *ir.Op) []ir.Type { return TypeList(ResultList(op)) }

// Distinct returns vals less repetitions.
func Distinct(vals []*ir.Value) []*ir.Value {
	var out []*ir.Value
next:
	for _, v := range vals {
		for _, w := range out {
			if v == w {
				continue next
			}
		}
		out = append(out, v)
	}
	return out
}

// EditArg changes the attributes of argument i of f.
func EditArg(f fn.FuncOp, i int, edit func(ir.AttrList) ir.AttrList) {
	t := f.Type()
	args, results := SignatureAttrs(f)
	args[i] = ir.NewDict(edit(args[i].Entries()))
	f.SetSignature(t, args, results)
}

// SignatureAttrs returns the attributes of all arguments and results of f, none of them nil.
func SignatureAttrs(f fn.FuncOp) (args, results []*ir.DictAttr) {
	for i := range f.Type().Inputs() {
		args = append(args, OrEmpty(f.ArgAttrs(i)))
	}
	for i := range f.Type().Results() {
		results = append(results, OrEmpty(f.ResultAttrs(i)))
	}
	return args, results
}

func OrEmpty(d *ir.DictAttr) *ir.DictAttr {
	if d == nil {
		return ir.NewDict(nil)
	}
	return d
}

// Without returns list less element i.
func Without[T any](list []T, i int) []T {
	out := make([]T, 0, len(list)-1)
	return append(append(out, list[:i]...), list[i+1:]...)
}

// Partitions returns on how many devices one run of the module works, 1 where it does not say.
func Partitions(m *ir.Module) int64 {
	n := int64(1)
	for _, name := range [...]string{"mhlo.num_partitions", "mhlo.num_replicas"} {
		if v, ok := IntAttr(m.Op().Attr(name)); ok && v > 1 {
			n *= v
		}
	}
	return n
}

// RowMajorLayout returns dense<[rank-1, ..., 0]> : tensor<rank x index>.
func RowMajorLayout(ctx *ir.Context, rank int) ir.Attr {
	t := tensor.New(tensor.Index, tensor.Shape{int64(rank)})
	for i, v := 0, tensor.View[int64](t); i < rank; i++ {
		v[i] = int64(rank - 1 - i)
	}
	return ctx.DenseFromTensor(t)
}

// Returns returns the func.return ops of f.
func Returns(f fn.FuncOp) []*ir.Op {
	var out []*ir.Op
	for _, b := range f.Region(0).Blocks() {
		if t := b.Last(); t != nil && t.Is(fn.Return) {
			out = append(out, t)
		}
	}
	return out
}

const (
	AttrSdySharding  = "sdy.sharding"
	AttrMhloSharding = "mhlo.sharding"
)

// PerValue returns the entries of #sdy.sharding_per_value<[...]>.
func PerValue(a ir.Attr) ([]*sdy.Sharding, bool) {
	d, ok := a.(*ir.DialectAttr)
	if !ok {
		return nil, false
	}
	p, ok := d.Data().(*sdy.PerValue)
	if !ok {
		return nil, false
	}
	return p.Shardings, true
}
