//go:build !cgo

package backends

import "github.com/hlocb/hlocb/runtime"

// InfoOf describes b.
func InfoOf(b runtime.Backend) (*Info, error) { return &Info{Backend: b.Describe()}, nil }

// Traits returns the platform of b and whether b can call handlers by the FFI extension.
func Traits(b runtime.Backend) (platform string, ffi bool) { return b.Name(), true }
