// Package backends chooses the backend that executes programs: the embedded engine or a PJRT plugin. It is the only
// package that imports both. Without cgo it opens only the engine, and every other backend is an error.
package backends
