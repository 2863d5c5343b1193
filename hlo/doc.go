// Package hlo reads and writes XLA's HLO: the text that XLA dumps and prints, and the protos HloModuleProto, HloProto,
// HloSnapshot and HloUnoptimizedSnapshot.
//
// A Module is faithful to its source. It keeps names, layouts, tilings, memory spaces, the schedule, metadata,
// control predecessors, backend configs, statistics and original values as they were read. Text or proto output
// therefore differs from its input only in spelling. The package has its own model instead of a dialect: HLO names
// every instruction and computation, assigns a layout to every value, and has no regions. A dialect would carry all
// of this as attributes that no pass understands.
//
// Reading checks the syntax, names, operand counts and operand shapes, as XLA's reader does. It does not infer result
// shapes that the text states; Import compares those of calls, loops and pairs, and ir.Verify checks the StableHLO.
//
// Sources: xla/hlo/parser/hlo_lexer.cc and hlo_parser.cc for reading, xla/hlo/ir/hlo_instruction.cc and
// hlo_instructions.cc for printing, xla/service/hlo.proto and xla/xla_data.proto for the protos, all of XLA at
// 5a9e73cbd9 (June 2026).
package hlo
