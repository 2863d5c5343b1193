// Package conformance holds no code, only the tests that compare the parser, printer and verifier with MLIR itself
// (jaxlib) and run them over the corpora.
package conformance
