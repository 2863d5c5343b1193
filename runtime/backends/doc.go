// Package backends chooses what executes programs: the embedded engine or a PJRT plugin. It is the only package
// that knows both. Without cgo there is the engine alone, and every other backend says so.
package backends
