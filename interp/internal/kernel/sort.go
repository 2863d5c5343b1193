package kernel

import (
	"cmp"
	"slices"

	"github.com/hlocb/hlocb/tensor"
)

// SortGeometry views a shape as [outer][n][inner], with the sorted dimension n.
type SortGeometry struct{ Outer, N, Inner int }

func Permute(size int, dst, src *tensor.Tensor, perm []int, base, step int) {
	switch size {
	case 1:
		permuteTyped(dst.Bytes(), src.Bytes(), perm, base, step)
	case 2:
		permuteTyped(tensor.View[uint16](dst), tensor.View[uint16](src), perm, base, step)
	case 4:
		permuteTyped(tensor.View[uint32](dst), tensor.View[uint32](src), perm, base, step)
	case 8:
		permuteTyped(tensor.View[uint64](dst), tensor.View[uint64](src), perm, base, step)
	default:
		permuteTyped(tensor.View[complex128](dst), tensor.View[complex128](src), perm, base, step)
	}
}

func permuteTyped[T tensor.Element](dst, src []T, perm []int, base, step int) {
	for i, p := range perm {
		dst[base+i*step] = src[p]
	}
}

type Keyed struct {
	Key int64
	At  int
}

// SortKeyed sorts line by key, stably, digit by digit of the keys' range. spare is as long as line.
func SortKeyed(line, spare []Keyed) {
	if len(line) < 256 {
		slices.SortStableFunc(line, func(x, y Keyed) int { return cmp.Compare(x.Key, y.Key) })
		return
	}
	least, most := line[0].Key, line[0].Key
	for _, v := range line {
		least, most = min(least, v.Key), max(most, v.Key)
	}
	const bits = 11
	from, to := line, spare
	for shift := uint(0); uint64(most-least)>>shift != 0; shift += bits {
		var at [1 << bits]int
		for _, v := range from {
			at[uint64(v.Key-least)>>shift&(1<<bits-1)]++
		}
		sum := 0
		for i, n := range at {
			at[i] = sum
			sum += n
		}
		for _, v := range from {
			d := uint64(v.Key-least) >> shift & (1<<bits - 1)
			to[at[d]] = v
			at[d]++
		}
		from, to = to, from
	}
	copy(line, from) // no work if the last pass ended there
}

// SortKeys fills keys with integers that have the same order as the elements from element lo on. Floats follow IEEE
// 754's totalOrder; if total is false, both zeros get the same key.
func SortKeys(t *tensor.Tensor, lo int, keys []int64, total bool) {
	dt := t.DType()
	switch {
	case dt.IsFloat():
		totalKeys(dt, keys, t, lo)
		if !total {
			for i, k := range keys {
				if k == -1 { // -0
					keys[i] = 0
				}
			}
		}
	default:
		decodeInt(dt, keys, t, lo)
		if dt == tensor.UI64 {
			for i := range keys {
				keys[i] ^= -1 << 63
			}
		}
	}
}
