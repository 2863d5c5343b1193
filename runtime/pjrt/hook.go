//go:build cgo

package pjrt

// #include <stdlib.h>
// #include "calls.h"
import "C"

import (
	"errors"
	"fmt"
	"math"
	"runtime/debug"
	"unsafe"

	"github.com/hlocb/hlocb/hook"
	"github.com/hlocb/hlocb/runtime"
	"github.com/hlocb/hlocb/tensor"
)

// hlocbHook is called by the C handler on the thread that executes the hook. It returns nil, or a message that ends the
// run and that C frees.
//
//export hlocbHook
func hlocbHook(frame *C.hl_ffi_frame, id, runID C.int64_t, ordinal C.int32_t) (message *C.char) {
	var s *session
	returned := false
	defer func() {
		if !returned {
			message = panicked(s, frame, uint64(id), int32(ordinal), recover())
		}
	}()
	s = find(int64(runID)) // nil for 0, a run without a launch id
	if s == nil {
		s = findAttached(uint64(id))
	}
	if s == nil {
		message = C.CString(fmt.Sprintf("hook %s was called by a run that hlocb does not know", hook.ID(id)))
	} else if err := s.hook(frame, uint64(id), int32(ordinal)); err != nil {
		message = messageOf(err)
	}
	returned = true
	return message
}

// messageOf returns an error's message, which C frees.
func messageOf(err error) *C.char {
	if python := (*PythonError)(nil); errors.As(err, &python) {
		return C.CString(python.Message) // in the words that JAX's users know
	}
	return C.CString(err.Error())
}

// panicked returns the message of a hook that ended with the panic v in hlocb's own code, not in a handler. A handler
// that calls runtime.Goexit, as testing.T.FailNow does, ends with nil. It has no goroutine to end, because the thread
// belongs to XLA, so the process ends with a panic that names the hook.
func panicked(s *session, frame *C.hl_ffi_frame, id uint64, ordinal int32, v any) *C.char {
	if s == nil {
		return C.CString(fmt.Sprintf("hook %s: internal error: %v\n%s", hook.ID(id), v, debug.Stack()))
	}
	c := runtime.Call{Site: &hook.Site{Name: hook.ID(id).String(), ID: hook.ID(id)}, Run: s.number}
	if site := s.sites.find(id); site != nil {
		c.Site = site.bound.Site
	}
	device, known := s.device(ordinal)
	if known {
		c.Device, c.Seq = device, max(0, s.devices[device].seq.Load()-1)
	}
	if v == nil {
		panic(c.HookError(runtime.ErrGoexit))
	}
	failure := c.HookError(&runtime.PanicError{Value: v, Stack: debug.Stack()})
	if !known {
		return messageOf(failure)
	}
	s.fail(device, failure)
	defer func() { _ = recover() }() // clearing the results may be what panicked
	if err := s.skip(frame, device, failure); err != nil {
		return messageOf(err)
	}
	return nil
}

// hlocbNothing is called by a yardstick.
//
//export hlocbNothing
func hlocbNothing(*C.hl_ffi_frame, C.int64_t, C.int64_t, C.int32_t) {}

// errStopped is the error of hooks after the run has failed. The first failure is reported instead.
var errStopped = errors.New("the run has failed already")

// hook delivers one call.
func (s *session) hook(frame *C.hl_ffi_frame, id uint64, ordinal int32) error {
	device, known := s.device(ordinal)
	if !known {
		return fmt.Errorf("hook %s was called on device ordinal %d, which is not one of the run's %d devices", hook.ID(id), ordinal, len(s.devices))
	}
	if s.stopped.Load() || s.attempts != nil && !s.attempts.claim(s) {
		return s.skip(frame, device, errStopped)
	}
	var err error
	if site := s.sites.find(id); site == nil {
		err = fmt.Errorf("the program calls hook %s, which is not in its manifest", hook.ID(id))
	} else if s.timeout > 0 {
		err = s.deliverWithin(frame, site, device)
	} else {
		err = s.deliverNow(frame, site, device)
	}
	if err != nil {
		s.fail(device, err)
		return s.skip(frame, device, err)
	}
	return nil
}

// device returns the device with an ordinal, among the run's devices.
func (s *session) device(ordinal int32) (device int, known bool) {
	device = int(ordinal)
	switch {
	case s.anywhere:
		return 0, true
	case s.position != nil && device >= 0 && device < len(s.position) && s.position[device] >= 0:
		return int(s.position[device]), true
	case s.position == nil && device >= 0 && device < len(s.devices):
		return device, true
	}
	return 0, false
}

// skip returns the error of a hook that failed with err. On several devices it returns nil: the other devices would
// wait for this device in their next collective until XLA ends the process. The session keeps the failure, and the run
// continues without hooks.
func (s *session) skip(frame *C.hl_ffi_frame, device int, err error) error {
	if !s.several {
		return err
	}
	if err := clearResults(frame, s.memory); err != nil {
		s.fail(device, err)
	}
	return nil
}

// deliverNow sets the call's views, calls the handlers and finishes the results.
func (s *session) deliverNow(frame *C.hl_ffi_frame, site *site, device int) error {
	d := &s.devices[device]
	seq := d.seq.Add(1) - 1
	// Hooks of a device mostly arrive one by one. If all earlier hooks have ended, this hook owns the device's call until
	// its own end. The pool of calls costs 9 ns more.
	alone := d.finished.Load() == seq
	var c *call
	if alone && d.site == site {
		c = d.call
	} else {
		c = site.calls.Get().(*call)
		s.place(c, device)
		if alone {
			d.keep(site, c)
		}
	}
	c.Seq = seq
	err := c.view(frame, site)
	if err == nil {
		if site.overlaps {
			c.separate()
		}
		if err = runtime.Deliver(s.ctx, &site.bound, &c.Call); err == nil {
			err = c.store(site)
		}
	} else {
		err = c.HookError(err)
	}
	c.forget()
	if !alone {
		site.calls.Put(c)
	}
	d.finished.Add(1)
	return err
}

// place sets the call's run, device and memory.
func (s *session) place(c *call, device int) {
	c.memory, c.readable = s.memory, s.memory.Readable()
	c.Run, c.Device = s.number, device
	c.Replica, c.Partition = device/s.parts, device%s.parts
}

// call is a runtime.Call with the memory of its views. Its site reuses it for other calls.
type call struct {
	runtime.Call
	memory                  DeviceMemory
	readable                bool // the memory is the host's
	operands, results       []view
	operandPtrs, resultPtrs []*tensor.Tensor
	inout                   []*view // the operand that each result of an inout hook is
}

// view is an operand or a result as the handler sees it.
type view struct {
	tensor.Tensor
	shape   tensor.Shape
	code    C.int32_t      // XLA's element type; 0 before the first call
	packed  bool           // XLA packs the type
	device  unsafe.Pointer // XLA's memory
	size    int            // of it, in bytes
	raw     []byte         // its bytes if the host can read it, else their copy; nil without host views
	staged  []uint64       // the memory of the copy, or of a copy of an operand that shares memory with a result
	scratch []byte         // a byte per element, for types that XLA packs
}

func newCall(s *site) *call { return &call{Call: runtime.Call{Site: s.bound.Site}} }

// view fills the call from the frame, without chain and tokens. If XLA did not alias a result that passes an operand
// through, view copies the operand.
func (c *call) view(frame *C.hl_ffi_frame, site *site) error {
	args := unsafe.Slice(frame.operands.items, int(frame.operands.n))
	rets := unsafe.Slice(frame.results.items, int(frame.results.n))
	if site.chained {
		if len(args) == 0 || len(rets) == 0 {
			return errors.New("the call is chained but has no chain")
		}
		if err := c.passThrough(args[0], rets[0]); err != nil {
			return err
		}
		args, rets = args[1:], rets[1:]
	}
	n := 0
	for _, b := range args {
		if b.dtype == ffiToken {
			continue
		}
		if n == len(c.operands) {
			c.operands, c.operandPtrs = grow(c.operands)
		}
		if err := c.set(&c.operands[n], b, site.use, true); err != nil {
			return fmt.Errorf("operand %d: %w", n, err)
		}
		n++
	}
	c.Operands = c.operandPtrs[:n]
	m := 0
	for _, b := range rets {
		if b.dtype == ffiToken {
			continue
		}
		switch site.kind {
		case hook.InOut:
			i := site.aliasOf(m)
			if i >= n {
				return fmt.Errorf("result %d of an inout hook is operand %d of %d", m, i, n)
			}
			if o := &c.operands[i]; b.data != o.device && o.size > 0 {
				// Not aliased: the handler writes to the result, which starts with the operand's value.
				_, size, err := sizeOf(b)
				if err == nil && size != o.size {
					err = errors.New("an inout hook's result differs in size from its operand")
				}
				if err == nil {
					err = c.memory.Within(b.data, o.device, size)
				}
				if err == nil {
					err = c.set(o, b, site.use, true)
				}
				if err != nil {
					return fmt.Errorf("result %d: %w", m, err)
				}
			}
			if m == len(c.inout) {
				c.inout = append(c.inout, nil)
			}
			c.inout[m] = &c.operands[i]
		case hook.Tap:
			// The operand passes through; the handler must not write.
			if err := c.tapResult(args, site, b, m); err != nil {
				return err
			}
		default:
			if m == len(c.results) {
				c.results, c.resultPtrs = grow(c.results)
			}
			if err := c.set(&c.results[m], b, site.use, false); err != nil {
				return fmt.Errorf("result %d: %w", m, err)
			}
		}
		m++
	}
	switch site.kind {
	case hook.InOut:
		c.Results = c.resultPtrs[:0]
		for _, v := range c.inout[:m] {
			c.Results = append(c.Results, &v.Tensor)
		}
		c.resultPtrs = c.Results
	case hook.Tap:
		c.Results = nil
	default:
		c.Results = c.resultPtrs[:m]
	}
	if site.use&runtime.DevicePointers != 0 {
		c.point()
	}
	return nil
}

// point sets the call's device pointers.
func (c *call) point() {
	c.OperandPointers, c.ResultPointers = c.OperandPointers[:0], c.ResultPointers[:0]
	for i := range c.Operands {
		c.OperandPointers = append(c.OperandPointers, c.operands[i].pointer())
	}
	for i := range c.Results {
		c.ResultPointers = append(c.ResultPointers, c.result(i).pointer())
	}
}

func (v *view) pointer() runtime.DevicePointer {
	return runtime.DevicePointer{Address: uintptr(v.device), Size: v.size}
}

// store finishes the results that the responder wrote to host views.
func (c *call) store(site *site) error {
	for i := range c.Results {
		c.result(i).pack()
	}
	if !site.writes || c.readable {
		return nil
	}
	for i := range c.Results {
		v := c.result(i)
		if err := c.memory.FromHost(v.device, v.raw); err != nil {
			return c.HookError(fmt.Errorf("result %d: %w", i, err))
		}
	}
	return nil
}

// maxKeptCopy is the largest copy of an operand, in bytes, whose memory a call keeps.
const maxKeptCopy = 1 << 20

// separate passes the handler copies of operands that share memory with results of a call hook. Otherwise a handler
// that writes a result while it reads the operand would read its own result, and a handler that writes nothing would
// return the operand.
func (c *call) separate() {
	for i := range c.Operands {
		o := &c.operands[i]
		if len(o.raw) == 0 || o.packed {
			continue
		}
		for m := range c.Results {
			if unsafe.SliceData(c.results[m].raw) != unsafe.SliceData(o.raw) {
				continue
			}
			data := o.stage(len(o.raw))
			copy(data, o.raw)
			o.Borrow(o.DType(), o.shape, data)
			break
		}
	}
}

// tapResult ensures that a tap's result m holds its operand. If XLA aliased them, it does already.
func (c *call) tapResult(args []*C.hl_ffi_buffer, site *site, b *C.hl_ffi_buffer, m int) error {
	i := site.aliasOf(m)
	for _, a := range args {
		if a.dtype == ffiToken {
			continue
		}
		if i == 0 {
			return c.passThrough(a, b)
		}
		i--
	}
	return errors.New("a tap has more results than operands")
}

// aliasOf returns the operand that result m of a tap or inout hook is, not counting chain and tokens.
func (s *site) aliasOf(m int) int {
	if aliases := s.bound.Site.Aliases; m < len(aliases) && aliases[m] >= 0 {
		return aliases[m]
	}
	return m
}

func (c *call) passThrough(from, to *C.hl_ffi_buffer) error {
	if from.dtype == ffiToken || from.data == to.data {
		return nil
	}
	_, n, err := sizeOf(from)
	if err != nil {
		return err
	}
	_, m, err := sizeOf(to)
	if err != nil {
		return err
	}
	if n != m {
		return errors.New("a result that should be an operand's value differs from it in size")
	}
	return c.memory.Within(to.data, from.data, n)
}

// clearResults zeroes the results that no handler will write; the rest of the run then computes with definite values.
// Aliased results keep their operands' values.
func clearResults(frame *C.hl_ffi_frame, memory DeviceMemory) error {
	var errs []error
	args := unsafe.Slice(frame.operands.items, int(frame.operands.n))
result:
	for _, b := range unsafe.Slice(frame.results.items, int(frame.results.n)) {
		for _, a := range args {
			if a.data == b.data {
				continue result
			}
		}
		if _, size, err := sizeOf(b); err == nil {
			errs = append(errs, zero(memory, b.data, size))
		}
	}
	return errors.Join(errs...)
}

// zero clears device memory.
func zero(memory DeviceMemory, at unsafe.Pointer, size int) error {
	if memory.Readable() {
		clear(unsafe.Slice((*byte)(at), size))
		return nil
	}
	return memory.FromHost(at, make([]byte, size))
}

// sizeOf returns a buffer's element type and the size of its memory in bytes.
func sizeOf(b *C.hl_ffi_buffer) (tensor.DType, int, error) {
	code := int(b.dtype)
	if code < 0 || code >= len(ffiTypes) || ffiTypes[code] == tensor.Invalid {
		return tensor.Invalid, 0, fmt.Errorf("unknown element type code %d", code)
	}
	dtype := ffiTypes[code]
	n := 1
	for _, d := range unsafe.Slice((*int64)(b.dims), int(b.rank)) {
		if d < 0 || d > 0 && n > math.MaxInt/16/int(d) {
			return tensor.Invalid, 0, errors.New("the buffer has no static shape")
		}
		n *= int(d)
	}
	if n == 0 {
		return dtype, 0, nil
	}
	size := n * dtype.Size()
	if bits := packedBits(dtype); bits != 0 {
		size = packedSize(n, bits)
	}
	if b.data == nil {
		return tensor.Invalid, 0, errors.New("the buffer has no memory")
	}
	return dtype, size, nil
}

// set points the view to a buffer. It reads the value only if a handler needs it on the host.
func (c *call) set(v *view, b *C.hl_ffi_buffer, use runtime.MemoryUse, value bool) error {
	dims := unsafe.Slice((*int64)(b.dims), int(b.rank))
	if b.dtype != v.code || b.data == nil || !v.shape.Equal(dims) { // else the last call had the same type
		dtype, size, err := sizeOf(b)
		if err != nil {
			return err
		}
		v.Borrow(dtype, v.shape, nil)
		v.code, v.size, v.packed = b.dtype, size, packedBits(dtype) != 0
		if v.shape == nil || !v.shape.Equal(dims) {
			// Handlers may keep a shape, so shapes are never changed.
			v.shape = append(make(tensor.Shape, 0, len(dims)), dims...)
		}
	}
	v.device = b.data
	switch {
	case v.size == 0:
		v.raw = nil
	case c.readable:
		v.raw = unsafe.Slice((*byte)(b.data), v.size)
	case use&runtime.HostViews == 0:
		v.raw = nil
		v.Borrow(v.DType(), v.shape, nil)
		return nil
	default:
		v.raw = v.stage(v.size)
		if value {
			if err := c.memory.ToHost(v.raw, v.device); err != nil {
				return err
			}
		}
	}
	if !v.packed {
		v.Borrow(v.DType(), v.shape, v.raw)
		return nil
	}
	n := int(v.shape.NumElements())
	if cap(v.scratch) < n {
		v.scratch = make([]byte, n)
	}
	v.scratch = v.scratch[:n]
	v.Borrow(v.DType(), v.shape, v.scratch)
	if value {
		unpack(v.scratch, v.raw, v.DType())
	}
	return nil
}

// stage returns memory for a copy of the value.
func (v *view) stage(size int) []byte {
	words := (size + 7) / 8
	staged := v.staged
	if cap(staged) < words {
		staged = make([]uint64, words)
		if size <= maxKeptCopy {
			v.staged = staged
		}
	}
	return unsafe.Slice((*byte)(unsafe.Pointer(unsafe.SliceData(staged[:words]))), size)
}

// pack writes a result to XLA's memory if XLA packs its type.
func (v *view) pack() {
	if v.packed {
		pack(v.raw, v.scratch, v.DType())
	}
}

// result returns the view of result i.
func (c *call) result(i int) *view {
	if c.Site.Kind == hook.InOut {
		return c.inout[i]
	}
	return &c.results[i]
}

// forget drops the views of XLA's memory, which XLA frees after the call.
func (c *call) forget() {
	drop(c.operands)
	drop(c.results)
}

func drop(views []view) {
	for i := range views {
		v := &views[i]
		v.raw, v.device = nil, nil
		v.Borrow(v.DType(), v.shape, nil)
	}
}

// grow adds a view and returns the addresses of all views.
func grow(views []view) ([]view, []*tensor.Tensor) {
	views = append(views, view{})
	ptrs := make([]*tensor.Tensor, len(views))
	for i := range views {
		ptrs[i] = &views[i].Tensor
	}
	return views, ptrs
}
