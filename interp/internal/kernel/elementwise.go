package kernel

import (
	"fmt"
	"slices"

	"github.com/hlocb/hlocb/interp/internal/simd/expr"
	"github.com/hlocb/hlocb/interp/internal/simd/vec"
	"github.com/hlocb/hlocb/tensor"
)

// SameShape fails unless the operands and the result have the same shape.
func SameShape(s *Signature) {
	for i := range s.In {
		FailIf(!s.In[i].Shape.Equal(s.Out[0].Shape), "expects operands of the result's shape, but got %s for %s", &s.In[i], &s.Out[0])
	}
}

func TypeMismatch(in, out tensor.DType) error {
	return fmt.Errorf("cannot compute elements of type %s from elements of type %s", out, in)
}

// CompareLoop returns the loop for a direction (EQ, NE, GE, GT, LE, LT), or nil if there is none.
func CompareLoop(dt tensor.DType, dir string, total bool) ElementLoop {
	if !slices.Contains([]string{"EQ", "NE", "GE", "GT", "LE", "LT"}, dir) {
		return nil
	}
	singles := directed(dir, vec.Binary[uint8, float32], vec.Less32Loop, vec.LessEqual32Loop, vec.Equal32Loop, vec.NotEqual32Loop)
	doubles := directed(dir, vec.Binary[uint8, float64], vec.Less64Loop, vec.LessEqual64Loop, vec.Equal64Loop, vec.NotEqual64Loop)
	longs := directed(dir, vec.Binary[uint8, int64], vec.LessI64Loop, vec.LessEqualI64Loop, vec.EqualI64Loop, vec.NotEqualI64Loop)
	switch {
	case total && dt.IsFloat():
		return blockwise(dt, totalKeys, func(out *tensor.Tensor, lo int, x, y []int64) { longs(out.Bytes()[lo:lo+len(x)], x, y) })
	case dt == tensor.F32:
		return compareView(singles)
	case dt == tensor.F64:
		return compareView(doubles)
	case dt == tensor.F16 || dt == tensor.BF16:
		return blockwise(dt, decode32, func(out *tensor.Tensor, lo int, x, y []float32) { singles(out.Bytes()[lo:lo+len(x)], x, y) })
	case dt.IsFloat():
		return blockwise(dt, Decode64, func(out *tensor.Tensor, lo int, x, y []float64) { doubles(out.Bytes()[lo:lo+len(x)], x, y) })
	}
	switch dt {
	case tensor.I1, tensor.UI2, tensor.UI4, tensor.UI8:
		return compareView(ordered[uint8](dir))
	case tensor.I2, tensor.I4, tensor.I8:
		return compareView(ordered[int8](dir))
	case tensor.I16:
		return compareView(ordered[int16](dir))
	case tensor.I32:
		return compareView(directed(dir, vec.Binary[uint8, int32], vec.LessI32Loop, vec.LessEqualI32Loop, vec.EqualI32Loop, vec.NotEqualI32Loop))
	case tensor.I64, tensor.Index:
		return compareView(longs)
	case tensor.UI16:
		return compareView(ordered[uint16](dir))
	case tensor.UI32:
		return compareView(ordered[uint32](dir))
	case tensor.UI64:
		return compareView(ordered[uint64](dir))
	case tensor.Complex64:
		return compareView(lexicographic[complex64](dir))
	case tensor.Complex128:
		return compareView(lexicographic[complex128](dir))
	}
	return nil
}

// CompareLanes returns the comparison on lanes, or nil.
func CompareLanes(dt tensor.DType, dir string, total bool) *Lanes {
	var less, lessEqual, equal, notEqual *vec.Loop
	switch {
	case total:
		return nil
	case dt == tensor.F32 || dt == tensor.BF16:
		less, lessEqual, equal, notEqual = vec.Less32Loop, vec.LessEqual32Loop, vec.Equal32Loop, vec.NotEqual32Loop
	case dt == tensor.F64:
		less, lessEqual, equal, notEqual = vec.Less64Loop, vec.LessEqual64Loop, vec.Equal64Loop, vec.NotEqual64Loop
	case dt == tensor.I32:
		less, lessEqual, equal, notEqual = vec.LessI32Loop, vec.LessEqualI32Loop, vec.EqualI32Loop, vec.NotEqualI32Loop
	case dt == tensor.I64:
		less, lessEqual, equal, notEqual = vec.LessI64Loop, vec.LessEqualI64Loop, vec.EqualI64Loop, vec.NotEqualI64Loop
	default:
		return nil
	}
	l := lanesOf(map[byte]*vec.Loop{'T': less, 'E': lessEqual, 'Q': equal}[dir[1]])
	switch dir[0] {
	case 'N':
		return lanesOf(notEqual)
	case 'G':
		return &Lanes{Width: l.Width, Apply: func(p *expr.Program, x ...*expr.Node) *expr.Node { return l.Apply(p, x[1], x[0]) }}
	}
	return l
}

// comparison compares two slices element by element.
type comparison[T any] func(o []uint8, x, y []T)

// directed chooses the comparison for a direction. The greater of x and y is the less of y and x.
func directed[T, L any](dir string, bind func(L) func(o []uint8, x, y []T), less, lessEqual, equal, notEqual L) comparison[T] {
	f := bind(map[byte]L{'T': less, 'E': lessEqual, 'Q': equal}[dir[1]])
	switch dir[0] {
	case 'N':
		return bind(notEqual)
	case 'G':
		return func(o []uint8, x, y []T) { f(o, y, x) }
	}
	return f
}

// ordered returns the comparison of integers in Go.
func ordered[T integer](dir string) comparison[T] {
	same := func(f comparison[T]) func(o []uint8, x, y []T) { return f }
	return directed(dir, same, func(o []uint8, x, y []T) {
		x, y = x[:len(o)], y[:len(o)]
		for i := range o {
			o[i] = bit(x[i] < y[i])
		}
	}, func(o []uint8, x, y []T) {
		x, y = x[:len(o)], y[:len(o)]
		for i := range o {
			o[i] = bit(x[i] <= y[i])
		}
	}, func(o []uint8, x, y []T) {
		for i := range o {
			o[i] = bit(x[i] == y[i])
		}
	}, func(o []uint8, x, y []T) {
		for i := range o {
			o[i] = bit(x[i] != y[i])
		}
	})
}

// lexicographic returns the comparison of complex numbers by their real parts, then by their imaginary parts (spec,
// "compare"). Every order is false if a compared part is NaN.
func lexicographic[T complexNumber](dir string) comparison[T] {
	first := func(a, b T, last bool) bool {
		x, y := real(complex128(a)), real(complex128(b))
		return x < y || x == y && last
	}
	return directed(dir, elements[T], func(a, b T) bool { return first(a, b, imag(complex128(a)) < imag(complex128(b))) },
		func(a, b T) bool { return first(a, b, imag(complex128(a)) <= imag(complex128(b))) },
		func(a, b T) bool { return a == b }, func(a, b T) bool { return a != b })
}

// elements returns the comparison that calls f for each element.
func elements[T any](f func(a, b T) bool) func(o []uint8, x, y []T) {
	return func(o []uint8, x, y []T) {
		for i := range o {
			o[i] = bit(f(x[i], y[i]))
		}
	}
}

// totalKeys stores integers in dst that sort as IEEE 754's totalOrder: negative NaN, -inf, ..., -0, +0, ..., +inf, NaN.
func totalKeys(dt tensor.DType, dst []int64, t *tensor.Tensor, lo int) {
	if dt == tensor.F32 {
		for i, v := range tensor.View[int32](t)[lo:][:len(dst)] {
			dst[i] = int64(v ^ int32(uint32(v>>31)>>1))
		}
		return
	}
	top := dt.Bits() - 1
	for i := range dst {
		v := t.Bits(lo + i)
		mag := int64(v &^ (1 << top))
		switch {
		case dt == tensor.F8E8M0FNU: // has no sign
			mag = int64(v)
		case v>>top&1 != 0 && mag == 0 && noNegativeZero(dt): // a negative NaN
			mag = -1 << 62
		case v>>top&1 != 0:
			mag = ^mag
		}
		dst[i] = mag
	}
}

// noNegativeZero reports whether the type encodes NaN as the bits of -0.
func noNegativeZero(dt tensor.DType) bool {
	return dt == tensor.F8E4M3FNUZ || dt == tensor.F8E4M3B11FNUZ || dt == tensor.F8E5M2FNUZ
}

func compareView[T tensor.Element](f comparison[T]) ElementLoop {
	return func(in, out []*tensor.Tensor, lo, hi int) {
		f(out[0].Bytes()[lo:hi], tensor.View[T](in[0])[lo:hi], tensor.View[T](in[1])[lo:hi])
	}
}

// MakeSelect compiles select (spec, "select"): the predicate may be a scalar.
func MakeSelect(s *Signature) Kernel {
	o := s.Out[0]
	FailIf(!s.In[1].Shape.Equal(o.Shape) || !s.In[2].Shape.Equal(o.Shape) || s.In[1].DType != o.DType || s.In[2].DType != o.DType,
		"expects operands of the result's type")
	if s.In[0].N == 1 && len(s.In[0].Shape) == 0 && o.N != 1 {
		return Kernel{Family: "select by one flag", Run: func(in, out []*tensor.Tensor) {
			src := in[2]
			if in[0].Bytes()[0] != 0 {
				src = in[1]
			}
			copy(out[0].Bytes(), src.Bytes())
		}}
	}
	FailIf(!s.In[0].Shape.Equal(o.Shape) && s.In[0].N != o.N, "expects a predicate of the result's shape or a scalar")
	var f ElementLoop
	switch o.DType.Size() {
	case 1:
		f = selectBytes
	case 2:
		f = view3(vec.Ternary[uint16, uint8, uint16](vec.Select16Loop))
	case 4:
		f = view3(vec.Ternary[uint32, uint8, uint32](vec.Select32Loop))
	case 8:
		f = view3(vec.Ternary[uint64, uint8, uint64](vec.Select64Loop))
	default:
		f = selectComplex
	}
	return ElementKernel(o.N, o.DType.Size(), 2, f, 6).with(selectLanes(o.DType))
}

func view3[T, P tensor.Element](f func(o []T, p []P, x, y []T)) ElementLoop {
	return func(in, out []*tensor.Tensor, lo, hi int) {
		f(tensor.View[T](out[0])[lo:hi], tensor.View[P](in[0])[lo:hi], tensor.View[T](in[1])[lo:hi], tensor.View[T](in[2])[lo:hi])
	}
}

// selectBytes chooses without branches: an i1 is 0 or 1.
func selectBytes(in, out []*tensor.Tensor, lo, hi int) {
	p, o, x, y := in[0].Bytes()[lo:hi], out[0].Bytes()[lo:hi], in[1].Bytes()[lo:hi], in[2].Bytes()[lo:hi]
	for i, c := range p {
		o[i] = y[i] ^ (x[i]^y[i])&-c
	}
}

func selectComplex(in, out []*tensor.Tensor, lo, hi int) {
	o, x, y := tensor.View[complex128](out[0]), tensor.View[complex128](in[1]), tensor.View[complex128](in[2])
	for i := lo; i < hi; i++ {
		v := y[i]
		if in[0].Bytes()[i] != 0 {
			v = x[i]
		}
		o[i] = v
	}
}

// MakeClamp compiles clamp (spec, "clamp"): minimum(maximum(operand, min), max); bounds may be scalars.
func MakeClamp(s *Signature) Kernel {
	o := s.Out[0]
	lower, upper := Maximum.Bind(o.DType), Minimum.Bind(o.DType)
	UnsupportedIf(lower == nil || upper == nil, "clamp on elements of type %s", o.DType)
	for i, t := range s.In {
		FailIf(t.DType != o.DType || (i == 1 || t.N != 1) && !t.Shape.Equal(o.Shape), "expects operands of the result's type")
	}
	full := func(t *tensor.Tensor) *tensor.Tensor {
		if t.NumElements() == o.N {
			return t
		}
		return Splat(t, o)
	}
	clamp := func(in, out []*tensor.Tensor, a, b int) {
		lower([]*tensor.Tensor{in[0], in[1]}, out, a, b)
		upper([]*tensor.Tensor{out[0], in[2]}, out, a, b)
	}
	switch o.DType {
	case tensor.F32:
		clamp = view3(vec.Ternary[float32, float32, float32](vec.Clamp32Loop))
	case tensor.F64:
		clamp = view3(vec.Ternary[float64, float64, float64](vec.Clamp64Loop))
	}
	if s.In[0].N == o.N && s.In[2].N == o.N {
		k := ElementKernel(o.N, o.DType.Size(), 2, clamp, 2)
		switch a, b := Maximum.lanes(o.DType), Minimum.lanes(o.DType); {
		case o.DType == tensor.F32:
			k.Lanes = lanesOf(vec.Clamp32Loop)
		case o.DType == tensor.F64:
			k.Lanes = lanesOf(vec.Clamp64Loop)
		case a != nil && b != nil:
			k.Lanes = &Lanes{Width: a.Width, Apply: func(p *expr.Program, x ...*expr.Node) *expr.Node { return b.Apply(p, a.Apply(p, x[0], x[1]), x[2]) }}
		}
		return k
	}
	return Kernel{Family: "clamp", Run: func(in, out []*tensor.Tensor) {
		lo, hi := full(in[0]), full(in[2])
		Parallel(o.N, 1<<14, func(a, b int) {
			clamp([]*tensor.Tensor{lo, in[1], hi}, out, a, b)
		})
	}, Inplace: 2}
}
