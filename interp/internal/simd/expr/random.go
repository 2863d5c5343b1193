package expr

import (
	"math"
	"math/rand/v2"
)

// Random returns a program of about n random operations on random operands and results, for tests. No operation reads
// the bits of a NaN, which depend on the processor.
func Random(rng *rand.Rand, width, n int) *Program {
	p := New(width)
	formats := map[int][]string{4: {"f32", "f32", "i32", "bf16", "f16", "i1"}, 8: {"f64", "f64", "i64", "i32", "f32", "i1"}}[width]
	kinds := map[Kind][]*Node{}
	keep := func(n *Node) { kinds[n.Kind] = append(kinds[n.Kind], n) }
	for i := range 2 + rng.IntN(5) {
		format := formats[0]
		if i > 0 {
			format = formats[rng.IntN(len(formats))]
		}
		keep(p.Input(format, rng.IntN(4) == 0))
	}
	number := func() *Node { return p.c(math.Trunc(100*rng.NormFloat64()) / 8) }
	pick := func(k Kind) *Node {
		list := kinds[k]
		if len(list) == 0 || k != Mask && rng.IntN(12) == 0 {
			switch k {
			case Float:
				return number()
			case Integer:
				return p.bits(uint64(rng.Uint32()))
			}
			return p.lt(number(), kinds[Float][0])
		}
		return list[max(rng.IntN(len(list)), rng.IntN(len(list)))]
	}
	whole := func() *Node { // an integer, or the bits of a float
		if rng.IntN(3) > 0 {
			return pick(Integer)
		}
		x := pick(Float)
		return p.sel(p.unord(x, x), p.bits(7), x)
	}
	for range n {
		f, i, m := func() *Node { return pick(Float) }, whole, func() *Node { return pick(Mask) }
		shift := uint64(rng.IntN(8 * width))
		list := []func() *Node{
			func() *Node { return p.sum(f(), f()) }, func() *Node { return p.sub(f(), f()) }, func() *Node { return p.mul(f(), f()) },
			func() *Node { return p.div(f(), f()) }, func() *Node { return p.sqrt(f()) }, func() *Node { return p.fma(f(), f(), f()) },
			func() *Node { return p.fma(f(), f(), f()) }, func() *Node { x := f(); return p.fma(x, x, f()) }, func() *Node { x := f(); return p.fma(x, f(), x) },
			func() *Node { return p.round(uint64(rng.IntN(4)), f()) }, func() *Node { return p.sel(m(), f(), f()) }, func() *Node { return p.sel(m(), i(), i()) },
			func() *Node { return p.and(i(), i()) }, func() *Node { return p.or(i(), i()) }, func() *Node { return p.xor(i(), i()) },
			func() *Node { return p.iadd(i(), i()) }, func() *Node { return p.isub(i(), i()) }, func() *Node { return p.shl(i(), shift) },
			func() *Node { return p.shr(i(), shift) }, func() *Node { return p.vshl(i(), p.and(i(), p.bits(127))) }, func() *Node { return p.vshr(i(), p.and(i(), p.bits(127))) },
			func() *Node { return p.lt(f(), f()) }, func() *Node { return p.le(f(), f()) }, func() *Node { return p.eq(f(), f()) }, func() *Node { return p.unord(f(), f()) },
			func() *Node { return p.ilt(i(), i()) }, func() *Node { return p.ieq(i(), i()) }, func() *Node { return p.mand(m(), m()) },
			func() *Node { return p.mor(m(), m()) }, func() *Node { return p.mnot(m()) },
			func() *Node { x, y := f(), f(); return p.sel(p.lt(x, y), x, y) }, func() *Node { x, y := f(), f(); return p.sel(p.lt(x, y), y, x) },
			func() *Node { x, y := i(), i(); return p.sel(p.ilt(x, y), x, y) }, func() *Node { x, y := i(), i(); return p.sel(p.ilt(x, y), y, x) },
		}
		if width == 4 {
			list = append(list, func() *Node { return p.imul(i(), i()) }, func() *Node { return p.mulhi(i(), i()) }, func() *Node { return p.vsar(i(), p.and(i(), p.bits(63))) },
				func() *Node { return p.fromInt(i()) }, func() *Node { return p.toInt(f()) })
		} else {
			list = append(list, func() *Node { return p.widen(i()) }, func() *Node { x := f(); return p.narrow(p.sel(p.unord(x, x), p.c(0), x)) })
		}
		keep(list[rng.IntN(len(list))]())
	}
	for range 1 + rng.IntN(4) {
		format := formats[rng.IntN(len(formats))]
		switch x := pick(KindOf(format)); {
		case format == "bf16" || format == "f16":
			p.Output(format, p.sel(p.unord(x, x), p.c(0), x))
		default:
			p.Output(format, x)
		}
	}
	return p
}
