// Package diag holds source text, positions in it, and the diagnostics that refer to them.
//
// A position is a byte offset. The package computes line and column only when it prints a diagnostic, which keeps a
// position at four bytes in the lexer, the parser and the operations. The package does not depend on the language of
// the text and imports no other package of this module.
package diag
