package interp

import (
	"errors"
	"fmt"
	"math"
	"math/big"
	"math/cmplx"
	"slices"

	"github.com/hlocb/hlocb/dialect/chlo"
	"github.com/hlocb/hlocb/dialect/mhlo"
	"github.com/hlocb/hlocb/dialect/stablehlo"
	"github.com/hlocb/hlocb/ir"
	"github.com/hlocb/hlocb/tensor"
)

// CHLO ops execute directly, without legalization to StableHLO. ChloOps.td defines their meaning.

// The unary ops of CHLO.
var (
	opAcos      = &unaryOp{f: acos, c: complexAcos, cost: 20}
	opAcosh     = &unaryOp{f: acosh, c: complexAcosh, cost: 20}
	opAsin      = &unaryOp{f: asin, c: complexAsin, cost: 20}
	opAsinh     = &unaryOp{f: asinh, c: complexAsinh, cost: 20}
	opAtan      = &unaryOp{f: atan, c: complexAtan, cost: 20}
	opAtanh     = &unaryOp{f: atanh, c: complexAtanh, cost: 20}
	opBesselI1e = &unaryOp{f: besselI1e, cost: 50}
	opCosh      = &unaryOp{f: cosh, c: complexCosh, cost: 20}
	opSinh      = &unaryOp{f: sinh, c: complexSinh, cost: 20}
	opTan       = &unaryOp{f: tangent, c: complexTan, cost: 20}
	opDigamma   = &unaryOp{f: digamma, cost: 50}
	opErf       = &unaryOp{f: erf, cost: 20}
	opErfc      = &unaryOp{f: erfc, cost: 20}
	opErfInv    = &unaryOp{f: erfInv, cost: 20}
	opLgamma    = &unaryOp{f: lgamma, cost: 30}
	opSquare    = &unaryOp{f: square, f32: squareLoop[float32], f64: squareLoop[float64], c: complexSquare,
		i: func(v int64, _ int) int64 { return v * v }, u: func(v uint64, _ int) uint64 { return v * v }, cost: 1}
	opAsinAcosKernel = &unaryOp{c: asinAcosKernel, cost: 30}
	opConj           = &unaryOp{f: func(v float64) float64 { return v }, c: cmplx.Conj, cost: 1}
)

func squareLoop[T float](o, x []T) {
	for i, v := range x {
		o[i] = v * v
	}
}

// The binary ops that exist only in CHLO.
var (
	opZeta      = &loops2{f32: via64(zeta), f64: each64(zeta)}
	opPolygamma = &loops2{f32: via64(polygamma), f64: each64(polygamma)}
	opMulhi     = &loops2{i8: mulhi[int8](8), i16: mulhi[int16](16), i32: mulhi[int32](32), i64: mulhi[int64](64),
		u8: mulhi[uint8](8), u16: mulhi[uint16](16), u32: mulhi[uint32](32), u64: mulhi[uint64](64)}
)

func each64(f func(a, b float64) float64) func(o, x, y []float64) {
	return func(o, x, y []float64) {
		for i := range o {
			o[i] = f(x[i], y[i])
		}
	}
}

func via64(f func(a, b float64) float64) func(o, x, y []float32) {
	return func(o, x, y []float32) {
		for i := range o {
			o[i] = float32(f(float64(x[i]), float64(y[i])))
		}
	}
}

// mulhi returns the loop that computes the high half of the double-width product.
func mulhi[T integer](bits uint) func(o, x, y []T) {
	isUnsigned := ^T(0) > 0
	return func(o, x, y []T) {
		for i := range o {
			if bits < 64 {
				if isUnsigned {
					o[i] = T(uint64(x[i]) * uint64(y[i]) >> bits)
				} else {
					o[i] = T(int64(x[i]) * int64(y[i]) >> bits)
				}
				continue
			}
			a, b := big.NewInt(int64(x[i])), big.NewInt(int64(y[i]))
			if isUnsigned {
				a.SetUint64(uint64(x[i]))
				b.SetUint64(uint64(y[i]))
			}
			a.Rsh(a.Mul(a, b), bits)
			if isUnsigned {
				o[i] = T(a.Uint64())
			} else {
				o[i] = T(a.Int64())
			}
		}
	}
}

// makeNextAfter compiles chlo.next_after: the neighbour of x in the direction of y, in x's own type.
func makeNextAfter(s *signature) (kernel, error) {
	if err := sameShape(s, 2); err != nil {
		return kernel{}, err
	}
	dt := s.out[0].dt
	if !dt.IsFloat() || s.in[0].dt != dt || s.in[1].dt != dt {
		return kernel{}, unsupported("chlo.next_after on elements of type %s", dt)
	}
	return kernel{run: parallelElements(s.out[0].n, dt.Size(), 10, func(in, out []*tensor.Tensor, lo, hi int) {
		for i := lo; i < hi; i++ {
			storeBits(out[0], i, nextAfter(dt, bitsAt(in[0], i), bitsAt(in[1], i)))
		}
	})}, nil
}

func nextAfter(dt tensor.DType, x, y uint64) uint64 { // f8E8M0FNU has neither a sign bit nor a zero
	sign := uint64(1) << (dt.Bits() - 1)
	fx, fy := tensor.DecodeFloat(dt, x), tensor.DecodeFloat(dt, y)
	switch {
	case math.IsNaN(fx):
		return x
	case math.IsNaN(fy), fx == fy:
		return y
	case fx == 0:
		return y&sign | 1
	case (fx < fy) == (fx > 0):
		return x + 1
	}
	return x - 1
}

func bitsAt(t *tensor.Tensor, i int) uint64 {
	switch t.DType().Size() {
	case 1:
		return uint64(t.Bytes()[i])
	case 2:
		return uint64(tensor.View[uint16](t)[i])
	case 4:
		return uint64(tensor.View[uint32](t)[i])
	}
	return tensor.View[uint64](t)[i]
}

func storeBits(t *tensor.Tensor, i int, v uint64) {
	switch t.DType().Size() {
	case 1:
		t.Bytes()[i] = uint8(v)
	case 2:
		tensor.View[uint16](t)[i] = uint16(v)
	case 4:
		tensor.View[uint32](t)[i] = uint32(v)
	default:
		tensor.View[uint64](t)[i] = v
	}
}

// makeBroadcasting returns the maker of a chlo.broadcast_* op, which broadcasts its operands to the result's shape and
// then computes r. Trailing dimensions are aligned unless broadcast_dimensions maps the smaller operand's dimensions.
func makeBroadcasting(r row) func(*spec) (kernel, error) {
	return func(s *spec) (kernel, error) {
		if len(s.out) != 1 {
			return kernel{}, errors.New("expects one result")
		}
		out := s.out[0]
		inner := newSpec(s.p, s.op, nil, s.out)
		grow := make([]*kernel, len(s.in))
		given, err := intsAttr(s.op, stablehlo.AttrBroadcastDimensions)
		if err != nil {
			return kernel{}, err
		}
		for i, t := range s.in {
			wide := tensorType(t.dt, out.shape...)
			inner.in = append(inner.in, wide)
			if t.shape.Equal(out.shape) {
				continue
			}
			dims := make([]int64, len(t.shape))
			for d := range dims {
				dims[d] = int64(d + len(out.shape) - len(t.shape))
			}
			if given != nil && len(given) == len(t.shape) && len(t.shape) < len(out.shape) {
				dims = given
			}
			k, err := broadcastKernel(t, wide, dims)
			if err != nil {
				return kernel{}, err
			}
			grow[i] = &k
		}
		k, err := r.make(inner)
		if err != nil {
			return kernel{}, err
		}
		run := k.run
		k.inplace = 0
		for i, g := range grow {
			if g != nil {
				k.scratch += int64(inner.in[i].bytes())
			}
		}
		k.run = func(in, out []*tensor.Tensor) error {
			full := make([]*tensor.Tensor, len(in))
			for i, t := range in {
				if full[i] = t; grow[i] != nil {
					full[i] = tensor.New(t.DType(), inner.in[i].shape)
					if err := grow[i].run([]*tensor.Tensor{t}, full[i:i+1]); err != nil {
						return err
					}
				}
			}
			return run(full, out)
		}
		return k, nil
	}
}

// broadcastShape aligns trailing dimensions. A dimension of size 1 takes the size of the other operand's dimension.
func broadcastShape(s *spec, in []*tensor.Tensor) error {
	var shape tensor.Shape
	for _, t := range s.in {
		for len(shape) < len(t.shape) {
			shape = append(tensor.Shape{1}, shape...)
		}
		for i, d := range t.shape {
			at := len(shape) - len(t.shape) + i
			if shape[at] == 1 {
				shape[at] = d
			} else if d != 1 && d != shape[at] {
				return fmt.Errorf("cannot broadcast dimension of size %d with size %d", d, shape[at])
			}
		}
	}
	s.out[0].shape = shape
	return nil
}

// makeConstantLike compiles chlo.constant_like: a constant of the operand's shape.
func makeConstantLike(s *spec) (kernel, error) {
	if len(s.in) != 1 || len(s.out) != 1 {
		return kernel{}, errors.New("expects one operand and one result")
	}
	one := tensor.New(s.out[0].dt, nil)
	switch a := s.op.Attr(stablehlo.AttrValue).(type) {
	case *ir.FloatAttr:
		encode64(s.out[0].dt, one, 0, []float64{tensor.DecodeFloat(a.Type().DType(), a.Bits())})
	case *ir.IntegerAttr:
		encodeInt(s.out[0].dt, one, 0, []int64{a.Value()})
	default:
		return kernel{}, unsupported("a constant of this type")
	}
	return kernel{run: func(in, out []*tensor.Tensor) error {
		fill(out[0].Bytes(), one.Bytes())
		return nil
	}}, nil
}

// makeTopK compiles chlo.top_k: the k largest elements along the last dimension and their indices. NaN is largest;
// equal elements keep their order. mhlo.topk can also select the smallest elements.
func makeTopK(s *spec) (kernel, error) {
	return topKKernel(&s.signature, int(intAttr(s.op, chlo.AttrK, 0)), boolAttr(s.op, mhlo.AttrLargest, true))
}

func topKKernel(s *signature, k int, largest bool) (kernel, error) {
	if len(s.in) != 1 || len(s.out) != 2 || s.in[0].dt != s.out[0].dt || s.out[1].dt != tensor.I32 || len(s.in[0].shape) == 0 {
		return kernel{}, errors.New("expects one operand, values and i32 indices")
	}
	in := s.in[0]
	n := int(in.shape[len(in.shape)-1])
	if k < 0 || k > n || s.out[0].n != s.out[1].n || k > 0 && s.out[0].n/k*n != in.n {
		return kernel{}, fmt.Errorf("cannot take %d of %d elements", k, n)
	}
	size := in.dt.Size()
	return kernel{scratch: 8*int64(in.n) + 16*int64(n), run: func(ins, outs []*tensor.Tensor) error {
		if k == 0 {
			return nil
		}
		keys := make([]int64, in.n)
		sortKeys(ins[0], keys, true)
		idx := tensor.View[int32](outs[1])
		line := make([]keyed, n)
		for l := range in.n / n {
			for i := range line {
				line[i] = keyed{keys[l*n+i], i}
			}
			slices.SortFunc(line, func(a, b keyed) int {
				if a.key != b.key {
					if a.key > b.key == largest {
						return -1
					}
					return 1
				}
				return a.at - b.at
			})
			for i := range k {
				from, to := l*n+line[i].at, l*k+i
				copy(outs[0].Bytes()[to*size:(to+1)*size], ins[0].Bytes()[from*size:])
				idx[to] = int32(line[i].at)
			}
		}
		return nil
	}}, nil
}
