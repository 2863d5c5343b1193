//go:build cgo

package pjrt

// #include "calls.h"
import "C"

import (
	"fmt"
	"unsafe"
)

// DeviceMemory is how the host reaches the memory of a plugin's devices. Addresses are the ones that the plugin passes
// to handlers and that functions such as PJRT_Buffer_UnsafePointer return. The methods may be called concurrently,
// return when the bytes are copied, and see what the program wrote before it called the hook.
type DeviceMemory interface {
	// Readable reports whether the host reads and writes device memory directly. Handlers then see it without a copy.
	Readable() bool
	// ToHost copies len(dst) bytes from the device.
	ToHost(dst []byte, src unsafe.Pointer) error
	// FromHost copies src to the device.
	FromHost(dst unsafe.Pointer, src []byte) error
	// Within copies between two addresses of the device.
	Within(dst, src unsafe.Pointer, size int) error
}

// hostMemory is the host's own memory, in which CPU plugins compute.
type hostMemory struct{}

func (hostMemory) Readable() bool { return true }

func (hostMemory) ToHost(dst []byte, src unsafe.Pointer) error {
	copy(dst, unsafe.Slice((*byte)(src), len(dst)))
	return nil
}

func (hostMemory) FromHost(dst unsafe.Pointer, src []byte) error {
	copy(unsafe.Slice((*byte)(dst), len(src)), src)
	return nil
}

func (hostMemory) Within(dst, src unsafe.Pointer, size int) error {
	copy(unsafe.Slice((*byte)(dst), size), unsafe.Slice((*byte)(src), size))
	return nil
}

// farMemory is memory that only a function of the plugin reaches (hl_device_copy).
type farMemory struct{ copy C.hl_device_copy }

func (farMemory) Readable() bool { return false }

func (m farMemory) ToHost(dst []byte, src unsafe.Pointer) error {
	return m.move(unsafe.Pointer(unsafe.SliceData(dst)), src, len(dst), C.HL_TO_HOST)
}

func (m farMemory) FromHost(dst unsafe.Pointer, src []byte) error {
	return m.move(dst, unsafe.Pointer(unsafe.SliceData(src)), len(src), C.HL_FROM_HOST)
}

func (m farMemory) Within(dst, src unsafe.Pointer, size int) error {
	return m.move(dst, src, size, C.HL_WITHIN)
}

func (m farMemory) move(dst, src unsafe.Pointer, size int, direction C.int) error {
	if size == 0 {
		return nil
	}
	if code := C.hl_copy(m.copy, dst, src, C.size_t(size), direction); code != 0 {
		return fmt.Errorf("the plugin's %s failed on %d bytes with code %d", C.HL_DEVICE_COPY, size, int(code))
	}
	return nil
}

// memoryOn returns the memory of a platform's devices, nil if the host cannot reach it.
func (p *Plugin) memoryOn(platform string) DeviceMemory {
	switch {
	case p.copy != nil:
		return farMemory{p.copy}
	case platform == "cpu":
		return hostMemory{}
	}
	return nil
}
