//go:build !linux

package heap

// Memory returns 0: this system does not report its memory.
func Memory() uint64 { return 0 }
