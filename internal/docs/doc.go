// Package docs tests the documents: their commands print what the documents show, their Go compiles and runs, and their
// tables are complete.
package docs
