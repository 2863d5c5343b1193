//go:build cgo

package engineplugin

// #include <stdlib.h>
// #include "objects.h"
import "C"

import (
	"context"
	"fmt"
	"strings"
	"unsafe"

	"github.com/hlocb/hlocb/dialect/mhlo"
	"github.com/hlocb/hlocb/dialect/stablehlo"
	"github.com/hlocb/hlocb/hook"
	"github.com/hlocb/hlocb/internal/ffi"
	"github.com/hlocb/hlocb/internal/xlatypes"
	"github.com/hlocb/hlocb/interp"
	"github.com/hlocb/hlocb/ir"
	"github.com/hlocb/hlocb/runtime/pjrt"
	"github.com/hlocb/hlocb/tensor"
)

// Handlers of the XLA FFI compute the custom calls that the engine does not know. A client registers them with the
// plugin; jax.ffi registers them with jaxlib, which passes them to its own client only.

// platforms are the names under which handlers of the plugin's devices are registered.
var platforms = [...]string{"cpu", "host"}

// ownTarget stands in the client's programs for hook.Target if the client serves it: hlocb's hooks, which the plugin
// adds, keep the name.
const ownTarget = "client's " + hook.Target

// register adds a handler of the client.
func (p *plugin) register(target, platform string, address unsafe.Pointer) error {
	if target == "" || address == nil {
		return &argumentError{"a registration without a target or a handler"}
	}
	if !strings.EqualFold(platform, platforms[0]) && !strings.EqualFold(platform, platforms[1]) {
		return nil // handlers of other devices never run here
	}
	h, err := ffi.New(address)
	if err != nil {
		return &argumentError{fmt.Sprintf("the handler of custom-call target %q: %v", target, err)}
	}
	p.mu.Lock()
	defer p.mu.Unlock()
	if old, ok := p.handlers[target]; ok {
		if old.address != address {
			return &argumentError{fmt.Sprintf("custom-call target %q has another handler already", target)}
		}
		return nil
	}
	p.handlers[target] = clientHandler{address, h}
	return nil
}

// clientHandler is a handler that the client registered.
type clientHandler struct {
	address unsafe.Pointer
	handler *ffi.Handler
}

// handler returns the handler of a target, or nil.
func (p *plugin) handler(target string) (*ffi.Handler, error) {
	if target == ownTarget {
		target = hook.Target
	}
	p.mu.Lock()
	h := p.handlers[target].handler
	p.mu.Unlock()
	if h != nil {
		return h, nil
	}
	list, err := pjrt.PythonHandlers(platforms[0])
	if err != nil {
		return nil, err
	}
	address, ok := list[target]
	switch {
	case !ok:
		return nil, nil
	case address == nil:
		return nil, &unimplementedError{fmt.Sprintf("custom-call target %q has functions for several stages; hlocb's engine calls handlers for the stage execute", target)}
	}
	return ffi.New(address)
}

// setApart renames the client's calls of hook.Target if the client serves this target.
func (p *plugin) setApart(m *ir.Module) {
	p.mu.Lock()
	_, ok := p.handlers[hook.Target]
	p.mu.Unlock()
	if !ok {
		return
	}
	m.Walk(func(op *ir.Op) bool {
		if call, ok := stablehlo.AsCustomCall(op); ok && call.CallTargetName() == hook.Target {
			call.SetCallTargetName(ownTarget)
		}
		return true
	})
}

// kernel is interp.Options.Targets: the targets of the host, then the handlers of the XLA FFI.
func (p *program) kernel(target string, op *ir.Op) (interp.Kernel, error) {
	if p.plugin.host.Targets != nil {
		if k, err := p.plugin.host.Targets(target, op); k != nil || err != nil {
			return k, err
		}
	}
	h, err := p.plugin.handler(target)
	if h == nil || err != nil {
		return nil, err
	}
	c, err := newFFICall(op)
	if err != nil {
		return nil, &unimplementedError{fmt.Sprintf("custom call of target %q: %v", target, err)}
	}
	c.handler, p.foreign = h, true
	return c.run, nil
}

// ffiCall is a custom call that a handler computes.
type ffiCall struct {
	handler           *ffi.Handler
	attrs             *ffi.Attrs
	operands, results []ffiValue
}

// ffiValue is an operand or a result.
type ffiValue struct {
	token   bool
	dtype   tensor.DType
	shape   tensor.Shape // of a result
	order   []int64      // the layout: dimensions from minor to major; nil is row-major
	operand int          // that shares the memory of a result, or -1
}

func newFFICall(op *ir.Op) (*ffiCall, error) {
	call, _ := stablehlo.AsCustomCall(op)
	_, typed := op.Attr(mhlo.AttrBackendConfig).(*ir.DictAttr) // JAX writes no version beside it
	if v := call.APIVersion(); v != stablehlo.APITypedFFI && !typed {
		return nil, fmt.Errorf("api_version %d; expected %d, the XLA FFI", v, stablehlo.APITypedFFI)
	}
	attrs, err := configuration(op)
	if err != nil {
		return nil, err
	}
	c := &ffiCall{attrs: attrs}
	read := func(kind string, i int, t ir.Type, layouts []ir.Attr) (v ffiValue, err error) {
		v.operand = -1
		if stablehlo.IsToken(t) {
			v.token = true
			return v, nil
		}
		tt, ok := t.(*ir.TensorType)
		if !ok || kind == "result" && !tt.Static() || !xlatypes.InFFI(tt.DType()) {
			return v, fmt.Errorf("%s %d has type %s, which the XLA FFI does not have", kind, i, t)
		}
		v.dtype, v.shape = tt.DType(), tt.Shape()
		if i < len(layouts) {
			v.order, err = order(layouts[i])
		}
		return v, err
	}
	for i, o := range op.OperandList() {
		v, err := read("operand", i, o.Type(), call.OperandLayouts())
		if err != nil {
			return nil, err
		}
		c.operands = append(c.operands, v)
	}
	for i, r := range op.Results() {
		v, err := read("result", i, r.Type(), call.ResultLayouts())
		if err != nil {
			return nil, err
		}
		c.results = append(c.results, v)
	}
	for _, a := range call.OutputOperandAliases() {
		result := 0
		if len(a.OutputTupleIndices) > 0 {
			result = int(a.OutputTupleIndices[0])
		}
		c.results[result].operand = int(a.OperandIndex)
	}
	return c, nil
}

// configuration returns the attributes of a call.
func configuration(op *ir.Op) (*ffi.Attrs, error) {
	for _, name := range []string{mhlo.AttrBackendConfig, stablehlo.AttrBackendConfig} {
		switch a := op.Attr(name).(type) {
		case *ir.DictAttr:
			return ffi.NewAttrs(a)
		case *ir.StringAttr: // of HLO
			if strings.TrimSpace(a.Value()) == "" {
				continue
			}
			return ffi.ParseAttrs(a.Value())
		}
	}
	return ffi.NewAttrs(nil)
}

// order reads a layout. It returns nil for the row-major one.
func order(layout ir.Attr) ([]int64, error) {
	d, ok := layout.(*ir.DenseAttr)
	if !ok {
		return nil, nil
	}
	list, err := d.Int64s()
	for i, n := range list {
		if n != int64(len(list)-1-i) {
			return list, err
		}
	}
	return nil, err
}

// run implements interp.Kernel.
func (c *ffiCall) run(x *interp.Execution) error {
	r := runOf(x.Context())
	call := &ffi.Call{Attrs: c.attrs, Run: int64(r.id), UserData: C.he_user_data_function(), Of: unsafe.Pointer(r.context)}
	if d := x.Device(); d < int(r.executable.num_devices) {
		call.Device = int32(unsafe.Slice(r.executable.devices, int(r.executable.num_devices))[d].id)
	}
	for i, v := range c.operands {
		var t *tensor.Tensor
		if !v.token {
			if t = x.Operands()[i].Tensor(); v.order != nil {
				t = reordered(t, v.order, false)
			}
		}
		call.Operands = append(call.Operands, t)
	}
	var out []interp.Value
	for _, v := range c.results {
		if v.token {
			out, call.Results = append(out, x.Token()), append(call.Results, nil)
			continue
		}
		var value interp.Value
		var err error
		if v.operand >= 0 && v.order == nil {
			value, err = x.Reuse(v.operand)
		} else {
			value, err = x.Alloc(v.dtype, v.shape)
		}
		if err != nil {
			return err
		}
		t := value.Tensor()
		switch {
		case v.operand >= 0 && v.order == nil:
			call.Operands[v.operand] = t
		case v.operand >= 0: // XLA gives both one layout
			t = call.Operands[v.operand]
		case v.order != nil:
			t = tensor.New(v.dtype, v.shape)
		}
		out, call.Results = append(out, value), append(call.Results, t)
	}
	if err := c.handler.Call(call); err != nil {
		return err
	}
	for i, v := range c.results {
		if v.order != nil {
			copy(out[i].Tensor().Bytes(), reordered(call.Results[i], v.order, true).Peek())
		}
	}
	x.Return(out...)
	return nil
}

// reordered returns the elements of a row-major value in another layout, or with back the other way.
func reordered(t *tensor.Tensor, order []int64, back bool) *tensor.Tensor {
	out := tensor.New(t.DType(), t.Shape())
	tensor.Reorder(out.Bytes(), t.Peek(), t.DType().Size(), t.Shape(), order, back)
	return out
}

// runKey is the key of a run in its context.
type runKey struct{}

func runOf(ctx context.Context) *C.he_run { return ctx.Value(runKey{}).(*C.he_run) }

//export hlocbEngineRegister
func hlocbEngineRegister(target *C.char, n C.size_t, platform *C.char, k C.size_t, handler unsafe.Pointer, status *C.int32_t) (message *C.char) {
	defer recovered(status, &message)
	*status, message = fail(current.Load().register(C.GoStringN(target, C.int(n)), C.GoStringN(platform, C.int(k)), handler))
	return message
}
