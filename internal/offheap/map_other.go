//go:build !unix

package offheap

import "unsafe"

// mapMemory allocates on Go's heap. The pool's lists are pointers, so that the blocks stay alive until unmapMemory.
func mapMemory(n int) ([]byte, error) {
	b := make([]byte, n+Align)
	skip := -uintptr(unsafe.Pointer(&b[0])) % Align
	return b[skip : skip+uintptr(n) : skip+uintptr(n)], nil
}

func unmapMemory([]byte) {}
