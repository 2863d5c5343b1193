package stablehlo

import "github.com/hlocb/hlocb/ir"

// What dialects that build on StableHLO (chlo, mhlo, check) share with it.

// EnumIn returns def for another dialect that shares it.
func EnumIn(def *ir.EnumDef, dialect string) *ir.EnumDef { return inDialect(def, dialect) }

// ParsedAttr returns the constraint of a dialect's own attributes named name, which are read as a T.
func ParsedAttr[T any](name, summary string) ir.AttrConstraint { return parsed[T](name, summary) }

// PrecisionConfig is the attribute of that name.
func PrecisionConfig() ir.AttrSpec { return precisionConfig }

// ParseTypeIn reads a type of the dialect or of one that shares its types under its own name.
func ParseTypeIn(dialect string) func(ir.AsmParser, string) ir.Type {
	return func(p ir.AsmParser, name string) ir.Type { return parseType(dialect, p, name) }
}
