//go:build cgo

package pjrt

// #include "calls.h"
import "C"

import (
	"cmp"
	"context"
	"errors"
	"fmt"
	goruntime "runtime"
	"sync/atomic"
	"time"
	"unsafe"

	"github.com/hlocb/hlocb/hook"
	"github.com/hlocb/hlocb/ir"
	"github.com/hlocb/hlocb/runtime"
	"github.com/hlocb/hlocb/tensor"
)

// value is a value on the devices of a client. It implements runtime.Memory.
type value struct {
	backend *Backend
	client  *Client
	typ     hook.TensorType // of the whole value
	part    hook.TensorType // of a piece; if its size is dynamic, the bound
	dynamic bool            // the plugin knows the size
	place   runtime.Placement
	pieces  []buffer // one per device of the placement
	pin     goruntime.Pinner
	direct  *atomic.Int32    // of a result: see loadedProgram.direct
	queued  bool             // the run that computes it may not have ended
	host    []*tensor.Tensor // instead of all else: the shards of a value that is not on devices
}

// Upload implements runtime.Backend. Large values that are aligned are lent to a CPU plugin; XLA never writes to them.
func (b *Backend) Upload(ctx context.Context, t *tensor.Tensor, place runtime.Placement) (runtime.Memory, error) {
	shards := []*tensor.Tensor{t}
	if !place.Whole() {
		var err error
		if shards, err = place.Sharding.Split(t, place.Parts()); err != nil {
			return nil, err
		}
	}
	if err := b.usable(); err != nil {
		return nil, err
	}
	if err := b.enter(); err != nil {
		return nil, err
	}
	defer b.leave()
	c, err := b.clientWith(clientKey{level: level(ctx)}, 1, place.Ordinals())
	if err != nil {
		return nil, err
	}
	v := &value{backend: b, client: c, typ: hook.TypeOf(t), part: hook.TypeOf(shards[0]), place: place}
	ordinals := place.Ordinals()
	return b.filled(v, len(ordinals), func(i int) (buffer, error) {
		d, err := c.device(ordinals[i])
		if err != nil {
			return buffer{}, err
		}
		return c.upload(d, shards[i%len(shards)], &v.pin)
	})
}

// filled gives a new value n pieces, which made returns, and waits until each is ready. If it fails, it destroys v.
func (b *Backend) filled(v *value, n int, made func(i int) (buffer, error)) (runtime.Memory, error) {
	plugin := v.client.plugin
	for i := range n {
		piece, err := made(i)
		if err == nil {
			v.pieces = append(v.pieces, piece)
			err = plugin.check("await buffer", C.hl_ready(plugin.api, piece.ptr))
		}
		if err != nil {
			v.destroy()
			return nil, err
		}
	}
	if err := b.countBuffers(v.client, 1); err != nil {
		v.destroy()
		return nil, err
	}
	return v, nil
}

// CopyMemory implements runtime.Copier: the plugin copies a whole value between devices of one client, without the
// host.
func (b *Backend) CopyMemory(ctx context.Context, m runtime.Memory, place runtime.Placement) (runtime.Memory, error) {
	from, ok := m.(*value)
	if !ok || from.backend != b {
		return nil, errors.New("the value belongs to another backend")
	}
	if err := b.usable(); err != nil {
		return nil, err
	}
	c := from.client
	devices := make([]*Device, len(place.Ordinals()))
	direct := from.place.Whole() && place.Whole() && bool(C.hl_has(c.plugin.api, C.HL_BUFFER_COPY_TO_DEVICE))
	for i, n := range place.Ordinals() {
		d, err := c.device(n)
		direct = direct && err == nil
		devices[i] = d
	}
	if !direct {
		t, err := from.Read()
		if err != nil {
			return nil, err
		}
		return b.Upload(ctx, t, place)
	}
	if err := from.Wait(); err != nil {
		return nil, err
	}
	v := &value{backend: b, client: c, typ: from.typ, part: from.part, dynamic: from.dynamic, place: place}
	return b.filled(v, len(devices), func(i int) (buffer, error) {
		a := C.hl_copy_to_device_args{buffer: from.pieces[0].ptr, device: devices[i].ptr}
		err := invoke(c.plugin, "copy between devices", C.HL_BUFFER_COPY_TO_DEVICE, &a)
		if err == nil && a.copied == nil {
			err = c.plugin.invalid("copy between devices", "nothing")
		}
		return buffer{ptr: a.copied}, err
	})
}

// device returns the device with an ordinal.
func (c *Client) device(ordinal int) (*Device, error) {
	for i := range c.devices {
		if c.devices[i].LocalID == ordinal {
			return &c.devices[i], nil
		}
	}
	if ordinal == 0 {
		return &c.devices[0], nil // the default, on a client whose devices start at another number
	}
	return nil, fmt.Errorf("no device has the ordinal %d", ordinal)
}

// countBuffers counts new buffers on a client.
func (b *Backend) countBuffers(c *Client, n int) error {
	b.mu.Lock()
	defer b.mu.Unlock()
	if b.closed {
		return errClosed
	}
	b.buffers += n
	if c.spare {
		b.useSpare(n)
	}
	return nil
}

// destroy releases the pieces. On a lost backend they stay, and so does the host memory that is lent to them: a program
// may use both.
func (v *value) destroy() {
	if v.backend.usable() != nil {
		v.client.plugin.keep(v)
		return
	}
	released := make(chan struct{})
	release := func() {
		for _, p := range v.pieces {
			v.client.release(p)
		}
		v.pieces = nil
		v.pin.Unpin()
		close(released)
	}
	if v.idle() {
		release()
		return
	}
	go release()
	select {
	case <-released:
	case <-time.After(v.backend.delays.grace): // an abandoned run uses the memory
	}
}

// idle reports whether no program reads host memory that is lent to the pieces.
func (v *value) idle() bool {
	for _, p := range v.pieces {
		if p.done != nil && !C.hl_is_ready(v.client.plugin.api, p.done) {
			return false
		}
	}
	return true
}

// Release implements runtime.Memory.
func (v *value) Release() {
	v.destroy()
	_ = v.backend.countBuffers(v.client, -1)
}

// piece returns the piece for device i of the placement, a copy unless it is on the host.
func (v *value) piece(i int) (*tensor.Tensor, error) {
	if v.host != nil {
		return v.host[i%len(v.host)], nil
	}
	if err := v.Wait(); err != nil {
		return nil, err
	}
	t, err := v.partType(i)
	if err != nil {
		return nil, err
	}
	return v.client.download(v.pieces[i].ptr, t, v.readable(i))
}

// partType returns the type of piece i. The elements of a value of dynamic size lie at the start of its memory, without
// padding.
func (v *value) partType(i int) (hook.TensorType, error) {
	if !v.dynamic {
		return v.part, nil
	}
	p := v.client.plugin
	if err := p.check("await result", C.hl_ready(p.api, v.pieces[i].ptr)); err != nil {
		return v.part, err
	}
	a := C.hl_buffer_dims_args{buffer: v.pieces[i].ptr}
	if err := invoke(p, "sizes of result", C.HL_BUFFER_UNPADDED_DIMENSIONS, &a); err != nil {
		return v.part, err
	}
	dims, err := elements(p, "sizes of result", (*int64)(a.dims), a.num_dims)
	if err != nil {
		return v.part, err
	}
	if len(dims) != len(v.part.Shape) {
		return v.part, p.invalid("sizes of result", "%d sizes of %s", len(dims), v.part)
	}
	for k, d := range dims {
		if d < 0 || d > v.part.Shape[k] {
			return v.part, fmt.Errorf("the program set the size of dimension %d beyond its bound of %d", k, v.part.Shape[k])
		}
	}
	return hook.TensorType{DType: v.part.DType, Shape: append(tensor.Shape{}, dims...)}, nil
}

// readable reports whether the host can read piece i as a row-major tensor.
func (v *value) readable(i int) bool {
	if v.direct == nil {
		return v.client.readable(v.pieces[i].ptr, v.part)
	}
	if v.direct.Load() == unknown {
		state := int32(unreadable)
		if v.client.readable(v.pieces[i].ptr, v.part) {
			state = readable
		}
		v.direct.Store(state)
	}
	return v.direct.Load() == readable
}

// Wait implements runtime.Memory.
func (v *value) Wait() error {
	if !v.queued {
		return nil
	}
	done := make(chan error, 1)
	go func() {
		var err error
		for _, p := range v.pieces {
			err = cmp.Or(err, v.client.plugin.check("execute", C.hl_ready(v.client.plugin.api, p.ptr)))
		}
		done <- err
	}()
	select {
	case err := <-done:
		return err
	case <-v.backend.gone:
	}
	select {
	case err := <-done:
		return err
	case <-time.After(v.backend.delays.grace):
		return v.backend.usable()
	}
}

// View implements runtime.Memory.
func (v *value) View(f func(*tensor.Tensor) error) error {
	if err := v.Wait(); err != nil {
		return err
	}
	if v.place.Whole() && v.readable(0) {
		t, err := v.partType(0)
		if err != nil {
			return err
		}
		return v.client.view(v.pieces[0].ptr, t, f)
	}
	t, err := v.Read()
	if err != nil {
		return err
	}
	return f(t)
}

// Read implements runtime.Memory.
func (v *value) Read() (*tensor.Tensor, error) {
	if v.place.Whole() {
		return v.piece(0)
	}
	shards := make([]*tensor.Tensor, v.place.Parts())
	for i := range shards {
		var err error
		if shards[i], err = v.piece(i); err != nil {
			return nil, err
		}
	}
	return v.place.Sharding.Join(shards, v.typ.Shape)
}

// Signature implements runtime.Executable.
func (e *Executable) Signature() *runtime.Signature { return e.signature() }

func (e *Executable) describe() *runtime.Signature {
	place := runtime.Placement{Partitions: e.parts, Devices: e.ordinals}
	s := &runtime.Signature{Backend: e.backend}
	for i, t := range e.inputs {
		v := runtime.Value{Place: place, Donor: e.donors[i]}
		if tt, ok := t.(*ir.TensorType); ok {
			v.Type = hook.TensorType{DType: tt.DType(), Shape: tt.Shape()}
		}
		if e.argShardings != nil {
			v.Place.Sharding = e.argShardings[i]
		}
		s.Arguments = append(s.Arguments, v)
	}
	if e.inputs != nil && s.Arguments == nil {
		s.Arguments = []runtime.Value{}
	}
	for i, t := range e.results {
		v := runtime.Value{Type: t, Place: place}
		if tt, ok := e.dynamicOutput(i); ok {
			v.Type.Shape = tt.Shape()
		}
		if e.resultShardings != nil {
			v.Place.Sharding = e.resultShardings[i]
			v.Type.Shape = e.resultShardings[i].WholeShape(t.Shape)
			if i < len(e.outputs) {
				if tt, ok := e.outputs[i].(*ir.TensorType); ok {
					v.Type.Shape = tt.Shape()
				}
			}
		}
		s.Results = append(s.Results, v)
	}
	return s
}

// dynamicOutput returns the type of result i if main says that its size is dynamic.
func (e *Executable) dynamicOutput(i int) (*ir.TensorType, bool) {
	if len(e.outputs) != len(e.results) || e.parts > 1 {
		return nil, false
	}
	t, ok := e.outputs[i].(*ir.TensorType)
	return t, ok && !t.Static()
}

// RunMemory implements runtime.Executable. A value on another client, for example one that an outer program left on
// its own, is copied through the host.
func (e *Executable) RunMemory(ctx context.Context, args []runtime.Memory, donated []bool) ([]runtime.Memory, error) {
	return e.runMemory(ctx, args, &request{donated: donated})
}

// DispatchMemory implements runtime.Dispatcher for programs without hooks on devices other than the host.
func (e *Executable) DispatchMemory(ctx context.Context, args []runtime.Memory, donated []bool) ([]runtime.Memory, error) {
	return e.runMemory(ctx, args, &request{donated: donated, noWait: len(e.sites.all) == 0})
}

// runMemory completes and runs r.
func (e *Executable) runMemory(ctx context.Context, args []runtime.Memory, r *request) ([]runtime.Memory, error) {
	r.values = make([]*value, len(args))
	for i, a := range args {
		r.values[i] = a.(*value)
	}
	results, err := e.run(ctx, r)
	out := make([]runtime.Memory, len(results))
	for i, v := range results {
		out[i] = v
	}
	return out, err
}

// drop releases results that no caller takes.
func (e *Executable) drop(l *loadedProgram, buffers []unsafe.Pointer) {
	if buffers == nil {
		return
	}
	for _, ptr := range buffers {
		l.client.release(buffer{ptr: ptr})
	}
	_ = e.backend.countBuffers(l.client, -len(l.results))
}

var _ runtime.Memory = (*value)(nil)
