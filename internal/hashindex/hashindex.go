// Package hashindex is an index of values by hash. It keeps the order in which values were added and forgets the newest
// ones at once, as passes need that walk into regions and leave them.
package hashindex

// Index finds values by hash. The zero value is empty.
type Index[T any] struct {
	entries []entry[T]
	heads   []int32 // by hash: 1 + the index of the newest entry, or 0; its length is a power of two
}

type entry[T any] struct {
	hash  uint64
	next  int32 // 1 + the index of the next older entry of the same head
	value T
}

// Len returns the number of values.
func (x *Index[T]) Len() int { return len(x.entries) }

// Find returns the newest value with the hash that match accepts, or nil. It skips the first floor values. The caller
// may change the value.
func (x *Index[T]) Find(hash uint64, floor int, match func(*T) bool) *T {
	if len(x.heads) == 0 {
		return nil
	}
	for i := x.heads[hash&uint64(len(x.heads)-1)]; i > int32(floor); i = x.entries[i-1].next {
		if e := &x.entries[i-1]; e.hash == hash && match(&e.value) {
			return &e.value
		}
	}
	return nil
}

// Add adds a value.
func (x *Index[T]) Add(hash uint64, value T) {
	if len(x.entries) >= len(x.heads) {
		x.heads = make([]int32, max(64, 2*len(x.heads)))
		for i := range x.entries {
			x.link(i)
		}
	}
	x.entries = append(x.entries, entry[T]{hash: hash, value: value})
	x.link(len(x.entries) - 1)
}

func (x *Index[T]) link(i int) {
	e := &x.entries[i]
	h := &x.heads[e.hash&uint64(len(x.heads)-1)]
	e.next, *h = *h, int32(i+1)
}

// Cut forgets all values but the first n.
func (x *Index[T]) Cut(n int) {
	for i := len(x.entries) - 1; i >= n; i-- {
		e := &x.entries[i]
		x.heads[e.hash&uint64(len(x.heads)-1)] = e.next
	}
	clear(x.entries[n:])
	x.entries = x.entries[:n]
}
