package machine

import "unsafe"

// invoke calls code with the table of addresses in rdi, the number of elements in rsi and 8192 bytes at r12.
//
//go:noescape
func invoke(entry unsafe.Pointer, table *unsafe.Pointer, n int)
