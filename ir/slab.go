package ir

import goruntime "runtime"

// slab hands out ops, uses and values from large chunks: allocation and garbage collection are the cost of an
// IR, and a chunk is one object for both. What is handed out lives as long as any of its chunk does.
type slab struct {
	ops    []Op
	uses   []Use
	values []Value
	count  int // of values handed out

	moreOps    chunks[Op]
	moreUses   chunks[Use]
	moreValues chunks[Value]
}

// Chunks start small, so that a tiny module stays tiny, and are a quarter of what there is already, up to this many
// elements: little of them is left over.
const (
	firstChunk = 16
	maxChunk   = 1 << 12
)

// chunks makes the chunks of elements of one kind.
type chunks[T any] struct {
	all   int      // elements made so far
	ahead chan []T // the next one of a large module
}

// next returns a new chunk of at least n elements. In a large module the one after it is made meanwhile: to get
// memory from the system and to clear it takes a third of the time that it takes to fill it.
func (c *chunks[T]) next(n int) []T {
	size := max(n, min(max(firstChunk, c.all/4), maxChunk))
	c.all += size
	if size != maxChunk || goruntime.GOMAXPROCS(0) == 1 {
		return make([]T, 0, size)
	}
	var next []T
	if c.ahead == nil {
		c.ahead = make(chan []T, 1)
		next = make([]T, 0, size)
	} else {
		next = <-c.ahead
	}
	ahead := c.ahead
	go func() {
		list := make([]T, maxChunk)
		clear(list) // touches the memory where it is fresh
		ahead <- list[:0]
	}()
	return next
}

func (s *slab) op() *Op {
	if len(s.ops) == cap(s.ops) {
		s.ops = s.moreOps.next(1)
	}
	s.ops = s.ops[:len(s.ops)+1]
	return &s.ops[len(s.ops)-1]
}

func (s *slab) useSlice(n int) []Use {
	if cap(s.uses)-len(s.uses) < n {
		s.uses = s.moreUses.next(n)
	}
	i := len(s.uses)
	s.uses = s.uses[:i+n]
	return s.uses[i : i+n : i+n]
}

func (s *slab) valueSlice(n int) []Value {
	if cap(s.values)-len(s.values) < n {
		s.values = s.moreValues.next(n)
	}
	s.count += n
	i := len(s.values)
	s.values = s.values[:i+n]
	return s.values[i : i+n : i+n]
}
