// Package ir is the intermediate representation: modules, operations, values, blocks, regions, types,
// attributes, locations, and the definitions (Def) that say everything known of an op kind.
//
// There is one Op struct for all op kinds, known or not. What an op means stands in its Def, a row of data in
// a dialect package; an op of an unregistered kind gets a Def made on the fly whose Known is false, keeps
// everything it was written with, and answers every trait query explicitly (Has and MightHave).
//
// Types are interned in a Context and compared with ==. Attributes are immutable and compared with EqualAttrs.
// Operations, uses and values live in slabs that their Module owns. All mutation goes through the methods of
// this package, which keep use lists and parent links right; fields are unexported so that storage can change
// without touching a pass. A Module must not be changed from several goroutines at once; reading is safe.
//
// An op has two positions: Pos, the byte offset in the text it was read from, for diagnostics; and Loc, MLIR's
// location, data that round-trips.
package ir
