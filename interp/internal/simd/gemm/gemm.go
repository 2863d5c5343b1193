package gemm

import (
	"math"
	"sync"
	"unsafe"

	"github.com/hlocb/hlocb/interp/internal/simd/vec"
)

// number lists the element types that have kernels. Unsigned integers are multiplied as signed integers.
type number interface{ float32 | float64 | int32 }

// Problem is C = A * B. A has M rows and K columns; B has K rows and N columns. A and B may have any strides, in
// elements. The rows of C are contiguous.
type Problem[T number] struct {
	C, A, B    []T
	M, N, K    int
	RowA, ColA int
	RowB, ColB int
	RowC       int
}

// kernel computes a tile of rows x cols of C from a packed panel of A, which holds k columns of length rows, and from k
// rows of B that lie rowB elements apart. If add is set, the kernel adds to C.
type kernel[T number] struct {
	name       string
	rows, cols int
	tile       func(a, b, c *T, k, rowB, rowC int, add bool)
}

// Block sizes: a panel of B (kBlock rows of nBytes) fits in the second-level cache, a strip of A in the first-level
// cache.
const (
	kBlock = 256
	nBytes = 2048
	mBytes = 384
)

// unpacked is the largest number of rows of A for which packing B does not pay.
const unpacked = 64

// blocks returns the number of columns in a panel of B and the number of rows in a panel of A.
func blocks[T number]() (n, m int) {
	var zero T
	size := int(unsafe.Sizeof(zero))
	return nBytes / size, mBytes / size
}

// Name returns the name of the kernels chosen for this processor.
func Name() string { return best32.name }

type scratch[T number] struct{ a, b, c []T }

var scratch32, scratch64, scratchInt = scratches[float32](), scratches[float64](), scratches[int32]()

func scratches[T number]() *sync.Pool {
	nBlock, mBlock := blocks[T]()
	return &sync.Pool{New: func() any {
		return &scratch[T]{a: make([]T, (mBlock+32)*kBlock), b: make([]T, (nBlock+32)*kBlock), c: make([]T, 32*64)}
	}}
}

// The kernels are chosen once, since the processor's features do not change.
var best32, best64, bestInt = choose()

// Multiply computes the product. It forms sums in blocks of 256 terms, each in order, with fused multiply-adds. The
// bits are the same on every processor.
func Multiply[T number](p Problem[T]) {
	switch p := any(p).(type) {
	case Problem[float32]:
		best32.multiply(p, scratch32)
	case Problem[float64]:
		best64.multiply(p, scratch64)
	case Problem[int32]:
		bestInt.multiply(p, scratchInt)
	}
}

func (kern *kernel[T]) multiply(p Problem[T], pool *sync.Pool) {
	if p.M <= 0 || p.N <= 0 {
		return
	}
	s := pool.Get().(*scratch[T])
	defer pool.Put(s)
	nBlock, mBlock := blocks[T]()
	for n0 := 0; n0 < p.N; n0 += nBlock {
		nn := min(nBlock, p.N-n0)
		for k0 := 0; k0 < p.K; k0 += kBlock {
			kk := min(kBlock, p.K-k0)
			inPlace := 0 // columns of B that the tiles read in place
			if p.ColB == 1 && p.M <= unpacked {
				inPlace = nn / kern.cols * kern.cols
			}
			if inPlace < nn {
				pack(s.b[inPlace*kk:], p.B[k0*p.RowB+(n0+inPlace)*p.ColB:], nn-inPlace, kk, kern.cols, p.ColB, p.RowB)
			}
			for m0 := 0; m0 < p.M; m0 += mBlock {
				mm := min(mBlock, p.M-m0)
				pack(s.a, p.A[m0*p.RowA+k0*p.ColA:], mm, kk, kern.rows, p.RowA, p.ColA)
				kern.block(p, s, m0, mm, n0, nn, k0, kk, inPlace)
			}
		}
	}
}

// block multiplies packed panels into a block of C.
func (kern *kernel[T]) block(p Problem[T], s *scratch[T], m0, mm, n0, nn, k0, kk, inPlace int) {
	add := k0 > 0
	for j := 0; j < nn; j += kern.cols {
		b, rowB := s.b[j*kk:], kern.cols
		if j < inPlace {
			b, rowB = p.B[k0*p.RowB+n0+j:], p.RowB
			_ = b[(kk-1)*rowB+kern.cols-1]
		}
		for i := 0; i < mm; i += kern.rows {
			a := s.a[i*kk:]
			if i+kern.rows <= mm && j+kern.cols <= nn {
				c := p.C[(m0+i)*p.RowC+n0+j:]
				_ = c[(kern.rows-1)*p.RowC+kern.cols-1]
				kern.tile(&a[0], &b[0], &c[0], kk, rowB, p.RowC, add)
				continue
			}
			// Compute a tile that sticks out in a scratch buffer.
			kern.tile(&a[0], &b[0], &s.c[0], kk, rowB, kern.cols, false)
			for r := range min(kern.rows, mm-i) {
				dst := p.C[(m0+i+r)*p.RowC+n0+j:]
				src := s.c[r*kern.cols:]
				w := min(kern.cols, nn-j)
				if add {
					for c := range w {
						dst[c] += src[c]
					}
				} else {
					copy(dst[:w], src[:w])
				}
			}
		}
	}
}

// pack copies n lines of k elements into panels of width lines and interleaves the elements of a panel's lines. It pads
// the last panel with zero lines. line and elem are the strides between lines and between elements.
func pack[T number](dst, src []T, n, k, width, line, elem int) {
	for i := 0; i < n; i += width {
		w := min(width, n-i)
		out := dst[i*k:][: width*k : width*k]
		if w < width {
			clear(out)
		}
		switch {
		case line == 1 && width == 8 && n-i >= 16: // two panels at a time, for a cache line of src
			next := dst[(i+8)*k:][: 8*k : 8*k]
			for e := range k {
				x := src[i+e*elem:][:16]
				*(*[8]T)(out[e*8:]), *(*[8]T)(next[e*8:]) = [8]T(x), [8]T(x[8:])
			}
			i += 8
		case line == 1:
			for e := range k {
				copy(out[e*width:], src[i+e*elem:][:w])
			}
		case elem == 1:
			vec.Transpose(out, src[i*line:], w, k, width, line)
		default:
			for l := range w {
				at := (i + l) * line
				for e := range k {
					out[e*width+l] = src[at+e*elem]
				}
			}
		}
	}
}

// The kernels in Go, for processors without supported vector instructions. Every kernel uses fused multiply-adds in the
// same order, and all return the same bits. tileFused relies on the compiler to fuse, which it does on arm64, ppc64,
// riscv64 and s390x. If the compiler does not fuse, tileExact computes the result of a fused instruction.

func plainKernels() (*kernel[float32], *kernel[float64], *kernel[int32]) {
	return plain(vec.FMA, 0x1p-12), plain(math.FMA, 0x1p-27), &kernel[int32]{"plain Go", 4, 4, tileFused[int32]}
}

// plain returns the fastest kernel in Go that returns the bits of the vector kernels.
func plain[T float32 | float64](fma func(x, y, z T) T, small T) *kernel[T] {
	// (1 + small)^2 - (1 + 2 small) is small^2 when fused and 0 when the product is rounded first.
	var a, b [8]T
	var c [16]T
	for i := range 4 {
		a[i], b[i] = -1, 1+2*small
		a[4+i], b[4+i] = 1+small, 1+small
	}
	tileFused(&a[0], &b[0], &c[0], 2, 4, 4, false)
	for _, v := range c {
		if v != small*small {
			return portable(fma)
		}
	}
	return &kernel[T]{"plain Go", 4, 4, tileFused[T]}
}

func portable[T float32 | float64](fma func(x, y, z T) T) *kernel[T] {
	return &kernel[T]{"plain Go", 4, 4, func(a, b, c *T, k, rowB, rowC int, add bool) { tileExact(a, b, c, k, rowB, rowC, add, fma) }}
}

func tileFused[T number](ap, bp, cp *T, k, rowB, rowC int, add bool) {
	a, b := unsafe.Slice(ap, 4*k), unsafe.Slice(bp, (k-1)*rowB+4)
	var s [4][4]T
	for range k {
		x, y := a[:4:4], b[:4:4]
		for i, v := range x {
			r := &s[i]
			r[0] += v * y[0]
			r[1] += v * y[1]
			r[2] += v * y[2]
			r[3] += v * y[3]
		}
		a, b = a[4:], b[min(rowB, len(b)):]
	}
	store(&s, cp, rowC, add)
}

func tileExact[T number](ap, bp, cp *T, k, rowB, rowC int, add bool, fma func(x, y, z T) T) {
	a, b := unsafe.Slice(ap, 4*k), unsafe.Slice(bp, (k-1)*rowB+4)
	var s [4][4]T
	for range k {
		for i, v := range a[:4] {
			for j, w := range b[:4] {
				s[i][j] = fma(v, w, s[i][j])
			}
		}
		a, b = a[4:], b[min(rowB, len(b)):]
	}
	store(&s, cp, rowC, add)
}

func store[T number](s *[4][4]T, cp *T, rowC int, add bool) {
	c := unsafe.Slice(cp, 3*rowC+4)
	for i := range s {
		out := c[i*rowC:][:4]
		for j, v := range s[i] {
			if add {
				v += out[j]
			}
			out[j] = v
		}
	}
}
