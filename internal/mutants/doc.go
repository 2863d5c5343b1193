// Command mutants changes one thing at a time in the code of a package, and reports the changes that the package's own
// tests do not notice.
//
//	go run ./internal/mutants [flags] PACKAGE...
//
// A changed program is a mutant. It is killed if a test fails or hangs, and survives otherwise. A survivor shows a rule
// that no test checks, or an equivalent mutant: a change without an effect. equivalent.txt lists the equivalent mutants
// with the reasons.
//
// All mutants of a package are compiled into one test binary. Each is a branch on a variable, which the environment
// sets: a mutant costs a run of the binary, not a build. A first run of each test records the mutants that the test
// reaches; a mutant runs only these tests, and survives without a run if there are none.
//
// These are the mutants:
//
//   - a comparison with its boundary moved (< for <=), or negated
//   - && for ||, and an operand of && or || without effect
//   - a negated condition, argument or result of type bool
//   - an arithmetic operator replaced: + and -, * and /, & and |, << and >>
//   - a constant of an integer type, one larger
//   - a statement without effect: a call, an assignment, ++, break, continue, defer, go, and return in a function
//     without results
//
// A zero or false that is returned beside an error stays: callers do not read it.
//
// A mutant hangs if it needs five times the processor time of its tests, and two seconds more.
//
// Gremlins and go-mutesting, the Go tools for this, build a test binary per mutant. For the packages here a build takes
// seconds, and the tests of most packages milliseconds. Gremlins also drops no statements.
package main
