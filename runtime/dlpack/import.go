//go:build cgo

package dlpack

// #include "dlpack.h"
import "C"

import (
	"errors"
	"fmt"
	"math"
	"unsafe"

	"github.com/hlocb/hlocb/tensor"
)

// View is another library's tensor, without a copy. Close returns it; do not use Tensor after that.
type View struct {
	Tensor    *tensor.Tensor
	ptr       unsafe.Pointer
	versioned C.int
}

// Import accepts a DLManagedTensor, or a DLManagedTensorVersioned if versioned is set, in host memory and row-major
// without gaps. A handler can answer with it. If Import fails, the tensor still belongs to the caller.
func Import(p unsafe.Pointer, versioned bool) (*View, error) {
	m := &View{ptr: p}
	t := &(*C.hl_dl_managed)(p).tensor
	flags := C.uint64_t(0)
	if versioned {
		v := (*C.hl_dl_versioned)(p)
		if v.version.major != 1 {
			return nil, fmt.Errorf("the tensor is of DLPack %d.%d, expected 1", uint32(v.version.major), uint32(v.version.minor))
		}
		m.versioned, flags, t = 1, v.flags, &v.tensor
	}
	if t.device._type != 1 {
		return nil, fmt.Errorf("the tensor lies on a device of type %d, not in the host's memory", int32(t.device._type))
	}
	if t.ndim < 0 || t.ndim > 0 && t.shape == nil {
		return nil, errors.New("the tensor has no shape")
	}
	d := elementType(t.dtype, flags&C.HL_DL_SUBBYTE_PADDED != 0)
	if d == tensor.Invalid || t.dtype.lanes != 1 {
		return nil, fmt.Errorf("elements of code %d, %d bits and %d lanes have no counterpart", uint8(t.dtype.code), uint8(t.dtype.bits), uint16(t.dtype.lanes))
	}
	shape := make(tensor.Shape, int(t.ndim))
	copy(shape, unsafe.Slice((*int64)(t.shape), int(t.ndim)))
	n := shape.NumElements()
	if n < 0 || n > math.MaxInt64/16 {
		return nil, fmt.Errorf("the tensor has the shape %v", []int64(shape))
	}
	if t.strides != nil && n > 0 {
		step := int64(1)
		strides := unsafe.Slice((*int64)(t.strides), int(t.ndim))
		for i := len(shape) - 1; i >= 0; i-- {
			if shape[i] != 1 && strides[i] != step {
				return nil, errors.New("the tensor is not row-major without gaps; copy it first")
			}
			step *= shape[i]
		}
	}
	var data []byte
	if n > 0 {
		if t.data == nil {
			return nil, errors.New("the tensor has no memory")
		}
		data = unsafe.Slice((*byte)(unsafe.Add(t.data, uintptr(t.byte_offset))), int(n)*d.Size())
	}
	var err error
	m.Tensor, err = tensor.FromBytes(d, shape, data)
	return m, err
}

// elementType returns the type with DLPack's code, or Invalid if hlocb has no such type.
func elementType(t C.hl_dl_type, padded bool) tensor.DType {
	for d := tensor.I1; d < tensor.Index; d++ {
		code, bits, err := dataType(d, true)
		if err == nil && code == t.code && bits == t.bits && (bits >= 8 || padded) {
			return d
		}
	}
	return tensor.Invalid
}

// Close returns the tensor through its deleter. It may be called again.
func (m *View) Close() {
	if m.ptr != nil {
		C.hl_dlpack_delete(m.ptr, m.versioned)
		m.ptr, m.Tensor = nil, nil
	}
}
