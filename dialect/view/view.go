// Package view converts attributes to Go values and back, and finds an op's operands by the rows of its definition. It
// supports the typed views and builders that are generated from the rows of a dialect.
package view

import (
	"fmt"
	"reflect"
	"slices"

	"github.com/hlocb/hlocb/ir"
	"github.com/hlocb/hlocb/tensor"
)

// Int returns the value of an integer attribute, or 0 for any other a.
func Int(a ir.Attr) int64 {
	v, _ := OptionalInt(a)
	return v
}

// IntOr is like Int but returns absent for an absent attribute.
func IntOr(a ir.Attr, absent int64) int64 {
	if v, ok := OptionalInt(a); ok {
		return v
	}
	return absent
}

// OptionalInt returns the value of an integer attribute. ok is false for any other a, and for more than 64 bits.
func OptionalInt(a ir.Attr) (v int64, ok bool) {
	if i, ok := a.(*ir.IntegerAttr); ok && i.Wide() == nil {
		return i.Value(), true
	}
	return 0, false
}

// Bool reports whether a is true or unit.
func Bool(a ir.Attr) bool {
	_, unit := a.(*ir.UnitAttr)
	return unit || Int(a) != 0
}

// OptionalBool is like OptionalInt for booleans.
func OptionalBool(a ir.Attr) (value, ok bool) {
	n, ok := OptionalInt(a)
	return n != 0, ok
}

// Float returns the value of a float attribute, or 0 for any other a.
func Float(a ir.Attr) float64 {
	f, ok := a.(*ir.FloatAttr)
	if !ok {
		return 0
	}
	return tensor.DecodeFloat(f.Type().DType(), f.Bits())
}

// String returns the value of a string attribute, or "" for any other a.
func String(a ir.Attr) string {
	if s, ok := a.(*ir.StringAttr); ok {
		return s.Value()
	}
	return ""
}

// Symbol returns the symbol that a refers to, or "" if a is not a symbol reference.
func Symbol(a ir.Attr) string {
	if s, ok := a.(*ir.SymbolRefAttr); ok {
		return s.Root()
	}
	return ""
}

// Ints returns the integers of an array attribute or, as in MHLO, of a dense attribute. It returns nil for any other a.
func Ints(a ir.Attr) []int64 {
	switch a := a.(type) {
	case *ir.DenseArrayAttr:
		return a.Values()
	case *ir.DenseAttr:
		return Elements(a)
	}
	return nil
}

// Bools is like Ints for booleans.
func Bools(a ir.Attr) []bool {
	var out []bool
	for _, v := range Ints(a) {
		out = append(out, v != 0)
	}
	return out
}

// maxElements limits the integers in an attribute of an op, because a literal with one number can claim any shape.
const maxElements = 1 << 20

// Elements returns the integers of a dense attribute, or nil if there are none or more than a million.
func Elements(a ir.Attr) []int64 {
	d, ok := a.(*ir.DenseAttr)
	if !ok {
		return nil
	}
	n := int64(1)
	if t, ok := d.Type().(*ir.TensorType); ok {
		for _, s := range t.Shape() {
			if n *= max(s, 0); n > maxElements {
				return nil
			}
		}
	}
	v, err := d.Int64s()
	if err != nil {
		return nil
	}
	return v
}

// Data returns the data of an attribute whose row has data of type *T, or nil for any other a.
func Data[T any](a ir.Attr) *T {
	d, _ := ir.DataOf[T](a)
	return d
}

// Case returns the case of an enumerated attribute, or the first case for any other a.
func Case[E ~int](a ir.Attr) E {
	if e, ok := a.(*ir.EnumAttr); ok {
		return E(e.Code())
	}
	return 0
}

// List applies f to each element of an array attribute. It returns nil for any other a.
func List[T any](a ir.Attr, f func(ir.Attr) T) []T {
	arr, ok := a.(*ir.ArrayAttr)
	if !ok {
		return nil
	}
	out := make([]T, len(arr.Elems()))
	for i, e := range arr.Elems() {
		out[i] = f(e)
	}
	return out
}

// Attr returns a unchanged.
func Attr(a ir.Attr) ir.Attr { return a }

// Group returns the operands of op that belong to row i of its definition.
func Group(op *ir.Op, i int) []*ir.Value {
	var buf [8]int
	counts, ok := op.OperandSegments(buf[:])
	if !ok {
		return nil
	}
	from := 0
	for _, n := range counts[:i] {
		from += n
	}
	return op.OperandList()[from : from+counts[i]]
}

// Join returns the operands of several groups as one list, without nil values.
func Join(groups ...[]*ir.Value) []*ir.Value {
	return slices.DeleteFunc(slices.Concat(groups...), func(v *ir.Value) bool { return v == nil })
}

// Single returns the operand of op that belongs to row i of its definition, or nil if there is none.
func Single(op *ir.Op, i int) *ir.Value {
	if group := Group(op, i); len(group) > 0 {
		return group[0]
	}
	return nil
}

// ResultTypes returns the types of the results of op that belong to row i of its definition.
func ResultTypes(op *ir.Op, i int) []ir.Type {
	var buf [8]int
	counts, ok := op.ResultSegments(buf[:])
	if !ok {
		return nil
	}
	from := 0
	for _, n := range counts[:i] {
		from += n
	}
	return op.ResultTypes()[from : from+counts[i]]
}

// SetGroup replaces the operands of op that belong to row i of its definition. It omits nil values.
func SetGroup(op *ir.Op, i int, values ...*ir.Value) {
	var buf [8]int
	counts, ok := op.OperandSegments(buf[:])
	if !ok {
		panic("view: the operands of " + op.Name() + " do not divide into groups")
	}
	from := 0
	for _, n := range counts[:i] {
		from += n
	}
	values = Join(values)
	old := op.OperandList()
	op.SetOperands(slices.Concat(old[:from], values, old[from+counts[i]:]))
	if op.Has(ir.AttrSizedOperands) {
		sizes := make([]int64, len(counts))
		for k, n := range counts {
			sizes[k] = int64(n)
		}
		sizes[i] = int64(len(values))
		op.SetAttr(operandSizes, ir.NewDenseArray(ir.Int(32), sizes))
	}
}

// Attributes that hold the lengths of groups.
const (
	operandSizes = "operandSegmentSizes"
	resultSizes  = "resultSegmentSizes"
)

// Sizes returns the lengths of groups as the value of operandSegmentSizes or resultSegmentSizes.
func Sizes[T any](groups ...[]T) []int64 {
	sizes := make([]int64, len(groups))
	for i, g := range groups {
		sizes[i] = int64(len(g))
	}
	return sizes
}

// Build makes an op. values are the values of def's attributes in order. A zero optional attribute is omitted. types
// are the result types. If def has ir.ChosenTypes or no Infer, they must be given; otherwise, def infers them.
func Build(b *ir.Builder, def *ir.Def, types []ir.Type, operands []*ir.Value, regions []*ir.Region, values ...any) (*ir.Op, error) {
	st := &ir.OpState{Def: def, Operands: operands, Bodies: regions, Types: types}
	for i, v := range values {
		spec := &def.Attrs[i]
		if a := attrOf(b.Module().Context(), spec, v); a != nil {
			st.SetAttr(spec.Name, a)
		}
	}
	if def.Infer == nil || def.Traits&ir.ChosenTypes != 0 {
		return b.Typed(st)
	}
	return b.Infer(st)
}

// Set changes an attribute of op. A zero value removes the attribute if it is optional.
func Set(op *ir.Op, name string, value any) {
	spec := op.Def().Attr(name)
	if spec == nil {
		panic("view: " + op.Name() + " has no attribute '" + name + "'")
	}
	if a := attrOf(op.Module().Context(), spec, value); a != nil {
		op.SetAttr(name, a)
	} else {
		op.RemoveAttr(name)
	}
}

// attrOf returns v as an attribute of row spec, or nil if there is nothing to write.
func attrOf(ctx *ir.Context, spec *ir.AttrSpec, v any) ir.Attr {
	x := reflect.ValueOf(v)
	switch {
	case !x.IsValid() || x.Kind() == reflect.Pointer && x.IsNil() || spec.Optional && x.IsZero():
		return nil
	case spec.Name == operandSizes || spec.Name == resultSizes:
		return ir.NewDenseArray(ir.Int(32), v.([]int64))
	}
	return encode(ctx, &spec.Type, x)
}

// encode returns x as an attribute that c accepts.
func encode(ctx *ir.Context, c *ir.AttrConstraint, x reflect.Value) ir.Attr {
	if a, ok := x.Interface().(ir.Attr); ok {
		return a
	}
	switch {
	case c.Enum != nil:
		return ir.NewEnum(c.Enum, int(x.Int()))
	case c.Attr != nil:
		return c.Attr.New(x.Interface())
	case c.Elem != nil:
		elems := make([]ir.Attr, x.Len())
		for i := range elems {
			elems[i] = encode(ctx, c.Elem, x.Index(i))
		}
		return ir.NewArray(elems)
	}
	if x.Kind() == reflect.Pointer {
		x = x.Elem()
	}
	switch c.Kind {
	case ir.KindUnit:
		if !x.Bool() {
			return nil
		}
		return ir.NewUnit()
	case ir.KindBool:
		return ctx.Bool(x.Bool())
	case ir.KindInt:
		return ir.NewInteger(x.Int(), c.FormType)
	case ir.KindFloat:
		t := c.FormType.(*ir.FloatType)
		return ir.NewFloatBits(tensor.EncodeFloat(t.DType(), x.Float()), t)
	case ir.KindString:
		return ir.NewString(x.String())
	case ir.KindSymbol:
		return ir.NewSymbolRef(x.String())
	case ir.KindInts:
		list := x.Interface().([]int64)
		if c.FormType == nil {
			return elements(ctx, tensor.I64, list)
		}
		return ir.NewDenseArray(c.FormType, list)
	case ir.KindBools:
		list := make([]int64, x.Len())
		for i := range list {
			if x.Index(i).Bool() {
				list[i] = 1
			}
		}
		if c.FormType == nil {
			return elements(ctx, tensor.I1, list)
		}
		return ir.NewDenseArray(c.FormType, list)
	}
	panic(fmt.Sprintf("view: no attribute for a %s", x.Type()))
}

// elements returns the numbers as a tensor of rank 1.
func elements(ctx *ir.Context, d tensor.DType, list []int64) ir.Attr {
	t := tensor.New(d, tensor.Shape{int64(len(list))})
	for i, n := range list {
		t.SetInt(i, n)
	}
	return ctx.DenseFromTensor(t)
}
