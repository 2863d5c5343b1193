// Package bytecode reads and writes MLIR bytecode, versions 0 to 6 (MLIR, "MLIR Bytecode Format"; its BytecodeReader
// and BytecodeWriter).
//
// Read returns the module in a file. VHLO operations, attributes and types stay VHLO; package vhlo upgrades them.
// Append writes a module. It orders sections, dialects, attributes, types and strings like MLIR's own writer, so equal
// modules yield equal bytes.
//
// The reader works on the bytes of the source and keeps tables that are indexed by the numbers in the file. It trusts
// nothing: it checks every count against the remaining bytes, and every error names the offset.
package bytecode
