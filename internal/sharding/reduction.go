package sharding

import (
	"slices"

	"github.com/hlocb/hlocb/tensor"
)

// Reduction combines the shards of an unreduced value.
type Reduction uint8

// The reductions of Shardy.
const (
	Sum Reduction = iota
	Max
	Min
)

var reductionWords = [...]string{"sum", "max", "min"}

// ReductionOf returns the reduction that a word names: sum, max or min. No word names Sum.
func ReductionOf(word string) Reduction {
	return Reduction(max(0, slices.Index(reductionWords[:], word)))
}

// into reduces a row of the global value with a row of a shard.
func (r Reduction) into(d tensor.DType, shard, global []byte) {
	shape := tensor.Shape{int64(len(shard) / d.Size())}
	var a, b tensor.Tensor
	a.Borrow(d, shape, global)
	b.Borrow(d, shape, shard)
	for i := range int(shape[0]) {
		switch d.Kind() {
		case tensor.KindComplex:
			a.SetComplex(i, a.ComplexAt(i)+b.ComplexAt(i)) // Max and Min need an order
		case tensor.KindFloat:
			a.SetFloat(i, combine(r, a.FloatAt(i), b.FloatAt(i)))
		case tensor.KindUnsigned, tensor.KindIndex, tensor.KindBool:
			v := combine(r, a.Bits(i), b.Bits(i))
			if d.Kind() == tensor.KindBool {
				v = min(v, 1) // a sum is a disjunction
			}
			a.SetBits(i, v)
		default:
			a.SetBits(i, uint64(combine(r, a.IntAt(i), b.IntAt(i))))
		}
	}
}

func combine[T int64 | uint64 | float64](r Reduction, x, y T) T {
	switch {
	case r == Sum:
		return x + y
	case x != x || y != y: // a NaN
		return x + y
	case r == Max:
		return max(x, y)
	}
	return min(x, y)
}
