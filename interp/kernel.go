package interp

import (
	"context"
	"fmt"

	"github.com/hlocb/hlocb/interp/internal/exec"
	"github.com/hlocb/hlocb/interp/internal/kernel"
	"github.com/hlocb/hlocb/interp/internal/plan"
	"github.com/hlocb/hlocb/ir"
	"github.com/hlocb/hlocb/tensor"
)

// Kernel executes an op of a dialect unknown to the engine; see Options.Kernels. It reads the operands, may run the
// op's regions any number of times, and ends with Execution.Return. If it returns an error, the run ends with that
// error, located at the op. Several devices may run the kernels of one executable at the same time.
type Kernel func(x *Execution) error

// Function computes an element of the result from the elements of two operands of the result's type; see
// Options.Functions. A nil field means that the op does not support these numbers.
type Function struct {
	Floats func(x, y float64) float64 // of any float type; the result is rounded once
	Ints   func(x, y int64) int64     // of any signed type; the result keeps the low bits
	Uints  func(x, y uint64) uint64
}

// Execution is one execution of an op by a Kernel. It and its values are valid until the kernel returns.
type Execution struct {
	op      *ir.Op
	m       *exec.Machine
	fr      *exec.Frame
	regions []*exec.Block
	in      []Value
	out     []Value
	owned   []*exec.Buf
}

// Value is a value of a running program: a tensor, a tuple or a token.
type Value struct{ b *exec.Buf }

// Tensor returns the elements. Do not change them.
func (v Value) Tensor() *tensor.Tensor { return &v.b.Tensor }

// Op returns the op under execution.
func (x *Execution) Op() *ir.Op { return x.op }

// Context returns the context of the run.
func (x *Execution) Context() context.Context { return x.m.Ctx }

// Device returns the device that executes the op, from 0. Device 0 executes an op that all devices share.
func (x *Execution) Device() int { return x.m.Run.Device }

// Operands returns the values of the op's operands.
func (x *Execution) Operands() []Value { return x.in }

// New returns a value that holds t. Do not change t afterwards.
func (x *Execution) New(t *tensor.Tensor) (Value, error) {
	v, err := x.Alloc(t.DType(), t.Shape())
	if err == nil {
		copy(v.b.Tensor.Bytes(), t.Bytes())
	}
	return v, err
}

// Reuse returns operand i as a value that the kernel may change until it returns: the operand itself if nothing else
// needs it, else a copy.
func (x *Execution) Reuse(i int) (Value, error) {
	if v := x.in[i]; v.b.Writable() {
		return v, nil
	}
	return x.New(x.in[i].Tensor())
}

// Token returns a token.
func (x *Execution) Token() Value { return Value{x.m.Token()} }

// Alloc returns a value of zeros, which the kernel may change until it returns.
func (x *Execution) Alloc(dt tensor.DType, shape tensor.Shape) (v Value, err error) {
	defer x.catch(&err)
	v.b = x.m.Alloc(dt, shape, int(shape.NumElements()))
	clear(v.b.Tensor.Bytes())
	x.owned = append(x.owned, v.b)
	return v, nil
}

// catch turns the panic that ends the run into an error.
func (x *Execution) catch(err *error) {
	if v := recover(); v != nil {
		*err = x.m.Caught(v, x.op)
	}
}

// Run runs region i with args as its arguments and returns the operands of the region's terminator.
func (x *Execution) Run(i int, args ...Value) (values []Value, err error) {
	defer x.catch(&err)
	x.m.Poll()
	body := x.regions[i]
	if len(args) != len(body.Args) {
		return nil, fmt.Errorf("region #%d takes %d arguments, but got %d", i, len(body.Args), len(args))
	}
	for k, v := range args {
		x.fr.Slots[body.Args[k]] = exec.Retain(v.b)
	}
	out := make([]*exec.Buf, len(body.Ret))
	x.m.RunBlock(x.fr, body, out)
	for _, b := range out {
		values = append(values, Value{b})
	}
	x.owned = append(x.owned, out...)
	return values, nil
}

// Return sets the results of the op.
func (x *Execution) Return(results ...Value) { x.out = results }

// planKernel compiles an op that a kernel executes.
func planKernel(k Kernel) func(*plan.Planner, *plan.Spec) exec.Runner {
	return func(p *plan.Planner, s *plan.Spec) exec.Runner {
		p.Describe("kernel of the dialect")
		var regions []*exec.Block
		for i := range s.Op.Regions() {
			regions = append(regions, p.Region(s.Op, i))
		}
		return func(m *exec.Machine, fr *exec.Frame, ins *exec.Instr) {
			x := &Execution{op: ins.Op, m: m, fr: fr, regions: regions}
			for i := range ins.In {
				b := m.Take(fr, ins, i)
				x.in, x.owned = append(x.in, Value{b}), append(x.owned, b)
			}
			kernel.Fail(k(x))
			kernel.FailIf(len(x.out) != len(ins.Out), "the op has %d results, but its kernel returned %d", len(ins.Out), len(x.out))
			for i, v := range x.out {
				if t := s.Out[i]; t.Class == kernel.ClassTensor && !t.Dynamic() && (v.b.Tensor.DType() != t.DType || !v.b.Tensor.Shape().Equal(t.Shape)) {
					kernel.Fail(fmt.Errorf("result #%d has type %s, but the kernel returned %s%v", i, t, v.b.Tensor.DType(), v.b.Tensor.Shape()))
				}
				fr.Slots[ins.Out[i]] = exec.Retain(v.b)
			}
			for _, b := range x.owned {
				m.Release(b)
			}
		}
	}
}
