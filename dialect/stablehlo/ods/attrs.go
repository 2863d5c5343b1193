package ods

import (
	"github.com/hlocb/hlocb/ir"
	"github.com/hlocb/hlocb/tensor"
)

// Constraints on attributes.
var (
	StrAttr    = ir.AttrConstraint{Summary: "string attribute", Kind: ir.KindString, Check: IsString, Form: ir.FormBare}
	BoolAttr   = ir.AttrConstraint{Summary: "bool attribute", Kind: ir.KindBool, Check: isBool, Form: ir.FormBare, FormType: i1}
	UnitAttr   = ir.AttrConstraint{Summary: "unit attribute", Kind: ir.KindUnit, Check: is[*ir.UnitAttr]}
	I64Attr    = intAttr(i64, "64-bit signless integer attribute", nil)
	I64NonNeg  = intAttr(i64, "64-bit signless integer attribute whose value is non-negative", nonNegative)
	I64Pos     = intAttr(i64, "64-bit signless integer attribute whose value is positive", positive)
	UI64Attr   = intAttr(ir.ElementOf(tensor.UI64).(*ir.IntegerType), "64-bit unsigned integer attribute", nil)
	I32Attr    = intAttr(i32, "32-bit signless integer attribute", nil)
	I32NonNeg  = intAttr(i32, "32-bit signless integer attribute whose value is non-negative", nonNegative)
	I32Pos     = intAttr(i32, "32-bit signless integer attribute whose value is positive", positive)
	F32Attr    = ir.AttrConstraint{Summary: "32-bit float attribute", Kind: ir.KindFloat, Check: isFloat(tensor.F32), Form: ir.FormBare, FormType: ir.Float(tensor.F32)}
	F64Attr    = ir.AttrConstraint{Summary: "64-bit float attribute", Kind: ir.KindFloat, Check: isFloat(tensor.F64), Form: ir.FormBare, FormType: ir.Float(tensor.F64)}
	I64Array   = ir.AttrConstraint{Summary: "i64 dense array attribute", Kind: ir.KindInts, Check: isArrayOf(i64), Form: ir.FormInts, FormType: i64}
	BoolArray  = ir.AttrConstraint{Summary: "i1 dense array attribute", Kind: ir.KindBools, Check: isArrayOf(i1), Form: ir.FormInts, FormType: i1}
	I64Elems   = ir.AttrConstraint{Summary: "64-bit signless integer elements attribute", Check: IsI64Elements}
	ElemsAttr  = ir.AttrConstraint{Summary: "constant vector/tensor attribute", Check: IsElements}
	ArrayAttr  = ir.AttrConstraint{Summary: "array attribute", Kind: ir.KindArray, Check: is[*ir.ArrayAttr]}
	DictAttr   = ir.AttrConstraint{Summary: "dictionary of named attribute values", Check: IsDict}
	SymbolRef  = ir.AttrConstraint{Summary: "flat symbol reference attribute", Kind: ir.KindSymbol, Check: IsFlatSymbol, Form: ir.FormBare}
	SymbolName = ir.AttrConstraint{Summary: "string attribute", Kind: ir.KindString, Check: IsString, Form: ir.FormSymbol}
)

func is[A ir.Attr](a ir.Attr) bool { _, ok := a.(A); return ok }

// IsString reports whether a is a string.
func IsString(a ir.Attr) bool { return is[*ir.StringAttr](a) }

// IsDict reports whether a is a dictionary.
func IsDict(a ir.Attr) bool { return is[*ir.DictAttr](a) }

func isBool(a ir.Attr) bool {
	i, ok := a.(*ir.IntegerAttr)
	return ok && i.Type() == ir.Type(ir.Int(1))
}

func isFloat(d tensor.DType) func(ir.Attr) bool {
	return func(a ir.Attr) bool {
		f, ok := a.(*ir.FloatAttr)
		return ok && f.Type().DType() == d
	}
}

// IsFlatSymbol reports whether a is a symbol reference with a single name.
func IsFlatSymbol(a ir.Attr) bool {
	s, ok := a.(*ir.SymbolRefAttr)
	return ok && len(s.Nested()) == 0
}

func isArrayOf(t *ir.IntegerType) func(ir.Attr) bool {
	return func(a ir.Attr) bool {
		d, ok := a.(*ir.DenseArrayAttr)
		return ok && d.Elem() == ir.Type(t)
	}
}

// IsElements reports whether a holds the elements of a tensor, or names a resource that holds them.
func IsElements(a ir.Attr) bool { return is[*ir.DenseAttr](a) || is[*ir.ResourceAttr](a) }

// ElementsType returns the type of a dense or resource attribute, or nil for any other attribute.
func ElementsType(a ir.Attr) ir.Type {
	switch a := a.(type) {
	case *ir.DenseAttr:
		return a.Type()
	case *ir.ResourceAttr:
		return a.Type()
	}
	return nil
}

// IsI64Elements reports whether a holds the elements of a tensor of i64.
func IsI64Elements(a ir.Attr) bool {
	d, ok := a.(*ir.DenseAttr)
	if !ok {
		return false
	}
	t, ok := d.Type().(*ir.TensorType)
	return ok && t.Elem() == ir.Type(i64)
}

func nonNegative(v int64) bool { return v >= 0 }
func positive(v int64) bool    { return v > 0 }

func intAttr(t *ir.IntegerType, summary string, accept func(int64) bool) ir.AttrConstraint {
	return ir.AttrConstraint{Summary: summary, Kind: ir.KindInt, Form: ir.FormBare, FormType: t, Check: func(a ir.Attr) bool {
		i, ok := a.(*ir.IntegerAttr)
		return ok && i.Type() == ir.Type(t) && (accept == nil || accept(i.Value()))
	}}
}

// Enum accepts the cases of def.
func Enum(def *ir.EnumDef, summary string) ir.AttrConstraint {
	return ir.AttrConstraint{Summary: summary, Enum: def, Check: func(a ir.Attr) bool {
		e, ok := a.(*ir.EnumAttr)
		return ok && e.Enum().Name == def.Name // also in a dialect that mirrors the other
	}}
}

// ArrayOf accepts arrays whose elements elem accepts.
func ArrayOf(elem ir.AttrConstraint, summary string) ir.AttrConstraint {
	return ir.AttrConstraint{Summary: summary, Elem: &elem, Check: func(a ir.Attr) bool {
		arr, ok := a.(*ir.ArrayAttr)
		if !ok {
			return false
		}
		for _, e := range arr.Elems() {
			if !elem.Check(e) {
				return false
			}
		}
		return true
	}}
}

// Required returns the row of a required attribute.
func Required(name string, c ir.AttrConstraint) ir.AttrSpec { return ir.AttrSpec{Name: name, Type: c} }

// Optional returns the row of an optional attribute.
func Optional(name string, c ir.AttrConstraint) ir.AttrSpec {
	return ir.AttrSpec{Name: name, Type: c, Optional: true}
}

// Late returns the row of an optional attribute that StableHLO 1.17 does not know.
func Late(name string, c ir.AttrConstraint) ir.AttrSpec {
	return ir.AttrSpec{Name: name, Type: c, Optional: true, Late: true}
}

// LateDefaulted returns the row of an optional attribute with default v that StableHLO 1.17 does not know.
func LateDefaulted(name string, c ir.AttrConstraint, v ir.Attr) ir.AttrSpec {
	return ir.AttrSpec{Name: name, Type: c, Optional: true, Default: v, Late: true}
}

// Defaulted returns the row of an optional attribute with default v.
func Defaulted(name string, c ir.AttrConstraint, v ir.Attr) ir.AttrSpec {
	return ir.AttrSpec{Name: name, Type: c, Optional: true, Default: v}
}

// Always returns the row of an attribute that every op has. When an op without it is read, it is set to v.
func Always(name string, c ir.AttrConstraint, v ir.Attr) ir.AttrSpec {
	return ir.AttrSpec{Name: name, Type: c, Default: v}
}
