package stablehlo

import (
	"github.com/hlocb/hlocb/ir"
	"github.com/hlocb/hlocb/tensor"
)

// Constraints on attributes. The summaries are those of MLIR's messages.
var (
	StrAttr    = ir.AttrConstraint{Summary: "string attribute", Check: isString, Form: ir.FormBare}
	BoolAttr   = ir.AttrConstraint{Summary: "bool attribute", Check: func(a ir.Attr) bool { i, ok := a.(*ir.IntegerAttr); return ok && i.IsBool() }, Form: ir.FormBare, FormType: i1}
	UnitAttr   = ir.AttrConstraint{Summary: "unit attribute", Check: isUnit}
	I64Attr    = intAttr(i64, "64-bit signless integer attribute", nil)
	I64NonNeg  = intAttr(i64, "64-bit signless integer attribute whose value is non-negative", nonNegative)
	I64Pos     = intAttr(i64, "64-bit signless integer attribute whose value is positive", positive)
	I32Attr    = intAttr(i32, "32-bit signless integer attribute", nil)
	I32NonNeg  = intAttr(i32, "32-bit signless integer attribute whose value is non-negative", nonNegative)
	I32Pos     = intAttr(i32, "32-bit signless integer attribute whose value is positive", positive)
	F32Attr    = ir.AttrConstraint{Summary: "32-bit float attribute", Check: isF32, Form: ir.FormBare, FormType: ir.Float(tensor.F32)}
	F64Attr    = ir.AttrConstraint{Summary: "64-bit float attribute", Check: isF64, Form: ir.FormBare, FormType: ir.Float(tensor.F64)}
	I64Array   = ir.AttrConstraint{Summary: "i64 dense array attribute", Check: isI64Array, Form: ir.FormInts, FormType: i64}
	BoolArray  = ir.AttrConstraint{Summary: "i1 dense array attribute", Check: isBoolArray, Form: ir.FormInts, FormType: i1}
	I64Elems   = ir.AttrConstraint{Summary: "64-bit signless integer elements attribute", Check: isI64Elements}
	ElemsAttr  = ir.AttrConstraint{Summary: "constant vector/tensor attribute", Check: isElements}
	ArrayAttr  = ir.AttrConstraint{Summary: "array attribute", Check: isArray}
	DictAttr   = ir.AttrConstraint{Summary: "dictionary of named attribute values", Check: isDict}
	SymbolRef  = ir.AttrConstraint{Summary: "flat symbol reference attribute", Check: isFlatSymbol, Form: ir.FormBare}
	SymbolName = ir.AttrConstraint{Summary: "string attribute", Check: isString, Form: ir.FormSymbol}
	AnyAttr    = ir.AttrConstraint{Summary: "any attribute", Check: func(ir.Attr) bool { return true }}
)

func isString(a ir.Attr) bool { _, ok := a.(*ir.StringAttr); return ok }
func isUnit(a ir.Attr) bool   { _, ok := a.(*ir.UnitAttr); return ok }
func isArray(a ir.Attr) bool  { _, ok := a.(*ir.ArrayAttr); return ok }
func isDict(a ir.Attr) bool   { _, ok := a.(*ir.DictAttr); return ok }

func isF32(a ir.Attr) bool {
	f, ok := a.(*ir.FloatAttr)
	return ok && f.Type().DType() == tensor.F32
}

func isF64(a ir.Attr) bool {
	f, ok := a.(*ir.FloatAttr)
	return ok && f.Type().DType() == tensor.F64
}

func isFlatSymbol(a ir.Attr) bool {
	s, ok := a.(*ir.SymbolRefAttr)
	return ok && len(s.Nested()) == 0
}

func isI64Array(a ir.Attr) bool {
	d, ok := a.(*ir.DenseArrayAttr)
	return ok && d.Elem() == ir.Type(i64)
}

func isBoolArray(a ir.Attr) bool {
	d, ok := a.(*ir.DenseArrayAttr)
	return ok && d.Elem() == ir.Type(i1)
}

func isElements(a ir.Attr) bool {
	switch a.(type) {
	case *ir.DenseAttr, *ir.ResourceAttr:
		return true
	}
	return false
}

func isI64Elements(a ir.Attr) bool {
	d, ok := a.(*ir.DenseAttr)
	if !ok {
		return false
	}
	t, ok := d.Type().(*ir.TensorType)
	return ok && t.Elem() == ir.Type(i64)
}

func nonNegative(v int64) bool { return v >= 0 }
func positive(v int64) bool    { return v > 0 }

func intAttr(t *ir.IntegerType, summary string, ok func(int64) bool) ir.AttrConstraint {
	return ir.AttrConstraint{Summary: summary, Form: ir.FormBare, FormType: t, Check: func(a ir.Attr) bool {
		i, isInt := a.(*ir.IntegerAttr)
		return isInt && i.Type() == ir.Type(t) && (ok == nil || ok(i.Value()))
	}}
}

// enum returns the constraint of attributes of def.
func enum(def *ir.EnumDef, summary string) ir.AttrConstraint {
	return ir.AttrConstraint{Summary: summary, Enum: def, Check: func(a ir.Attr) bool {
		e, ok := a.(*ir.EnumAttr)
		return ok && e.Enum().Name == def.Name
	}}
}

// arrayOf returns the constraint of arrays whose elements are all accepted by elem.
func arrayOf(elem func(ir.Attr) bool, summary string) ir.AttrConstraint {
	return ir.AttrConstraint{Summary: summary, Check: func(a ir.Attr) bool {
		arr, ok := a.(*ir.ArrayAttr)
		if !ok {
			return false
		}
		for _, e := range arr.Elems() {
			if !elem(e) {
				return false
			}
		}
		return true
	}}
}

// parsed returns the constraint of the dialect's own attributes named name, which are read as a T.
func parsed[T any](name, summary string) ir.AttrConstraint {
	return ir.AttrConstraint{Summary: summary, Form: ir.FormParams, FormName: name, Check: func(a ir.Attr) bool {
		d, ok := a.(*ir.DialectAttr)
		if !ok {
			return false
		}
		_, ok = d.Data().(*T)
		return ok
	}}
}

// required, optional and defaulted make the attribute list of a row.
func required(name string, c ir.AttrConstraint) ir.AttrSpec { return ir.AttrSpec{Name: name, Type: c} }

func optional(name string, c ir.AttrConstraint) ir.AttrSpec {
	return ir.AttrSpec{Name: name, Type: c, Optional: true}
}

func defaulted(name string, c ir.AttrConstraint, v ir.Attr) ir.AttrSpec {
	return ir.AttrSpec{Name: name, Type: c, Optional: true, Default: v}
}

// always is an attribute that every op has: reading an op without it sets the default.
func always(name string, c ir.AttrConstraint, v ir.Attr) ir.AttrSpec {
	return ir.AttrSpec{Name: name, Type: c, Default: v}
}

var attrFalse = ir.NewInteger(0, i1)
