package verify

import (
	"math"
	"math/rand/v2"
	"slices"

	"github.com/hlocb/hlocb/tensor"
)

// Style is a kind of generated inputs.
type Style uint8

// Styles of inputs.
const (
	// Ordinary inputs are floats from the standard normal distribution, integers from 0 to 9, and fair booleans. They
	// keep the values of most models finite and their loops short.
	Ordinary Style = iota
	// Positive inputs are floats between 0.1 and 0.9, which roots and logarithms accept; other types as for Ordinary.
	Positive
	// Edges are zeros of both signs, ones, infinities, NaN, the smallest and largest normal and denormal
	// numbers, the limits of integers; then ordinary values and, for floats, numbers of any magnitude.
	Edges
	// Anything is uniformly distributed bit patterns.
	Anything
)

// String returns the name that reports use.
func (s Style) String() string {
	return [...]string{"ordinary values", "small positive values", "edge values", "any values"}[s]
}

// Fill overwrites t with values of a style. The values depend only on rng.
func Fill(t *tensor.Tensor, rng *rand.Rand, style Style) {
	d := t.DType()
	if d.IsComplex() {
		Fill(t.Parts(), rng, style)
		return
	}
	edges := EdgeBits(d)
	n := t.NumElements()
	// Each edge once if the tensor is large enough, in an order that differs from input to input.
	order := rng.Perm(len(edges))
	for i := range n {
		switch {
		case style == Anything:
			t.SetBits(i, Canonical(d, rng.Uint64()))
		case style == Positive && d.IsFloat():
			t.SetFloat(i, 0.1+0.8*rng.Float64())
		case style == Ordinary || style == Positive:
			ordinary(t, i, rng)
		case i < len(edges) && n >= len(edges), i >= len(edges) && rng.IntN(4) == 0:
			t.SetBits(i, edges[order[i%len(edges)]])
		case n < len(edges) && rng.IntN(2) == 0:
			t.SetBits(i, edges[rng.IntN(len(edges))])
		case d.IsFloat() && rng.IntN(2) == 0:
			t.SetBits(i, Canonical(d, rng.Uint64()))
		default:
			ordinary(t, i, rng)
		}
	}
}

func ordinary(t *tensor.Tensor, i int, rng *rand.Rand) {
	switch d := t.DType(); {
	case d.IsFloat():
		t.SetFloat(i, rng.NormFloat64())
	case d == tensor.I1:
		t.SetBits(i, uint64(rng.IntN(2)))
	default:
		t.SetFloat(i, float64(rng.IntN(10)))
	}
}

// Canonical truncates random bits to a code of type d as a tensor stores it: narrow integers are sign-extended in
// their byte.
func Canonical(d tensor.DType, v uint64) uint64 {
	shift := 64 - d.Bits()
	if d.Kind() == tensor.KindSigned {
		return uint64(int64(v<<shift)>>shift) & (math.MaxUint64 >> (64 - 8*d.Size()))
	}
	return v << shift >> shift
}

// EdgeBits returns the codes of a type's values for which computations often fail: zeros, limits, denormals, NaN.
func EdgeBits(d tensor.DType) []uint64 {
	if !d.IsFloat() {
		if d == tensor.I1 {
			return []uint64{0, 1}
		}
		limit := uint64(1) << (d.Bits() - 1)
		edges := []uint64{0, 1, 2, math.MaxUint64, math.MaxUint64 - 1, limit, limit - 1, limit + 1, limit >> 1}
		for i, v := range edges {
			edges[i] = Canonical(d, v)
		}
		return distinct(edges)
	}
	sign := uint64(1) << (d.Bits() - 1)
	if d == tensor.F8E8M0FNU {
		return []uint64{0, 1, 126, 127, 128, 254, 255}
	}
	one := tensor.EncodeFloat(d, 1)
	inf := tensor.EncodeFloat(d, math.Inf(1))
	nan := tensor.EncodeFloat(d, math.NaN())
	positive := []uint64{0, 1, one, tensor.EncodeFloat(d, 2), tensor.EncodeFloat(d, 0.5), tensor.EncodeFloat(d, 1.5), tensor.EncodeFloat(d, 3), inf, inf - 1}
	if normal := smallestNormal(d); normal > 1 {
		positive = append(positive, normal, normal-1)
	}
	var out []uint64
	for _, v := range positive {
		out = append(out, v, v^sign)
	}
	return distinct(append(out, nan))
}

// distinct returns list without repetitions.
func distinct(list []uint64) []uint64 {
	seen := map[uint64]bool{}
	return slices.DeleteFunc(list, func(v uint64) bool {
		repeated := seen[v]
		seen[v] = true
		return repeated
	})
}

// smallestNormal returns the code of the smallest positive normal number, mantissa 0 and exponent 1: 1 shifted by the
// width of the mantissa, which is how far the codes of 1 and 2 are apart.
func smallestNormal(d tensor.DType) uint64 {
	return tensor.EncodeFloat(d, 2) - tensor.EncodeFloat(d, 1)
}
