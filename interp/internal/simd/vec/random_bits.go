package vec

import (
	"sync"
	"unsafe"

	"github.com/hlocb/hlocb/interp/internal/simd/expr"
	"github.com/hlocb/hlocb/interp/internal/simd/machine"
)

var threeFry = sync.OnceValue(func() *machine.Code { return compile(expr.ThreeFry(), Bytes()) })

// ThreeFry replaces counters, whose first and second words are in x and y, by random words (expr.ThreeFry). It does so
// for whole vectors only, and returns their number of counters: 0 without vectors.
func ThreeFry(x, y []uint32, key [3]uint32) int {
	if 4*len(x) < Bytes() {
		return 0
	}
	return threeFryWith(threeFry(), x, y, key)
}

func threeFryWith(c *machine.Code, x, y []uint32, key [3]uint32) int {
	if c == nil {
		return 0
	}
	n := len(x) &^ (c.Lanes() - 1)
	_ = y[:n]
	var keys [3][machine.MaxVector / 4]uint32
	for i := range keys {
		for k := range keys[i] {
			keys[i][k] = key[i]
		}
	}
	px, py := unsafe.Pointer(unsafe.SliceData(x)), unsafe.Pointer(unsafe.SliceData(y))
	table := [7]unsafe.Pointer{px, py, unsafe.Pointer(&keys[0]), unsafe.Pointer(&keys[1]), unsafe.Pointer(&keys[2]), px, py}
	if n > 0 {
		c.Run(&table[0], n)
	}
	return n
}
