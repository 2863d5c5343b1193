package tensor

// Reorder copies the elements of a value, of size bytes each, from row-major order to the layout whose dimensions from
// minor to major are order. With back, it copies from this layout to row-major order.
func Reorder(dst, src []byte, size int, shape Shape, order []int64, back bool) {
	strides := make([]int, len(shape)) // in bytes
	stride := size
	for _, d := range order {
		strides[d] = stride
		stride *= int(shape[d])
	}
	index := make([]int64, len(shape))
	at := 0
	for i := 0; i < len(dst); i += size {
		if back {
			copy(dst[i:i+size], src[at:])
		} else {
			copy(dst[at:at+size], src[i:i+size])
		}
		for d := len(shape) - 1; d >= 0; d-- {
			index[d]++
			at += strides[d]
			if index[d] < shape[d] {
				break
			}
			at -= strides[d] * int(shape[d])
			index[d] = 0
		}
	}
}
