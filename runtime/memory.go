package runtime

import (
	"errors"
	"unsafe"

	"github.com/hlocb/hlocb/tensor"
)

// MemoryUse says what a handler needs of the values of a call. The zero value is nothing but their types and shapes. If
// the host cannot read the device's memory, the backend copies what the handlers of a hook need together, and nothing
// else.
type MemoryUse struct {
	// HostViews: Call.Operands and Call.Results hold the values.
	HostViews bool
	// DevicePointers: Call.OperandPointers and Call.ResultPointers hold addresses in the device's memory.
	DevicePointers bool
	// Layouts: if the source of a hook asks for layouts other than row-major, the host views are in these layouts, and
	// Call.OperandLayouts and Call.ResultLayouts say which. Their Bytes then hold the elements in another order, so
	// their methods that take the number of an element do not apply. Device pointers are always row-major.
	Layouts bool
	// Statistics: the handler calls Call.Statistics. A program for a far device computes them there.
	Statistics bool
	// Head is the largest number of elements for which the handler calls Call.Head.
	Head int
}

// And returns what two handlers need together.
func (u MemoryUse) And(v MemoryUse) MemoryUse {
	return MemoryUse{u.HostViews || v.HostViews, u.DevicePointers || v.DevicePointers, u.Layouts || v.Layouts,
		u.Statistics || v.Statistics, max(u.Head, v.Head)}
}

// MemoryUser is a Handler that states what it needs. All other handlers get host views.
//
// A responder with host views writes its results there, even if it also has device pointers. A responder with only
// device pointers writes all results through them, and hlocb cannot check that it does. A program whose hooks have a
// time limit accepts no handler with device pointers, because hlocb cannot revoke an address from a late handler.
type MemoryUser interface {
	Handler
	MemoryUse() MemoryUse
}

// UseOf returns what a handler needs; nil needs nothing.
func UseOf(h Handler) MemoryUse {
	if h == nil {
		return MemoryUse{}
	}
	if m, ok := h.(MemoryUser); ok {
		return m.MemoryUse()
	}
	return MemoryUse{HostViews: true}
}

// DevicePointer is a value in a device's memory, row-major. It is valid during the call.
type DevicePointer struct {
	Address uintptr
	Size    int // in bytes; XLA packs elements narrower than a byte
	Memory  MemoryKind
}

// MemoryKind is a kind of memory, with the codes that DLPack has for devices.
type MemoryKind uint8

const (
	FarMemory  MemoryKind = 0 // only the backend reaches it
	HostMemory MemoryKind = 1 // of the embedded engine and of CPU plugins
	CUDAMemory MemoryKind = 2 // of the GPU Call.Ordinal; its contents are there after the work in Call.Stream
)

var errDeviceTimeout = errors.New("a handler with device pointers cannot have a time limit: hlocb cannot revoke the addresses")

// CheckTimeout returns a *BindError for the first hook whose handlers have device pointers.
func CheckTimeout(bound []Bound) error {
	for i := range bound {
		if bound[i].use.DevicePointers {
			return &BindError{bound[i].site, errDeviceTimeout}
		}
	}
	return nil
}

// Pointers appends the addresses of values in the host's memory, for backends that compute there.
func Pointers(dst []DevicePointer, values []*tensor.Tensor) []DevicePointer {
	for _, t := range values {
		b := t.Peek()
		dst = append(dst, DevicePointer{uintptr(unsafe.Pointer(unsafe.SliceData(b))), len(b), HostMemory})
	}
	return dst
}
