package kernel

import "testing"

// TestThreeFry: the words of a counter do not depend on the number of counters that are computed at once.
func TestThreeFry(t *testing.T) {
	for _, n := range []int{1, 3, 8, 15, 16, 17, 64, 83, threeFryBlock} {
		const key, first, step = 0x123456789abcdef0, 0xfffffff0, 3
		x, y := make([]uint32, n), make([]uint32, n)
		threeFry(x, y, key, first, step)
		for i := range n {
			var u, v [1]uint32
			threeFry(u[:], v[:], key, first+uint64(i)*step, step)
			if x[i] != u[0] || y[i] != v[0] {
				t.Fatalf("counter %d of %d: %#x %#x, alone %#x %#x", i, n, x[i], y[i], u[0], v[0])
			}
		}
	}
}
