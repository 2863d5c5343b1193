package kernel

import (
	"errors"
	"fmt"
	"math"
	"math/bits"

	"github.com/hlocb/hlocb/interp/internal/special"
	"github.com/hlocb/hlocb/tensor"
)

func BitsKernel(s *Signature, alg string) (Kernel, error) {
	if len(s.In) != 1 || len(s.Out) != 2 || s.In[0].DType != tensor.UI64 || s.Out[0].DType != tensor.UI64 || len(s.In[0].Shape) != 1 || s.In[0].N != s.Out[0].N {
		return Kernel{}, errors.New("expects a state of type ui64 and gives a state and bits")
	}
	out := s.Out[1]
	if out.DType == tensor.I1 || out.DType.IsComplex() || out.DType.Bits() < 8 {
		return Kernel{}, Unsupported("random bits of element type %s", out.DType)
	}
	n := s.In[0].N
	switch {
	case alg == "THREE_FRY" && n == 2:
		return Kernel{Family: "Threefry", Run: func(in, outs []*tensor.Tensor) error {
			st := tensor.View[uint64](in[0])
			used := threeFryBits(outs[1], st[0], st[1])
			next := tensor.View[uint64](outs[0])
			next[0], next[1] = st[0], st[1]+used
			return nil
		}}, nil
	case (alg == "PHILOX" || alg == "DEFAULT") && (n == 2 || n == 3):
		return Kernel{Family: "Philox", Run: func(in, outs []*tensor.Tensor) error {
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
			return nil
		}}, nil
	default:
		return Kernel{}, fmt.Errorf("has a state of %d elements for algorithm %s", n, alg)
	}
}

// threeFry is Threefry-2x32 with 20 rounds (Salmon et al., "Parallel random numbers: as easy as 1, 2, 3", 2011).
func threeFry(key, ctr uint64) (uint32, uint32) {
	ks := [3]uint32{uint32(key), uint32(key >> 32)}
	ks[2] = ks[0] ^ ks[1] ^ 0x1BD11BDA
	x0, x1 := uint32(ctr)+ks[0], uint32(ctr>>32)+ks[1]
	rot := [2][4]int{{13, 15, 26, 6}, {17, 29, 16, 24}}
	for r := range 5 {
		for _, k := range rot[r%2] {
			x0 += x1
			x1 = bits.RotateLeft32(x1, k) ^ x0
		}
		x0 += ks[(r+1)%3]
		x1 += ks[(r+2)%3] + uint32(r) + 1
	}
	return x0, x1
}

// threeFryBits fills t and returns the number of counters that it used. An element of 64 bits uses one counter; the
// counter's first word is the low half. A narrower element uses one word: along one dimension (the first of even size,
// else the longest) the two words of a counter alternate.
func threeFryBits(t *tensor.Tensor, key, ctr uint64) uint64 {
	n := t.NumElements()
	if t.DType().Size() == 8 {
		o := tensor.View[uint64](t)
		Parallel(n, 1<<13, func(lo, hi int) {
			for i := lo; i < hi; i++ {
				a, b := threeFry(key, ctr+uint64(i))
				o[i] = uint64(a) | uint64(b)<<32
			}
		})
		return uint64(n)
	}
	if n == 0 {
		return 0
	}
	shape := t.Shape()
	if len(shape) == 0 {
		shape = tensor.Shape{1}
	}
	dim := -1
	for i, d := range shape {
		if d%2 == 0 {
			dim = i
			break
		}
	}
	if dim < 0 {
		dim = 0
		for i, d := range shape {
			if d > shape[dim] {
				dim = i
			}
		}
	}
	size := int(shape[dim])
	half := (size + 1) / 2
	inner := int(shape[dim+1:].NumElements())
	outer := int(shape[:dim].NumElements())
	Parallel(outer*half, max(1, (1<<13)/max(inner, 1)), func(lo, hi int) {
		for r := lo; r < hi; r++ {
			o, d := r/half, r%half*2
			for i := range inner {
				a, b := threeFry(key, ctr+uint64(r*inner+i))
				at := (o*size+d)*inner + i
				StoreBits(t, at, uint64(a))
				if d+1 < size {
					StoreBits(t, at+inner, uint64(b))
				}
			}
		}
	})
	return uint64(outer * half * inner)
}

// philox is Philox-4x32 with 10 rounds (same paper as threeFry).
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
				StoreBits(t, b*per+i, v)
			}
		}
	})
	return uint64(blocks)
}

func RngKernel(s *Signature, dist string, key uint64) (Kernel, error) {
	if len(s.In) != 3 || len(s.Out) != 1 || s.In[0].N != 1 || s.In[1].N != 1 || s.In[0].DType != s.Out[0].DType || s.In[1].DType != s.Out[0].DType {
		return Kernel{}, errors.New("expects two scalar bounds of the result's element type and a shape")
	}
	out := s.Out[0]
	unit := func(i int) (a, b float64) { // in [0, 1)
		x, y := threeFry(key, uint64(2*i))
		u, v := threeFry(key, uint64(2*i+1))
		return float64(uint64(x)<<21^uint64(y)>>11) / (1 << 53), float64(uint64(u)<<21^uint64(v)>>11) / (1 << 53)
	}
	switch {
	case dist == "UNIFORM" && (out.DType.IsInteger() || out.DType == tensor.I1):
		return Kernel{Family: "Threefry", Scratch: 8 * int64(out.N), Run: func(in, outs []*tensor.Tensor) error {
			a, b := IntAt(in[0], 0), IntAt(in[1], 0)
			v := make([]int64, out.N)
			for i := range v {
				x, y := threeFry(key, uint64(i))
				if span := uint64(b - a); span != 0 {
					hi, _ := bits.Mul64(uint64(x)|uint64(y)<<32, span)
					v[i] = a + int64(hi)
				}
			}
			EncodeInt(out.DType, outs[0], 0, v)
			return nil
		}}, nil
	case out.DType.IsFloat() && (dist == "UNIFORM" || dist == "NORMAL"):
		return Kernel{Family: "Threefry", Scratch: 8 * int64(out.N), Run: func(in, outs []*tensor.Tensor) error {
			a, b := in[0].FloatAt(0), in[1].FloatAt(0)
			v := make([]float64, out.N)
			for i := range v {
				x, y := unit(i)
				if dist == "UNIFORM" {
					v[i] = a + float64((b-a)*x)
				} else { // Box-Muller transform
					v[i] = a + float64(b*math.Sqrt(-2*special.Log(1-x))*special.Cosine(2*math.Pi*y))
				}
			}
			Encode64(out.DType, outs[0], 0, v)
			if dist == "UNIFORM" { // rounding may reach the upper bound
				for i := range v {
					if outs[0].FloatAt(i) >= b && a < b {
						Encode64(out.DType, outs[0], i, []float64{a})
					}
				}
			}
			return nil
		}}, nil
	}
	return Kernel{}, Unsupported("distribution %q on elements of type %s", dist, out.DType)
}
