// Package bytecode reads and writes MLIR bytecode, versions 0 to 6 (MLIR, "MLIR Bytecode Format"; its BytecodeReader
// and BytecodeWriter).
//
// Read returns the module that a file holds. VHLO operations, attributes and types stay VHLO; package vhlo upgrades
// them. Append writes a module, in the order of sections, dialects, attributes, types and strings that MLIR's own
// writer chooses, so that equal modules give equal bytes.
//
// The reader works on the bytes of the source and keeps tables that are indexed by the numbers in the file. It trusts
// nothing: every count is checked against the bytes that are left, and every error names the offset.
package bytecode
