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

// kernel computes a tile of rows x cols of C from k columns of A and from k rows of B that lie rowB elements apart. If
// add is set, the kernel adds to C. tile reads a packed panel of A, which holds k columns of length rows. runs reads
// the rows of A in place: from the start of each row, n runs, each with its offset and its length in elements. Kernels
// in Go have only tile.
type kernel[T number] struct {
	name       string
	rows, cols int
	tile       func(a, b, c *T, k, rowB, rowC int, add bool)
	runs       func(a **T, runs *[2]int, n int, b, c *T, rowB, rowC int, add bool)
	line       *kernel[T] // for a single row, or nil; it has only runs
}

// Block sizes: a panel of B (kBlock rows of nBytes) fits in the second-level cache, a strip of A in the first-level
// cache.
const (
	kBlock = 256
	nBytes = 2048
	mBytes = 384
)

// unpacked is the largest number of rows of A for which packing B does not pay, and of columns of B for which packing
// A does not pay.
const unpacked = 64

// blocks returns the number of columns in a panel of B and the number of rows in a panel of A.
func blocks[T number]() (n, m int) {
	var zero T
	size := int(unsafe.Sizeof(zero))
	return nBytes / size, mBytes / size
}

// Name returns the name of the kernels chosen for this processor.
func Name() string { return best32.name }

type scratch[T number] struct {
	a, b, c []T
	rows    []*T // the starts of rows of A
	line    [1][2]int
}

var scratch32, scratch64, scratchInt = scratches[float32](), scratches[float64](), scratches[int32]()

func scratches[T number]() *sync.Pool {
	nBlock, mBlock := blocks[T]()
	return &sync.Pool{New: func() any {
		return &scratch[T]{a: make([]T, (max(mBlock, RowsBlock)+32)*kBlock), b: make([]T, (nBlock+32)*kBlock), c: make([]T, 32*64), rows: make([]*T, max(mBlock, RowsBlock)+32)}
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
	if p.M == 1 && kern.line != nil && p.N >= kern.line.cols {
		kern = kern.line
	}
	inRows := p.ColA == 1 && p.N <= unpacked && kern.runs != nil || kern.tile == nil // the tiles read the rows of A in place
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
				b := block[T]{
					c: p.C[m0*p.RowC+n0:], b: s.b, s: s, rowC: p.RowC, m: min(mBlock, p.M-m0), n: nn, k: kk, inPlace: inPlace, add: k0 > 0,
				}
				if inPlace > 0 {
					b.right, b.rowB = p.B[k0*p.RowB+n0:], p.RowB
				}
				if inRows {
					s.line[0] = [2]int{0, kk}
					b.runs = s.line[:]
				}
				if inRows && p.ColA == 1 {
					_ = p.A[(m0+b.m-1)*p.RowA+k0+kk-1]
					for i := range b.m {
						s.rows[i] = &p.A[(m0+i)*p.RowA+k0]
					}
				} else {
					pack(s.a, p.A[m0*p.RowA+k0*p.ColA:], b.m, kk, kern.rows, p.RowA, p.ColA)
					s.rows[0] = &s.a[0]
				}
				kern.block(&b)
			}
		}
	}
}

// block is a product of k columns of A and k rows of B. Without runs, the scratch memory holds packed panels of A,
// otherwise the starts of its rows. b holds packed panels of B, but right holds the first inPlace columns of B, whose
// rows lie rowB elements apart.
type block[T number] struct {
	c, b, right      []T
	s                *scratch[T]
	rowB, rowC       int
	m, n, k, inPlace int
	runs             [][2]int
	add              bool
}

// block computes C of a block.
func (kern *kernel[T]) block(p *block[T]) {
	if p.runs != nil { // repeat the last row up to the end of its tile
		for i := p.m; i%kern.rows != 0; i++ {
			p.s.rows[i] = p.s.rows[p.m-1]
		}
		defer clear(p.s.rows[:p.m+kern.rows])
		if kern.runs == nil {
			kern.packRuns(p)
		}
	}
	tile := func(i int, b, c *T, rowB, rowC int, add bool) {
		if p.runs != nil && kern.runs != nil {
			kern.runs(&p.s.rows[i], &p.runs[0], len(p.runs), b, c, rowB, rowC, add)
		} else {
			kern.tile(&p.s.a[i*p.k], b, c, p.k, rowB, rowC, add)
		}
	}
	for j := 0; j < p.n; j += kern.cols {
		b, rowB := p.b[min(j*p.k, len(p.b)):], kern.cols
		if j < p.inPlace {
			b, rowB = p.right[j:], p.rowB
		}
		_ = b[(p.k-1)*rowB+kern.cols-1]
		for i := 0; i < p.m; i += kern.rows {
			if i+kern.rows <= p.m && j+kern.cols <= p.n {
				c := p.c[i*p.rowC+j:]
				_ = c[(kern.rows-1)*p.rowC+kern.cols-1]
				tile(i, &b[0], &c[0], rowB, p.rowC, p.add)
				continue
			}
			// Compute a tile that sticks out in a scratch buffer.
			tile(i, &b[0], &p.s.c[0], rowB, kern.cols, false)
			for r := range min(kern.rows, p.m-i) {
				dst := p.c[(i+r)*p.rowC+j:]
				src := p.s.c[r*kern.cols:]
				w := min(kern.cols, p.n-j)
				if p.add {
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

// packRuns packs the runs of the rows into panels.
func (kern *kernel[T]) packRuns(p *block[T]) {
	for i := range (p.m + kern.rows - 1) / kern.rows * kern.rows {
		out := p.s.a[i/kern.rows*kern.rows*p.k+i%kern.rows:]
		e := 0
		for _, r := range p.runs {
			for _, v := range unsafe.Slice(p.s.rows[i], r[0]+r[1])[r[0]:] {
				out[e] = v
				e += kern.rows
			}
		}
	}
}

// Runs is C = A * B, where A is not stored as a matrix: each row of A is a sequence of runs of elements of X. The runs
// lie at the same offsets from the starts of all rows. B is packed. The rows of C are contiguous.
type Runs[T number] struct {
	C, X   []T
	Starts []int // of the rows, at most RowsBlock
	Blocks []RunBlock
	B      []T // see PackRight
	N      int // the number of columns of B
	RowC   int
}

// RowsBlock is the largest number of rows of Runs.
const RowsBlock = 96

// RunBlock lists the runs of up to 256 columns of A: the offset and the length of each.
type RunBlock struct {
	runs  [][2]int
	k     int
	reach int // the largest offset of an element
}

// RunBlocks divides the runs of all columns into blocks.
func RunBlocks(runs [][2]int) []RunBlock {
	var out []RunBlock
	b := RunBlock{}
	for _, r := range runs {
		for r[1] > 0 {
			n := min(r[1], kBlock-b.k)
			b.runs, b.k, b.reach = append(b.runs, [2]int{r[0], n}), b.k+n, max(b.reach, r[0]+n-1)
			r = [2]int{r[0] + n, r[1] - n}
			if b.k == kBlock {
				out, b = append(out, b), RunBlock{}
			}
		}
	}
	if b.k > 0 {
		out = append(out, b)
	}
	return out
}

// Columns returns the number of columns that a tile computes at once.
func Columns[T number]() int {
	var zero T
	switch any(zero).(type) {
	case float32:
		return best32.cols
	case float64:
		return best64.cols
	}
	return bestInt.cols
}

// PackRight packs columns [from, to) of B, which has k rows of row elements, for Runs. from is a multiple of Columns.
// dst has space for k rows, whose length is n rounded up to a multiple of Columns.
func PackRight[T number](dst, b []T, n, k, row, from, to int) {
	switch dst := any(dst).(type) {
	case []float32:
		best32.packRight(dst, any(b).([]float32), n, k, row, from, to)
	case []float64:
		best64.packRight(dst, any(b).([]float64), n, k, row, from, to)
	case []int32:
		bestInt.packRight(dst, any(b).([]int32), n, k, row, from, to)
	}
}

func (kern *kernel[T]) packRight(dst, b []T, n, k, row, from, to int) {
	width := (n + kern.cols - 1) / kern.cols * kern.cols
	for k0 := 0; k0 < k; k0 += kBlock {
		kk := min(kBlock, k-k0)
		pack(dst[k0*width+from*kk:], b[k0*row+from:], to-from, kk, kern.cols, 1, row)
	}
}

// MultiplyRuns computes columns [from, to) of the product, like Multiply. from is a multiple of Columns.
func MultiplyRuns[T number](p Runs[T], from, to int) {
	switch p := any(p).(type) {
	case Runs[float32]:
		best32.multiplyRuns(p, from, to, scratch32)
	case Runs[float64]:
		best64.multiplyRuns(p, from, to, scratch64)
	case Runs[int32]:
		bestInt.multiplyRuns(p, from, to, scratchInt)
	}
}

func (kern *kernel[T]) multiplyRuns(p Runs[T], from, to int, pool *sync.Pool) {
	s := pool.Get().(*scratch[T])
	defer pool.Put(s)
	width := (p.N + kern.cols - 1) / kern.cols * kern.cols
	k0 := 0
	for _, r := range p.Blocks {
		for i, at := range p.Starts {
			_ = p.X[at+r.reach]
			s.rows[i] = &p.X[at]
		}
		kern.block(&block[T]{
			c: p.C[from:], b: p.B[k0*width+from*r.k:], s: s, rowC: p.RowC, m: len(p.Starts), n: to - from, k: r.k, runs: r.runs, add: k0 > 0,
		})
		k0 += r.k
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
		case line == 1 && w == 6 && width == 6:
			for e := range k {
				*(*[6]T)(out[e*6:]) = [6]T(src[i+e*elem:])
			}
		case line == 1 && w == 16 && width == 16:
			for e := range k {
				*(*[16]T)(out[e*16:]) = [16]T(src[i+e*elem:])
			}
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
	return plain(vec.FMA, 0x1p-12), plain(math.FMA, 0x1p-27), &kernel[int32]{"plain Go", 4, 4, tileFused[int32], nil, nil}
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
	return &kernel[T]{"plain Go", 4, 4, tileFused[T], nil, nil}
}

func portable[T float32 | float64](fma func(x, y, z T) T) *kernel[T] {
	return &kernel[T]{"plain Go", 4, 4, func(a, b, c *T, k, rowB, rowC int, add bool) { tileExact(a, b, c, k, rowB, rowC, add, fma) }, nil, nil}
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
