//go:build cgo

// Package cuda copies between the host and GPUs, in the streams of a program. It opens the CUDA driver at run time.
package cuda

// #cgo CFLAGS: -D_GNU_SOURCE
// #cgo LDFLAGS: -ldl
// #include <stdlib.h>
// #include "cuda.h"
import "C"

import (
	"fmt"
	"slices"
	"sync"
	"unsafe"
)

// Library is the CUDA driver, which XLA's CUDA plugin uses too.
const Library = "libcuda.so.1"

// Memory is the memory of GPUs. The queue of a copy is a CUDA stream: copies wait for the work in it, and later work
// waits for them.
type Memory struct {
	cuda *C.hl_cuda

	mu    sync.Mutex
	pools map[int32]*Pool // by the GPU's ordinal
}

// Open opens the CUDA driver in a library.
func Open(library string) (*Memory, error) {
	name := C.CString(library)
	defer C.free(unsafe.Pointer(name))
	var message *C.char
	cuda := C.hl_cuda_open(name, &message)
	if cuda == nil {
		return nil, fmt.Errorf("the CUDA driver cannot be used: %s", takeMessage(message))
	}
	return &Memory{cuda: cuda, pools: map[int32]*Pool{}}, nil
}

// takeMessage returns a message that C code allocated, and frees it. C code leaves the message nil if it has no
// memory for it.
func takeMessage(message *C.char) string {
	if message == nil {
		return "out of memory"
	}
	defer C.free(unsafe.Pointer(message))
	return C.GoString(message)
}

// Pool returns the pinned memory for copies to and from a GPU.
func (m *Memory) Pool(ordinal int32) *Pool {
	m.mu.Lock()
	defer m.mu.Unlock()
	if m.pools[ordinal] == nil {
		m.pools[ordinal] = &Pool{memory: m, limit: maxPinned}
	}
	return m.pools[ordinal]
}

// ToHost copies len(dst) bytes from the device.
func (m *Memory) ToHost(queue unsafe.Pointer, dst []byte, src unsafe.Pointer) error {
	return m.copy(queue, unsafe.Pointer(unsafe.SliceData(dst)), src, len(dst), C.HL_CUDA_TO_HOST)
}

// FromHost copies src to the device.
func (m *Memory) FromHost(queue, dst unsafe.Pointer, src []byte) error {
	return m.copy(queue, dst, unsafe.Pointer(unsafe.SliceData(src)), len(src), C.HL_CUDA_FROM_HOST)
}

// Within copies between two addresses of the device.
func (m *Memory) Within(queue, dst, src unsafe.Pointer, size int) error {
	return m.copy(queue, dst, src, size, C.HL_CUDA_WITHIN)
}

func (m *Memory) copy(queue, dst, src unsafe.Pointer, size int, direction C.int) error {
	if size == 0 {
		return nil
	}
	return m.check(C.hl_cuda_copy(m.cuda, queue, dst, src, C.size_t(size), direction), "copy", size)
}

// Clear writes zeros.
func (m *Memory) Clear(queue, at unsafe.Pointer, size int) error {
	return m.check(C.hl_cuda_clear(m.cuda, queue, at, C.size_t(size)), "clear", size)
}

// Wait waits for the work in the queue.
func (m *Memory) Wait(queue unsafe.Pointer) error {
	if result := C.hl_cuda_wait(m.cuda, queue); result != 0 {
		return fmt.Errorf("CUDA failed before the hook: %s (%d)", C.GoString(C.hl_cuda_text(m.cuda, result)), int(result))
	}
	return nil
}

// check returns the error of an operation on some bytes.
func (m *Memory) check(result C.int, what string, size int) error {
	if result == 0 {
		return nil
	}
	return fmt.Errorf("CUDA cannot %s %d bytes: %s (%d)", what, size, C.GoString(C.hl_cuda_text(m.cuda, result)), int(result))
}

// Pool holds host memory that a GPU reads and writes by itself. Only copies of such memory return at once and
// reach the rate of the bus. The driver pins each page when it allocates such memory, so the pool keeps it.
type Pool struct {
	memory *Memory
	limit  int // bytes that it keeps

	mu   sync.Mutex
	free []*Block // in the order of their return
	kept int      // bytes in free
}

// maxPinned limits the host memory that a pool keeps, in bytes.
const maxPinned = 1 << 30

// Block is a block of a pool.
type Block struct {
	bytes []byte
	block C.hl_cuda_block
	busy  bool // the GPU may not have read it
	lost  bool // nobody can tell when the GPU has read it, so it stays allocated
}

// Take returns a block of at least size bytes, and at most twice as many or twice minPinned. A device loop can let the
// host run ahead of the GPU: while the GPU has not read more bytes than the limit, Take waits for the oldest block.
func (p *Pool) Take(queue unsafe.Pointer, size int) (*Block, error) {
	p.mu.Lock()
	fits := func(b *Block) bool { return len(b.bytes) >= size && len(b.bytes)/2 <= max(size, minPinned) }
	i := slices.IndexFunc(p.free, func(b *Block) bool { return fits(b) && p.passed(b) })
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
	b := &Block{}
	if err := p.memory.check(C.hl_cuda_alloc(p.memory.cuda, queue, C.size_t(size), &b.block), "allocate host memory of", size); err != nil {
		return nil, err
	}
	b.bytes = unsafe.Slice((*byte)(b.block.memory), size)
	return b, nil
}

// Bytes returns the memory of a block.
func (b *Block) Bytes() []byte { return b.bytes }

// minPinned is the unit of a block's size, in bytes.
const minPinned = 64 << 10

// passed reports whether the GPU has read a block.
func (p *Pool) passed(b *Block) bool {
	return !b.busy || bool(C.hl_cuda_passed(p.memory.cuda, &b.block))
}

// await waits until the GPU has read a block. After an error nobody can tell, and the block stays allocated.
func (p *Pool) await(b *Block) { b.lost = C.hl_cuda_await(p.memory.cuda, &b.block) != 0 }

// drop frees block i of the list, whose copies are done. The caller holds p.mu.
func (p *Pool) drop(i int) {
	b := p.free[i]
	p.free = slices.Delete(p.free, i, i+1)
	p.kept -= len(b.bytes)
	if !b.lost {
		C.hl_cuda_free(p.memory.cuda, &b.block)
	}
}

// Give returns a block. sent says that the queue holds copies from it. If the driver cannot mark the end of the copies,
// Give waits for all work in the queue.
func (p *Pool) Give(queue unsafe.Pointer, b *Block, sent bool) {
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

// Release frees the blocks in the pools, after their copies.
func (m *Memory) Release() {
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

// Pinned returns the bytes of host memory that the pools keep.
func (m *Memory) Pinned() int64 {
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
