package gemm

import (
	"math"
	"sync"
)

// Problem is C = A * B, where A has M rows and K columns and B has K rows and N columns. A and B may have any strides,
// in elements. The rows of C are contiguous.
type Problem struct {
	C, A, B    []float32
	M, N, K    int
	RowA, ColA int
	RowB, ColB int
	RowC       int
}

// kernel computes a tile of rows x cols of C from packed panels. Panel a holds k columns of length rows, panel b holds
// k rows of length cols. If add is set, the kernel adds to C.
type kernel struct {
	name       string
	rows, cols int
	tile       func(a, b, c []float32, k, rowC int, add bool)
}

// Block sizes: a panel of B (kBlock x nBlock) fits in the second-level cache, a strip of A in the first-level cache.
const (
	kBlock = 256
	nBlock = 512
	mBlock = 96
)

// Name returns the name of the kernel chosen for this processor.
func Name() string { return best.name }

type scratch struct{ a, b, c []float32 }

var scratches = sync.Pool{New: func() any {
	return &scratch{
		a: make([]float32, (mBlock+32)*kBlock),
		b: make([]float32, (nBlock+32)*kBlock),
		c: make([]float32, 32*64),
	}
}}

// Float32 computes the product. It forms sums in blocks of 256 terms, each in order, with fused multiply-adds. The bits
// are the same on every processor.
func Float32(p Problem) { best.multiply(p) }

func (kern *kernel) multiply(p Problem) {
	if p.M <= 0 || p.N <= 0 {
		return
	}
	s := scratches.Get().(*scratch)
	defer scratches.Put(s)
	for n0 := 0; n0 < p.N; n0 += nBlock {
		nn := min(nBlock, p.N-n0)
		for k0 := 0; k0 < p.K; k0 += kBlock {
			kk := min(kBlock, p.K-k0)
			pack(s.b, p.B[k0*p.RowB+n0*p.ColB:], nn, kk, kern.cols, p.ColB, p.RowB)
			for m0 := 0; m0 < p.M; m0 += mBlock {
				mm := min(mBlock, p.M-m0)
				pack(s.a, p.A[m0*p.RowA+k0*p.ColA:], mm, kk, kern.rows, p.RowA, p.ColA)
				kern.block(p, s, m0, mm, n0, nn, kk, k0 > 0)
			}
		}
	}
}

// block multiplies packed panels into a block of C.
func (kern *kernel) block(p Problem, s *scratch, m0, mm, n0, nn, kk int, add bool) {
	for j := 0; j < nn; j += kern.cols {
		b := s.b[j*kk:]
		for i := 0; i < mm; i += kern.rows {
			a := s.a[i*kk:]
			if i+kern.rows <= mm && j+kern.cols <= nn {
				kern.tile(a, b, p.C[(m0+i)*p.RowC+n0+j:], kk, p.RowC, add)
				continue
			}
			// Compute a tile that sticks out in a scratch buffer.
			kern.tile(a, b, s.c, kk, kern.cols, false)
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
func pack(dst, src []float32, n, k, width, line, elem int) {
	for i := 0; i < n; i += width {
		w := min(width, n-i)
		out := dst[i*k:][: width*k : width*k]
		if w < width {
			clear(out)
		}
		switch {
		case line == 1:
			for e := range k {
				x := src[i+e*elem:][:w]
				copy(out[e*width:], x)
			}
		case elem == 1:
			for l := range w {
				x := src[(i+l)*line:][:k]
				for e, v := range x {
					out[e*width+l] = v
				}
			}
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
// same order, and all return the same bits. tileFused relies on the compiler to fuse. If the compiler does not fuse,
// tileExact computes the result of a fused instruction.
var (
	fused    = kernel{name: "plain Go", rows: 4, cols: 4, tile: tileFused}
	portable = kernel{name: "plain Go", rows: 4, cols: 4, tile: tileExact}
)

// plain returns the fastest kernel in Go that returns the right bits.
func plain() *kernel {
	// (1 + 2^-12)^2 - (1 + 2^-11) is 2^-24 when fused and 0 when the product is rounded first.
	var a, b [8]float32
	var c [16]float32
	for i := range 4 {
		a[i], b[i] = -1, 1+0x1p-11
		a[4+i], b[4+i] = 1+0x1p-12, 1+0x1p-12
	}
	tileFused(a[:], b[:], c[:], 2, 4, false)
	for _, v := range c {
		if v != 0x1p-24 {
			return &portable
		}
	}
	return &fused
}

// tileFused relies on the compiler to fuse, which it does on arm64, ppc64, riscv64 and s390x.
func tileFused(a, b, c []float32, k, rowC int, add bool) {
	var s [4][4]float32
	for range k {
		x, y := a[:4:4], b[:4:4]
		for i, v := range x {
			r := &s[i]
			r[0] += v * y[0]
			r[1] += v * y[1]
			r[2] += v * y[2]
			r[3] += v * y[3]
		}
		a, b = a[4:], b[4:]
	}
	store(&s, c, rowC, add)
}

func tileExact(a, b, c []float32, k, rowC int, add bool) {
	var s [4][4]float32
	for range k {
		x, y := a[:4:4], b[:4:4]
		for i, v := range x {
			r := &s[i]
			r[0] = fma(v, y[0], r[0])
			r[1] = fma(v, y[1], r[1])
			r[2] = fma(v, y[2], r[2])
			r[3] = fma(v, y[3], r[3])
		}
		a, b = a[4:], b[4:]
	}
	store(&s, c, rowC, add)
}

func store(s *[4][4]float32, c []float32, rowC int, add bool) {
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

// fma is x*y + z, rounded once. The product is exact in float64. The sum is rounded to odd in float64, so the final
// rounding to float32 does not round twice (Boldo and Melquiond, "Emulation of FMA and correctly rounded sums", 2008).
func fma(x, y, z float32) float32 {
	p, w := float64(x)*float64(y), float64(z)
	s := p + w
	t := s - p
	e := (p - (s - t)) + (w - t)
	if e > 0 || e < 0 {
		if u := math.Float64bits(s); u&1 == 0 {
			if (e > 0) == (s > 0) {
				u++
			} else {
				u--
			}
			s = math.Float64frombits(u)
		}
	}
	return float32(s)
}
