package hashindex

import (
	"math/rand/v2"
	"testing"
)

// TestIndex compares random changes with a list that is searched from its end.
func TestIndex(t *testing.T) {
	rng := rand.New(rand.NewPCG(1, 2))
	var x Index[int]
	var hashes []uint64
	var values []int
	if x.Find(0, 0, func(*int) bool { return true }) != nil {
		t.Error("the empty index holds a value")
	}
	for step := range 20000 {
		switch rng.IntN(8) {
		case 0, 1, 2:
			h, v := rng.Uint64N(50)<<rng.IntN(3), rng.IntN(4)
			x.Add(h, v)
			hashes, values = append(hashes, h), append(values, v)
		case 3:
			if n := len(values); rng.IntN(20) == 0 && n > 0 {
				n = rng.IntN(n)
				x.Cut(n)
				hashes, values = hashes[:n], values[:n]
			}
		default:
			h, v, floor := rng.Uint64N(50)<<rng.IntN(3), rng.IntN(4), 0
			if rng.IntN(2) == 0 {
				floor = rng.IntN(len(values) + 1)
			}
			want := -1
			for i := floor; i < len(values); i++ {
				if hashes[i] == h && values[i] == v {
					want = i
				}
			}
			got := x.Find(h, floor, func(w *int) bool { return *w == v })
			if (got != nil) != (want >= 0) {
				t.Fatalf("step %d: found %v, want %d", step, got, want)
			}
			if got != nil && rng.IntN(3) == 0 {
				*got, values[want] = v+1, v+1
			}
		}
		if x.Len() != len(values) {
			t.Fatalf("step %d: %d values, want %d", step, x.Len(), len(values))
		}
	}
}
