// Package hlo reads and writes XLA's HLO: the text that XLA dumps and prints, and the protos HloModuleProto, HloProto,
// HloSnapshot and HloUnoptimizedSnapshot.
//
// A Module is faithful to its source. Names, layouts, tilings, memory spaces, the schedule, metadata, control
// predecessors, backend configs, statistics and original values stay as they were read, so that text or proto in and
// text or proto out differ only in spelling. The package keeps a model of its own instead of a dialect: HLO names
// every instruction and computation, gives every value a layout, and has no regions; a dialect would carry all of that
// as attributes that no pass understands.
//
// Reading checks the syntax, names, operand counts and operand shapes, as XLA's reader does. It does not infer result
// shapes that the text states; Verify does.
//
// Sources: xla/hlo/parser/hlo_lexer.cc and hlo_parser.cc for what is read, xla/hlo/ir/hlo_instruction.cc and
// hlo_instructions.cc for what is printed, xla/service/hlo.proto and xla/xla_data.proto for the protos, all of XLA at
// 5a9e73cbd9 (June 2026).
package hlo
