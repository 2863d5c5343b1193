// Package stablehlo is the StableHLO dialect. It has one row per operation, with its constraints, assembly format,
// rules and shape inference, and the attributes and types that have their own syntax.
//
// The rows are in files by topic (elementwise.go, reduction.go, ...). Their Clauses are the constraints of the
// StableHLO specification, with its numbers. The comment of a rule names the constraint that it checks: (C3). Code that
// several rules share is in infer.go. Passes and engines compute with the typed data of attributes (DotDims, ConvDims,
// GatherDims, ...).
package stablehlo
