package ir

import "unsafe"

// list is a slice of fewer than 1<<32 elements, in two words: every region, block and op with a region has some.
type list[T any] struct {
	ptr      *T
	num, max uint32
}

// all returns the elements, with the room behind them.
func (l *list[T]) all() []T { return unsafe.Slice(l.ptr, l.max)[:l.num] }

func (l *list[T]) len() int { return int(l.num) }

// set makes s, which is kept, the elements.
func (l *list[T]) set(s []T) {
	l.ptr, l.num, l.max = unsafe.SliceData(s), uint32(len(s)), uint32(cap(s))
}

func (l *list[T]) add(x ...T) { l.set(append(l.all(), x...)) }
