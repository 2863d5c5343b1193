// Package proof holds the tests that show the rewriting of hooks right on what executes programs: the embedded engine
// and XLA. Random programs (package randprog), modules that XLA is known to reorder, and what real systems recorded
// are rewritten, executed and compared. HLOCB_LONG=1 runs thousands of programs and hundreds of repetitions.
package proof
