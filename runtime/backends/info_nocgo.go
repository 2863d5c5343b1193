//go:build !cgo

package backends

import "github.com/hlocb/hlocb/runtime"

// Properties returns what b tells of itself.
func Properties(b runtime.Backend) ([]Property, error) {
	return []Property{{"backend", b.Describe()}}, nil
}
