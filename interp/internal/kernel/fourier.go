package kernel

import (
	"github.com/hlocb/hlocb/interp/internal/special"
	"github.com/hlocb/hlocb/tensor"
)

// transform describes a transform of the last k dimensions of an array.
type transform struct {
	shape     tensor.Shape
	k         int
	inverse   bool
	realLines bool // the lines are real; keep spectrum elements real that must be real
}

// run transforms the dimensions from the last to the first.
func (t transform) run(data []complex128) {
	total := 1.0
	for d := len(t.shape) - 1; d >= len(t.shape)-t.k; d-- {
		n := int(t.shape[d])
		total *= float64(n)
		t.lines(data, n, int(t.shape[d+1:].NumElements()))
		if t.realLines && d == len(t.shape)-1 {
			// Element 0 is the sum. For even n, element n/2 is the sum with alternating signs.
			for i := 0; i < len(data); i += n {
				data[i] = complex(real(data[i]), 0)
				if n%2 == 0 {
					data[i+n/2] = complex(real(data[i+n/2]), 0)
				}
			}
		}
	}
	if t.inverse {
		special.Scale(data, 1/total)
	}
}

// lines transforms all lines of n elements. The elements of a line are inner elements apart.
func (t transform) lines(data []complex128, n, inner int) {
	if n <= 1 {
		return
	}
	plan := special.NewFourier(n, t.inverse)
	Parallel(len(data)/n, max(1, 1<<12/n), func(lo, hi int) {
		line, work := make([]complex128, n), make([]complex128, plan.Work())
		for l := lo; l < hi; l++ {
			base := l/inner*n*inner + l%inner
			for i := range line {
				line[i] = data[base+i*inner]
			}
			plan.Transform(line, work)
			for i, v := range line {
				data[base+i*inner] = v
			}
		}
	})
}
