//go:build !cgo

package backends

import "github.com/hlocb/hlocb/runtime"

// Properties returns what b tells of itself.
func Properties(b runtime.Backend) ([]Property, error) {
	return []Property{{"backend", b.Describe()}}, nil
}

// Traits returns the platform that b executes on and whether it can call handlers by the FFI extension.
func Traits(b runtime.Backend) (platform string, ffi bool) { return b.Name(), true }
