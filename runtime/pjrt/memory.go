//go:build cgo

package pjrt

// #include "calls.h"
import "C"

import (
	"cmp"
	"fmt"
	"os"
	"unsafe"

	"github.com/hlocb/hlocb/internal/cuda"
	"github.com/hlocb/hlocb/runtime"
)

// DeviceMemory is how the host reaches the memory of a plugin's devices. Addresses are the ones that the plugin passes
// to handlers and that functions such as PJRT_Buffer_UnsafePointer return. The methods may be called concurrently. They
// see what the program wrote before it called the hook.
//
// Copies belong to a queue, that of a handler's call. They may be done later, in order; Wait waits for them.
type DeviceMemory interface {
	// Readable reports whether the host reads and writes device memory directly. Handlers then see it without a copy.
	Readable() bool
	// Kind returns the kind of the memory.
	Kind() runtime.MemoryKind
	// queue returns the queue of a call, nil if the memory has none.
	queue(*C.hl_ffi_frame) (unsafe.Pointer, error)
	// pool returns host memory for copies, for a device, nil if any memory will do.
	pool(ordinal int32) *cuda.Pool
	// ToHost copies len(dst) bytes from the device.
	ToHost(queue unsafe.Pointer, dst []byte, src unsafe.Pointer) error
	// FromHost copies src to the device.
	FromHost(queue, dst unsafe.Pointer, src []byte) error
	// Within copies between two addresses of the device.
	Within(queue, dst, src unsafe.Pointer, size int) error
	// Clear writes zeros.
	Clear(queue, at unsafe.Pointer, size int) error
	// Wait waits for the copies.
	Wait(queue unsafe.Pointer) error
}

// release frees the host memory for copies that a DeviceMemory, or nil, holds.
func release(m DeviceMemory) {
	if r, ok := m.(interface{ Release() }); ok {
		r.Release()
	}
}

// immediate is a part of a DeviceMemory that has done each copy when its method returns.
type immediate struct{}

func (immediate) queue(*C.hl_ffi_frame) (unsafe.Pointer, error) { return nil, nil }
func (immediate) pool(int32) *cuda.Pool                         { return nil }
func (immediate) Wait(unsafe.Pointer) error                     { return nil }

// hostMemory is the host's own memory, in which CPU plugins compute.
type hostMemory struct{ immediate }

func (hostMemory) Readable() bool           { return true }
func (hostMemory) Kind() runtime.MemoryKind { return runtime.HostMemory }

func (hostMemory) ToHost(_ unsafe.Pointer, dst []byte, src unsafe.Pointer) error {
	copy(dst, unsafe.Slice((*byte)(src), len(dst)))
	return nil
}

func (hostMemory) FromHost(_, dst unsafe.Pointer, src []byte) error {
	copy(unsafe.Slice((*byte)(dst), len(src)), src)
	return nil
}

func (hostMemory) Within(_, dst, src unsafe.Pointer, size int) error {
	copy(unsafe.Slice((*byte)(dst), size), unsafe.Slice((*byte)(src), size))
	return nil
}

func (hostMemory) Clear(_, at unsafe.Pointer, size int) error {
	clear(unsafe.Slice((*byte)(at), size))
	return nil
}

// farMemory is memory that only a function of the plugin reaches (hl_device_copy).
type farMemory struct {
	immediate
	copy C.hl_device_copy
}

func (farMemory) Readable() bool           { return false }
func (farMemory) Kind() runtime.MemoryKind { return runtime.FarMemory }

func (m farMemory) ToHost(_ unsafe.Pointer, dst []byte, src unsafe.Pointer) error {
	return m.move(unsafe.Pointer(unsafe.SliceData(dst)), src, len(dst), C.HL_TO_HOST)
}

func (m farMemory) FromHost(_, dst unsafe.Pointer, src []byte) error {
	return m.move(dst, unsafe.Pointer(unsafe.SliceData(src)), len(src), C.HL_FROM_HOST)
}

func (m farMemory) Within(_, dst, src unsafe.Pointer, size int) error {
	return m.move(dst, src, size, C.HL_WITHIN)
}

func (m farMemory) Clear(_, at unsafe.Pointer, size int) error {
	return m.FromHost(nil, at, make([]byte, size))
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

// cudaDriver is the environment variable that names another CUDA driver.
const cudaDriver = "HLOCB_CUDA_DRIVER"

// cudaMemory is the memory of GPUs. The queue of a call is XLA's CUDA stream.
type cudaMemory struct{ *cuda.Memory }

func openCUDA(library string) (DeviceMemory, error) {
	m, err := cuda.Open(library)
	if err != nil {
		return nil, err
	}
	return cudaMemory{m}, nil
}

func (cudaMemory) Readable() bool           { return false }
func (cudaMemory) Kind() runtime.MemoryKind { return runtime.CUDAMemory }

func (m cudaMemory) pool(ordinal int32) *cuda.Pool { return m.Pool(ordinal) }

func (cudaMemory) queue(frame *C.hl_ffi_frame) (unsafe.Pointer, error) {
	if stream := C.hl_stream(frame); stream != nil {
		return stream, nil
	}
	return nil, fmt.Errorf("the plugin reports no CUDA stream for the call")
}

// cudaMemory returns the memory of GPUs, which all clients of the plugin share.
func (p *Plugin) cudaMemory() (DeviceMemory, error) {
	p.mu.Lock()
	defer p.mu.Unlock()
	var err error
	if p.cuda == nil {
		p.cuda, err = openCUDA(cmp.Or(os.Getenv(cudaDriver), cuda.Library))
	}
	return p.cuda, err
}

// Memory returns the memory of a platform's devices, nil if the host cannot reach it.
func (p *Plugin) Memory(platform string) (DeviceMemory, error) {
	switch {
	case p.copy != nil:
		return farMemory{copy: p.copy}, nil
	case platform == "cpu":
		return hostMemory{}, nil
	case platform == "cuda":
		return p.cudaMemory()
	}
	return nil, nil
}
