package plan

import (
	"fmt"
	"reflect"
	"strconv"
	"strings"

	"github.com/hlocb/hlocb/dialect/stablehlo"
	"github.com/hlocb/hlocb/dialect/view"
	"github.com/hlocb/hlocb/interp/internal/kernel"
	"github.com/hlocb/hlocb/ir"
)

// Attrs reads the attributes of an op into the fields of a struct. A field's tag has the attribute's name and, after a
// comma, its value if the op has none: `attr:"dimension,-1"`. dimensions is their number, for lists. Fields are
//   - int and int64: an integer, 0 without a value in the tag
//   - bool: a flag, false without a value in the tag
//   - string: a string, or the spelling of an enumerated attribute
//   - []int64: a list, array<i64: ...>, dense<...> or [...]; nil without the attribute. A list with a value in the tag has
//     a number for each dimension, which is that value without the attribute
//   - a pointer: the data of a dialect's attribute; nil without the attribute
func Attrs[T any](op *ir.Op, dimensions ...int) (out T) {
	v := reflect.ValueOf(&out).Elem()
	for i := range v.NumField() {
		name, absent, _ := strings.Cut(v.Type().Field(i).Tag.Get("attr"), ",")
		setField(v.Field(i), op, name, absent, dimensions)
	}
	return out
}

func setField(f reflect.Value, op *ir.Op, name, absent string, dimensions []int) {
	a := op.Attr(name)
	switch f.Kind() {
	case reflect.Int, reflect.Int64:
		n, _ := strconv.ParseInt(absent, 10, 64)
		f.SetInt(view.IntOr(a, n))
	case reflect.Bool:
		f.SetBool(view.Bool(a) || a == nil && absent == "true")
	case reflect.String:
		f.SetString(text(a, absent))
	case reflect.Slice:
		list := integers(a, name)
		if absent != "" {
			n, _ := strconv.ParseInt(absent, 10, 64)
			list = perDimension(list, name, dimensions[0], n)
		}
		f.Set(reflect.ValueOf(list))
	case reflect.Pointer:
		if d, ok := a.(*ir.DialectAttr); ok {
			if data := reflect.ValueOf(d.Data()); data.IsValid() && data.Type() == f.Type() {
				f.Set(data)
			}
		}
	default:
		panic(fmt.Sprintf("attribute %q: no field of kind %s", name, f.Kind()))
	}
}

// text returns the spelling of a string or an enumerated attribute.
func text(a ir.Attr, absent string) string {
	switch a := a.(type) {
	case *ir.EnumAttr:
		return a.Case()
	case *ir.StringAttr:
		return a.Value()
	}
	return absent
}

// integers returns an integer list attribute, or nil if it is absent.
func integers(a ir.Attr, name string) []int64 {
	switch a := a.(type) {
	case nil:
		return nil
	case *ir.DenseArrayAttr:
		return a.Values()
	case *ir.DenseAttr:
		v, err := a.Int64s()
		kernel.FailIf(err != nil, "attribute %q: %w", name, err)
		return v
	case *ir.ArrayAttr:
		out := make([]int64, len(a.Elems()))
		for i, e := range a.Elems() {
			v, ok := e.(*ir.IntegerAttr)
			kernel.FailIf(!ok, "attribute %q is not a list of integers", name)
			out[i] = v.Value()
		}
		return out
	}
	panic(kernel.Failure{Err: fmt.Errorf("attribute %q is not a list of integers", name)})
}

// perDimension returns a list attribute with a number for each of n dimensions, or n times absent for a nil list.
func perDimension(list []int64, name string, n int, absent int64) []int64 {
	if list == nil {
		list = make([]int64, n)
		for i := range list {
			list[i] = absent
		}
	}
	kernel.FailIf(len(list) != n, "attribute %q has %d entries for %d dimensions", name, len(list), n)
	return list
}

// The attributes that several ops have.
type (
	// Dimensions has the dimensions of reduce and reverse.
	Dimensions struct {
		List []int64 `attr:"dimensions"`
	}
	// Dimension has the dimension of concatenate, sort and others.
	Dimension struct {
		Number int `attr:"dimension,-1"`
	}
	// Comparison has the attributes of compare.
	Comparison struct {
		Direction string `attr:"comparison_direction"`
		Type      string `attr:"compare_type"`
	}
	// Channel has the channel of collectives and transfers.
	Channel struct {
		Handle *stablehlo.ChannelHandle `attr:"channel_handle"`
		Global bool                     `attr:"use_global_device_ids"`
		Host   bool                     `attr:"is_host_transfer"`
	}
)

// Total reports whether compare uses the total order.
func (c *Comparison) Total() bool { return c.Type == "TOTALORDER" }

// BroadcastDimensions returns the dimensions of a broadcast.
func BroadcastDimensions(op *ir.Op) []int64 {
	return Attrs[struct {
		List []int64 `attr:"broadcast_dimensions"`
	}](op).List
}

// Permutation returns the permutation of a transpose.
func Permutation(op *ir.Op) []int64 {
	return Attrs[struct {
		List []int64 `attr:"permutation"`
	}](op).List
}

// Data returns a pointer that Attrs read. It fails if the op has no such attribute.
func Data[T any](p *T, name string) *T {
	kernel.FailIf(p == nil, "has no %s", name)
	return p
}
