// Package ir is the intermediate representation: modules, operations, values, blocks, regions, types, attributes,
// locations, and the definitions (Def) of op kinds.
//
// There is one Op struct for all op kinds, known or not. The meaning of an op stands in its Def, a row of data in a
// dialect package. An op of an unregistered kind gets a Def whose Known is false. It keeps everything it was written
// with and answers every trait query explicitly (Has and MightHave).
//
// Types are interned in a Context and compared with ==. Attributes are immutable and compared with EqualAttrs. All
// changes go through the methods of this package, which keep use lists and parent links right. A handle (*Op, *Value,
// *Use, *Block, *Region) stays safe forever: after its thing is erased, every query has a plain answer, and a change
// panics.
//
// Any number of goroutines may read a module that nobody changes. Several goroutines may change one module at a time if
// each changes the inside of another op that is IsolatedFromAbove.
//
// An op has two positions. Pos is the byte offset in the text it was read from, for diagnostics. Loc is MLIR's
// location, data that round-trips.
package ir
