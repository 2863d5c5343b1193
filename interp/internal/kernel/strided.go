package kernel

import (
	"unsafe"

	"github.com/hlocb/hlocb/interp/internal/simd/vec"
	"github.com/hlocb/hlocb/tensor"
)

// StridedCopy moves elements between two arrays of any strides. Broadcasts, transposes, slices, pads and concatenations
// use it.
type StridedCopy struct {
	Dims     []int
	dst, Src []int // strides in elements; a 0 in Src repeats elements, a negative stride walks backwards
	n        int   // product of dims
}

// NewStridedCopy returns the copy of a box of the given dimensions. It merges adjacent dimensions if the strides on
// both sides allow it.
func NewStridedCopy(dims, dst, src []int) *StridedCopy {
	c := &StridedCopy{n: Product(dims)}
	for i, d := range dims {
		if d == 1 {
			continue
		}
		if k := len(c.Dims) - 1; k >= 0 && c.dst[k] == dst[i]*d && c.Src[k] == src[i]*d {
			c.Dims[k] *= d
			c.dst[k], c.Src[k] = dst[i], src[i]
			continue
		}
		c.Dims = append(c.Dims, d)
		c.dst = append(c.dst, dst[i])
		c.Src = append(c.Src, src[i])
	}
	return c
}

// identity reports whether the copy is one contiguous move.
func (c *StridedCopy) identity() bool {
	return len(c.Dims) == 0 || len(c.Dims) == 1 && c.dst[0] == 1 && c.Src[0] == 1
}

// Run copies between payloads of elements of the given size, from and to the given element offsets.
func (c *StridedCopy) Run(size int, dst, src *tensor.Tensor, dstOff, srcOff int) {
	if c.n == 0 {
		return
	}
	switch size {
	case 1:
		runStrided(c, dst.Bytes(), src.Bytes(), dstOff, srcOff)
	case 2:
		runStrided(c, tensor.View[uint16](dst), tensor.View[uint16](src), dstOff, srcOff)
	case 4:
		runStrided(c, tensor.View[uint32](dst), tensor.View[uint32](src), dstOff, srcOff)
	case 8:
		runStrided(c, tensor.View[uint64](dst), tensor.View[uint64](src), dstOff, srcOff)
	default:
		runStrided(c, tensor.View[complex128](dst), tensor.View[complex128](src), dstOff, srcOff)
	}
}

// copyGrain is the minimum number of elements in a part of a parallel copy.
const copyGrain = 1 << 16

func runStrided[T tensor.Element](c *StridedCopy, dst, src []T, d, s int) {
	if len(c.Dims) == 0 {
		dst[d] = src[s]
		return
	}
	if c.n < 2*copyGrain || c.Dims[0] < 2 {
		stridedLevel(c, dst, src, d, s, 0)
		return
	}
	outer := c.Dims[0]
	Parallel(outer, max(1, copyGrain/(c.n/outer)), func(lo, hi int) {
		part := *c
		part.Dims = append([]int{hi - lo}, c.Dims[1:]...)
		stridedLevel(&part, dst, src, d+lo*c.dst[0], s+lo*c.Src[0], 0)
	})
}

func stridedLevel[T tensor.Element](c *StridedCopy, dst, src []T, d, s, level int) {
	n, ds, ss := c.Dims[level], c.dst[level], c.Src[level]
	if level == len(c.Dims)-1 {
		copyRow(dst, src, d, s, n, ds, ss)
		return
	}
	if level == len(c.Dims)-2 {
		n2, ds2, ss2 := c.Dims[level+1], c.dst[level+1], c.Src[level+1]
		if ss == 1 && ds2 == 1 && ss2 >= n && ds >= n2 && n >= 4 && n2 >= 4 {
			vec.Transpose(dst[d:], src[s:], n2, n, ds, ss2)
			return
		}
		if ss2 != 1 && ss2 != 0 && (ss == 1 || ds == 1) && n >= 4 && n2 > 8 {
			// A transpose: copy in strips, to read each cache line once.
			const strip = 8
			for j := 0; j < n2; j += strip {
				w := min(strip, n2-j)
				for i := 0; i < n; i++ {
					a, b := d+i*ds+j*ds2, s+i*ss+j*ss2
					for k := 0; k < w; k++ {
						dst[a] = src[b]
						a += ds2
						b += ss2
					}
				}
			}
			return
		}
		for i := 0; i < n; i++ {
			copyRow(dst, src, d+i*ds, s+i*ss, n2, ds2, ss2)
		}
		return
	}
	for i := 0; i < n; i++ {
		stridedLevel(c, dst, src, d+i*ds, s+i*ss, level+1)
	}
}

func copyRow[T tensor.Element](dst, src []T, d, s, n, ds, ss int) {
	switch {
	case ds == 1 && ss == 1:
		if n < 16 {
			o, x := dst[d:d+n], src[s:s+n]
			for i := range o {
				o[i] = x[i]
			}
			return
		}
		copy(dst[d:d+n], src[s:s+n])
	case ds == 1 && ss == -1:
		vec.Reverse(dst[d:d+n], src[s-n+1:])
	case ds == 1 && ss == 0:
		o := dst[d : d+n]
		k := 0
		if size := int(unsafe.Sizeof(o[0])); n >= 32 && size <= 8 {
			k = fillVectors(bytesOf(o), bytesOf(src[s:s+1])) / size
		}
		if k == 0 {
			o[0], k = src[s], 1
		}
		for k < n {
			k += copy(o[k:], o[:min(k, 1024)])
		}
	case ds == 1:
		o := dst[d : d+n]
		if ss == 2 && n >= 16 {
			k := vec.EveryOther(o, src[s:s+2*n-1])
			o, s = o[k:], s+2*k
		}
		// Four at a time: a loop of single copies takes twice the time at some addresses in the code.
		for ; len(o) >= 4; o, s = o[4:], s+4*ss {
			o[0], o[1], o[2], o[3] = src[s], src[s+ss], src[s+2*ss], src[s+3*ss]
		}
		for i := range o {
			o[i] = src[s+i*ss]
		}
	default:
		for range n {
			dst[d] = src[s]
			d += ds
			s += ss
		}
	}
}

// bytesOf returns the memory of elements.
func bytesOf[T tensor.Element](x []T) []byte {
	return unsafe.Slice((*byte)(unsafe.Pointer(unsafe.SliceData(x))), len(x)*int(unsafe.Sizeof(x[0])))
}
