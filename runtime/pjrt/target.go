//go:build cgo

package pjrt

// #include "calls.h"
import "C"

import (
	"fmt"
	"runtime/debug"
	"sync"
	"sync/atomic"
	"unsafe"

	"github.com/hlocb/hlocb/dialect/stablehlo"
	"github.com/hlocb/hlocb/ir"
	"github.com/hlocb/hlocb/runtime"
	"github.com/hlocb/hlocb/tensor"
)

// TargetCall is a call of a custom-call target that the host computes. Its values are the program's memory in the
// layouts of the call, which the FFI does not report, and valid during the call.
type TargetCall struct {
	Operands, Results []*tensor.Tensor // a result may share the memory of an operand; other results hold zeros
	Attrs             map[string]int64 // the integer attributes; truth values are 0 and 1
}

// Target computes a custom call. Several threads may call it at once.
type Target func(*TargetCall) error

// targets are the targets that the process computes, by number. A handler of the FFI is a C function, so they belong to
// the process, and the first Target of a name stays. Calls read the list without a lock.
var targets struct {
	mu     sync.Mutex
	number map[string]int
	list   atomic.Pointer[[]Target]
}

// RegisterTarget registers a custom-call target that the host computes with the plugin.
func (p *Plugin) RegisterTarget(name string, t Target, platform string) error {
	targets.mu.Lock()
	defer targets.mu.Unlock()
	n, ok := targets.number[name]
	if !ok {
		var list []Target
		if old := targets.list.Load(); old != nil {
			list = append(list, *old...)
		}
		if n = len(list); n == C.HL_TARGETS {
			return fmt.Errorf("custom-call target %q exceeds the limit of %d targets", name, n)
		}
		list = append(list, t)
		if targets.number == nil {
			targets.number = map[string]int{}
		}
		targets.number[name] = n
		targets.list.Store(&list)
	}
	return p.register(name, C.hl_target_handler(C.int(n)), platform, p.registrationLayout())
}

// registerTargets registers the custom-call targets of a module that the backend's options compute.
func (b *Backend) registerTargets(m *ir.Module, c *Client) (err error) {
	if b.opts.Targets == nil || m == nil {
		return nil
	}
	seen := map[string]bool{}
	m.Walk(func(o *ir.Op) bool {
		if err != nil || !o.IsOrMirrors(stablehlo.CustomCall) {
			return err == nil
		}
		s, ok := o.Attr(stablehlo.AttrCallTargetName).(*ir.StringAttr)
		if !ok || seen[s.Value()] {
			return true
		}
		seen[s.Value()] = true
		var t Target
		if t, err = b.opts.Targets(s.Value()); err != nil || t == nil {
			return err == nil
		}
		if err = b.findLayout(c); err == nil && !c.memory.Readable() {
			err = &NoFFIError{b.plugin.path, fmt.Sprintf("the host computes custom-call target %q, but cannot read the plugin's memory", s.Value())}
		}
		if err == nil {
			err = b.plugin.RegisterTarget(s.Value(), t, c.platform)
		}
		return err == nil
	})
	return err
}

// hlocbTarget is called by the C handler of a target. It returns nil, or a message that ends the run and that C frees.
//
//export hlocbTarget
func hlocbTarget(frame *C.hl_ffi_frame, number C.int) *C.char {
	return hostCall(frame, func(operands, results []*tensor.Tensor) error {
		if err := clearResults(frame, hostMemory{}, nil); err != nil {
			return err
		}
		return (*targets.list.Load())[number](&TargetCall{Operands: operands, Results: results, Attrs: integers(&frame.attrs)})
	})
}

// hostCall calls f with the values of a frame, which the host can read, nil for tokens. It returns nil or a message.
func hostCall(frame *C.hl_ffi_frame, f func(operands, results []*tensor.Tensor) error) (message *C.char) {
	defer func() {
		if v := recover(); v != nil {
			message = C.CString(fmt.Sprintf("%v\n%s", v, debug.Stack()))
		}
	}()
	c := call{readable: true}
	views := func(list *C.hl_ffi_list, operands bool) (views []*view, tensors []*tensor.Tensor, err error) {
		for i, b := range unsafe.Slice(list.items, int(list.n)) {
			if b.dtype == ffiToken {
				tensors = append(tensors, nil)
				continue
			}
			v := &view{}
			if err := c.set(v, b, runtime.MemoryUse{HostViews: true}, operands); err != nil {
				return nil, nil, fmt.Errorf("value %d: %w", i, err)
			}
			views, tensors = append(views, v), append(tensors, &v.Tensor)
		}
		return views, tensors, nil
	}
	_, operands, err := views(&frame.operands, true)
	if err == nil {
		var written []*view
		var results []*tensor.Tensor
		if written, results, err = views(&frame.results, false); err == nil {
			err = f(operands, results)
		}
		for _, v := range written {
			v.pack()
		}
	}
	if err != nil {
		return C.CString(err.Error())
	}
	return nil
}

// integers returns the attributes that are integers or truth values.
func integers(attrs *C.hl_ffi_attrs) map[string]int64 {
	out := map[string]int64{}
	n := int(attrs.n)
	kinds, names, items := unsafe.Slice(attrs.kinds, n), unsafe.Slice(attrs.names, n), unsafe.Slice(attrs.items, n)
	for i, kind := range kinds {
		if kind != C.HL_FFI_ATTR_SCALAR {
			continue
		}
		s := (*C.hl_ffi_scalar)(items[i])
		code := int(s.dtype)
		if code <= 0 || code >= len(ffiTypes) || !ffiTypes[code].IsInteger() && ffiTypes[code] != tensor.I1 || packedBits(ffiTypes[code]) != 0 {
			continue
		}
		d := ffiTypes[code]
		v := tensor.New(d, tensor.Shape{})
		copy(v.Bytes(), unsafe.Slice((*byte)(s.value), d.Size()))
		out[C.GoStringN(names[i].ptr, C.int(names[i].len))] = v.IntAt(0) // 0 or 1 of an i1
	}
	return out
}
