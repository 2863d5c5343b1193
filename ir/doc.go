// Package ir is the intermediate representation: modules, operations, values, blocks, regions, types, attributes,
// locations, and the definitions (Def) of op kinds.
//
// All op kinds, known or unknown, share one Op struct. The Def of an op, data in a dialect package, describes its kind.
// An op of an unregistered kind gets a new Def whose Known is false. It keeps everything it was written with; trait
// queries (Has and MightHave) handle the unknown case explicitly.
//
// Types are interned in a Context and compared with ==. Attributes are immutable and compared with EqualAttrs. A Module
// owns the memory of its operations, uses and values. All mutation goes through the methods of this package, which
// maintain use lists and parent links. Fields are unexported, which allows the storage to change without changes to
// passes. Several goroutines may read a Module at once, or each change another of its functions or other
// IsolatedFromAbove ops.
//
// An op has two positions: Pos, the byte offset in the text it was read from, for diagnostics; and Loc, the MLIR
// location, which round-trips.
package ir
