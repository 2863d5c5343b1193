// Package parse reads MLIR text into an ir.Module.
//
// The grammar is MLIR's generic one (MLIR Language Reference); pretty forms come from the definitions in the
// registry: an assembly format, or a Parse hook. Nothing here knows any particular dialect. Ops, types and
// attributes of unknown dialects are kept as they are.
//
// The lexer works on the bytes of the source and never copies them; types, dialect attributes and short locations
// are recognized by their text, so that the second occurrence costs one map lookup; dense payloads are checked in
// one scan and decoded when somebody asks for the elements.
package parse
