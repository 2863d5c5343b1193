//go:build !amd64

package machine

import "unsafe"

func invoke(unsafe.Pointer, *unsafe.Pointer, int) { panic(errUnsupported) }
