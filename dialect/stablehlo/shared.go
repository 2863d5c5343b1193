package stablehlo

import "github.com/hlocb/hlocb/ir"

// What dialects that build on StableHLO (chlo, mhlo, check) share with it.

// Compatible reports whether a value of type a may stand where type b is expected.
func Compatible(a, b ir.Type) bool { return compatible(a, b) }

// EnumAttr returns the constraint of attributes of def.
func EnumAttr(def *ir.EnumDef, summary string) ir.AttrConstraint { return enum(def, summary) }

// EnumIn returns def for another dialect that shares it.
func EnumIn(def *ir.EnumDef, dialect string) *ir.EnumDef { return inDialect(def, dialect) }

// ParsedAttr returns the constraint of a dialect's own attributes named name, which are read as a T.
func ParsedAttr[T any](name, summary string) ir.AttrConstraint { return parsed[T](name, summary) }

// PrecisionConfig is the attribute of that name.
func PrecisionConfig() ir.AttrSpec { return precisionConfig }

// BoundsOf returns the bounds of a tensor's dynamic sizes, nil where it has none.
func BoundsOf(t *ir.TensorType) []int64 { return boundsOf(t) }

// ParseTypeIn reads a type of the dialect or of one that shares its types under its own name.
func ParseTypeIn(dialect string) func(ir.AsmParser, string) ir.Type {
	return func(p ir.AsmParser, name string) ir.Type { return parseType(dialect, p, name) }
}

// Constraints of values that other dialects use.
var (
	AnyRanked     = anyTensor
	AnyQuantized  = anyTensorQ
	AnyUnranked   = unrankedAny
	RankedInt     = intTensor
	FlowValue     = flowResult
	TupleOrMemref = anyOf(tupleElem, anyMemref)
)
