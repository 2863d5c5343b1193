// Package legalize expresses ops by simpler ops: CHLO by StableHLO, and complex functions by real ones.
//
// The expansions are those of the StableHLO project, op for op and in its order, so that programs compute the same bits
// and have the same text as after its passes.
package legalize
