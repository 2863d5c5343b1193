package tensor

import "fmt"

// Int64s returns the elements of a boolean, integer or index tensor as int64 (ui64 keeps its bits).
func (t *Tensor) Int64s() ([]int64, error) {
	switch t.dtype {
	case I1, UI2, UI4, UI8:
		return widen[uint8](t), nil
	case I2, I4, I8:
		return widen[int8](t), nil
	case I16:
		return widen[int16](t), nil
	case UI16:
		return widen[uint16](t), nil
	case I32:
		return widen[int32](t), nil
	case UI32:
		return widen[uint32](t), nil
	case I64, Index, UI64:
		return widen[int64](t), nil
	}
	return nil, fmt.Errorf("elements of type %s are not integers", t.dtype)
}

func widen[T interface {
	~int8 | ~int16 | ~int32 | ~int64 | ~uint8 | ~uint16 | ~uint32
}](t *Tensor) []int64 {
	out := make([]int64, t.NumElements())
	for i, v := range View[T](t) {
		out[i] = int64(v)
	}
	return out
}
