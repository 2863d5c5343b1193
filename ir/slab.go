package ir

// slab hands out ops, uses and values from large chunks: allocation and garbage collection are the cost of an
// IR, and a chunk is one object for both. What is handed out lives as long as any of its chunk does.
type slab struct {
	ops    []Op
	uses   []Use
	values []Value
	count  int // of values handed out
}

// Chunks start small, so that a tiny module stays tiny, and double up to this many elements.
const (
	firstChunk = 16
	maxChunk   = 2048
)

func grow(old int) int { return min(max(firstChunk, 2*old), maxChunk) }

func (s *slab) op() *Op {
	if len(s.ops) == cap(s.ops) {
		s.ops = make([]Op, 0, grow(cap(s.ops)))
	}
	s.ops = s.ops[:len(s.ops)+1]
	return &s.ops[len(s.ops)-1]
}

func (s *slab) useSlice(n int) []Use {
	if cap(s.uses)-len(s.uses) < n {
		s.uses = make([]Use, 0, max(n, grow(cap(s.uses))))
	}
	i := len(s.uses)
	s.uses = s.uses[:i+n]
	return s.uses[i : i+n : i+n]
}

func (s *slab) valueSlice(n int) []Value {
	if cap(s.values)-len(s.values) < n {
		s.values = make([]Value, 0, max(n, grow(cap(s.values))))
	}
	s.count += n
	i := len(s.values)
	s.values = s.values[:i+n]
	return s.values[i : i+n : i+n]
}
