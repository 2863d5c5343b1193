package opgen

// Bound returns how many units in the last place the engines may be apart on a column without a note: none where the
// specification or IEEE 754 gives the result, a few for functions that both engines approximate.
func (r *Row) Bound(column int) uint64 {
	if r.Exact || column == 0 {
		return 0
	}
	return [...]uint64{0, 1, 2, 1, 4, 4, 4, 4}[column]
}

// Exceeds reports whether a column needs a note: it is above its bound, or infinities, NaN or signs of zeros differ.
func (r *Row) Exceeds(column int) bool {
	m := r.Columns[column]
	return m != nil && (m.MaxULP > r.Bound(column) || m.Specials > 0 || m.Zeros > 0)
}

// Note explains why the engines differ on an op by more than the bound.
type Note struct {
	Op      string
	Columns []int // those it explains
	Why     string
}

// Explained reports whether a note of the list covers a column of an op.
func Explained(notes []Note, op string, column int) bool {
	for _, n := range notes {
		if n.Op == op {
			for _, c := range n.Columns {
				if c == column {
					return true
				}
			}
		}
	}
	return false
}
