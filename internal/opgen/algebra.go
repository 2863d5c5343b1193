package opgen

import (
	"fmt"

	"github.com/hlocb/hlocb/tensor"
)

// avoidBehindCut changes the paddings of one dimension to values that XLA handles correctly: see the package comment.
func avoidBehindCut(d tensor.DType, p [2]int64) [2]int64 {
	if d.IsFloat() && d != tensor.F64 && p[0] < 0 {
		p[1] = min(p[1], 0)
	}
	return p
}

// definite fills with a symmetric positive definite matrix.
func (g *Generator) definite(n int) func(t *tensor.Tensor) {
	return fillWith(func(k int) float64 {
		i, j := k/n%n, k%n
		v := 0.1 * float64((i+1)*(j+1)%7)
		if i == j {
			v += float64(n) + g.rng.Float64()
		}
		return v
	})
}

func (g *Generator) cholesky() *call {
	d := pick(g, tensor.F32, tensor.F64)
	n := int(g.between(1, 5))
	lower := pick(g, "true", "false")
	c := &call{op: "stablehlo.cholesky", args: []arg{{dt: d, shape: append(g.shape(0, 1), int64(n), int64(n)), fill: g.definite(n)}}, attrs: []string{"lower = " + lower}, rule: Rule{Terms: 8 * n}}
	return c
}

func (g *Generator) triangularSolve() *call {
	d := pick(g, tensor.F32, tensor.F64)
	n, k := g.between(1, 5), g.between(1, 4)
	left := g.rng.IntN(2) == 0
	b := tensor.Shape{k, n}
	if left {
		b = tensor.Shape{n, k}
	}
	return &call{op: "stablehlo.triangular_solve", args: []arg{{dt: d, shape: tensor.Shape{n, n}, fill: g.definite(int(n))}, {dt: d, shape: b}},
		attrs: []string{fmt.Sprintf("left_side = %v", left), fmt.Sprintf("lower = %v", g.rng.IntN(2) == 0), fmt.Sprintf("unit_diagonal = %v", g.rng.IntN(4) == 0),
			"transpose_a = #stablehlo<transpose " + pick(g, "NO_TRANSPOSE", "TRANSPOSE", "ADJOINT") + ">"}, rule: Rule{Terms: 16 * int(n)}}
}
