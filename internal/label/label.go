// Package label labels tests for the Makefile. 'go test' runs every test; 'make test' leaves out slow tests, and
// 'make race' and 'make nocgo' leave out tests that need no second run. Only tests use it.
package label

import (
	"os"
	"testing"
)

// again is the variable that is set if tests run again, with the race detector or without cgo.
const again = "HLOCB_AGAIN"

// Slow labels a test that takes long and that few changes break. 'make test', which passes -short, skips the test;
// 'make slow' runs it, and so do 'make race' and 'make nocgo' unless it is labelled Once, too. Call Slow in the Test
// function itself, where internal/testlist finds the call.
func Slow(t testing.TB) {
	t.Helper()
	if testing.Short() && os.Getenv(again) == "" {
		t.Skip("skip: slow: 'make slow' runs it")
	}
}

// rest is the variable that is set if tests run for the parts that 'make test' left out.
const rest = "HLOCB_REST"

// Part reports whether to run a part of a test: 'make test' runs the first parts, 'make slow' the others, and 'go test'
// runs all. Call Part in the Test function itself, as Slow.
func Part(first bool) bool {
	switch {
	case testing.Short():
		return first
	case os.Getenv(rest) != "":
		return !first
	}
	return true
}

// mutant is the variable that internal/mutants sets, which asks what the tests of one package notice.
const mutant = "HLOCB_MUTANT"

// Elsewhere labels a test that repeats for its own package what a test of another package shows for all: only a plain
// 'go test' of the package runs it, and 'make mutants'. Call Elsewhere in the Test function itself, as Slow.
func Elsewhere(t testing.TB, where string) {
	t.Helper()
	if os.Getenv(mutant) != "" {
		return
	}
	if testing.Short() || os.Getenv(rest) != "" || os.Getenv(again) != "" {
		t.Skip("skip: elsewhere: " + where + " shows the same")
	}
}

// Less reports whether a test should do less than it can, because 'make test' runs it. 'make slow' runs the whole test.
// Call Less in the Test function itself, as Slow, and prefer Part, which runs nothing twice.
func Less() bool { return testing.Short() }

// Once labels a test that needs no second run under the race detector and without cgo: it shares nothing between
// threads that no other test shares, and it does not reach cgo.
func Once(t testing.TB) {
	t.Helper()
	if os.Getenv(again) != "" {
		t.Skip("skip: once: 'make test' runs it")
	}
}
