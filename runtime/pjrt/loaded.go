//go:build cgo

package pjrt

// #include "calls.h"
import "C"

import (
	"context"
	"errors"
	"fmt"
	goruntime "runtime"
	"slices"
	"sync/atomic"
	"unsafe"

	"github.com/hlocb/hlocb/hook"
	"github.com/hlocb/hlocb/internal/xlatypes"
	"github.com/hlocb/hlocb/runtime"
	"github.com/hlocb/hlocb/tensor"
)

// loadedProgram is a compiled program on a client, without its hooks. execute may be called concurrently.
type loadedProgram struct {
	client     *Client
	ptr        unsafe.Pointer // PJRT_LoadedExecutable
	executable unsafe.Pointer // PJRT_Executable
	devices    []Device       // in the order of the argument lists
	results    []hook.TensorType
	direct     []atomic.Int32 // whether the host can read a result's memory: unknown, readable or unreadable
}

// States of loadedProgram.direct.
const (
	unknown = iota
	readable
	unreadable
)

// compile compiles a program.
func (c *Client) compile(ctx context.Context, code encodedProgram, o *compileOptions) (*loadedProgram, error) {
	if len(code.bytes) == 0 {
		return nil, errors.New("the program is empty")
	}
	options := o.encode()
	l, err := c.interruptible(ctx, "compile", func(pin *goruntime.Pinner) (unsafe.Pointer, unsafe.Pointer) {
		p := sized(&C.hl_program{code: pinned(pin, code.bytes), code_size: C.size_t(len(code.bytes)),
			format: pinned(pin, []byte(code.format)), format_size: C.size_t(len(code.format))})
		pin.Pin(p)
		a := C.hl_compile_args{client: c.ptr, program: p, options: pinned(pin, options), options_size: C.size_t(len(options))}
		e := rawCall(c.plugin, C.HL_CLIENT_COMPILE, &a)
		return a.loaded, e
	})
	var e *Error
	if errors.As(err, &e) {
		e.Program = code.form
	}
	return l, err
}

// load loads the bytes that serialize returned.
func (c *Client) load(ctx context.Context, blob []byte) (*loadedProgram, error) {
	if len(blob) == 0 {
		return nil, errors.New("the serialized program is empty")
	}
	return c.interruptible(ctx, "load", func(pin *goruntime.Pinner) (unsafe.Pointer, unsafe.Pointer) {
		a := C.hl_deserialize_args{client: c.ptr, bytes: pinned(pin, blob), num_bytes: C.size_t(len(blob))}
		e := rawCall(c.plugin, C.HL_DESERIALIZE, &a)
		return a.loaded, e
	})
}

// pinned returns the address of bytes that pin keeps in place.
func pinned(pin *goruntime.Pinner, b []byte) *C.char {
	pin.Pin(&b[0])
	return (*C.char)(unsafe.Pointer(&b[0]))
}

// interruptible creates a program, which may take minutes; create returns the program and a PJRT error. PJRT cannot
// cancel this: if ctx ends, interruptible returns, and a goroutine waits for the result and discards it.
func (c *Client) interruptible(ctx context.Context, op string, create func(pin *goruntime.Pinner) (ptr, e unsafe.Pointer)) (*loadedProgram, error) {
	run := func() (*loadedProgram, error) {
		var pin goruntime.Pinner
		ptr, e := create(&pin)
		pin.Unpin()
		if c.trim {
			C.hl_trim()
		}
		if err := c.plugin.check(op, e); err != nil {
			return nil, err
		}
		return c.newLoaded(ptr)
	}
	if ctx.Done() == nil {
		return run()
	}
	if err := ctx.Err(); err != nil {
		return nil, context.Cause(ctx)
	}
	type outcome struct {
		l   *loadedProgram
		err error
	}
	done := make(chan outcome, 1)
	go func() {
		l, err := run()
		done <- outcome{l, err}
	}()
	select {
	case o := <-done:
		return o.l, o.err
	case <-ctx.Done():
	}
	c.mu.Lock()
	c.abandoned++
	c.mu.Unlock()
	go func() {
		if o := <-done; o.l != nil {
			o.l.destroy()
		}
		c.mu.Lock()
		defer c.mu.Unlock()
		if c.abandoned--; c.abandoned == 0 && c.closing {
			_ = c.destroy()
		}
	}()
	return nil, context.Cause(ctx)
}

func (c *Client) newLoaded(ptr unsafe.Pointer) (*loadedProgram, error) {
	if ptr == nil {
		return nil, c.plugin.invalid("compile", "nothing")
	}
	l := &loadedProgram{client: c, ptr: ptr}
	if err := l.inspect(); err != nil {
		l.destroy()
		return nil, err
	}
	return l, nil
}

// inspect reads the devices and the types of the results.
func (l *loadedProgram) inspect() (err error) {
	p := l.client.plugin
	if l.executable, err = p.object("executable", C.HL_LOADED_EXECUTABLE, l.ptr); err != nil {
		return err
	}
	items, err := p.list("devices of executable", C.HL_LOADED_ADDRESSABLE_DEVICES, l.ptr)
	if err != nil {
		return err
	}
	for _, ptr := range items {
		for _, d := range l.client.devices {
			if d.ptr == ptr {
				l.devices = append(l.devices, d)
			}
		}
	}
	if len(l.devices) == 0 || len(l.devices) != len(items) {
		return fmt.Errorf("the executable runs on %d devices, but the client has %d", len(items), len(l.devices))
	}

	types := C.hl_output_types_args{executable: l.executable}
	if err := invoke(p, "result types", C.HL_EXECUTABLE_OUTPUT_TYPES, &types); err != nil {
		return err
	}
	shapes := C.hl_output_dims_args{executable: l.executable}
	if err := invoke(p, "result dimensions", C.HL_EXECUTABLE_OUTPUT_DIMENSIONS, &shapes); err != nil {
		return err
	}
	n := int(types.num_types)
	if n != int(shapes.num_outputs) {
		return fmt.Errorf("the plugin reports %d result types and %d shapes", n, int(shapes.num_outputs))
	}
	codes, err := elements(p, "result types", (*int32)(types.types), types.num_types)
	if err != nil {
		return err
	}
	ranks, err := elements(p, "result dimensions", shapes.ranks, shapes.num_outputs)
	if err != nil {
		return err
	}
	total := C.size_t(0)
	for _, rank := range ranks {
		if total += C.size_t(rank); rank > maxRank || total > maxItems {
			return p.invalid("result dimensions", "a result of %d dimensions", rank)
		}
	}
	dims, err := elements(p, "result dimensions", (*int64)(shapes.dims), total)
	if err != nil {
		return err
	}
	for i, code := range codes {
		rank := int(ranks[i])
		shape := append(tensor.Shape{}, dims[:rank]...)
		dims = dims[rank:]
		dtype, err := xlatypes.BufferType(code)
		if err != nil {
			return fmt.Errorf("result %d: %w", i, err)
		}
		if shape.NumElements() < 0 {
			return fmt.Errorf("result %d has no static shape: %v", i, shape)
		}
		l.results = append(l.results, hook.TensorType{DType: dtype, Shape: shape})
	}
	l.direct = make([]atomic.Int32, len(l.results))
	return nil
}

func (l *loadedProgram) destroy() {
	p := l.client.plugin
	if l.executable != nil {
		_ = p.check("destroy executable", C.hl_object(p.api, C.HL_EXECUTABLE_DESTROY, l.executable))
	}
	_ = p.check("destroy loaded executable", C.hl_object(p.api, C.HL_LOADED_DESTROY, l.ptr))
}

// maxRank limits the dimensions of a plugin's value.
const maxRank = 1 << 16

// serialize returns the compiled program in the plugin's own form: machine code for this plugin and processor.
func (l *loadedProgram) serialize() ([]byte, error) {
	p := l.client.plugin
	if !C.hl_has(p.api, C.HL_EXECUTABLE_SERIALIZE) {
		return nil, fmt.Errorf("%s cannot serialize programs", p.path)
	}
	a := C.hl_serialize_args{executable: l.executable}
	if err := invoke(p, "serialize", C.HL_EXECUTABLE_SERIALIZE, &a); err != nil {
		return nil, err
	}
	defer C.hl_release(a.release, a.backing)
	if a.bytes == nil || a.num_bytes == 0 {
		return nil, p.invalid("serialize", "%d bytes at %p", a.num_bytes, a.bytes)
	}
	return append([]byte(nil), unsafe.Slice((*byte)(unsafe.Pointer(a.bytes)), int(a.num_bytes))...), nil
}

// buffer is a value on a device.
type buffer struct {
	ptr  unsafe.Pointer
	done unsafe.Pointer // event: the lent host memory is free again
}

// borrowAt is the size in bytes from which upload lends arguments to the plugin instead of copying them.
const borrowAt = 64 << 10

// upload creates a buffer of a tensor on a device. pin keeps lent memory in place until the buffer is released.
func (c *Client) upload(d *Device, t *tensor.Tensor, pin *goruntime.Pinner) (buffer, error) {
	code := xlatypes.BufferCode(t.DType())
	if code == 0 {
		return buffer{}, fmt.Errorf("element type %s has no counterpart in PJRT", t.DType())
	}
	data := unsafe.Pointer(unsafe.SliceData(t.Bytes()))
	if len(t.Bytes()) == 0 {
		data = nil
	}
	borrow := c.memory != nil && c.memory.Readable() && len(t.Bytes()) >= borrowAt && uintptr(data)%64 == 0
	if borrow {
		pin.Pin(data)
	}
	shape := t.Shape()
	var b buffer
	err := c.plugin.check("copy argument to device", C.hl_from_host(c.plugin.api, c.ptr, d.ptr, data, C.int32_t(code),
		(*C.int64_t)(unsafe.Pointer(unsafe.SliceData(shape))), C.size_t(len(shape)), C.bool(borrow), &b.ptr, &b.done))
	if err == nil && b.ptr == nil {
		err = c.plugin.invalid("copy argument to device", "nothing")
	}
	return b, err
}

// release destroys a buffer and waits until lent host memory is free.
func (c *Client) release(b buffer) {
	if b.ptr != nil {
		_ = c.plugin.check("destroy buffer", C.hl_object(c.plugin.api, C.HL_BUFFER_DESTROY, b.ptr))
	}
	if b.done != nil {
		_ = c.plugin.check("await host buffer", C.hl_await(c.plugin.api, b.done))
	}
}

// readable reports whether the host can read a buffer's memory as a row-major tensor.
func (c *Client) readable(ptr unsafe.Pointer, t hook.TensorType) bool {
	return c.memory != nil && c.memory.Readable() && xlatypes.PackedBits(t.DType) == 0 && bool(C.hl_has(c.plugin.api, C.HL_BUFFER_ADDRESS)) &&
		bool(C.hl_is_row_major(c.plugin.api, ptr, C.size_t(len(t.Shape))))
}

// view calls f with the memory of a readable buffer.
func (c *Client) view(ptr unsafe.Pointer, t hook.TensorType, f func(*tensor.Tensor) error) error {
	n := int(t.Shape.NumElements()) * t.DType.Size()
	if n == 0 {
		return f(tensor.New(t.DType, t.Shape))
	}
	var address unsafe.Pointer
	if err := c.plugin.check("read buffer", C.hl_address(c.plugin.api, ptr, &address)); err != nil {
		return err
	}
	defer C.hl_unhold(c.plugin.api, ptr)
	if address == nil {
		return c.plugin.invalid("read buffer", "no address for %d bytes", n)
	}
	v, err := tensor.FromBytes(t.DType, t.Shape, unsafe.Slice((*byte)(address), n))
	if err != nil {
		return err
	}
	return f(v)
}

// download copies a buffer to the host. It reads the buffer's memory if the host can: the plugin's own copy goes
// through a thread pool and takes 40 µs, however small the value is.
func (c *Client) download(ptr unsafe.Pointer, t hook.TensorType, readable bool) (*tensor.Tensor, error) {
	if readable {
		var out *tensor.Tensor
		err := c.view(ptr, t, func(v *tensor.Tensor) error {
			out = v.Clone()
			return nil
		})
		return out, err
	}
	out := tensor.New(t.DType, t.Shape)
	data := out.Bytes()
	if len(data) == 0 {
		return out, nil
	}
	order := make([]int64, len(t.Shape)) // row-major: the last dimension is the minor one
	for i := range order {
		order[i] = int64(len(order) - 1 - i)
	}
	if err := c.plugin.check("copy result to host", C.hl_to_host(c.plugin.api, ptr, unsafe.Pointer(&data[0]), C.size_t(len(data)),
		(*C.int64_t)(unsafe.Pointer(unsafe.SliceData(order))), C.size_t(len(order)))); err != nil {
		return nil, err
	}
	out.Normalize() // PJRT leaves zeros in the upper bits of narrow signed integers
	return out, nil
}

// request is one run with its arguments.
type request struct {
	values  []*value
	donated []bool  // values whose memory the program may overwrite
	steps   int64   // runs of the loop in C, or 0
	carried []int64 // of these runs: the argument that a result is in the next run, or -1
	noWait  bool    // return when the run is queued
}

// execute runs the program and returns its results, device by device. It uploads arguments that are not on the client's
// devices. launchID identifies the run to the handlers of its hooks.
func (l *loadedProgram) execute(launchID int32, r *request) ([]unsafe.Pointer, error) {
	c := l.client
	n, m := len(r.values), len(l.results)
	var pin goruntime.Pinner
	defer pin.Unpin()
	buffers := make([]buffer, 0, len(l.devices)*n)
	defer func() {
		for _, b := range buffers {
			c.release(b)
		}
	}()
	// One list of C pointers holds the arguments of all devices, then the results.
	ptrs := make([]unsafe.Pointer, len(l.devices)*(n+m)+1)
	kept := make([]int64, 0, n+1)
	for i, v := range r.values {
		if !r.donated[i] || v.client != c {
			kept = append(kept, int64(i))
		}
		for d := range l.devices {
			if v.client == c {
				ptrs[d*n+i] = v.pieces[d].ptr
				continue
			}
			t, err := v.piece(d)
			var b buffer
			if err == nil {
				b, err = c.upload(&l.devices[d], t, &pin)
			}
			if err != nil {
				return nil, fmt.Errorf("argument %d: %w", i, err)
			}
			buffers = append(buffers, b)
			ptrs[d*n+i] = b.ptr
		}
	}
	outputs := ptrs[len(l.devices)*n:]
	var failed unsafe.Pointer
	var ran C.bool
	if r.steps > 0 {
		ran = C.hl_steps(c.plugin.api, l.ptr, C.int64_t(r.steps), &ptrs[0], C.size_t(n), (*C.int64_t)(unsafe.SliceData(kept)),
			C.size_t(len(kept)), &outputs[0], C.size_t(m), (*C.int64_t)(unsafe.SliceData(r.carried)), &failed)
	} else {
		wait := C.int(C.HL_WAIT)
		switch {
		case r.noWait:
			wait = C.HL_NO_WAIT
		case c.memory != nil && c.memory.Kind() == runtime.CUDAMemory:
			wait = C.HL_WAIT_SPIN
		}
		ran = C.hl_execute(c.plugin.api, l.ptr, C.int32_t(launchID), wait, C.size_t(len(l.devices)), &ptrs[0], C.size_t(n),
			(*C.int64_t)(unsafe.SliceData(kept)), C.size_t(len(kept)), &outputs[0], C.size_t(m), &failed)
	}
	err := errNoMemory
	if ran {
		err = c.plugin.check("execute", failed)
	}
	if err == nil {
		if i := slices.Index(outputs[:len(l.devices)*m], nil); i >= 0 {
			err = c.plugin.invalid("execute", "nothing for result %d", i%m)
		}
	}
	if err == nil {
		return outputs[:len(l.devices)*m], nil
	}
	for _, ptr := range outputs {
		c.release(buffer{ptr: ptr})
	}
	return nil, err
}
