package tensor

import (
	"fmt"
	"math"
)

// CastError says which element has no counterpart in another element type.
type CastError struct {
	Index []int64
	Value string
	Type  DType
}

func (e *CastError) Error() string {
	return fmt.Sprintf("element %v is %s, which %s cannot represent", e.Index, e.Value, e.Type)
}

// Cast returns t with another element type. Floats are rounded to floats. Everything else must be exact: integers stay
// in range, floats become integers only if they are whole, and finite values stay finite. Otherwise the error is a
// *CastError. A complex tensor casts only to complex types.
func (t *Tensor) Cast(d DType) (*Tensor, error) {
	if d == t.dtype {
		return t, nil
	}
	if t.dtype.IsComplex() && !d.IsComplex() {
		return nil, fmt.Errorf("%s does not convert to %s", t.dtype, d)
	}
	out := New(d, t.shape)
	exact := func(i int) bool {
		switch {
		case t.dtype.IsComplex():
			v := t.ComplexAt(i)
			out.SetComplex(i, v)
			w := out.ComplexAt(i)
			return sameClass(real(v), real(w)) && sameClass(imag(v), imag(w))
		case d.IsFloat() || d.IsComplex():
			v := t.FloatAt(i)
			out.SetFloat(i, v)
			return sameClass(v, out.FloatAt(i))
		case t.dtype.IsFloat():
			v := t.FloatAt(i)
			if v != math.Trunc(v) || math.IsInf(v, 0) {
				return false
			}
			if (d == UI64 || d == Index) && v >= 1<<63 && v < 1<<64 {
				out.SetBits(i, uint64(v))
				return true
			}
			return v >= -1<<63 && v < 1<<63 && out.SetInt(i, int64(v))
		}
		v := t.IntAt(i)
		if v < 0 && t.dtype.Kind() != KindSigned { // above the range of int64
			out.SetBits(i, t.Bits(i))
			return d == UI64 || d == Index
		}
		return out.SetInt(i, v)
	}
	for i := range t.NumElements() {
		if !exact(i) {
			return nil, &CastError{t.shape.Index(i), t.ElementText(i), d}
		}
	}
	return out, nil
}

// sameClass reports whether v and w are both finite, both infinite or both NaN.
func sameClass(v, w float64) bool {
	return math.IsNaN(v) == math.IsNaN(w) && math.IsInf(v, 0) == math.IsInf(w, 0)
}
