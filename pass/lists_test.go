package pass

import (
	"math/rand/v2"
	"slices"
	"testing"
)

// increasing reports whether the numbers at the positions grow, and none is negative.
func increasing(list, positions []int) bool {
	last, lastPosition := -1, -1
	for _, p := range positions {
		if p <= lastPosition || list[p] <= last {
			return false
		}
		last, lastPosition = list[p], p
	}
	return true
}

// TestLongestIncreasing compares the length of the sequence with the longest of all subsequences.
func TestLongestIncreasing(t *testing.T) {
	rng := rand.New(rand.NewPCG(1, 2))
	for range 300 {
		list := rng.Perm(rng.IntN(9))
		for i := range list {
			if rng.IntN(4) == 0 {
				list[i] = -1
			}
		}
		best := 0
		for set := range 1 << len(list) {
			var positions []int
			for i := range list {
				if set>>i&1 != 0 {
					positions = append(positions, i)
				}
			}
			if increasing(list, positions) {
				best = max(best, len(positions))
			}
		}
		if got := longestIncreasing(list); len(got) != best || !increasing(list, got) {
			t.Errorf("%v: %v, want %d positions", list, got, best)
		}
	}
}

// TestCommon compares the pairs with the longest of all common subsequences.
func TestCommon(t *testing.T) {
	rng := rand.New(rand.NewPCG(1, 2))
	for range 300 {
		list := func() []int {
			out := make([]int, rng.IntN(8))
			for i := range out {
				out[i] = rng.IntN(4)
			}
			return out
		}
		x, y := list(), list()
		best := 0
		for set := range 1 << len(x) {
			n, j := 0, 0
			for i := range x {
				if set>>i&1 == 0 {
					continue
				}
				k := slices.Index(y[j:], x[i])
				if k < 0 {
					n = -1
					break
				}
				n, j = n+1, j+k+1
			}
			best = max(best, n)
		}
		n, lastX, lastY := 0, -1, -1
		common(len(x), len(y), func(i, j int) bool { return x[i] == y[j] }, func(i, j int) {
			if i <= lastX || j <= lastY || x[i] != y[j] {
				t.Errorf("%v, %v: %d matches %d after %d and %d", x, y, i, j, lastX, lastY)
			}
			n, lastX, lastY = n+1, i, j
		})
		if n != best {
			t.Errorf("%v, %v: %d pairs, want %d", x, y, n, best)
		}
	}
}

// TestMix: each bit of both numbers changes the hash, and the hash of equal numbers is not constant.
func TestMix(t *testing.T) {
	for bit := range 64 {
		if mix(1, 2) == mix(1^1<<bit, 2) || mix(1, 2) == mix(1, 2^1<<bit) {
			t.Errorf("bit %d has no effect", bit)
		}
	}
	seen := map[uint64]bool{}
	for i := range uint64(1000) {
		seen[mix(mix(0, i), i)] = true
	}
	if len(seen) < 1000 {
		t.Errorf("%d hashes of 1000 pairs", len(seen))
	}
}
