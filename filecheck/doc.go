// Package filecheck checks the output of a program against directives in a text, as LLVM's FileCheck does, and runs the
// RUN lines of tests that are written for it.
//
//	// RUN: my-opt %s --cse | FileCheck %s
//	// CHECK-LABEL: func @main
//	// CHECK: %[[X:.*]] = stablehlo.add
//	// CHECK-NOT: stablehlo.add
//	// CHECK-NEXT: return %[[X]]
//
// [Parse] reads the directives and [Check.Match] applies them to a text. [Lines] reads the RUN lines, and a [Runner]
// executes them in process: its tools are Go functions, so a Go test of a compiler needs no shell and no other binary.
//
// All of FileCheck's directives are supported: CHECK, NEXT, SAME, NOT, DAG, LABEL, EMPTY, COUNT-n, the modifier
// LITERAL, prefixes and comment prefixes; in patterns {{regular expressions}}, [[STRING:variables]], [[#numeric]]
// expressions and [[@LINE]]. Regular expressions are POSIX extended ones: the longest of the leftmost matches counts,
// and neither '.' nor a negated class matches a line's end.
package filecheck
