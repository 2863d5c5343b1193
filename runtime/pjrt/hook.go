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
	"slices"
	"unsafe"

	"github.com/hlocb/hlocb/hook"
	"github.com/hlocb/hlocb/internal/reduction"
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
		err = s.deliverWithin(frame, site, device, ordinal)
	} else {
		err = s.deliverNow(frame, site, device, ordinal)
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
	queue, err := s.memory.queue(frame)
	if err == nil {
		err = clearResults(frame, s.memory, queue)
	}
	if err != nil {
		s.fail(device, err)
	}
	return nil
}

// deliverNow sets the call's views, calls the handlers and finishes the results.
func (s *session) deliverNow(frame *C.hl_ffi_frame, site *site, device int, ordinal int32) error {
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
	c.Seq, c.Ordinal = seq, int(ordinal)
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
	c.memory, c.readable, c.kind = s.memory, s.memory.Readable(), s.memory.Kind()
	if !c.readable {
		c.Remote = c
	}
	c.Run, c.Device = s.number, device
	c.Replica, c.Partition = device/s.parts, device%s.parts
}

// call is a runtime.Call with the memory of its views. Its site reuses it for other calls.
type call struct {
	runtime.Call
	memory                  DeviceMemory
	readable                bool // the memory is the host's
	kind                    runtime.MemoryKind
	queue                   unsafe.Pointer // of the copies
	pool                    *pinnedPool    // for copies; nil if any memory will do
	late                    bool           // a copy to the host may not be done
	heads                   []view         // the first elements of the operands
	stats                   view           // the statistics of the operands, an extra operand
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
	read    bool           // raw holds the value, and scratch does not yet
	staged  []uint64       // the memory of the copy, or of a copy of an operand that shares memory with a result
	pinned  *pinnedBlock   // instead of staged
	sent    bool           // the queue holds a copy from pinned
	scratch []byte         // a byte per element, for types that XLA packs
}

func newCall(s *site) *call { return &call{Call: runtime.Call{Site: s.bound.Site}} }

// view fills the call from the frame, without chain and tokens. If XLA did not alias a result that passes an operand
// through, view copies the operand.
func (c *call) view(frame *C.hl_ffi_frame, site *site) (err error) {
	if !c.readable {
		if c.queue, err = c.memory.queue(frame); err != nil {
			return err
		}
		c.Stream, c.pool = uintptr(c.queue), c.memory.pool(int32(c.Ordinal))
	}
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
		if n == len(site.bound.Site.Operands) && !c.readable { // see siteTable.withStatistics
			if err := c.set(&c.stats, b, runtime.MemoryUse{HostViews: site.use.Statistics}, true); err != nil {
				return fmt.Errorf("statistics: %w", err)
			}
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
					err = c.memory.Within(c.queue, b.data, o.device, size)
				}
				if err == nil {
					o.device = b.data
					if c.readable {
						err = c.set(o, b, site.use, true)
					}
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
	if site.use.DevicePointers {
		c.point()
	}
	if c.readable {
		return nil
	}
	return c.arrive(site)
}

// arrive completes the views of memory that the host cannot read.
func (c *call) arrive(site *site) error {
	c.Heads, c.Stats = c.Heads[:0], c.Stats[:0]
	if n := site.use.Head; n > 0 && !site.use.HostViews {
		for i := range c.Operands {
			if i == len(c.heads) {
				c.heads = append(c.heads, view{})
			}
			if err := c.head(&c.heads[i], &c.operands[i], n); err != nil {
				return fmt.Errorf("operand %d: %w", i, err)
			}
		}
	}
	if c.late {
		c.late = false
		if err := c.memory.Wait(c.queue); err != nil {
			return err
		}
	}
	for i := range c.Operands {
		c.operands[i].unpack()
		if i < len(c.heads) && c.heads[i].read {
			c.heads[i].unpack()
			c.Heads = append(c.Heads, &c.heads[i].Tensor)
		}
	}
	if c.stats.read {
		c.stats.read = false
		for i, t := range c.Operands {
			v := tensor.View[float64](&c.stats.Tensor)[reduction.NumStats*i:]
			c.Stats = append(c.Stats, runtime.NewStatistics(int(t.Shape().NumElements()), v[0], v[1], v[2], int(v[3]), int(v[4])))
		}
	}
	return nil
}

// head makes v a view of the first n elements of operand o.
func (c *call) head(v, o *view, n int) error {
	n = min(n, int(o.shape.NumElements()))
	if len(v.shape) != 1 || v.shape[0] != int64(n) {
		v.shape = tensor.Shape{int64(n)}
	}
	v.Borrow(o.DType(), v.shape, nil)
	v.code, v.packed, v.device, v.size = o.code, o.packed, o.device, n*o.DType().Size()
	if o.packed {
		v.size = packedSize(n, packedBits(o.DType()))
	}
	return c.load(v, true)
}

// Read implements runtime.Remote.
func (c *call) Read(i, n int) (*tensor.Tensor, error) {
	var v view
	if err := c.head(&v, &c.operands[i], n); err != nil {
		return nil, err
	}
	defer c.release(&v)
	if err := c.memory.Wait(c.queue); err != nil {
		return nil, err
	}
	c.late = false
	v.unpack()
	return v.Clone(), nil
}

// point sets the call's device pointers.
func (c *call) point() {
	c.OperandPointers, c.ResultPointers = c.OperandPointers[:0], c.ResultPointers[:0]
	for i := range c.Operands {
		c.OperandPointers = append(c.OperandPointers, c.operands[i].pointer(c.kind))
	}
	for i := range c.Results {
		c.ResultPointers = append(c.ResultPointers, c.result(i).pointer(c.kind))
	}
}

func (v *view) pointer(kind runtime.MemoryKind) runtime.DevicePointer {
	return runtime.DevicePointer{Address: uintptr(v.device), Size: v.size, Memory: kind}
}

// store finishes the results that the responder wrote to host views or returned.
func (c *call) store(site *site) error {
	if c.readable {
		for i := range c.Results {
			c.result(i).pack()
		}
		return nil
	}
	for i := range c.Results {
		var err error
		if t := c.Returned(i); t != nil {
			err = c.storeTensor(i, t)
		} else if v := c.result(i); site.writes {
			v.pack()
			v.sent = true
			err = c.memory.FromHost(c.queue, v.device, v.raw)
		}
		if err != nil {
			return c.HookError(fmt.Errorf("result %d: %w", i, err))
		}
	}
	return nil
}

// storeTensor copies t, which the responder returned, to result i.
func (c *call) storeTensor(i int, t *tensor.Tensor) error {
	v := c.result(i)
	if k := slices.Index(c.Operands, t); k >= 0 {
		o := &c.operands[k]
		for m := range c.Results[:i] {
			if c.result(m).device == o.device && v.device != o.device {
				return fmt.Errorf("operand %d, which was returned, shares its memory with result %d", k, m)
			}
		}
		if v.device == o.device {
			return nil
		}
		return c.memory.Within(c.queue, v.device, o.device, v.size)
	}
	if !v.packed {
		return c.memory.FromHost(c.queue, v.device, t.Peek())
	}
	if v.raw == nil {
		if err := c.stage(v); err != nil {
			return err
		}
	}
	pack(v.raw, t.Peek(), t.DType())
	v.sent = true
	return c.memory.FromHost(c.queue, v.device, v.raw)
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
	return c.memory.Within(c.queue, to.data, from.data, n)
}

// clearResults zeroes the results that no handler will write; the rest of the run then computes with definite values.
// Aliased results keep their operands' values.
func clearResults(frame *C.hl_ffi_frame, memory DeviceMemory, queue unsafe.Pointer) error {
	var errs []error
	args := unsafe.Slice(frame.operands.items, int(frame.operands.n))
result:
	for _, b := range unsafe.Slice(frame.results.items, int(frame.results.n)) {
		for _, a := range args {
			if a.data == b.data {
				continue result
			}
		}
		if _, size, err := sizeOf(b); err == nil && size > 0 {
			errs = append(errs, memory.Clear(queue, b.data, size))
		}
	}
	return errors.Join(errs...)
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
	case !use.HostViews:
		v.raw = nil
		v.Borrow(v.DType(), v.shape, nil)
		return nil
	default:
		return c.load(v, value)
	}
	v.attach()
	if value {
		v.read = true
		v.unpack()
	}
	return nil
}

// load points v to host memory for a value on the device. If value is set, the value is there after arrive.
func (c *call) load(v *view, value bool) error {
	if err := c.stage(v); err != nil {
		return err
	}
	v.attach()
	if value {
		v.read, c.late = true, true
		return c.memory.ToHost(c.queue, v.raw, v.device)
	}
	return nil
}

// attach points the tensor to the value's bytes, or to memory for its elements if XLA packs them.
func (v *view) attach() {
	if !v.packed {
		v.Borrow(v.DType(), v.shape, v.raw)
		return
	}
	n := int(v.shape.NumElements())
	if cap(v.scratch) < n {
		v.scratch = make([]byte, n)
	}
	v.scratch = v.scratch[:n]
	v.Borrow(v.DType(), v.shape, v.scratch)
}

// unpack unpacks the elements of a value that was read.
func (v *view) unpack() {
	if v.read && v.packed {
		unpack(v.scratch, v.raw, v.DType())
	}
	v.read = false
}

// stage sets v.raw to host memory for a copy of the value.
func (c *call) stage(v *view) error {
	if c.pool == nil {
		v.raw = v.stage(v.size)
		return nil
	}
	b, err := c.pool.take(c.queue, v.size)
	if err != nil {
		return err
	}
	v.pinned, v.raw = b, b.bytes[:v.size]
	return nil
}

// release returns the host memory of a copy.
func (c *call) release(v *view) {
	if v.pinned != nil {
		c.pool.give(c.queue, v.pinned, v.sent || c.late)
	}
	v.pinned, v.sent, v.read = nil, false, false
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
	c.drop(c.operands)
	c.drop(c.results)
	if !c.readable {
		c.drop(c.heads)
		c.release(&c.stats)
		c.late = false
	}
}

func (c *call) drop(views []view) {
	for i := range views {
		v := &views[i]
		if v.pinned != nil {
			c.release(v)
		}
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
