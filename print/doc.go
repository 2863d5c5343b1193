// Package print writes an ir.Module as MLIR text, byte for byte as MLIR's own printer does: value names, aliases and
// their numbers, the order of attributes, float literals, hexadecimal data.
//
// Value names follow MLIR's rule (AsmPrinter.cpp, SSANameState). Every region continues the numbering of the region
// around it. Names that ops propose (%cst, %iterArg) are made unique with a separate counter. The printer appends to
// one byte slice; pretty forms come from the definitions in the module's registry.
package print
