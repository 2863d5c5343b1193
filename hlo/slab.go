package hlo

import (
	"unsafe"

	"github.com/hlocb/hlocb/ir"
)

// slabs allocate the small parts of instructions many at a time. The parts live as long as their module.
type slabs struct {
	instrs   slab[instr]
	pointers slab[*instr]
	attrs    slab[attr]
	comps    slab[computation]
	metadata slab[metadata]
	values   slab[*ir.Value]
}

// slab is memory for elements of one type.
type slab[T any] struct {
	free []T
	size int // of the last allocation
}

// An allocation has up to slabBytes: the first ones are small, to keep small modules small. Go's allocator rounds up
// smaller sizes, but not this one, and spends little time on it.
const slabBytes = 32 << 10

// one returns one new element.
func (s *slab[T]) one() *T { return &s.take(1)[0] }

// take returns n new elements.
func (s *slab[T]) take(n int) []T {
	if len(s.free) < n {
		var t T
		s.size = min(2*s.size+16, slabBytes/int(unsafe.Sizeof(t)))
		s.free = make([]T, max(n, s.size))
	}
	out := s.free[:n:n]
	s.free = s.free[n:]
	return out
}
