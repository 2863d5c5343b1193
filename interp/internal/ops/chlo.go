package ops

import (
	"github.com/hlocb/hlocb/dialect/chlo"
	"github.com/hlocb/hlocb/dialect/mhlo"
	"github.com/hlocb/hlocb/dialect/stablehlo"
	"github.com/hlocb/hlocb/interp/internal/kernel"
	"github.com/hlocb/hlocb/interp/internal/plan"
	"github.com/hlocb/hlocb/ir"
	"github.com/hlocb/hlocb/tensor"
)

// makeBroadcasting returns the maker of a chlo.broadcast_* op, which broadcasts its operands to the result's shape and
// then computes r. Trailing dimensions are aligned unless broadcast_dimensions maps the smaller operand's dimensions.
func makeBroadcasting(r plan.Row) func(*plan.Spec) (kernel.Kernel, error) {
	return func(s *plan.Spec) (kernel.Kernel, error) {
		out := s.Out[0]
		inner := plan.NewSpec(s.Planner, s.Op, nil, s.Out)
		grow := make([]*kernel.Kernel, len(s.In))
		given, err := plan.IntsAttr(s.Op, stablehlo.AttrBroadcastDimensions)
		if err != nil {
			return kernel.Kernel{}, err
		}
		for i, t := range s.In {
			wide := kernel.TensorType(t.DType, out.Shape...)
			inner.In = append(inner.In, wide)
			if t.Shape.Equal(out.Shape) {
				continue
			}
			dims := make([]int64, len(t.Shape))
			for d := range dims {
				dims[d] = int64(d + len(out.Shape) - len(t.Shape))
			}
			if given != nil && len(given) == len(t.Shape) && len(t.Shape) < len(out.Shape) {
				dims = given
			}
			k, err := kernel.BroadcastKernel(t, wide, dims)
			if err != nil {
				return kernel.Kernel{}, err
			}
			grow[i] = &k
		}
		k, err := r.Make(inner)
		if err != nil {
			return kernel.Kernel{}, err
		}
		run := k.Run
		k.Inplace = 0
		for i, g := range grow {
			if g != nil {
				k.Scratch += int64(inner.In[i].Bytes())
			}
		}
		k.Run = func(in, out []*tensor.Tensor) {
			full := make([]*tensor.Tensor, len(in))
			for i, t := range in {
				if full[i] = t; grow[i] != nil {
					full[i] = tensor.New(t.DType(), inner.In[i].Shape)
					grow[i].Run([]*tensor.Tensor{t}, full[i:i+1])
				}
			}
			run(full, out)
		}
		return k, nil
	}
}

// makeConstantLike compiles chlo.constant_like: a constant of the operand's shape.
func makeConstantLike(s *plan.Spec) (kernel.Kernel, error) {
	one := tensor.New(s.Out[0].DType, nil)
	switch a := s.Op.Attr(stablehlo.AttrValue).(type) {
	case *ir.FloatAttr:
		kernel.Encode64(s.Out[0].DType, one, 0, []float64{tensor.DecodeFloat(a.Type().DType(), a.Bits())})
	case *ir.IntegerAttr:
		kernel.EncodeInt(s.Out[0].DType, one, 0, []int64{a.Value()})
	default:
		return kernel.Kernel{}, kernel.Unsupported("a constant of this type")
	}
	return kernel.Kernel{Family: "broadcasting", Run: func(in, out []*tensor.Tensor) {
		kernel.Fill(out[0].Bytes(), one.Bytes())
	}}, nil
}

// makeTopK compiles chlo.top_k: the k largest elements along the last dimension and their indices. NaN is largest;
// equal elements keep their order. mhlo.topk can also select the smallest elements.
func makeTopK(s *plan.Spec) (kernel.Kernel, error) {
	return kernel.TopKKernel(&s.Signature, int(plan.IntAttr(s.Op, chlo.AttrK, 0)), plan.BoolAttr(s.Op, mhlo.AttrLargest, true))
}
