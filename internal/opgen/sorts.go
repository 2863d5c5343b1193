package opgen

import (
	"cmp"
	"fmt"
	"math"
	"slices"

	"github.com/hlocb/hlocb/tensor"
)

func (g *Generator) sort() *call {
	d := g.randomType(func(d tensor.DType) bool { return d != tensor.I1 && !d.IsComplex() })
	a, dir := edges(d, g.shape(1, 3)), "LT"
	if d.IsFloat() {
		dir = "LT , TOTALORDER"
	}
	dim := g.rng.IntN(len(a.shape))
	return &call{op: "stablehlo.sort", args: []arg{a}, attrs: []string{fmt.Sprintf("dimension = %d : i64", dim), "is_stable = true"},
		bodies: []string{compareBody(dir, d)}, rule: Rule{Exact: true}, want: sorted1(dim, func(t *tensor.Tensor, i, j int) int {
			x, y := t.FloatAt(i), t.FloatAt(j)
			if !d.IsFloat() {
				return compareInts(t, i, j)
			}
			// Order numbers with -0 before 0. The sign of a NaN decides the end at which it stands.
			place := func(v float64, at int) float64 {
				if math.IsNaN(v) {
					v = math.Inf(1)
					if d != tensor.F8E8M0FNU && t.Bits(at)>>(d.Bits()-1) != 0 {
						v = math.Inf(-1)
					}
				}
				return v
			}
			switch a, b := place(x, i), place(y, j); {
			case a != b:
				return cmp.Compare(a, b)
			case math.IsNaN(x) != math.IsNaN(y):
				outer := 1
				if math.IsNaN(y) {
					outer = -1
				}
				if a < 0 {
					outer = -outer
				}
				return outer
			case x == 0 && y == 0:
				return sign(y) - sign(x)
			}
			return 0
		})}
}

// sorted1 returns a function that sorts all arguments along a dimension by the first one.
func sorted1(dim int, compare func(t *tensor.Tensor, i, j int) int) func(args []*tensor.Tensor) []*tensor.Tensor {
	return func(args []*tensor.Tensor) []*tensor.Tensor {
		shape := args[0].Shape()
		n, inner := int(shape[dim]), int(shape[dim+1:].NumElements())
		var out []*tensor.Tensor
		for _, a := range args {
			out = append(out, tensor.New(a.DType(), shape))
		}
		if args[0].NumElements() == 0 {
			return out
		}
		for line := range args[0].NumElements() / n {
			base := line/inner*n*inner + line%inner
			order := make([]int, n)
			for i := range order {
				order[i] = base + i*inner
			}
			slices.SortStableFunc(order, func(i, j int) int { return compare(args[0], i, j) })
			for i, from := range order {
				for k, a := range args {
					if size := a.DType().Size(); size > 0 {
						to := base + i*inner
						copy(out[k].Bytes()[to*size:(to+1)*size], a.Bytes()[from*size:(from+1)*size])
					}
				}
			}
		}
		return out
	}
}

func compareInts(t *tensor.Tensor, i, j int) int {
	if t.DType().Kind() == tensor.KindSigned {
		return cmp.Compare(t.IntAt(i), t.IntAt(j))
	}
	return cmp.Compare(t.Bits(i), t.Bits(j))
}
