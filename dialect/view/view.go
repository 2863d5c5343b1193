// Package view converts attributes to Go values and back, and finds an op's operands by the rows of its definition. It
// supports the typed views and builders that are generated from the rows of a dialect.
package view

import (
	"fmt"
	"reflect"
	"slices"
	"strings"

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

// Build creates an op and lets def infer its result types. values are the values of def's attributes in order. A zero
// optional attribute is omitted.
func Build(b *ir.Builder, def *ir.Def, operands []*ir.Value, regions []*ir.Region, values ...any) (*ir.Op, error) {
	return b.Infer(state(b, def, operands, regions, nil, values))
}

// Make is like Build with explicit result types.
func Make(b *ir.Builder, def *ir.Def, operands []*ir.Value, regions []*ir.Region, types []ir.Type, values ...any) *ir.Op {
	return b.Insert(state(b, def, operands, regions, types, values))
}

func state(b *ir.Builder, def *ir.Def, operands []*ir.Value, regions []*ir.Region, types []ir.Type, values []any) *ir.OpState {
	st := &ir.OpState{Def: def, Operands: operands, Bodies: regions, Types: types}
	for i, v := range values {
		spec := &def.Attrs[i]
		if a := attrOf(b.Module().Context(), &spec.Type, v, spec.Optional); a != nil {
			st.SetAttr(spec.Name, a)
		}
	}
	return st
}

// attrOf returns v as an attribute that c accepts, or nil if there is nothing to write.
func attrOf(ctx *ir.Context, c *ir.AttrConstraint, v any, optional bool) ir.Attr {
	x := reflect.ValueOf(v)
	if !x.IsValid() || x.Kind() == reflect.Pointer && x.IsNil() || optional && x.IsZero() {
		return nil
	}
	if a, ok := v.(ir.Attr); ok {
		return a
	}
	switch {
	case c.Enum != nil:
		return ir.NewEnum(c.Enum, int(x.Int()))
	case c.Attr != nil:
		return c.Attr.New(v)
	case c.Elem != nil:
		elems := make([]ir.Attr, x.Len())
		for i := range elems {
			elems[i] = attrOf(ctx, c.Elem, x.Index(i).Interface(), false)
		}
		return ir.NewArray(elems)
	}
	switch v := v.(type) {
	case *int64:
		return ir.NewInteger(*v, c.FormType)
	case int64:
		return ir.NewInteger(v, c.FormType)
	case *bool:
		return ctx.Bool(*v)
	case bool:
		if c.FormType == nil {
			return ir.NewUnit()
		}
		return ctx.Bool(v)
	case float64:
		t := c.FormType.(*ir.FloatType)
		return ir.NewFloatBits(tensor.EncodeFloat(t.DType(), v), t)
	case string:
		if strings.HasPrefix(c.Summary, "flat symbol reference") {
			return ir.NewSymbolRef(v)
		}
		return ir.NewString(v)
	case []int64:
		return ir.NewDenseArray(c.FormType, v)
	case []bool:
		ints := make([]int64, len(v))
		for i, b := range v {
			if b {
				ints[i] = 1
			}
		}
		return ir.NewDenseArray(c.FormType, ints)
	}
	panic(fmt.Sprintf("no attribute for a %T", v))
}
