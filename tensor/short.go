package tensor

import "strconv"

// AppendLiteral appends t as an MLIR literal, dense<...> : tensor<...>. If limit is positive and t has more elements
// and is not a splat, it replaces the middle of each dimension with …; such text is only for people.
func (t *Tensor) AppendLiteral(dst []byte, limit int) []byte {
	dst = append(dst, "dense<"...)
	n := t.NumElements()
	if limit > 0 && n > limit && !allEqual(t.data, t.dtype.Size()) {
		dst = t.appendShort(dst, 0, 0)
	} else {
		dst = AppendDense(dst, t, -1)
	}
	dst = append(dst, "> : tensor<"...)
	for _, d := range t.shape {
		dst = append(strconv.AppendInt(dst, d, 10), 'x')
	}
	return append(append(dst, t.dtype.String()...), '>')
}

// appendShort writes at most shortEdge elements at each end of each dimension.
func (t *Tensor) appendShort(dst []byte, dim, base int) []byte {
	const shortEdge = 2
	if dim == len(t.shape) {
		return AppendElement(dst, t, base)
	}
	n, stride := int(t.shape[dim]), 1
	for _, d := range t.shape[dim+1:] {
		stride *= int(d)
	}
	dst = append(dst, '[')
	for i := 0; i < n; i++ {
		if i > 0 {
			dst = append(dst, ", "...)
		}
		if n > 2*shortEdge+1 && i == shortEdge {
			dst = append(dst, "…, "...)
			i = n - shortEdge
		}
		dst = t.appendShort(dst, dim+1, base+i*stride)
	}
	return append(dst, ']')
}
