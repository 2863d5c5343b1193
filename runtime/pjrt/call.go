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
	"github.com/hlocb/hlocb/internal/reduction"
	"github.com/hlocb/hlocb/runtime"
	"github.com/hlocb/hlocb/tensor"
)

// call is a runtime.Call with the memory of its views. Its site reuses it for other calls.
type call struct {
	runtime.Call
	memory                  DeviceMemory
	readable                bool           // the memory is the host's
	queue                   unsafe.Pointer // of the copies
	pool                    *pinnedPool    // for copies; nil if any memory will do
	late                    bool           // a copy to the host may not be done
	heads                   []view         // the first elements of the operands
	stats                   view           // the statistics of the operands, an extra operand
	operands, results       []view
	operandPtrs, resultPtrs []*tensor.Tensor
	inout                   []*view // the operand that each result of an inout hook is
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
		if !c.readable && n == len(site.bound.Site().Operands) { // see siteTable.withStatistics
			if err := c.set(&c.stats, b, site.use.Statistics, true); err != nil {
				return fmt.Errorf("statistics: %w", err)
			}
			continue
		}
		if n == len(c.operands) {
			c.operands, c.operandPtrs = grow(c.operands)
		}
		if err := c.set(&c.operands[n], b, site.use.HostViews, true); err != nil {
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
						err = c.set(o, b, site.use.HostViews, true)
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
			if err := c.set(&c.results[m], b, site.use.HostViews, false); err != nil {
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
	kind := c.memory.Kind()
	for i := range c.Operands {
		c.OperandPointers = append(c.OperandPointers, c.operands[i].pointer(kind))
	}
	for i := range c.Results {
		c.ResultPointers = append(c.ResultPointers, c.result(i).pointer(kind))
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
		} else if v := c.result(i); site.bound.Writes() {
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
	if aliases := s.bound.Site().Aliases; m < len(aliases) && aliases[m] >= 0 {
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
