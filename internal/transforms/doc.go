// Package transforms runs StableHLO's own tests of passes: it executes the RUN lines of each file in process, on each
// part of the file alone, and compares the output with the part's CHECK lines and expected-error comments.
package transforms
