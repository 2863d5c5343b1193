//go:build !cgo

package backends

import "github.com/hlocb/hlocb/runtime"

// InfoOf returns what b tells of itself.
func InfoOf(b runtime.Backend) (*Info, error) { return &Info{Backend: b.Describe()}, nil }

// Traits returns the platform that b executes on and whether it can call handlers by the FFI extension.
func Traits(b runtime.Backend) (platform string, ffi bool) { return b.Name(), true }
