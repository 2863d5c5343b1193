package kernel

import (
	"github.com/hlocb/hlocb/tensor"
)

// Splat returns a tensor of type v filled with the single element of t.
func Splat(t *tensor.Tensor, v Type) *tensor.Tensor {
	out := tensor.New(v.DType, v.Shape)
	Fill(out.Bytes(), t.Bytes())
	return out
}

// Fill fills dst with copies of pattern. The length of dst is a multiple of the pattern's length.
func Fill(dst, pattern []byte) {
	if len(dst) == 0 {
		return
	}
	n := copy(dst, pattern)
	for n < len(dst) { // copy whole patterns from a source that stays in the cache
		n += copy(dst[n:], dst[:min(n, max(4096/len(pattern), 1)*len(pattern))])
	}
}
