// Package diag holds source text, positions in it, and the diagnostics that point at them.
//
// A position is a byte offset; line and column are computed only when a diagnostic is printed, so that the
// stages that carry positions (lexer, parser, operations) pay four bytes for each. The package knows nothing
// of the languages whose text it holds and imports nothing of this module.
package diag
