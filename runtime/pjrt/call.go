//go:build cgo

package pjrt

// #include "calls.h"
import "C"

import (
	"errors"
	"fmt"
	"slices"
	"unsafe"

	"github.com/hlocb/hlocb/hook"
	"github.com/hlocb/hlocb/internal/cuda"
	"github.com/hlocb/hlocb/internal/reduction"
	"github.com/hlocb/hlocb/internal/xlatypes"
	"github.com/hlocb/hlocb/runtime"
	"github.com/hlocb/hlocb/tensor"
)

// call is a runtime.Call with the memory of its views. Its site reuses it for other calls. The frames of a hook differ
// in their addresses, so a call learns from its first frame what each buffer is.
type call struct {
	runtime.Call
	memory            DeviceMemory
	readable          bool           // the memory is the host's
	queue             unsafe.Pointer // of the copies
	pool              *cuda.Pool     // for copies; nil if any memory will do
	late              bool           // a copy to the host may not be done
	operands, results []view
	heads             []view              // the first elements of the operands
	stats             view                // the statistics of the operands, an extra operand
	sizes             []view              // the sizes of operands that the program sets, extra operands
	args              []*view             // of the frame's operands; nil for the chain and tokens
	rets              []frameResult       // of the frame
	written           []*view             // of Call.Results
	tensors           [2][]*tensor.Tensor // Call.Operands and Call.Results
}

// frameResult is a result of a frame: a view, the value of an operand, or a token.
type frameResult struct {
	view   *view
	from   int // the position of the operand in the frame, or -1
	size   int // of the operand in bytes
	number int // among the results without chain and tokens
}

func newCall(s *site) *call { return &call{Call: runtime.Call{Site: s.bound.Site()}} }

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
	if !c.fits(args, rets) {
		if err := c.learn(args, rets, site); err != nil {
			c.args, c.rets = nil, nil
			return err
		}
	}
	for k, v := range c.args {
		if v != nil {
			if err := c.point(v, args[k].data); err != nil {
				return c.operandError(v, err)
			}
		}
	}
	for k := range c.rets {
		r, data := &c.rets[k], rets[k].data
		switch {
		case r.view != nil:
			err = c.point(r.view, data)
		case r.size > 0 && data != args[r.from].data:
			err = c.memory.Within(c.queue, data, args[r.from].data, r.size)
			if o := c.args[r.from]; err == nil && o != nil && site.kind == hook.InOut { // the handler writes to the result
				if o.device = data; c.readable {
					err = c.point(o, data)
				}
			}
		}
		if err != nil {
			return fmt.Errorf("result %d: %w", r.number, err)
		}
	}
	c.Operands, c.Results = c.tensors[0], c.tensors[1]
	if site.use.DevicePointers {
		c.address()
	}
	if !c.readable {
		err = c.arrive(site)
	}
	if err == nil && len(site.sized) > 0 {
		err = c.shrink(site)
	}
	return err
}

// shrink replaces operands that come up to their bounds by copies of their real sizes.
func (c *call) shrink(site *site) error {
	c.Operands = slices.Clone(c.Operands)
	shapes := map[int]tensor.Shape{}
	for n, at := range site.sized {
		i, k := at[0], at[1]
		bound, size := c.Operands[i].Shape()[k], c.sizes[n].IntAt(0)
		if size < 0 || size > bound {
			return fmt.Errorf("operand %d: the program set the size of dimension %d beyond its bound of %d", i, k, bound)
		}
		if shapes[i] == nil {
			shapes[i] = slices.Clone(c.Operands[i].Shape())
		}
		shapes[i][k] = size
	}
	for i, shape := range shapes {
		c.Operands[i] = corner(c.Operands[i], shape)
	}
	return nil
}

// corner returns the elements of t at the first positions of each dimension, as many as shape says.
func corner(t *tensor.Tensor, shape tensor.Shape) *tensor.Tensor {
	out := tensor.New(t.DType(), shape)
	var fill func(dst, src []byte, k int)
	fill = func(dst, src []byte, k int) {
		if shape[k:].Equal(t.Shape()[k:]) {
			copy(dst, src[:len(dst)])
			return
		}
		for i := range int(shape[k]) {
			n, m := len(dst)/int(shape[k]), len(src)/int(t.Shape()[k])
			fill(dst[i*n:(i+1)*n], src[i*m:(i+1)*m], k+1)
		}
	}
	fill(out.Bytes(), t.Peek(), 0)
	return out
}

// fits reports whether a frame is like the one that the call has learned.
func (c *call) fits(args, rets []*C.hl_ffi_buffer) bool {
	if len(args) != len(c.args) || len(rets) != len(c.rets) {
		return false
	}
	for k, v := range c.args {
		if v != nil && !v.fits(args[k]) {
			return false
		}
	}
	for k := range c.rets {
		if v := c.rets[k].view; v != nil && !v.fits(rets[k]) {
			return false
		}
	}
	return c.args != nil
}

// learn makes the views of a frame.
func (c *call) learn(args, rets []*C.hl_ffi_buffer, site *site) error {
	c.args, c.rets = make([]*view, len(args)), make([]frameResult, len(rets))
	c.operands, c.results = make([]view, len(args)), make([]view, 0, len(rets))
	c.sizes = make([]view, 0, len(site.sized))
	c.written, c.tensors = nil, [2][]*tensor.Tensor{}
	chain := 0
	if site.chained {
		if chain = 1; len(args) == 0 || len(rets) == 0 {
			return errors.New("the call is chained but has no chain")
		}
	}
	var at []int // of the operands in the frame
	for k, b := range args {
		if k < chain || b.dtype == xlatypes.FFIToken {
			continue
		}
		v, host := &c.operands[len(at)], site.use.HostViews
		switch extra := len(at) == len(site.bound.Site().Operands); {
		case extra && len(c.sizes) < len(site.sized): // see siteTable.withSizes
			c.sizes = c.sizes[:len(c.sizes)+1]
			v, host = &c.sizes[len(c.sizes)-1], true
		case extra && !c.readable: // see siteTable.withStatistics
			v, host = &c.stats, site.use.Statistics
		default:
			at = append(at, k)
			c.tensors[0] = append(c.tensors[0], &v.Tensor)
		}
		v.host, v.input = host, true
		c.args[k] = v
		if err := v.learn(b); err != nil {
			return c.operandError(v, err)
		}
	}
	c.operands = c.operands[:len(at)]
	if len(c.sizes) < len(site.sized) {
		return errors.New("the call lacks the sizes of its operands")
	}
	if err := c.learnResults(args, rets, at, chain, site); err != nil {
		return err
	}
	for _, v := range c.written {
		c.tensors[1] = append(c.tensors[1], &v.Tensor)
	}
	return nil
}

// learnResults makes the views of results. The operands stand at some positions of the frame.
func (c *call) learnResults(args, rets []*C.hl_ffi_buffer, at []int, chain int, site *site) error {
	m := 0
	for k, b := range rets {
		r := &c.rets[k]
		r.number = m
		switch {
		case k < chain:
			r.from = 0
		case b.dtype == xlatypes.FFIToken:
			r.from = -1
		case site.kind == hook.Tap || site.kind == hook.InOut:
			i := site.aliasOf(m)
			if i >= len(at) {
				return fmt.Errorf("result %d of a hook of kind %s is operand %d of %d", m, site.kind, i, len(at))
			}
			r.from = at[i]
			if site.kind == hook.InOut {
				c.written = append(c.written, c.args[at[i]])
			}
			m++
		default:
			c.results = c.results[:m+1]
			r.view, r.from = &c.results[m], -1
			r.view.host = site.use.HostViews
			if err := r.view.learn(b); err != nil {
				return fmt.Errorf("result %d: %w", m, err)
			}
			c.written = append(c.written, r.view)
			m++
		}
		if r.from < 0 || args[r.from].dtype == xlatypes.FFIToken {
			continue
		}
		_, size, err := sizeOf(b)
		if err == nil {
			_, r.size, err = sizeOf(args[r.from])
		}
		if err == nil && size != r.size {
			err = errors.New("a result that should be an operand's value differs from it in size")
		}
		if err != nil {
			return fmt.Errorf("result %d: %w", r.number, err)
		}
	}
	return nil
}

// operandError says to which operand an error belongs.
func (c *call) operandError(v *view, err error) error {
	for i := range c.operands {
		if v == &c.operands[i] {
			return fmt.Errorf("operand %d: %w", i, err)
		}
	}
	return fmt.Errorf("statistics: %w", err)
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
	for i := range c.sizes {
		c.sizes[i].unpack()
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
	if !v.shape.Equal(tensor.Shape{int64(n)}) {
		v.shape = tensor.Shape{int64(n)}
	}
	v.Borrow(o.DType(), v.shape, nil)
	v.code, v.packed, v.device, v.size, v.input = o.code, o.packed, o.device, n*o.DType().Size(), true
	if o.packed {
		v.size = xlatypes.PackedSize(n, xlatypes.PackedBits(o.DType()))
	}
	return c.load(v)
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

// address sets the call's device pointers.
func (c *call) address() {
	c.OperandPointers, c.ResultPointers = c.OperandPointers[:0], c.ResultPointers[:0]
	kind := c.memory.Kind()
	for i := range c.Operands {
		c.OperandPointers = append(c.OperandPointers, c.operands[i].pointer(kind))
	}
	for i := range c.Results {
		c.ResultPointers = append(c.ResultPointers, c.written[i].pointer(kind))
	}
}

func (v *view) pointer(kind runtime.MemoryKind) runtime.DevicePointer {
	return runtime.DevicePointer{Address: uintptr(v.device), Size: v.size, Memory: kind}
}

// store finishes the results that the responder wrote to host views or returned.
func (c *call) store(site *site) error {
	if c.readable {
		for i := range c.Results {
			c.written[i].pack()
		}
		return nil
	}
	for i := range c.Results {
		var err error
		if t := c.Returned(i); t != nil {
			err = c.storeTensor(i, t)
		} else if v := c.written[i]; site.bound.Writes() {
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
	v := c.written[i]
	if k := slices.Index(c.Operands, t); k >= 0 {
		o := &c.operands[k]
		for m := range c.Results[:i] {
			if c.written[m].device == o.device && v.device != o.device {
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
	xlatypes.Pack(v.raw, t.Peek(), t.DType())
	v.sent = true
	return c.memory.FromHost(c.queue, v.device, v.raw)
}

// separate passes the handler copies of operands that share memory with results of a call hook. Otherwise a handler
// that writes a result while it reads the operand would read its own result, and a handler that writes nothing would
// return the operand.
func (c *call) separate() {
	for i := range c.Operands {
		o := &c.operands[i]
		for m := range c.Results {
			if !o.packed && unsafe.SliceData(c.results[m].raw) == unsafe.SliceData(o.raw) {
				data := o.stage(len(o.raw))
				copy(data, o.raw)
				o.BorrowBytes(data)
			}
		}
	}
}

// aliasOf returns the operand that result m of a tap or inout hook is, not counting chain and tokens.
func (s *site) aliasOf(m int) int {
	if aliases := s.bound.Site().Aliases; m < len(aliases) && aliases[m] >= 0 {
		return aliases[m]
	}
	return m
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
		if _, size, err := sizeOf(b); err == nil && size > 0 && b.data != nil {
			errs = append(errs, memory.Clear(queue, b.data, size))
		}
	}
	return errors.Join(errs...)
}

// forget drops the views of XLA's memory, which XLA frees after the call.
func (c *call) forget() {
	for i := range c.operands {
		c.drop(&c.operands[i])
	}
	for i := range c.results {
		c.drop(&c.results[i])
	}
	for i := range c.sizes {
		c.drop(&c.sizes[i])
	}
	if !c.readable {
		for i := range c.heads {
			c.drop(&c.heads[i])
		}
		c.drop(&c.stats)
		c.late = false
	}
}

func (c *call) drop(v *view) {
	if v.pinned != nil {
		c.release(v)
	}
	v.raw, v.device = nil, nil
	v.BorrowBytes(nil)
}
