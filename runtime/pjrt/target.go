//go:build cgo

package pjrt

// #include "calls.h"
import "C"

import (
	"fmt"
	"runtime/debug"
	"slices"
	"sync"
	"sync/atomic"
	"unsafe"

	"github.com/hlocb/hlocb/dialect/stablehlo"
	"github.com/hlocb/hlocb/internal/ffi"
	"github.com/hlocb/hlocb/internal/xlatypes"
	"github.com/hlocb/hlocb/ir"
	"github.com/hlocb/hlocb/tensor"
)

// TargetCall is a call of a custom-call target that the host computes. Its values are the program's memory, or copies
// of memory that the host cannot read, in the layouts of the call, which the FFI does not report. They are valid
// during the call.
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
	number map[targetKey]int
	list   atomic.Pointer[[]hostTarget]
}

// targetKey names a target of a plugin. Plugins differ in their memory.
type targetKey struct {
	plugin         *Plugin
	name, platform string
}

type hostTarget struct {
	compute Target
	memory  DeviceMemory
}

// RegisterTarget registers a custom-call target that the host computes with the client's plugin.
func (c *Client) RegisterTarget(name string, t Target) error {
	targets.mu.Lock()
	defer targets.mu.Unlock()
	key := targetKey{c.plugin, name, c.platform}
	n, ok := targets.number[key]
	if !ok {
		var list []hostTarget
		if old := targets.list.Load(); old != nil {
			list = append(list, *old...)
		}
		if n = len(list); n == C.HL_TARGETS {
			return fmt.Errorf("custom-call target %q exceeds the limit of %d targets", name, n)
		}
		list = append(list, hostTarget{t, c.memory})
		if targets.number == nil {
			targets.number = map[targetKey]int{}
		}
		targets.number[key] = n
		targets.list.Store(&list)
	}
	return c.plugin.register(name, C.hl_target_handler(C.int(n)), c.platform, c.plugin.registrationLayout())
}

// forwarded counts the handlers of programs that plugins call through handlers of hlocb. They belong to the process.
var forwarded atomic.Int64

// forward registers a handler of the program, which may be built for a newer FFI than the plugin's. A target that is
// registered already stays.
func (p *Plugin) forward(target string, handler unsafe.Pointer, platform string) error {
	p.mu.Lock()
	_, done := p.registered[target+"\x00"+platform]
	p.mu.Unlock()
	if done {
		return nil
	}
	_, minor, err := ffi.Version(handler)
	if err != nil {
		return fmt.Errorf("custom-call target %s: %w", target, err)
	}
	n := forwarded.Add(1) - 1
	if n >= C.HL_TARGETS {
		return fmt.Errorf("custom-call target %q exceeds the limit of %d targets", target, C.HL_TARGETS)
	}
	return p.register(target, C.hl_forwarding_handler(C.int(n), handler, C.int32_t(minor)), platform, p.registrationLayout())
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
		if err = b.findLayout(c); err == nil {
			err = c.RegisterTarget(s.Value(), t)
		}
		return err == nil
	})
	return err
}

// hlocbTarget is called by the C handler of a target. It returns nil, or a message that ends the run and that C frees.
//
//export hlocbTarget
func hlocbTarget(frame *C.hl_ffi_frame, number C.int) *C.char {
	t := (*targets.list.Load())[number]
	return hostCall(frame, t.memory, func(operands, results []*tensor.Tensor) error {
		return t.compute(&TargetCall{Operands: operands, Results: results, Attrs: integers(&frame.attrs)})
	})
}

// hostCall calls f with the values of a frame, nil for tokens. Results hold zeros unless they share an operand's
// memory. It returns nil or a message.
func hostCall(frame *C.hl_ffi_frame, memory DeviceMemory, f func(operands, results []*tensor.Tensor) error) (message *C.char) {
	defer func() {
		if v := recover(); v != nil {
			message = C.CString(fmt.Sprintf("%v\n%s", v, debug.Stack()))
		}
	}()
	c := &call{memory: memory, readable: memory.Readable()}
	if err := c.onHost(frame, f); err != nil {
		return C.CString(err.Error())
	}
	return nil
}

// onHost is hostCall for a call with only its memory.
func (c *call) onHost(frame *C.hl_ffi_frame, f func(operands, results []*tensor.Tensor) error) error {
	queue, err := c.memory.queue(frame)
	if err != nil {
		return err
	}
	c.queue, c.pool = queue, c.memory.pool(int32(C.hl_ordinal(frame)))
	var values []*view
	defer func() {
		for _, v := range values {
			c.release(v)
		}
	}()
	views := func(list *C.hl_ffi_list, known []*view) (tensors []*tensor.Tensor, err error) {
		for i, b := range unsafe.Slice(list.items, int(list.n)) {
			if b.dtype == xlatypes.FFIToken {
				tensors = append(tensors, nil)
				continue
			}
			// A result in an operand's memory is the operand.
			k := slices.IndexFunc(known, func(o *view) bool { return o.device == b.data && o.size > 0 })
			if k >= 0 && known[k].fits(b) {
				values, tensors = append(values, known[k]), append(tensors, &known[k].Tensor)
				continue
			}
			v := &view{host: true, input: known == nil || k >= 0}
			err := v.learn(b)
			if err == nil {
				err = c.point(v, b.data)
			}
			if err != nil {
				return nil, fmt.Errorf("value %d: %w", i, err)
			}
			if known != nil && k < 0 {
				clear(v.raw)
				clear(v.scratch)
			}
			values, tensors = append(values, v), append(tensors, &v.Tensor)
		}
		return tensors, nil
	}
	operands, err := views(&frame.operands, nil)
	if err != nil {
		return err
	}
	n := len(values)
	results, err := views(&frame.results, append([]*view{}, values...))
	if err != nil {
		return err
	}
	if c.late {
		if err := c.memory.Wait(c.queue); err != nil {
			return err
		}
	}
	for _, v := range values {
		v.unpack()
	}
	if err := f(operands, results); err != nil {
		return err
	}
	for _, v := range values[n:] {
		v.pack()
		if !c.readable {
			v.sent = true
			if err := c.memory.FromHost(c.queue, v.device, v.raw); err != nil {
				return err
			}
		}
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
		d := xlatypes.FFIType(int(s.dtype))
		if !d.IsInteger() && d != tensor.I1 || xlatypes.PackedBits(d) != 0 {
			continue
		}
		v := tensor.New(d, tensor.Shape{})
		copy(v.Bytes(), unsafe.Slice((*byte)(s.value), d.Size()))
		out[C.GoStringN(names[i].ptr, C.int(names[i].len))] = v.IntAt(0) // 0 or 1 of an i1
	}
	return out
}
