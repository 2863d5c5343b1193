package interp

import (
	"errors"
	"fmt"
	"hash/fnv"
	"math"
	"math/bits"

	"github.com/hlocb/hlocb/dialect/stablehlo"
	"github.com/hlocb/hlocb/ir"
	"github.com/hlocb/hlocb/tensor"
)

// makeRngBitGenerator compiles rng_bit_generator (spec, "rng_bit_generator"). The spec does not define the layout of
// the bits. The engine uses XLA's layout, bit for bit; DEFAULT is PHILOX.
func makeRngBitGenerator(s *spec) (kernel, error) {
	return bitsKernel(&s.signature, enumAttr(s.op, stablehlo.AttrRngAlgorithm, "DEFAULT"))
}

func bitsKernel(s *signature, alg string) (kernel, error) {
	if len(s.in) != 1 || len(s.out) != 2 || s.in[0].dt != tensor.UI64 || s.out[0].dt != tensor.UI64 || len(s.in[0].shape) != 1 || s.in[0].n != s.out[0].n {
		return kernel{}, errors.New("expects a state of type ui64 and gives a state and bits")
	}
	out := s.out[1]
	if out.dt == tensor.I1 || out.dt.IsComplex() || out.dt.Bits() < 8 {
		return kernel{}, unsupported("random bits of element type %s", out.dt)
	}
	n := s.in[0].n
	switch {
	case alg == "THREE_FRY" && n == 2:
		return kernel{run: func(in, outs []*tensor.Tensor) error {
			st := tensor.View[uint64](in[0])
			used := threeFryBits(outs[1], st[0], st[1])
			next := tensor.View[uint64](outs[0])
			next[0], next[1] = st[0], st[1]+used
			return nil
		}}, nil
	case (alg == "PHILOX" || alg == "DEFAULT") && (n == 2 || n == 3):
		return kernel{run: func(in, outs []*tensor.Tensor) error {
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
		return kernel{}, fmt.Errorf("has a state of %d elements for algorithm %s", n, alg)
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
		parallel(n, 1<<13, func(lo, hi int) {
			for i := lo; i < hi; i++ {
				a, b := threeFry(key, ctr+uint64(i))
				o[i] = uint64(a) | uint64(b)<<32
			}
		})
		return uint64(n)
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
	parallel(outer*half, max(1, (1<<13)/max(inner, 1)), func(lo, hi int) {
		for r := lo; r < hi; r++ {
			o, d := r/half, r%half*2
			for i := range inner {
				a, b := threeFry(key, ctr+uint64(r*inner+i))
				at := (o*size+d)*inner + i
				storeBits(t, at, uint64(a))
				if d+1 < size {
					storeBits(t, at+inner, uint64(b))
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
	parallel(blocks, 1<<12, func(from, to int) {
		for b := from; b < to; b++ {
			l, carry := bits.Add64(lo, uint64(b), 0)
			x := philox(key, l, hi+carry)
			for i := range min(per, n-b*per) {
				v := uint64(x[i&3])
				if per == 2 {
					v = uint64(x[2*i]) | uint64(x[2*i+1])<<32
				}
				storeBits(t, b*per+i, v)
			}
		}
	})
	return uint64(blocks)
}

// rngStreams returns the key of each rng op of m: a hash of the function's name and of the op's position among the rng
// ops of the function. Nothing else in the program changes the numbers that an op gives.
func rngStreams(m *ir.Module) map[*ir.Op]uint64 {
	keys := map[*ir.Op]uint64{}
	ordinal := map[string]uint64{}
	m.Walk(func(op *ir.Op) bool {
		if opKind(op) == stablehlo.Rng {
			path := ""
			for f := op.Parent(); f != nil; f = f.Parent() {
				if name := stringAttr(f, ir.SymbolName); name != "" {
					path = name + "." + path
				}
			}
			h := fnv.New64a()
			h.Write([]byte(path))
			keys[op] = (h.Sum64()+ordinal[path])*0x9E3779B97F4A7C15 + 1
			ordinal[path]++
		}
		return true
	})
	return keys
}

// makeRng compiles rng (spec, "rng"). The spec does not define the values. The engine uses a fixed stream per op, which
// makes runs repeatable; see rngStreams.
func (h *host) makeRng(s *spec) (kernel, error) {
	return rngKernel(&s.signature, enumAttr(s.op, stablehlo.AttrRngDistribution, ""), h.streams()[s.op])
}

func rngKernel(s *signature, dist string, key uint64) (kernel, error) {
	if len(s.in) != 3 || len(s.out) != 1 || s.in[0].n != 1 || s.in[1].n != 1 || s.in[0].dt != s.out[0].dt || s.in[1].dt != s.out[0].dt {
		return kernel{}, errors.New("expects two scalar bounds of the result's element type and a shape")
	}
	out := s.out[0]
	unit := func(i int) (a, b float64) { // in [0, 1)
		x, y := threeFry(key, uint64(2*i))
		u, v := threeFry(key, uint64(2*i+1))
		return float64(uint64(x)<<21^uint64(y)>>11) / (1 << 53), float64(uint64(u)<<21^uint64(v)>>11) / (1 << 53)
	}
	switch {
	case dist == "UNIFORM" && (out.dt.IsInteger() || out.dt == tensor.I1):
		return kernel{scratch: 8 * int64(out.n), run: func(in, outs []*tensor.Tensor) error {
			a, b := intAt(in[0], 0), intAt(in[1], 0)
			v := make([]int64, out.n)
			for i := range v {
				x, y := threeFry(key, uint64(i))
				if span := uint64(b - a); span != 0 {
					hi, _ := bits.Mul64(uint64(x)|uint64(y)<<32, span)
					v[i] = a + int64(hi)
				}
			}
			encodeInt(out.dt, outs[0], 0, v)
			return nil
		}}, nil
	case out.dt.IsFloat() && (dist == "UNIFORM" || dist == "NORMAL"):
		return kernel{scratch: 8 * int64(out.n), run: func(in, outs []*tensor.Tensor) error {
			a, b := floatAt(in[0], 0), floatAt(in[1], 0)
			v := make([]float64, out.n)
			for i := range v {
				x, y := unit(i)
				if dist == "UNIFORM" {
					v[i] = a + float64((b-a)*x)
				} else { // Box-Muller transform
					v[i] = a + float64(b*math.Sqrt(-2*log(1-x))*cosine(2*math.Pi*y))
				}
			}
			encode64(out.dt, outs[0], 0, v)
			if dist == "UNIFORM" { // rounding may reach the upper bound
				for i := range v {
					if floatAt(outs[0], i) >= b && a < b {
						encode64(out.dt, outs[0], i, []float64{a})
					}
				}
			}
			return nil
		}}, nil
	}
	return kernel{}, unsupported("distribution %q on elements of type %s", dist, out.dt)
}

func rngShape(s *spec, in []*tensor.Tensor) (err error) {
	s.out[0].shape, err = shapeOperand(in[2])
	return err
}
