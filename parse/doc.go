// Package parse reads MLIR text into an ir.Module.
//
// The grammar of the generic form is in grammar.md. The assembly of an op comes from its definition in the registry: a
// compiled format or a Parse hook. The package knows no particular dialect. It keeps ops, types and attributes of
// unknown dialects as they are.
//
// The lexer works on the bytes of the source and never copies them. Repeated types and attributes are found by their
// text in a cache (cache.go). A dense literal is checked in one scan and decoded when its elements are first read; a
// long decimal one is decoded at once.
package parse
