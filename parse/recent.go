package parse

// recent holds what was read last, a few of it: programs say the same again and again. Users look through list.
type recent[T any] struct {
	list []T
	turn int // the entry to replace next
}

// maxRecent is how many are held.
const maxRecent = 8

// add holds x, in place of the oldest where there are many.
func (r *recent[T]) add(x T) {
	if len(r.list) < maxRecent {
		r.list = append(r.list, x)
		return
	}
	r.list[r.turn] = x
	r.turn = (r.turn + 1) % maxRecent
}
