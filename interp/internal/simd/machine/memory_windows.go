//go:build amd64

package machine

import (
	"unsafe"

	"golang.org/x/sys/windows"
)

const supported = true

// executable returns memory that holds the code and may be executed, but not written.
func executable(code []byte) ([]byte, error) {
	p, err := windows.VirtualAlloc(0, uintptr(len(code)), windows.MEM_COMMIT|windows.MEM_RESERVE, windows.PAGE_READWRITE)
	if err != nil {
		return nil, err
	}
	m := unsafe.Slice((*byte)(unsafe.Add(unsafe.Pointer(nil), p)), len(code))
	copy(m, code)
	var old uint32
	if err := windows.VirtualProtect(p, uintptr(len(code)), windows.PAGE_EXECUTE_READ, &old); err != nil {
		_ = release(m)
		return nil, err
	}
	return m, nil
}

func release(m []byte) error {
	return windows.VirtualFree(uintptr(unsafe.Pointer(unsafe.SliceData(m))), 0, windows.MEM_RELEASE)
}
