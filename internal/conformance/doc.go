// Package conformance has only tests: they compare the parser, printer and verifier with MLIR (jaxlib), over our
// modules and StableHLO's test files.
package conformance
