package runtime

import (
	"math"
	"math/cmplx"

	"github.com/hlocb/hlocb/tensor"
)

// Statistics describes the elements of one tensor. Min, Max and Mean are over the finite elements, for complex numbers
// over their absolute values. They are NaN if there is no finite element.
type Statistics struct {
	Count          int
	Min, Max, Mean float64
	NaN, Inf       int
}

// NewStatistics returns the statistics of count elements. Some of them are not finite; least, most and sum are those of
// the others.
func NewStatistics(count int, least, most, sum float64, nan, inf int) Statistics {
	s := Statistics{Count: count, Min: least, Max: most, NaN: nan, Inf: inf}
	if finite := count - nan - inf; finite > 0 {
		s.Mean = (0 + sum) / float64(finite) // no negative zero
	} else {
		s.Min, s.Max, s.Mean = math.NaN(), math.NaN(), math.NaN()
	}
	return s
}

// StatisticsOf reads t once.
func StatisticsOf(t *tensor.Tensor) Statistics {
	n := t.NumElements()
	least, most, sum := math.Inf(1), math.Inf(-1), 0.0
	nan, inf := 0, 0
	add := func(v float64) {
		switch {
		case math.IsNaN(v):
			nan++
		case math.IsInf(v, 0):
			inf++
		default:
			least, most = min(least, v), max(most, v)
			sum += v
		}
	}
	switch {
	case t.DType() == tensor.F32:
		for _, v := range tensor.View[float32](t) {
			add(float64(v))
		}
	case t.DType().IsComplex():
		for i := range n {
			v := t.ComplexAt(i)
			if cmplx.IsNaN(v) {
				add(math.NaN())
			} else {
				add(cmplx.Abs(v))
			}
		}
	default:
		for i := range n {
			add(t.FloatAt(i))
		}
	}
	return NewStatistics(n, least, most, sum, nan, inf)
}
