//go:build cgo

package pjrt

// #include <stdlib.h>
// #include "calls.h"
// #include "cuda.h"
import "C"

import (
	"fmt"
	"slices"
	"sync"
	"unsafe"

	"github.com/hlocb/hlocb/runtime"
)

// cudaLibrary is the CUDA driver, which XLA's CUDA plugin uses too. The environment variable cudaDriver names another.
const (
	cudaLibrary = "libcuda.so.1"
	cudaDriver  = "HLOCB_CUDA_DRIVER"
)

// cudaMemory is the memory of GPUs. The queue of a call is XLA's CUDA stream: copies wait for the work in it, and XLA's
// later work waits for them.
type cudaMemory struct {
	cuda *C.hl_cuda

	mu    sync.Mutex
	pools map[int32]*pinnedPool // by the GPU's ordinal
}

func newCUDAMemory(library string) (DeviceMemory, error) {
	name := C.CString(library)
	defer C.free(unsafe.Pointer(name))
	var message *C.char
	cuda := C.hl_cuda_open(name, &message)
	if cuda == nil {
		return nil, fmt.Errorf("the CUDA driver cannot be used: %s", takeMessage(message))
	}
	return &cudaMemory{cuda: cuda, pools: map[int32]*pinnedPool{}}, nil
}

func (*cudaMemory) Readable() bool           { return false }
func (*cudaMemory) Kind() runtime.MemoryKind { return runtime.CUDAMemory }

func (m *cudaMemory) queue(frame *C.hl_ffi_frame) (unsafe.Pointer, error) {
	if stream := C.hl_stream(frame); stream != nil {
		return stream, nil
	}
	return nil, fmt.Errorf("the plugin reports no CUDA stream for the call")
}

func (m *cudaMemory) pool(ordinal int32) *pinnedPool {
	m.mu.Lock()
	defer m.mu.Unlock()
	if m.pools[ordinal] == nil {
		m.pools[ordinal] = &pinnedPool{memory: m, limit: maxPinned}
	}
	return m.pools[ordinal]
}

func (m *cudaMemory) ToHost(queue unsafe.Pointer, dst []byte, src unsafe.Pointer) error {
	return m.copy(queue, unsafe.Pointer(unsafe.SliceData(dst)), src, len(dst), C.HL_CUDA_TO_HOST)
}

func (m *cudaMemory) FromHost(queue, dst unsafe.Pointer, src []byte) error {
	return m.copy(queue, dst, unsafe.Pointer(unsafe.SliceData(src)), len(src), C.HL_CUDA_FROM_HOST)
}

func (m *cudaMemory) Within(queue, dst, src unsafe.Pointer, size int) error {
	return m.copy(queue, dst, src, size, C.HL_CUDA_WITHIN)
}

func (m *cudaMemory) copy(queue, dst, src unsafe.Pointer, size int, direction C.int) error {
	if size == 0 {
		return nil
	}
	return m.check(C.hl_cuda_copy(m.cuda, queue, dst, src, C.size_t(size), direction), "copy", size)
}

func (m *cudaMemory) Clear(queue, at unsafe.Pointer, size int) error {
	return m.check(C.hl_cuda_clear(m.cuda, queue, at, C.size_t(size)), "clear", size)
}

func (m *cudaMemory) Wait(queue unsafe.Pointer) error {
	if result := C.hl_cuda_wait(m.cuda, queue); result != 0 {
		return fmt.Errorf("CUDA failed before the hook: %s (%d)", C.GoString(C.hl_cuda_text(m.cuda, result)), int(result))
	}
	return nil
}

// check returns the error of an operation on some bytes.
func (m *cudaMemory) check(result C.int, what string, size int) error {
	if result == 0 {
		return nil
	}
	return fmt.Errorf("CUDA cannot %s %d bytes: %s (%d)", what, size, C.GoString(C.hl_cuda_text(m.cuda, result)), int(result))
}

// pinnedPool holds host memory that a GPU reads and writes by itself. Only copies of such memory return at once and
// reach the rate of the bus. The driver pins each page when it allocates such memory, so the pool keeps it.
type pinnedPool struct {
	memory *cudaMemory
	limit  int // bytes that it keeps

	mu   sync.Mutex
	free []*pinnedBlock // in the order of their return
	kept int            // bytes in free
}

// maxPinned limits the host memory that a pool keeps, in bytes.
const maxPinned = 1 << 30

// pinnedBlock is a block of a pool.
type pinnedBlock struct {
	bytes []byte
	block C.hl_cuda_block
	busy  bool // the GPU may not have read it
	lost  bool // nobody can tell when the GPU has read it, so it stays allocated
}

// take returns a block of at least size bytes, and at most twice as many or twice minPinned. A device loop can let the
// host run ahead of the GPU: while the GPU has not read more bytes than the limit, take waits for the oldest block.
func (p *pinnedPool) take(queue unsafe.Pointer, size int) (*pinnedBlock, error) {
	p.mu.Lock()
	fits := func(b *pinnedBlock) bool { return len(b.bytes) >= size && len(b.bytes)/2 <= max(size, minPinned) }
	i := slices.IndexFunc(p.free, func(b *pinnedBlock) bool { return fits(b) && p.passed(b) })
	for i < 0 && p.kept+size > p.limit && len(p.free) > 0 {
		if b := p.free[0]; !p.passed(b) {
			p.await(b)
		}
		if fits(p.free[0]) {
			i = 0
			break
		}
		p.drop(0)
	}
	if i >= 0 {
		b := p.free[i]
		p.free = slices.Delete(p.free, i, i+1)
		p.kept -= len(b.bytes)
		p.mu.Unlock()
		b.busy = false
		return b, nil
	}
	p.mu.Unlock()
	size = (size + minPinned - 1) / minPinned * minPinned
	b := &pinnedBlock{}
	if err := p.memory.check(C.hl_cuda_alloc(p.memory.cuda, queue, C.size_t(size), &b.block), "allocate host memory of", size); err != nil {
		return nil, err
	}
	b.bytes = unsafe.Slice((*byte)(b.block.memory), size)
	return b, nil
}

// minPinned is the unit of a block's size, in bytes.
const minPinned = 64 << 10

// passed reports whether the GPU has read a block.
func (p *pinnedPool) passed(b *pinnedBlock) bool {
	return !b.busy || bool(C.hl_cuda_passed(p.memory.cuda, &b.block))
}

// await waits until the GPU has read a block. After an error nobody can tell, and the block stays allocated.
func (p *pinnedPool) await(b *pinnedBlock) { b.lost = C.hl_cuda_await(p.memory.cuda, &b.block) != 0 }

// drop frees block i of the list, whose copies are done. The caller holds p.mu.
func (p *pinnedPool) drop(i int) {
	b := p.free[i]
	p.free = slices.Delete(p.free, i, i+1)
	p.kept -= len(b.bytes)
	if !b.lost {
		C.hl_cuda_free(p.memory.cuda, &b.block)
	}
}

// give returns a block. sent says that the queue holds copies from it. If the driver cannot mark the end of the copies,
// give waits for all work in the queue.
func (p *pinnedPool) give(queue unsafe.Pointer, b *pinnedBlock, sent bool) {
	if sent {
		b.busy = C.hl_cuda_mark(p.memory.cuda, queue, &b.block) == 0
		if !b.busy && C.hl_cuda_wait(p.memory.cuda, queue) != 0 {
			return // the copies may still be in progress, so the block is never used again
		}
	}
	p.mu.Lock()
	defer p.mu.Unlock()
	p.free = append(p.free, b)
	p.kept += len(b.bytes)
	if p.kept > p.limit && !b.busy {
		p.drop(len(p.free) - 1)
	}
}

// release frees the blocks in the pools, after their copies.
func (m *cudaMemory) release() {
	m.mu.Lock()
	defer m.mu.Unlock()
	for _, p := range m.pools {
		p.mu.Lock()
		for len(p.free) > 0 {
			if b := p.free[0]; !p.passed(b) {
				p.await(b) // of another client
			}
			p.drop(0)
		}
		p.mu.Unlock()
	}
}

// pinned returns the bytes of host memory that the pools keep.
func (m *cudaMemory) pinned() int64 {
	m.mu.Lock()
	defer m.mu.Unlock()
	n := 0
	for _, p := range m.pools {
		p.mu.Lock()
		n += p.kept
		p.mu.Unlock()
	}
	return int64(n)
}
