package kernel

import (
	"github.com/hlocb/hlocb/tensor"
)

// SortGeometry views a shape as [outer][n][inner], where n is the sorted dimension.
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

// SortKeys fills keys with integers that have the same order as the elements. Floats follow IEEE 754's totalOrder; if
// total is false, both zeros get the same key.
func SortKeys(t *tensor.Tensor, keys []int64, total bool) {
	dt := t.DType()
	switch {
	case dt.IsFloat():
		totalKeys(dt, keys, t, 0)
		if !total {
			for i, k := range keys {
				if k == -1 { // -0
					keys[i] = 0
				}
			}
		}
	default:
		decodeInt(dt, keys, t, 0)
		if dt == tensor.UI64 {
			for i := range keys {
				keys[i] ^= -1 << 63
			}
		}
	}
}
