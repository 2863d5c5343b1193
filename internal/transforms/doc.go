// Package transforms runs StableHLO's own tests of passes. It executes the RUN lines of each file in process, on one
// part of the file at a time, and compares the output with the part's CHECK lines and expected-error comments.
package transforms
