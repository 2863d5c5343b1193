package gemm

import (
	"fmt"
	"math"
	"math/rand/v2"
	"slices"
	"testing"

	"github.com/hlocb/hlocb/interp/internal/simd/vec"
)

func kernels() []*kernel[float32] {
	first, _, _ := plainKernels()
	return append(vectorKernels(), portable(vec.FMA), first)
}

// TestKernelsAgree: all kernels return the same bits, so results do not depend on the processor.
func TestKernelsAgree(t *testing.T) {
	rng := rand.New(rand.NewPCG(4, 2))
	list := kernels()
	for range 60 {
		m, n, k := max(1, rng.IntN(40)-8), 1+rng.IntN(70), 1+rng.IntN(600) // a row in each fourth
		p := Problem[float32]{M: m, N: n, K: k, RowA: k, ColA: 1, RowB: n, ColB: 1, RowC: n, A: random(rng, m*k), B: random(rng, k*n)}
		// Include denormal numbers, cancellation and overflow.
		for i := range p.A {
			p.A[i] *= float32(math.Ldexp(1, rng.IntN(40)-20))
		}
		if rng.IntN(4) == 0 {
			for i := range p.B {
				p.B[i] *= 0x1p-140
			}
		}
		if rng.IntN(8) == 0 {
			p.A[rng.IntN(len(p.A))] = float32(math.Inf(1))
		}
		var want []float32
		for i, kern := range list {
			p.C = make([]float32, m*n)
			kern.multiply(p, scratch32)
			if i == 0 {
				want = p.C
				continue
			}
			for j, v := range p.C {
				if math.Float32bits(v) != math.Float32bits(want[j]) && (v == v || want[j] == want[j]) {
					t.Fatalf("%dx%dx%d, element %d: %s gives %v, %s %v", m, n, k, j, kern.name, v, list[0].name, want[j])
				}
			}
		}
	}
}

// TestKernels compares every kernel with a product in float64, up to the rounding of k terms, for sizes around its
// blocks and for any strides.
func TestKernels(t *testing.T) {
	rng := rand.New(rand.NewPCG(1, 2))
	sizes := []int{1, 2, 3, 5, 6, 7, 8, 9, 15, 16, 17, 31, 32, 33, 97}
	for _, kern := range kernels() {
		for range 150 {
			m, n, k := sizes[rng.IntN(len(sizes))], sizes[rng.IntN(len(sizes))], sizes[rng.IntN(len(sizes))]
			if rng.IntN(5) == 0 {
				k = 250 + rng.IntN(300)
			}
			if rng.IntN(9) == 0 {
				n = 500 + rng.IntN(100)
			}
			check(t, kern, rng, m, n, k)
		}
	}
}

func check(t *testing.T, kern *kernel[float32], rng *rand.Rand, m, n, k int) {
	t.Helper()
	p := Problem[float32]{M: m, N: n, K: k, RowA: k, ColA: 1, RowB: n, ColB: 1, RowC: n}
	if rng.IntN(2) == 0 {
		p.RowA, p.ColA = 1, m
	}
	if rng.IntN(2) == 0 {
		p.RowB, p.ColB = 1, k
	}
	p.A, p.B, p.C = random(rng, m*k), random(rng, k*n), random(rng, m*n)
	kern.multiply(p, scratch32)
	for i := range m {
		for j := range n {
			want, mag := 0.0, 0.0
			for l := range k {
				v := float64(p.A[i*p.RowA+l*p.ColA]) * float64(p.B[l*p.RowB+j*p.ColB])
				want += v
				mag += math.Abs(v)
			}
			if got := float64(p.C[i*n+j]); math.Abs(got-want) > mag*float64(k+1)*0x1p-24 {
				t.Fatalf("%s: %dx%dx%d, row %d column %d: got %v, want %v", kern.name, m, n, k, i, j, got, want)
			}
		}
	}
}

func random(rng *rand.Rand, n int) []float32 {
	x := make([]float32, n)
	for i := range x {
		x[i] = float32(rng.NormFloat64())
	}
	return x
}

func BenchmarkFloat32(b *testing.B) {
	for _, kern := range kernels() {
		for _, n := range []int{64, 256, 1024} {
			b.Run(fmt.Sprintf("%s/%d", kern.name, n), func(b *testing.B) {
				p := Problem[float32]{M: n, N: n, K: n, RowA: n, ColA: 1, RowB: n, ColB: 1, RowC: n,
					A: make([]float32, n*n), B: make([]float32, n*n), C: make([]float32, n*n)}
				for b.Loop() {
					kern.multiply(p, scratch32)
				}
				b.ReportMetric(2*float64(n)*float64(n)*float64(n)*float64(b.N)/b.Elapsed().Seconds()/1e9, "GFLOP/s")
			})
		}
	}
}

// TestOtherElements: the kernels of f64 and i32 return the bits of the kernels in Go.
func TestOtherElements(t *testing.T) {
	rng := rand.New(rand.NewPCG(8, 2))
	_, plain64, plainInt := plainKernels()
	for range 60 {
		m, n, k := max(1, rng.IntN(40)-8), 1+rng.IntN(70), 1+rng.IntN(600)
		f := Problem[float64]{M: m, N: n, K: k, RowA: k, ColA: 1, RowB: n, ColB: 1, RowC: n, A: make([]float64, m*k), B: make([]float64, k*n), C: make([]float64, m*n)}
		i := Problem[int32]{M: m, N: n, K: k, RowA: 1, ColA: m, RowB: n, ColB: 1, RowC: n, A: make([]int32, m*k), B: make([]int32, k*n), C: make([]int32, m*n)}
		for j := range f.A {
			f.A[j], i.A[j] = rng.NormFloat64(), int32(rng.Uint32())
		}
		for j := range f.B {
			f.B[j], i.B[j] = rng.NormFloat64(), int32(rng.Uint32())
		}
		plain64.multiply(f, scratch64)
		plainInt.multiply(i, scratchInt)
		want64, wantInt := slices.Clone(f.C), slices.Clone(i.C)
		kernels64, kernelsInt := otherKernels()
		for _, kern := range append(kernels64, portable(math.FMA)) {
			if kern.multiply(f, scratch64); !slices.Equal(f.C, want64) {
				t.Fatalf("f64 %dx%dx%d: %s differs from Go", m, n, k, kern.name)
			}
		}
		for _, kern := range kernelsInt {
			if kern.multiply(i, scratchInt); !slices.Equal(i.C, wantInt) {
				t.Fatalf("i32 %dx%dx%d: %s differs from Go", m, n, k, kern.name)
			}
		}
	}
}

// TestRuns: a product whose left operand is made of runs has the bits of the product of the stored matrix, with every
// kernel.
func TestRuns(t *testing.T) {
	rng := rand.New(rand.NewPCG(7, 7))
	for range 20 {
		m, n := 1+rng.IntN(RowsBlock), 1+rng.IntN(40)
		x := random(rng, 3000)
		var runs [][2]int
		k := 0
		for range 1 + rng.IntN(8) {
			r := [2]int{rng.IntN(2000), 1 + rng.IntN(110)}
			runs, k = append(runs, r), k+r[1]
		}
		starts := make([]int, m)
		a := make([]float32, 0, m*k)
		for i := range starts {
			starts[i] = rng.IntN(800)
			for _, r := range runs {
				a = append(a, x[starts[i]+r[0]:][:r[1]]...)
			}
		}
		b := random(rng, k*n)
		want := make([]float32, m*n)
		portable(vec.FMA).multiply(Problem[float32]{C: want, A: a, B: b, M: m, N: n, K: k, RowA: k, ColA: 1, RowB: n, ColB: 1, RowC: n}, scratch32)
		for _, kern := range append(kernels(), best32) {
			width := (n + kern.cols - 1) / kern.cols * kern.cols
			packed, got := make([]float32, k*width), make([]float32, m*n)
			middle := rng.IntN(width/kern.cols) * kern.cols
			for _, part := range [][2]int{{0, middle}, {middle, n}} {
				if part[0] < part[1] {
					kern.packRight(packed, b, n, k, n, part[0], part[1])
					kern.multiplyRuns(Runs[float32]{C: got, X: x, Starts: starts, Blocks: RunBlocks(runs), B: packed, N: n, RowC: n}, part[0], part[1], scratch32)
				}
			}
			if !slices.Equal(got, want) {
				t.Fatalf("%dx%dx%d in %d runs: %s differs", m, n, k, len(runs), kern.name)
			}
		}
	}
}
