package ir

// slab hands out ops, uses and values from large chunks: allocation and garbage collection are the cost of an
// IR, and a chunk is one object for both. What is handed out lives as long as any of its chunk does.
type slab struct {
	ops    []Op
	uses   []Use
	values []Value
	count  int // of values handed out

	allOps, allUses, allValues int // elements of all chunks
}

// Chunks start small, so that a tiny module stays tiny, and are a quarter of what there is already, up to this many
// elements: little of them is left over.
const (
	firstChunk = 16
	maxChunk   = 1 << 12
)

// chunk returns a new chunk of at least n elements, where all have been made so far.
func chunk[T any](all *int, n int) []T {
	n = max(n, min(max(firstChunk, *all/4), maxChunk))
	*all += n
	return make([]T, 0, n)
}

func (s *slab) op() *Op {
	if len(s.ops) == cap(s.ops) {
		s.ops = chunk[Op](&s.allOps, 1)
	}
	s.ops = s.ops[:len(s.ops)+1]
	return &s.ops[len(s.ops)-1]
}

func (s *slab) useSlice(n int) []Use {
	if cap(s.uses)-len(s.uses) < n {
		s.uses = chunk[Use](&s.allUses, n)
	}
	i := len(s.uses)
	s.uses = s.uses[:i+n]
	return s.uses[i : i+n : i+n]
}

func (s *slab) valueSlice(n int) []Value {
	if cap(s.values)-len(s.values) < n {
		s.values = chunk[Value](&s.allValues, n)
	}
	s.count += n
	i := len(s.values)
	s.values = s.values[:i+n]
	return s.values[i : i+n : i+n]
}
