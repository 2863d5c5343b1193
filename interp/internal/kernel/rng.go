package kernel

import (
	"fmt"
	"math"
	"math/bits"
	"slices"

	"github.com/hlocb/hlocb/interp/internal/simd/vec"
	"github.com/hlocb/hlocb/interp/internal/special"
	"github.com/hlocb/hlocb/tensor"
)

func BitsKernel(s *Signature, alg string) Kernel {
	FailIf(s.In[0].DType != tensor.UI64 || s.Out[0].DType != tensor.UI64 || len(s.In[0].Shape) != 1 || s.In[0].N != s.Out[0].N,
		"expects a state of type ui64 and gives a state and bits")
	out := s.Out[1]
	UnsupportedIf(out.DType == tensor.I1 || out.DType.IsComplex() || out.DType.Bits() < 8, "random bits of element type %s", out.DType)
	n := s.In[0].N
	switch {
	case alg == "THREE_FRY" && n == 2:
		return Kernel{Family: "Threefry", Run: func(in, outs []*tensor.Tensor) {
			st := tensor.View[uint64](in[0])
			used := threeFryBits(outs[1], st[0], st[1])
			next := tensor.View[uint64](outs[0])
			next[0], next[1] = st[0], st[1]+used
		}}
	case (alg == "PHILOX" || alg == "DEFAULT") && (n == 2 || n == 3):
		return Kernel{Family: "Philox", Run: func(in, outs []*tensor.Tensor) {
			st := append([]uint64(nil), tensor.View[uint64](in[0])...)
			hi := st[0] // a short state: the key is also the high half of the counter
			if n == 3 {
				hi = st[2]
			}
			used := philoxBits(outs[1], st[0], st[1], hi)
			next := tensor.View[uint64](outs[0])
			copy(next, st)
			var carry uint64
			next[1], carry = bits.Add64(st[1], used, 0)
			if n == 3 {
				next[2] = hi + carry
			}
		}}
	}
	panic(Failure{Err: fmt.Errorf("has a state of %d elements for algorithm %s", n, alg)})
}

// lanes are words of four counters. The rounds of one counter depend on each other; four at a time keep a core busy.
type lanes struct{ a, b, c, d uint32 }

func (x lanes) add(y lanes) lanes { return lanes{x.a + y.a, x.b + y.b, x.c + y.c, x.d + y.d} }

func (x lanes) plus(v uint32) lanes { return lanes{x.a + v, x.b + v, x.c + v, x.d + v} }

// turned returns x rotated left by k bits, xor y.
func (x lanes) turned(k int, y lanes) lanes {
	return lanes{bits.RotateLeft32(x.a, k) ^ y.a, bits.RotateLeft32(x.b, k) ^ y.b, bits.RotateLeft32(x.c, k) ^ y.c, bits.RotateLeft32(x.d, k) ^ y.d}
}

// threeFry computes Threefry-2x32 with 20 rounds (Salmon et al., "Parallel random numbers: as easy as 1, 2, 3", 2011).
// It stores the first and second words of the counters ctr, ctr+step, ... in x and y.
func threeFry(x, y []uint32, key, ctr, step uint64) {
	k0, k1 := uint32(key), uint32(key>>32)
	k2 := k0 ^ k1 ^ 0x1BD11BDA
	ks := [7]uint32{k0, k1, k2, k0, k1, k2, k0}
	for i := range x {
		c := ctr + uint64(i)*step
		x[i], y[i] = uint32(c), uint32(c>>32)
	}
	for i := vec.ThreeFry(x, y, [3]uint32{k0, k1, k2}); i < len(x); i += 4 {
		c0 := ctr + uint64(i)*step
		c1, c2, c3 := c0+step, c0+2*step, c0+3*step
		u := lanes{uint32(c0), uint32(c1), uint32(c2), uint32(c3)}.plus(k0)
		v := lanes{uint32(c0 >> 32), uint32(c1 >> 32), uint32(c2 >> 32), uint32(c3 >> 32)}.plus(k1)
		for r := uint32(0); ; r++ {
			u = u.add(v)
			v = v.turned(13, u)
			u = u.add(v)
			v = v.turned(15, u)
			u = u.add(v)
			v = v.turned(26, u)
			u = u.add(v)
			v = v.turned(6, u)
			u, v = u.plus(ks[r+1]), v.plus(ks[r+2]+r+1)
			if r++; r == 5 {
				break
			}
			u = u.add(v)
			v = v.turned(17, u)
			u = u.add(v)
			v = v.turned(29, u)
			u = u.add(v)
			v = v.turned(16, u)
			u = u.add(v)
			v = v.turned(24, u)
			u, v = u.plus(ks[r+1]), v.plus(ks[r+2]+r+1)
		}
		n := copy(x[i:], []uint32{u.a, u.b, u.c, u.d})
		copy(y[i:], []uint32{v.a, v.b, v.c, v.d}[:n])
	}
}

// threeFryBlock is the number of counters that are computed at once.
const threeFryBlock = 512

// threeFryBits fills t and returns the number of counters that it used. An element of 64 bits uses one counter; the
// counter's first word is the low half. A narrower element uses one word: along one dimension (the first of even size,
// else the longest) the two words of a counter alternate.
func threeFryBits(t *tensor.Tensor, key, ctr uint64) uint64 {
	n := t.NumElements()
	if n == 0 {
		return 0
	}
	if t.DType().Size() == 8 {
		o := tensor.View[uint64](t)
		eachThreeFry(n, key, ctr, 1, func(lo int, x, y []uint32) {
			for i := range x {
				o[lo+i] = uint64(x[i]) | uint64(y[i])<<32
			}
		})
		return uint64(n)
	}
	shape := t.Shape()
	if len(shape) == 0 {
		shape = tensor.Shape{1}
	}
	dim := slices.IndexFunc(shape, func(d int64) bool { return d%2 == 0 })
	if dim < 0 {
		dim = slices.Index(shape, slices.Max(shape))
	}
	size, inner := int(shape[dim]), int(shape[dim+1:].NumElements())
	half := (size + 1) / 2
	counters := int(shape[:dim].NumElements()) * half * inner
	set := t.SetBits
	if t.DType().Size() == 4 {
		words := tensor.View[uint32](t)
		set = func(i int, v uint64) { words[i] = uint32(v) }
	}
	eachThreeFry(counters, key, ctr, 1, func(lo int, x, y []uint32) {
		o, d, i := lo/inner/half, lo/inner%half*2, lo%inner
		for k := range x {
			at := (o*size+d)*inner + i
			set(at, uint64(x[k]))
			if d+1 < size {
				set(at+inner, uint64(y[k]))
			}
			if i++; i < inner {
				continue
			}
			i = 0
			if d += 2; d >= size {
				o, d = o+1, 0
			}
		}
	})
	return uint64(counters)
}

// eachThreeFry calls f with the words of the counters ctr, ctr+step, ... on all cores, in blocks. lo is the number of
// the block's first counter.
func eachThreeFry(n int, key, ctr, step uint64, f func(lo int, x, y []uint32)) {
	Parallel(n, 1<<13, func(lo, hi int) {
		var x, y [threeFryBlock]uint32
		for ; lo < hi; lo += threeFryBlock {
			k := min(threeFryBlock, hi-lo)
			threeFry(x[:k], y[:k], key, ctr+uint64(lo)*step, step)
			f(lo, x[:k], y[:k])
		}
	})
}

// philox computes Philox-4x32 with 10 rounds (same paper as threeFry).
func philox(key, lo, hi uint64) [4]uint32 {
	k0, k1 := uint32(key), uint32(key>>32)
	x := [4]uint32{uint32(lo), uint32(lo >> 32), uint32(hi), uint32(hi >> 32)}
	for range 10 {
		p0, p1 := uint64(x[0])*0xD2511F53, uint64(x[2])*0xCD9E8D57
		x = [4]uint32{uint32(p1>>32) ^ x[1] ^ k0, uint32(p1), uint32(p0>>32) ^ x[3] ^ k1, uint32(p0)}
		k0 += 0x9E3779B9
		k1 += 0xBB67AE85
	}
	return x
}

// philoxBits fills t and returns the number of counters that it used. A counter yields four words or two elements of 64
// bits.
func philoxBits(t *tensor.Tensor, key, lo, hi uint64) uint64 {
	n := t.NumElements()
	per := 4
	if t.DType().Size() == 8 {
		per = 2
	}
	blocks := (n + per - 1) / per
	Parallel(blocks, 1<<12, func(from, to int) {
		for b := from; b < to; b++ {
			l, carry := bits.Add64(lo, uint64(b), 0)
			x := philox(key, l, hi+carry)
			for i := range min(per, n-b*per) {
				v := uint64(x[i&3])
				if per == 2 {
					v = uint64(x[2*i]) | uint64(x[2*i+1])<<32
				}
				t.SetBits(b*per+i, v)
			}
		}
	})
	return uint64(blocks)
}

func RngKernel(s *Signature, dist string, key uint64) Kernel {
	FailIf(s.In[0].N != 1 || s.In[1].N != 1 || s.In[0].DType != s.Out[0].DType || s.In[1].DType != s.Out[0].DType,
		"expects two scalar bounds of the result's element type and a shape")
	out := s.Out[0]
	n, uniform := out.N, dist == "UNIFORM"
	switch {
	case uniform && (out.DType.IsInteger() || out.DType == tensor.I1):
		return Kernel{Family: "Threefry", Scratch: 8 * int64(n), Run: func(in, outs []*tensor.Tensor) {
			a, b := IntAt(in[0], 0), IntAt(in[1], 0)
			v := make([]int64, n)
			if span := uint64(b - a); span != 0 {
				eachThreeFry(n, key, 0, 1, func(lo int, x, y []uint32) {
					for i := range x {
						hi, _ := bits.Mul64(uint64(x[i])|uint64(y[i])<<32, span)
						v[lo+i] = a + int64(hi)
					}
				})
			}
			EncodeInt(out.DType, outs[0], 0, v)
		}}
	case out.DType.IsFloat() && (uniform || dist == "NORMAL"):
		unit := func(x, y uint32) float64 { return float64(uint64(x)<<21^uint64(y)>>11) / (1 << 53) } // in [0, 1)
		return Kernel{Family: "Threefry", Scratch: 8 * int64(n), Run: func(in, outs []*tensor.Tensor) {
			a, b := in[0].FloatAt(0), in[1].FloatAt(0)
			v := make([]float64, n)
			eachThreeFry(n, key, 0, 2, func(lo int, x, y []uint32) {
				for i := range x {
					v[lo+i] = unit(x[i], y[i])
				}
				if uniform {
					for i := range x {
						v[lo+i] = a + float64((b-a)*v[lo+i])
					}
				} else {
					threeFry(x, y, key, uint64(2*lo+1), 2)
					for i := range x { // Box-Muller transform
						v[lo+i] = a + float64(b*math.Sqrt(-2*vec.Log(1-v[lo+i]))*special.Cosine(2*math.Pi*unit(x[i], y[i])))
					}
				}
				Encode64(out.DType, outs[0], lo, v[lo:lo+len(x)])
				if uniform && a < b { // rounding may reach the upper bound
					for i := range x {
						if outs[0].FloatAt(lo+i) >= b {
							Encode64(out.DType, outs[0], lo+i, []float64{a})
						}
					}
				}
			})
		}}
	}
	panic(Failure{Err: Unsupported("distribution %q on elements of type %s", dist, out.DType)})
}
