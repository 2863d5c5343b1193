// Package stablehlo is the StableHLO dialect: one row per operation, with its constraints, its assembly format, its
// rules and its shape inference, and the attributes and types that have a syntax of their own.
//
// Rows stand in files by theme (elementwise.go, reduction.go, ...). Their Clauses are the constraints of the StableHLO
// specification, by its numbers; the comment of a rule gives the number of the constraint that it checks: (C3). What
// several rules need is in infer.go.
// Typed readings of attributes (DotDims, ConvDims, GatherDims, ...) are what passes and engines compute with.
package stablehlo
