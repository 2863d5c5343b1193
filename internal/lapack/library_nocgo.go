//go:build !cgo

package lapack

// Open returns Pure: without cgo no shared library can be called.
func Open(string) (*Library, error) { return Pure(), nil }
