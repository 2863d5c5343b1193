package kernel

import (
	"math"
	mathbits "math/bits"

	"github.com/hlocb/hlocb/interp/internal/simd/vec"
	"github.com/hlocb/hlocb/tensor"
)

// CHLO ops execute directly, without legalization to StableHLO. ChloOps.td defines their meaning.

// conjugate flips the sign bits of the imaginary parts of complex<f32>, which lie in the high halves of 64 bits.
func conjugate(in, out []*tensor.Tensor, lo, hi int) {
	var signs [chunk]uint64
	for i := range signs {
		signs[i] = 1 << 63
	}
	xor := vec.Binary[uint64, uint64](vec.XorI64Loop)
	o, x := tensor.View[uint64](out[0]), tensor.View[uint64](in[0])
	for ; lo < hi; lo += chunk {
		n := min(chunk, hi-lo)
		xor(o[lo:lo+n], x[lo:lo+n], signs[:n])
	}
}

// Mulhi returns the loops of chlo.mulhi for integers of the given number of bits. The high half of an i4 product has
// four bits.
func Mulhi(bits int) *BinaryLoops {
	n := uint(bits)
	return &BinaryLoops{i8: mulhi[int8](n), i16: mulhi[int16](n), i32: whole(vec.MulHighLoop), i64: inGo(mulhi[int64](n)),
		u8: mulhi[uint8](n), u16: mulhi[uint16](n), u32: inGo(mulhi[uint32](n)), u64: inGo(mulhi[uint64](n))}
}

// mulhi returns the loop that computes the high half of the double-width product.
func mulhi[T integer](bits uint) func(o, x, y []T) {
	isUnsigned := ^T(0) > 0
	return func(o, x, y []T) {
		for i := range o {
			if bits < 64 {
				if isUnsigned {
					o[i] = T(uint64(x[i]) * uint64(y[i]) >> bits)
				} else {
					o[i] = T(int64(x[i]) * int64(y[i]) >> bits)
				}
				continue
			}
			high, _ := mathbits.Mul64(uint64(x[i]), uint64(y[i]))
			if x[i] < 0 {
				high -= uint64(y[i])
			}
			if y[i] < 0 {
				high -= uint64(x[i])
			}
			o[i] = T(high)
		}
	}
}

// MakeNextAfter compiles chlo.next_after: the neighbour of x in the direction of y, in x's own type.
func MakeNextAfter(s *Signature) Kernel {
	SameShape(s)
	dt := s.Out[0].DType
	UnsupportedIf(!dt.IsFloat() || s.In[0].DType != dt || s.In[1].DType != dt, "chlo.next_after on elements of type %s", dt)
	if f := map[tensor.DType]ElementLoop{tensor.F32: view2(single(vec.NextAfter32Loop).run), tensor.F64: view2(double(vec.NextAfter64Loop).run)}[dt]; f != nil {
		return ElementKernel(s.Out[0].N, dt.Size(), 2, f, 3)
	}
	return Kernel{Family: "elements", Run: parallelElements(s.Out[0].N, dt.Size(), 10, func(in, out []*tensor.Tensor, lo, hi int) {
		for i := lo; i < hi; i++ {
			out[0].SetBits(i, nextAfter(dt, in[0].Bits(i), in[1].Bits(i)))
		}
	})}
}

func nextAfter(dt tensor.DType, x, y uint64) uint64 { // f8E8M0FNU has neither a sign bit nor a zero
	sign := uint64(1) << (dt.Bits() - 1)
	fx, fy := tensor.DecodeFloat(dt, x), tensor.DecodeFloat(dt, y)
	switch {
	case math.IsNaN(fx):
		return x
	case math.IsNaN(fy), fx == fy:
		return y
	case fx == 0:
		return y&sign | 1
	case (fx < fy) == (fx > 0):
		return x + 1
	}
	return x - 1
}

func TopKKernel(s *Signature, k int, largest bool) Kernel {
	FailIf(s.In[0].DType != s.Out[0].DType || s.Out[1].DType != tensor.I32 || len(s.In[0].Shape) == 0,
		"expects one operand, values and i32 indices")
	in := s.In[0]
	n := int(in.Shape[len(in.Shape)-1])
	FailIf(k < 0 || k > n || s.Out[0].N != s.Out[1].N || k > 0 && s.Out[0].N/k*n != in.N, "cannot take %d of %d elements", k, n)
	size := in.DType.Size()
	return Kernel{Family: "top k", Scratch: int64(workers()) * 40 * int64(n), Run: func(ins, outs []*tensor.Tensor) {
		if k == 0 {
			return
		}
		idx := tensor.View[int32](outs[1])
		Parallel(in.N/n, max(1, 1<<13/n), func(lo, hi int) {
			keys, line, spare := make([]int64, n), make([]Keyed, 0, n), make([]Keyed, n)
			for l := lo; l < hi; l++ {
				SortKeys(ins[0], l*n, keys, true)
				if largest {
					for i, key := range keys {
						keys[i] = ^key
					}
				}
				line = line[:0]
				if k*16 <= n {
					line = leastKeys(line, keys, k)
				} else {
					for i, key := range keys {
						line = append(line, Keyed{key, i})
					}
					SortKeyed(line, spare)
				}
				for i, v := range line[:k] {
					from, to := l*n+v.At, l*k+i
					copy(outs[0].Bytes()[to*size:(to+1)*size], ins[0].Bytes()[from*size:])
					idx[to] = int32(v.At)
				}
			}
		})
	}}
}

// leastKeys appends the k least keys to line, in order. Equal keys keep their order.
func leastKeys(line []Keyed, keys []int64, k int) []Keyed {
	most := int64(math.MaxInt64)
	for i, key := range keys {
		if len(line) == k {
			if key >= most {
				continue
			}
			line = line[:k-1]
		}
		at := len(line)
		line = append(line, Keyed{})
		for ; at > 0 && line[at-1].Key > key; at-- {
			line[at] = line[at-1]
		}
		line[at] = Keyed{key, i}
		if len(line) == k {
			most = line[k-1].Key
		}
	}
	return line
}
