package runtime

import (
	"errors"
	"unsafe"

	"github.com/hlocb/hlocb/tensor"
)

// MemoryUse says how a handler reaches the values of a call.
type MemoryUse uint8

const (
	// HostViews: Call.Operands and Call.Results hold the values. If the host cannot read the device's memory, the
	// backend copies the operands before the call and the results after it.
	HostViews MemoryUse = 1 << iota
	// DevicePointers: Call.OperandPointers and Call.ResultPointers hold addresses in the device's memory.
	DevicePointers
	// Layouts: if the source of a hook asks for layouts other than row-major, the host views are in these layouts, and
	// Call.OperandLayouts and Call.ResultLayouts say which. Their Bytes then hold the elements in another order, so
	// their methods that take the number of an element do not apply. Device pointers are always row-major.
	Layouts
)

// MemoryUser is a Handler that states how it reaches values. All other handlers get host views. A hook without a
// handler that needs host views costs no copy: if the host cannot read the device's memory, its Operands and Results
// have only types and shapes.
//
// A responder with host views writes its results there, even if it also has device pointers. A responder with only
// device pointers writes all results through them, and hlocb cannot check that it does. A program whose hooks have a
// time limit accepts no handler with device pointers, because hlocb cannot revoke an address from a late handler.
type MemoryUser interface {
	Handler
	MemoryUse() MemoryUse
}

// UseOf returns how a handler reaches values; nil reaches none.
func UseOf(h Handler) MemoryUse {
	if h == nil {
		return 0
	}
	if m, ok := h.(MemoryUser); ok {
		return m.MemoryUse()
	}
	return HostViews
}

// Use returns how the handlers of a hook, taken together, reach its values.
func (b *Bound) Use() MemoryUse {
	use := UseOf(b.Answer)
	for _, o := range b.Observers {
		use |= UseOf(o)
	}
	return use
}

// DevicePointer is a value in a device's memory, in the device's layout. It is valid during the call.
type DevicePointer struct {
	Address uintptr // on the embedded engine and on the CPU plugin the host can read it
	Size    int     // in bytes; XLA packs elements narrower than a byte
}

var errDeviceTimeout = errors.New("a handler with device pointers cannot have a time limit: hlocb cannot revoke the addresses")

// CheckTimeout returns a *BindError for the first hook whose handlers have device pointers.
func CheckTimeout(bound []Bound) error {
	for i := range bound {
		if bound[i].Use()&DevicePointers != 0 {
			return &BindError{bound[i].Site, errDeviceTimeout}
		}
	}
	return nil
}

// Pointers appends the addresses of values in the host's memory, for backends that compute there.
func Pointers(dst []DevicePointer, values []*tensor.Tensor) []DevicePointer {
	for _, t := range values {
		b := t.Peek()
		dst = append(dst, DevicePointer{uintptr(unsafe.Pointer(unsafe.SliceData(b))), len(b)})
	}
	return dst
}
