package shape

import (
	"github.com/hlocb/hlocb/ir"
	"github.com/hlocb/hlocb/tensor"
)

// Elements returns dense<...> : tensor<nxindex>.
func Elements(c *ir.Context, v []int64) *ir.DenseAttr {
	t := tensor.New(tensor.Index, tensor.Shape{int64(len(v))})
	splat := len(v) > 0
	for i, d := range v {
		tensor.View[int64](t)[i] = d
		splat = splat && d == v[0]
	}
	typ := c.Tensor([]int64{int64(len(v))}, c.Index(), nil)
	if splat {
		one := tensor.New(tensor.Index, nil)
		tensor.View[int64](one)[0] = v[0]
		return ir.NewDense(typ, one, true)
	}
	return ir.NewDense(typ, t, false)
}
