package tensor

import "unsafe"

// unsafeString returns b as a string without copying it, for calls that do not keep it.
func unsafeString(b []byte) string { return unsafe.String(unsafe.SliceData(b), len(b)) }
