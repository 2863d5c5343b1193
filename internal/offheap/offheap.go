// Package offheap allocates the memory of large values outside Go's heap, so that freeing a value returns its memory at
// once and the garbage collector neither scans nor waits for it.
//
// Blocks come in size classes of at most 25 % waste. A small block is a piece of a chunk, which the pool keeps. A large
// block is a mapping of its own. A freed block waits for the next allocation of its class; a large block that waits
// longer than Idle goes back to the operating system.
package offheap

import (
	"fmt"
	"math/bits"
	"sync"
	"time"
	"unsafe"
)

const (
	// Align is the alignment of every block in bytes, a cache line and the widest vector register.
	Align = 64
	// small is the size of the largest block that is a piece of a chunk.
	small = 32 << 10
	chunk = 1 << 20
	// Idle is the time that a large free block waits for its reuse. A training step reuses its blocks much sooner.
	Idle = 100 * time.Millisecond
)

// LimitError reports that an allocation exceeds a pool's limit.
type LimitError struct{ Size, InUse, Limit int64 }

func (e *LimitError) Error() string {
	return fmt.Sprintf("out of memory: needs %d bytes more than the %d in use; the limit is %d", e.Size, e.InUse, e.Limit)
}

// Stats describes a pool. All sizes are in bytes.
type Stats struct {
	InUse  int64 // of allocated blocks
	Peak   int64 // the largest InUse
	Free   int64 // of freed blocks that wait for reuse
	Limit  int64 // of InUse; 0 means none
	Allocs int64 // number of allocations
}

// Pool is a set of blocks. It is safe for concurrent use.
//
// Invariant: a large free block is either in young, if it was freed since the last tick, or in old. A tick unmaps the
// old blocks and makes the young blocks old; there is a next tick as long as large free blocks wait.
type Pool struct {
	mu         sync.Mutex
	pieces     [classes][]unsafe.Pointer // free small blocks
	young, old [classes][]unsafe.Pointer // free large blocks
	rest       []byte                    // of the newest chunk
	ticking    bool
	stats      Stats
}

// New returns a pool that allocates at most limit bytes at a time. 0 means no limit.
func New(limit int64) *Pool { return &Pool{stats: Stats{Limit: limit}} }

// classes is the number of size classes: four per power of two, up to 2^48 bytes.
const classes = 4 * 48

// classOf returns the class of a size and the size of its blocks.
func classOf(n int) (class, size int) {
	if n <= Align {
		return 0, Align
	}
	// The four sizes between Align<<(k-1) and Align<<k are multiples of a quarter of Align<<(k-1), rounded up to Align.
	k := bits.Len(uint(n-1) / Align)
	base := Align << (k - 1)
	step := max(base/4, Align)
	quarters := (n - base + step - 1) / step
	return 4*k + quarters - 4 + 1, base + quarters*step
}

// Alloc returns a block of n bytes, which are not initialized, aligned to Align.
func (p *Pool) Alloc(n int) ([]byte, error) {
	if n < 0 || uint64(n) > 1<<46 {
		return nil, &LimitError{int64(n), p.Stats().InUse, p.Stats().Limit}
	}
	class, size := classOf(n)
	p.mu.Lock()
	defer p.mu.Unlock()
	if l := p.stats.Limit; l > 0 && p.stats.InUse+int64(size) > l {
		return nil, &LimitError{int64(n), p.stats.InUse, l}
	}
	at, err := p.take(class, size)
	if err != nil {
		return nil, fmt.Errorf("out of memory: %d bytes with %d in use: %w", n, p.stats.InUse, err)
	}
	p.stats.InUse += int64(size)
	p.stats.Peak = max(p.stats.Peak, p.stats.InUse)
	p.stats.Allocs++
	return unsafe.Slice((*byte)(at), size)[:n], nil
}

func (p *Pool) take(class, size int) (unsafe.Pointer, error) {
	for _, list := range [...]*[]unsafe.Pointer{&p.pieces[class], &p.young[class], &p.old[class]} {
		if n := len(*list); n > 0 {
			at := (*list)[n-1]
			*list = (*list)[:n-1]
			p.stats.Free -= int64(size)
			return at, nil
		}
	}
	if size > small {
		b, err := mapMemory(size)
		if err != nil { // free blocks of other classes may be in the way
			p.unmap(&p.old)
			p.unmap(&p.young)
			if b, err = mapMemory(size); err != nil {
				return nil, err
			}
		}
		return unsafe.Pointer(unsafe.SliceData(b)), nil
	}
	if len(p.rest) < size {
		b, err := mapMemory(chunk)
		if err != nil {
			return nil, err
		}
		p.rest = b
	}
	at := unsafe.Pointer(unsafe.SliceData(p.rest))
	p.rest = p.rest[size:]
	return at, nil
}

// Free frees a block. block starts where the block that Alloc returned starts, and has its length.
func (p *Pool) Free(block []byte) {
	class, size := classOf(len(block))
	at := unsafe.Pointer(unsafe.SliceData(block))
	p.mu.Lock()
	defer p.mu.Unlock()
	p.stats.InUse -= int64(size)
	p.stats.Free += int64(size)
	if size <= small {
		p.pieces[class] = append(p.pieces[class], at)
		return
	}
	p.young[class] = append(p.young[class], at)
	if !p.ticking {
		p.ticking = true
		time.AfterFunc(Idle, p.tick)
	}
}

func (p *Pool) tick() {
	p.mu.Lock()
	defer p.mu.Unlock()
	p.unmap(&p.old)
	waiting := false
	for class, list := range p.young {
		waiting = waiting || len(list) > 0
		p.old[class], p.young[class] = list, p.old[class][:0]
	}
	if p.ticking = waiting; waiting {
		time.AfterFunc(Idle, p.tick)
	}
}

// unmap returns blocks to the operating system. The caller holds the lock.
func (p *Pool) unmap(lists *[classes][]unsafe.Pointer) {
	for class, list := range lists {
		for _, at := range list {
			size := sizeOf(class)
			p.stats.Free -= int64(size)
			unmapMemory(unsafe.Slice((*byte)(at), size))
		}
		lists[class] = list[:0]
	}
}

// sizeOf returns the size of the blocks of a class above 4.
func sizeOf(class int) int {
	k := (class + 3) / 4
	base := Align << (k - 1)
	return base + (class-4*k+3)*max(base/4, Align)
}

// Stats returns the pool's current numbers.
func (p *Pool) Stats() Stats {
	p.mu.Lock()
	defer p.mu.Unlock()
	return p.stats
}
