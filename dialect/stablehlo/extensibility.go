package stablehlo

import (
	"github.com/hlocb/hlocb/dialect/stablehlo/ods"
	"github.com/hlocb/hlocb/ir"
)

var symbolRefs = ods.ArrayOf(ods.SymbolRef, "flat symbol ref array attribute")

var layouts = ods.ArrayOf(ir.AttrConstraint{Check: func(a ir.Attr) bool {
	d, ok := a.(*ir.DenseAttr)
	if !ok {
		return false
	}
	t, ok := d.Type().(*ir.TensorType)
	if !ok || t.Rank() != 1 {
		return false
	}
	_, ok = t.Elem().(*ir.IndexType)
	return ok
}}, "Array of layout (1D tensor of index type) attributes")

// CustomCall calls code that the compiler does not know.
var CustomCall = &ir.Def{
	Name: "stablehlo.custom_call", Doc: "Calls code that the implementation knows by name. Spec: custom_call.",
	Operands: []ir.Arg{{Name: "inputs", Type: callOperand, Mult: ir.Variadic}},
	Results:  []ir.Arg{{Name: "results", Type: callOperand, Mult: ir.Variadic}},
	Attrs: []ir.AttrSpec{
		ods.Required("call_target_name", ods.StrAttr),
		ods.Defaulted("has_side_effect", ods.BoolAttr, attrFalse),
		ods.Optional("backend_config", ir.AttrConstraint{Summary: "string attribute or dictionary of named attribute values", Check: func(a ir.Attr) bool { return ods.IsString(a) || ods.IsDict(a) }}),
		ods.Defaulted("api_version", ir.AttrConstraint{Summary: "Custom call API version", Kind: ir.KindInt, Form: ir.FormBare, FormType: i32, Check: func(a ir.Attr) bool {
			i, ok := a.(*ir.IntegerAttr)
			return ok && i.Type() == ir.Type(i32) && i.Value() >= 0 && i.Value() < int64(len(apiVersionNames))
		}}, ir.NewInteger(APIOriginal, i32)),
		ods.Defaulted("called_computations", symbolRefs, ir.NewArray(nil)),
		ods.Optional("operand_layouts", layouts),
		ods.Optional("result_layouts", layouts),
		ods.Defaulted("output_operand_aliases", ods.ArrayOf(OutputOperandAliasAttr.Constraint(), "Aliasing attribute for outputs and operands of CustomCall"), ir.NewArray(nil)),
		ods.Late("result_tilings", ods.ArrayAttr),
	},
	Effects: func(op *ir.Op) ir.Effects {
		if (CustomCallOp{op}).HasSideEffect() {
			return ir.AllEffects
		}
		return 0
	},
	Format: "custom<CustomCallTarget>($call_target_name) `(` $inputs `)` attr-dict `:` functional-type(operands, results)",
	Verify: verify(layoutsRule, configRule, aliasesRule, bufferTargetsRule),
}

// Composite represents a call of a function.
var Composite = &ir.Def{
	Name: "stablehlo.composite", Doc: "Names an op that a function can replace. Spec: composite.",
	Operands: []ir.Arg{{Name: "inputs", Type: ods.TupleElem, Mult: ir.Variadic}},
	Results:  []ir.Arg{{Name: "results", Type: ods.TupleElem, Mult: ir.Variadic}},
	Attrs: []ir.AttrSpec{
		ods.Required("name", ods.StrAttr), ods.Defaulted("composite_attributes", ods.DictAttr, ir.NewDict(nil)),
		ods.Required("decomposition", ods.SymbolRef), ods.Defaulted("version", ods.I32NonNeg, ir.NewInteger(0, i32)),
	},
	Regions: []ir.RegionSpec{{Name: "composite_regions", Mult: ir.Variadic}},
	Flow:    &ir.Flow{Callee: "decomposition"},
	Format:  "$name $inputs (` ` `(` $composite_regions^ `)`)? attr-dict `:` functional-type(operands, results)",
	Verify:  verify(compositeRule),
	Clauses: ir.Clauses(`
		C1 name has a namespace: identifiers joined by dots
		C2 decomposition names a function
		C3 the operands have the types of the decomposition's arguments
		C4 the results have the types of the decomposition's results
	`),
}

// Tuple and GetTupleElement pack and unpack tuples.
var (
	Tuple = &ir.Def{
		Name: "stablehlo.tuple", Doc: "Makes a tuple of its operands. Spec: tuple.",
		Operands: []ir.Arg{{Name: "val", Type: ods.AnyOf(ods.TupleElem, ods.AnyMemref), Mult: ir.Variadic}},
		Results:  []ir.Arg{{Name: "result", Type: ods.TupleOf}},
		Traits:   ir.Pure,
		Format:   "$val attr-dict `:` custom<TupleOpType>(type($val), type($result))",
		Infer:    infer(inferTuple), Verify: verify(agrees(inferTuple)), // (C1)
		Clauses: ir.Clauses(`
			C1 the result is the tuple of the operands' types
		`),
	}
	GetTupleElement = &ir.Def{
		Name: "stablehlo.get_tuple_element", Doc: "Returns one element of a tuple. Spec: get_tuple_element.",
		Operands: []ir.Arg{{Name: "operand", Type: ods.TupleOf}},
		Results:  []ir.Arg{{Name: "result", Type: ods.AnyOf(ods.AnyRanked, ods.QAxisTensor, ods.Token, ods.TupleOf, ods.AnyMemref)}},
		Attrs:    []ir.AttrSpec{ods.Required("index", ods.I32NonNeg)},
		Traits:   ir.Pure,
		Format:   "$operand `[` $index `]` attr-dict `:` functional-type(operands, results)",
		Infer:    infer(inferGetTupleElement), Verify: verify(agrees(inferGetTupleElement)),
		Clauses: ir.Clauses(`
			C1 index is one of the tuple's
			C2 the result has the type of that element
		`),
	}
)
