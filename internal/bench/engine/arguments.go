package engine

import (
	"fmt"
	"math"

	"github.com/hlocb/hlocb/dialect/fn"
	"github.com/hlocb/hlocb/ir"
	"github.com/hlocb/hlocb/tensor"
)

// arguments returns main's arguments. Word i of fills determines operand i; the last word determines all further
// operands:
//
//	unit      floats in [0.1, 0.9), integers from 1 to 100 (scalars 1)
//	signed    floats in [-0.1, 0.1), integers that count modulo 1000
//	wide      floats in [1.1, 5.1)
//	order     floats 0, 1, 2, 3
//	index     integers that count modulo 1000
//	count     20000
//	definite  unit, with the number of columns added to the diagonal
func arguments(m *ir.Module, fills []string) ([]*tensor.Tensor, error) {
	f, ok := fn.Lookup(m, "main")
	if !ok {
		return nil, fmt.Errorf("no function main")
	}
	var args []*tensor.Tensor
	state := uint64(1)
	for k, t := range f.Type().Inputs() {
		tt, ok := t.(*ir.TensorType)
		if !ok || !tt.Static() {
			return nil, fmt.Errorf("argument of type %s", t)
		}
		fill := "unit"
		if len(fills) > 0 {
			fill = fills[min(k, len(fills)-1)]
		}
		x := tensor.New(tt.DType(), tt.Shape())
		cols := 1
		if n := len(tt.Shape()); n > 0 {
			cols = int(tt.Shape()[n-1])
		}
		next := func() float64 {
			state = state*6364136223846793005 + 1442695040888963407
			return float64(state>>40) / (1 << 24)
		}
		for i := range x.NumElements() {
			v := next()
			switch {
			case fill == "wide":
				v = 1.1 + 4*v
			case fill == "order":
				v = float64(i % 4)
			case fill == "signed" && tt.DType().IsFloat():
				v = (v - 0.5) / 5
			case fill == "definite" && i/cols == i%cols:
				v += float64(cols)
			default:
				v = 0.1 + 0.8*v
			}
			switch dt := tt.DType(); {
			case dt == tensor.I1:
				x.SetBits(i, uint64(math.Round(v)))
			case dt.IsFloat():
				x.SetBits(i, tensor.EncodeFloat(dt, v))
			case dt.IsComplex():
				if dt == tensor.Complex64 {
					tensor.View[complex64](x)[i] = complex(float32(v), float32(next()))
				} else {
					tensor.View[complex128](x)[i] = complex(v, next())
				}
			case fill == "index" || fill == "signed":
				x.SetBits(i, uint64(i%1000)&(1<<dt.Bits()-1))
			case fill == "count":
				x.SetBits(i, 20000)
			case x.NumElements() == 1:
				x.SetBits(i, 1)
			default:
				x.SetBits(i, uint64(1+100*v))
			}
		}
		args = append(args, x)
	}
	return args, nil
}
