package kernel

import (
	"sync"
	"unsafe"

	"github.com/hlocb/hlocb/tensor"
)

// Choice says what a reduction of pairs keeps, such as argmax and argmin: for each relation of the accumulated pair
// (x, i) to the next pair (y, j), whether the new x is x, and whether the new i is i.
type Choice [len(relations)][3]struct{ X, I bool }

// relations are the relations of x to y. The relations of i to j are the first three.
var relations = [...]string{"less", "equal", "greater", "x is NaN", "y is NaN", "both are NaN"}

// The indices of relations.
const (
	RelationLess = iota
	RelationEqual
	RelationGreater
	RelationNaNX
	RelationNaNY
	RelationNaNs
	Relations
)

// keeps reports whether the choice keeps the accumulated pair if x has this relation to y, whatever i and j are.
func (c *Choice) keeps(relation int) bool {
	for _, k := range c[relation] {
		if !k.X || !k.I {
			return false
		}
	}
	return true
}

// takes reports whether the choice takes the next pair if x has this relation to y, whatever i and j are.
func (c *Choice) takes(relation int) bool {
	for _, k := range c[relation] {
		if k.X || k.I {
			return false
		}
	}
	return true
}

// relation returns the relation of x to y.
func relation[T integer | float](x, y T) int {
	switch {
	case x < y:
		return RelationLess
	case x == y:
		return RelationEqual
	case x > y:
		return RelationGreater
	case x == x:
		return RelationNaNY
	case y == y:
		return RelationNaNX
	}
	return RelationNaNs
}

// ChooseKernel reduces dims of operands 0 and 1 together, from operands 2 and 3, in order. It returns false for element
// types and dimensions that it does not support.
func ChooseKernel(in []Type, dims []int64, c *Choice) (Kernel, bool) {
	outer, steps, inner, perm := reduceGeometry(in[0].Shape, dims, KeptDims(len(in[0].Shape), dims))
	if perm != nil || in[1].DType != tensor.I32 && in[1].DType != tensor.I64 {
		return Kernel{}, false
	}
	var run func(in, out []*tensor.Tensor, lo, hi int)
	if in[1].DType == tensor.I32 {
		run = chooseLoop[int32](in[0].DType, c, steps, inner)
	} else {
		run = chooseLoop[int64](in[0].DType, c, steps, inner)
	}
	if run == nil {
		return Kernel{}, false
	}
	parts := Parts{N: outer, Grain: max(1, 1<<14/max(1, steps*inner))}
	return Kernel{Family: "choice of elements", Parts: parts, Run: func(in, out []*tensor.Tensor) {
		Parallel(parts.N, parts.Grain, func(lo, hi int) { run(in, out, lo, hi) })
	}}, true
}

// chooseLoop returns the loop for rows [lo, hi) of steps * inner elements of type dt, or nil.
func chooseLoop[I int32 | int64](dt tensor.DType, c *Choice, steps, inner int) func(in, out []*tensor.Tensor, lo, hi int) {
	switch dt {
	case tensor.I8:
		return choose[int8, I](dt, c, steps, inner)
	case tensor.I16:
		return choose[int16, I](dt, c, steps, inner)
	case tensor.I32:
		return choose[int32, I](dt, c, steps, inner)
	case tensor.I64:
		return choose[int64, I](dt, c, steps, inner)
	case tensor.UI8:
		return choose[uint8, I](dt, c, steps, inner)
	case tensor.UI16:
		return choose[uint16, I](dt, c, steps, inner)
	case tensor.UI32:
		return choose[uint32, I](dt, c, steps, inner)
	case tensor.UI64:
		return choose[uint64, I](dt, c, steps, inner)
	case tensor.F32:
		return choose[float32, I](dt, c, steps, inner)
	case tensor.F64:
		return choose[float64, I](dt, c, steps, inner)
	}
	return nil
}

func choose[T integer | float, I int32 | int64](dt tensor.DType, c *Choice, steps, inner int) func(in, out []*tensor.Tensor, lo, hi int) {
	less, greater := c.keeps(RelationLess), c.keeps(RelationGreater)
	takeLess, takeGreater := c.takes(RelationLess), c.takes(RelationGreater)
	// pairs chooses element by element.
	pairs := func(x []T, i []I, y []T, j []I) {
		i, y, j = i[:len(x)], y[:len(x)], j[:len(x)]
		for k, y := range y {
			switch {
			case greater && x[k] > y, less && x[k] < y:
			case takeLess && x[k] < y, takeGreater && x[k] > y:
				x[k], i[k] = y, j[k]
			default:
				x[k], i[k] = chosen(c, x[k], i[k], y, j[k])
			}
		}
	}
	lanes := sync.OnceValue(func() *chooser[T, I] {
		index := tensor.I32
		if unsafe.Sizeof(I(0)) == 8 {
			index = tensor.I64
		}
		code := c.code(dt, index)
		if code == nil || inner > 1 && inner < code.Lanes() {
			return nil
		}
		return &chooser[T, I]{code: code, steps: steps, inner: inner}
	})
	return func(in, out []*tensor.Tensor, lo, hi int) {
		xs, is := tensor.View[T](in[0]), tensor.View[I](in[1])
		x0, i0 := tensor.View[T](in[2])[0], tensor.View[I](in[3])[0]
		ox, oi := tensor.View[T](out[0]), tensor.View[I](out[1])
		l := lanes()
		for row := lo; row < hi; row++ {
			switch {
			case inner == 1 && l != nil && hi-row >= l.code.Lanes()/2 && steps > 0:
				n := min(chooseTile, hi-row)
				l.rows(ox[row:row+n], oi[row:row+n], xs[row*steps:], is[row*steps:], x0, i0)
				row += n - 1
				continue
			case inner == 1:
				values, indices := xs[row*steps:][:steps], is[row*steps:][:steps]
				x, i := x0, i0
				for k, y := range values {
					switch {
					case greater && x > y, less && x < y:
					case takeLess && x < y, takeGreater && x > y:
						x, i = y, indices[k]
					default:
						x, i = chosen(c, x, i, y, indices[k])
					}
				}
				ox[row], oi[row] = x, i
				continue
			}
			x, i := ox[row*inner:][:inner], oi[row*inner:][:inner]
			for k := range x {
				x[k], i[k] = x0, i0
			}
			whole := 0 // elements in whole vectors
			if l != nil {
				whole = inner &^ (l.code.Lanes() - 1)
			}
			for s := range steps {
				at := (row*steps + s) * inner
				values, indices := xs[at:][:inner], is[at:][:inner]
				if whole > 0 {
					l.step(x, i, values, indices, whole)
				}
				pairs(x[whole:], i[whole:], values[whole:], indices[whole:])
			}
		}
	}
}

// chosen returns the pair that the choice makes of (x, i) and (y, j).
func chosen[T integer | float, I int32 | int64](c *Choice, x T, i I, y T, j I) (T, I) {
	keep := c[relation(x, y)][relation(i, j)]
	if !keep.X {
		x = y
	}
	if !keep.I {
		i = j
	}
	return x, i
}
