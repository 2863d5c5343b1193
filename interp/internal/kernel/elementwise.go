package kernel

import (
	"errors"
	"fmt"

	"github.com/hlocb/hlocb/interp/internal/simd/vec"
	"github.com/hlocb/hlocb/tensor"
)

// SameShape returns an error unless there are n operands and one result, all of the same shape.
func SameShape(s *Signature, n int) error {
	if len(s.In) != n || len(s.Out) != 1 {
		return fmt.Errorf("expects %d operands and 1 result, but has %d and %d", n, len(s.In), len(s.Out))
	}
	for _, t := range s.In {
		if !t.Shape.Equal(s.Out[0].Shape) {
			return fmt.Errorf("expects operands of the result's shape, but got %s for %s", t, s.Out[0])
		}
	}
	return nil
}

func TypeMismatch(in, out tensor.DType) error {
	return fmt.Errorf("cannot compute elements of type %s from elements of type %s", out, in)
}

// lexicographic returns the loop that orders complex numbers by their real parts, then by their imaginary parts (spec,
// "compare"). Every order is false if a compared part is NaN.
func lexicographic(dir string) ElementLoop {
	var strict, last func(a, b float64) bool
	switch dir {
	case "LT", "LE":
		strict = func(a, b float64) bool { return a < b }
	case "GT", "GE":
		strict = func(a, b float64) bool { return a > b }
	default:
		return nil
	}
	last = strict
	if dir[1] == 'E' {
		last = func(a, b float64) bool { return strict(a, b) || a == b }
	}
	return func(in, out []*tensor.Tensor, lo, hi int) {
		for i := lo; i < hi; i++ {
			x, y := in[0].ComplexAt(i), in[1].ComplexAt(i)
			v := byte(0)
			if strict(real(x), real(y)) || real(x) == real(y) && last(imag(x), imag(y)) {
				v = 1
			}
			out[0].Bytes()[i] = v
		}
	}
}

// CompareLoop returns the loop for a direction (EQ, NE, GE, GT, LE, LT), or nil if there is none.
func CompareLoop(dt tensor.DType, dir string, total bool) ElementLoop {
	switch dt {
	case tensor.I1, tensor.UI2, tensor.UI4, tensor.UI8:
		return compareView(ordered[uint8](dir))
	case tensor.I2, tensor.I4, tensor.I8:
		return compareView(ordered[int8](dir))
	case tensor.I16:
		return compareView(ordered[int16](dir))
	case tensor.I32:
		return compareView(ordersOf[int32](dir, vec.LessI32Loop, vec.LessEqualI32Loop, vec.EqualI32Loop, vec.NotEqualI32Loop))
	case tensor.I64, tensor.Index:
		return compareView(ordersOf[int64](dir, vec.LessI64Loop, vec.LessEqualI64Loop, vec.EqualI64Loop, vec.NotEqualI64Loop))
	case tensor.UI16:
		return compareView(ordered[uint16](dir))
	case tensor.UI32:
		return compareView(ordered[uint32](dir))
	case tensor.UI64:
		return compareView(ordered[uint64](dir))
	case tensor.Complex64:
		if f := compareView(equality[complex64](dir)); f != nil {
			return f
		}
		return lexicographic(dir)
	case tensor.Complex128:
		if f := compareView(equality[complex128](dir)); f != nil {
			return f
		}
		return lexicographic(dir)
	case tensor.F32:
		if !total {
			return compareView(singles(dir))
		}
	case tensor.F64:
		if !total {
			return compareView(doubles(dir))
		}
	}
	if !dt.IsFloat() {
		return nil
	}
	if total {
		cmp := ordered[int64](dir)
		if cmp == nil {
			return nil
		}
		return func(in, out []*tensor.Tensor, lo, hi int) {
			var x, y [chunk]int64
			for ; lo < hi; lo += chunk {
				n := min(chunk, hi-lo)
				totalKeys(dt, x[:n], in[0], lo)
				totalKeys(dt, y[:n], in[1], lo)
				cmp(out[0].Bytes()[lo:lo+n], x[:n], y[:n])
			}
		}
	}
	if dt == tensor.F16 || dt == tensor.BF16 {
		return widened(dt, singles(dir), decode32)
	}
	return widened(dt, doubles(dir), Decode64)
}

// widened returns a loop that compares narrow floats in a wider type.
func widened[T float](dt tensor.DType, cmp func(o []uint8, x, y []T), decode func(tensor.DType, []T, *tensor.Tensor, int)) ElementLoop {
	if cmp == nil {
		return nil
	}
	pool := chunks[T]()
	return func(in, out []*tensor.Tensor, lo, hi int) {
		b := pool.Get().(*[2][chunk]T)
		defer pool.Put(b)
		for ; lo < hi; lo += chunk {
			n := min(chunk, hi-lo)
			x, y := b[0][:n], b[1][:n]
			decode(dt, x, in[0], lo)
			decode(dt, y, in[1], lo)
			cmp(out[0].Bytes()[lo:lo+n], x, y)
		}
	}
}

// singles and doubles return the loop for a direction, or nil if there is none.
func singles(dir string) func(o []uint8, x, y []float32) {
	return ordersOf[float32](dir, vec.Less32Loop, vec.LessEqual32Loop, vec.Equal32Loop, vec.NotEqual32Loop)
}

func doubles(dir string) func(o []uint8, x, y []float64) {
	return ordersOf[float64](dir, vec.Less64Loop, vec.LessEqual64Loop, vec.Equal64Loop, vec.NotEqual64Loop)
}

func ordersOf[T tensor.Element](dir string, less, lessEqual, equal, notEqual *vec.Loop) func(o []uint8, x, y []T) {
	l := map[string]*vec.Loop{"LT": less, "GT": less, "LE": lessEqual, "GE": lessEqual, "EQ": equal, "NE": notEqual}[dir]
	if l == nil {
		return nil
	}
	f := vec.Binary[uint8, T](l)
	if dir[0] == 'G' {
		return func(o []uint8, x, y []T) { f(o, y, x) }
	}
	return f
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
		var v uint64
		switch dt.Size() {
		case 1:
			v = uint64(t.Bytes()[lo+i])
		case 2:
			v = uint64(tensor.View[uint16](t)[lo+i])
		case 4:
			v = uint64(tensor.View[uint32](t)[lo+i])
		default:
			v = tensor.View[uint64](t)[lo+i]
		}
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

func compareView[T tensor.Element](f func(o []uint8, x, y []T)) ElementLoop {
	if f == nil {
		return nil
	}
	return func(in, out []*tensor.Tensor, lo, hi int) {
		f(out[0].Bytes()[lo:hi], tensor.View[T](in[0])[lo:hi], tensor.View[T](in[1])[lo:hi])
	}
}

func equality[T comparable](dir string) func(o []uint8, x, y []T) {
	switch dir {
	case "EQ":
		return func(o []uint8, x, y []T) {
			for i := range o {
				o[i] = bit(x[i] == y[i])
			}
		}
	case "NE":
		return func(o []uint8, x, y []T) {
			for i := range o {
				o[i] = bit(x[i] != y[i])
			}
		}
	}
	return nil
}

func ordered[T integer | float](dir string) func(o []uint8, x, y []T) {
	switch dir {
	case "GE":
		return func(o []uint8, x, y []T) {
			x, y = x[:len(o)], y[:len(o)]
			for i := range o {
				o[i] = bit(x[i] >= y[i])
			}
		}
	case "GT":
		return func(o []uint8, x, y []T) {
			x, y = x[:len(o)], y[:len(o)]
			for i := range o {
				o[i] = bit(x[i] > y[i])
			}
		}
	case "LE":
		return func(o []uint8, x, y []T) {
			x, y = x[:len(o)], y[:len(o)]
			for i := range o {
				o[i] = bit(x[i] <= y[i])
			}
		}
	case "LT":
		return func(o []uint8, x, y []T) {
			x, y = x[:len(o)], y[:len(o)]
			for i := range o {
				o[i] = bit(x[i] < y[i])
			}
		}
	}
	return equality[T](dir)
}

// MakeSelect compiles select (spec, "select"): the predicate may be a scalar.
func MakeSelect(s *Signature) (Kernel, error) {
	if len(s.In) != 3 || len(s.Out) != 1 || s.In[0].DType != tensor.I1 {
		return Kernel{}, errors.New("expects a predicate and two operands")
	}
	o := s.Out[0]
	if !s.In[1].Shape.Equal(o.Shape) || !s.In[2].Shape.Equal(o.Shape) || s.In[1].DType != o.DType || s.In[2].DType != o.DType {
		return Kernel{}, errors.New("expects operands of the result's type")
	}
	if s.In[0].N == 1 && len(s.In[0].Shape) == 0 && o.N != 1 {
		return Kernel{Family: "select by one flag", Run: func(in, out []*tensor.Tensor) {
			src := in[2]
			if in[0].Bytes()[0] != 0 {
				src = in[1]
			}
			copy(out[0].Bytes(), src.Bytes())
		}}, nil
	}
	if !s.In[0].Shape.Equal(o.Shape) && s.In[0].N != o.N {
		return Kernel{}, errors.New("expects a predicate of the result's shape or a scalar")
	}
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
	return ElementKernel(o.N, o.DType.Size(), 2, f, 6), nil
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
func MakeClamp(s *Signature) (Kernel, error) {
	if len(s.In) != 3 || len(s.Out) != 1 {
		return Kernel{}, errors.New("expects three operands")
	}
	o := s.Out[0]
	lower, upper := Maximum.Bind(o.DType), Minimum.Bind(o.DType)
	if lower == nil || upper == nil {
		return Kernel{}, Unsupported("clamp on elements of type %s", o.DType)
	}
	for i, t := range s.In {
		if t.DType != o.DType || (i == 1 || t.N != 1) && !t.Shape.Equal(o.Shape) {
			return Kernel{}, errors.New("expects operands of the result's type")
		}
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
		return ElementKernel(o.N, o.DType.Size(), 2, clamp, 2), nil
	}
	return Kernel{Family: "clamp", Run: func(in, out []*tensor.Tensor) {
		lo, hi := full(in[0]), full(in[2])
		Parallel(o.N, 1<<14, func(a, b int) {
			clamp([]*tensor.Tensor{lo, in[1], hi}, out, a, b)
		})
	}, Inplace: 2}, nil
}
