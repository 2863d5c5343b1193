package exec

import (
	"cmp"
	"context"
	"errors"
	"fmt"
	"io"
	"slices"
	"time"
	"unsafe"

	"github.com/hlocb/hlocb/diag"
	"github.com/hlocb/hlocb/interp/internal/kernel"
	"github.com/hlocb/hlocb/ir"
	"github.com/hlocb/hlocb/runtime"
	"github.com/hlocb/hlocb/tensor"
)

// Buf is the content of a slot: a tensor, a token or a tuple. It is reference-counted.
//
// Invariants: Refs counts the slots, carried values and tuples that hold the buf, plus the bufs that have it as base. A
// payload may be written only through a buf with Refs 1 whose base, if any, also has Refs 1. A buf with Fixed set is
// never written. The plan knows all uses of a placed payload: only kernels write it, where their instruction says so.
type Buf struct {
	Tensor tensor.Tensor
	Refs   int32
	Fixed  bool   // constants, arguments, tokens: never written, never recycled
	placed bool   // the payload is a part of a frame's arena
	base   *Buf   // the owner of the payload; nil if the buf owns it
	Elems  []*Buf // the elements of a tuple
}

// Frame holds the values of one activation of a function.
type Frame struct {
	Slots []*Buf
	arena []byte
	owned *Buf // holds arena, unless it is a part of the caller's arena
}

// Machine executes a plan once. It belongs to one goroutine.
type Machine struct {
	Ctx   context.Context
	Prog  *Program
	at    *Instr // the current instruction, for errors; nil between runs
	depth int    // nesting of calls

	free   map[int]*freeList // recycled payload owners by size in bytes
	short  [65]freeList      // free lists for sizes of up to 64 bytes
	owned  map[*byte]int     // the sizes of payloads that the machine must free, if the program has an Allocator
	heads  []*Buf            // recycled bufs without payload
	frames map[*Function][]*Frame
	Args   []*tensor.Tensor // stack of operands and results of active kernels
	stack  []*Buf           // stack of values in flight; see PushRefs
	Watch  *Watch           // of the run
	First  bool             // whether this is the run's first device
	// Donated marks the arguments of the entry function that the run may overwrite.
	Donated []bool
	Loops   int // nested loops in the active calls

	Call        runtime.Call // reused from hook to hook
	Run         RunState
	Probes      map[string][]*tensor.Tensor // values that probes saw, if the program compares them
	DeviceGroup *deviceGroup                // nil if there is only one device
	Manual      int                         // depth of nested manual computations
	Held        map[any]Holder              // values that instructions keep until the run ends, by instruction
	inside      time.Duration               // time of the ops that the current op executes, if there is a profile
}

type freeList []*Buf

// list returns the free list for a size.
func (m *Machine) list(size int) *freeList {
	if size < len(m.short) {
		return &m.short[size]
	}
	l := m.free[size]
	if l == nil {
		l = &freeList{}
		m.free[size] = l
	}
	return l
}

// Holder keeps values from one instruction to the next.
type Holder interface{ Release(m *Machine) }

func NewMachine(p *Program) *Machine {
	return &Machine{Prog: p, free: map[int]*freeList{}, owned: map[*byte]int{}, frames: map[*Function][]*Frame{}}
}

// Alloc returns a buf of the given static type with its own payload. The elements are not initialized.
func (m *Machine) Alloc(dt tensor.DType, shape tensor.Shape, n int) *Buf {
	size := n * dt.Size()
	if l := m.list(size); len(*l) > 0 {
		b := (*l)[len(*l)-1]
		*l = (*l)[:len(*l)-1]
		b.Tensor.Borrow(dt, shape, b.Tensor.Bytes())
		b.Refs = 1
		return b
	}
	m.Charge(int64(size))
	b := &Buf{Refs: 1}
	if m.Prog.Memory == nil || size == 0 {
		b.Tensor = *tensor.New(dt, shape)
		return b
	}
	payload := kernel.Must(m.Prog.Memory.Alloc(size))
	m.own(payload)
	b.Tensor.Borrow(dt, shape, payload)
	return b
}

// own makes the machine the owner of a payload of the program's Allocator.
func (m *Machine) own(payload []byte) {
	if m.Prog.Memory != nil && len(payload) > 0 {
		m.owned[&payload[0]] = len(payload)
	}
}

// Own makes the machine the owner of the payloads of donated arguments.
func (m *Machine) Own(args []*tensor.Tensor, donated []bool) {
	for i, d := range donated {
		if d && i < len(args) {
			m.own(args[i].Peek())
		}
	}
}

// disown ends the ownership of a payload and reports whether the machine was its owner.
func (m *Machine) disown(payload []byte) bool {
	if m.Prog.Memory == nil || len(payload) == 0 {
		return true
	}
	_, ok := m.owned[&payload[0]]
	delete(m.owned, &payload[0])
	return ok
}

// keptSize is the size of the largest payload, in bytes, that a machine keeps from one run to the next if the program
// has an Allocator.
const keptSize = 4 << 10

// trim frees the large payloads that no value uses.
func (m *Machine) trim() {
	if m.Prog.Memory == nil {
		return
	}
	for size, list := range m.free {
		if size <= keptSize || len(*list) == 0 {
			continue
		}
		for _, b := range *list {
			payload := b.Tensor.Peek()
			m.disown(payload)
			m.Prog.Memory.Free(payload)
		}
		clear(*list)
		*list = (*list)[:0]
	}
}

// Close frees the payloads of a machine that executes nothing any more. Without an Allocator it does nothing.
func (m *Machine) Close() {
	for at, size := range m.owned {
		m.Prog.Memory.Free(unsafe.Slice(at, size))
	}
	clear(m.owned)
	clear(m.free)
	clear(m.short[:])
}

// Charge accounts for memory before it is allocated, and returns its size. It ends the run if the limit is exceeded.
func (m *Machine) Charge(size int64) int64 {
	a := &m.Watch.Memory
	if held := a.Held.Add(size); a.Limit > 0 && held > a.Limit {
		// Recycled buffers of other sizes count too: free them first.
		a.Held.Add(-m.Recycled())
		m.trim()
		clear(m.free)
		clear(m.short[:])
		if held = a.Held.Load(); held > a.Limit {
			a.Held.Add(-size)
			kernel.Fail(fmt.Errorf("needs %d bytes more than the %d in use; the memory limit is %d", size, held-size, a.Limit))
		}
	}
	return size
}

// Uncharge reverses a charge of size bytes.
func (m *Machine) Uncharge(size int64) { m.Watch.Memory.Held.Add(-size) }

// Recycle keeps the payload of a tensor for a later value. It keeps a few of each size.
func (m *Machine) Recycle(t *tensor.Tensor) {
	if size := len(t.Bytes()); size > 0 {
		if l := m.list(size); len(*l) < 4 {
			b := &Buf{}
			b.Tensor.Borrow(tensor.Invalid, nil, t.Bytes())
			*l = append(*l, b)
		}
	}
}

// Recycled returns the number of bytes in payloads that wait for reuse.
func (m *Machine) Recycled() int64 {
	n := int64(0)
	for size, list := range m.free {
		n += int64(size) * int64(len(*list))
	}
	for size, list := range m.short {
		n += int64(size) * int64(len(list))
	}
	return n
}

// Token returns the one value that all tokens share.
func (m *Machine) Token() *Buf { return m.Prog.Token }

// CopyScalar returns a buf with a copy of element i.
func (m *Machine) CopyScalar(t *tensor.Tensor, i int) *Buf {
	b := m.Alloc(t.DType(), nil, 1)
	copy(b.Tensor.Bytes(), Element(t, i))
	return b
}

// Element returns the bytes of element i.
func Element(t *tensor.Tensor, i int) []byte {
	size := t.DType().Size()
	return t.Bytes()[i*size : (i+1)*size]
}

// NewView returns a buf without a payload.
func (m *Machine) NewView() *Buf {
	if n := len(m.heads); n > 0 {
		b := m.heads[n-1]
		m.heads = m.heads[:n-1]
		b.Refs = 1
		return b
	}
	return &Buf{Refs: 1}
}

// Alias returns a buf of another type over b's payload. It takes over the caller's reference to b.
func (m *Machine) Alias(b *Buf, dt tensor.DType, shape tensor.Shape) *Buf {
	if b.Refs == 1 && !b.Fixed {
		b.Tensor.Borrow(dt, shape, b.Tensor.Bytes())
		return b
	}
	a := m.NewView()
	a.Tensor.Borrow(dt, shape, b.Tensor.Bytes())
	owner := b
	if b.base != nil {
		owner = b.base
		Retain(owner)
		m.Release(b)
	}
	a.base, a.Fixed, a.placed = owner, owner.Fixed, owner.placed
	return a
}

func Retain(b *Buf) *Buf {
	if !b.Fixed || b.base != nil {
		b.Refs++
	}
	return b
}

// Release drops one reference.
func (m *Machine) Release(b *Buf) {
	if b == nil || (b.Fixed && b.base == nil) {
		return
	}
	b.Refs--
	if b.Refs > 0 {
		return
	}
	switch {
	case b.base != nil:
		base := b.base
		b.base, b.Fixed, b.placed = nil, false, false
		b.Tensor.Borrow(tensor.Invalid, nil, nil)
		m.heads = append(m.heads, b)
		m.Release(base)
	case b.Elems != nil:
		for _, e := range b.Elems {
			m.Release(e)
		}
		b.Elems = nil
		m.heads = append(m.heads, b)
	case b.placed:
		if m.Prog.Poison {
			kernel.Fill(b.Tensor.Bytes(), []byte{0xa5})
		}
		b.placed = false
		b.Tensor.Borrow(tensor.Invalid, nil, nil)
		m.heads = append(m.heads, b)
	default:
		l := m.list(len(b.Tensor.Peek()))
		*l = append(*l, b)
	}
}

// Writable reports whether the holder of the only reference may overwrite the payload.
func (b *Buf) Writable() bool {
	return !b.Fixed && !b.placed && b.Refs == 1 && (b.base == nil || (b.base.Refs == 1 && !b.base.Fixed))
}

// Take returns a reference to operand i of ins that the caller owns. If the value dies here, Take moves it out of its
// slot; otherwise it adds a reference.
func (m *Machine) Take(fr *Frame, ins *Instr, i int) *Buf {
	s := ins.In[i]
	b := fr.Slots[s]
	if ins.Move[i] {
		fr.Slots[s] = nil
		return b
	}
	return Retain(b)
}

// RunBlock executes the instructions of b in the frame. It stores the operands of b's terminator in out, which is as
// long as b.Ret. The caller owns these references. If an instruction fails, the run ends.
func (m *Machine) RunBlock(fr *Frame, b *Block, out []*Buf) {
	outer := m.at
	for _, s := range b.ArgDead {
		m.Release(fr.Slots[s])
		fr.Slots[s] = nil
	}
	for i := range b.Instrs {
		ins := &b.Instrs[i]
		if m.Watch.stopped.Load() {
			m.at = cmp.Or(outer, m.at) // locate the error at the loop, not inside it
			m.Poll()
		}
		m.at = ins
		if m.Watch.Observed && m.First {
			m.Watch.At.Store(ins)
		}
		if p := m.Watch.Profile; p != nil {
			p.run(m, fr, ins)
		} else {
			m.Execute(fr, ins)
		}
		for _, s := range ins.Dead {
			if v := fr.Slots[s]; v != nil {
				m.Release(v)
				fr.Slots[s] = nil
			}
		}
	}
	for i, s := range b.Ret {
		v := fr.Slots[s]
		if b.RetMove[i] {
			fr.Slots[s] = nil
		} else {
			Retain(v)
		}
		out[i] = v
	}
	for _, s := range b.After {
		m.Release(fr.Slots[s])
		fr.Slots[s] = nil
	}
	m.at = outer
}

// RunInside executes b in frame inner as the body of ins: b's arguments are the operands of ins, b's results its
// results.
func (m *Machine) RunInside(inner *Frame, b *Block, fr *Frame, ins *Instr) {
	for i, a := range b.Args {
		inner.Slots[a] = m.Take(fr, ins, i)
	}
	out := m.PushRefs(len(ins.Out))
	m.RunBlock(inner, b, out)
	for i, v := range out {
		fr.Slots[ins.Out[i]] = v
	}
	m.PopRefs(len(out))
}

// Execute executes one instruction.
func (m *Machine) Execute(fr *Frame, ins *Instr) {
	if ins.Kernel != nil {
		m.step(fr, ins, ins.Kernel)
	} else {
		ins.Run(m, fr, ins)
	}
}

// step executes the kernel of an instruction.
func (m *Machine) step(fr *Frame, ins *Instr, kern *kernel.Kernel) {
	base := len(m.Args)
	for _, s := range ins.In {
		m.Args = append(m.Args, &fr.Slots[s].Tensor)
	}
	mid := len(m.Args)
	for i, s := range ins.Out {
		b := m.result(fr, ins, kern, i)
		fr.Slots[s] = b
		m.Args = append(m.Args, &b.Tensor)
	}
	if kern.Scratch > 0 {
		defer m.Uncharge(m.Charge(kern.Scratch))
	}
	kern.Run(m.Args[base:mid:mid], m.Args[mid:])
	m.Args = m.Args[:base]
}

// result returns the buffer for result i of a kernel: in the arena, or over an operand, or from the pool.
func (m *Machine) result(fr *Frame, ins *Instr, kern *kernel.Kernel, i int) *Buf {
	t := &ins.Types[i]
	if ins.Places != nil {
		if at := ins.Places[i].At; at >= 0 {
			b := m.NewView()
			b.placed = true
			b.Tensor.Borrow(t.DType, t.Shape, fr.arena[at:at+t.Bytes()])
			return b
		} else if o := ins.Places[i].Over; o >= 0 {
			b := fr.Slots[ins.In[o]]
			fr.Slots[ins.In[o]] = nil
			b.Tensor.Borrow(t.DType, t.Shape, b.Tensor.Bytes())
			return b
		}
	}
	if allowed := kern.Overwrites(i); allowed != 0 {
		if b := m.reuse(fr, ins, allowed, t); b != nil {
			return b
		}
	}
	return m.Alloc(t.DType, t.Shape, t.N)
}

// reuse returns the buffer of an operand that dies at ins, for a result. It empties the operand's slot, but the
// kernel still reads the operand from the payload.
func (m *Machine) reuse(fr *Frame, ins *Instr, allowed uint64, t *kernel.Type) *Buf {
	for i, s := range ins.In {
		if allowed&(1<<i) == 0 || !ins.Move[i] {
			continue
		}
		b := fr.Slots[s]
		if b == nil || len(b.Tensor.Bytes()) != t.Bytes() || !b.Writable() || b.Tensor.DType() != t.DType {
			continue
		}
		fr.Slots[s] = nil
		if !b.Tensor.Shape().Equal(t.Shape) {
			b.Tensor.Borrow(t.DType, t.Shape, b.Tensor.Bytes())
		}
		return b
	}
	return nil
}

// Poll ends the run if it is cancelled or takes too long. Every loop calls it.
func (m *Machine) Poll() {
	if m.Watch.stopped.Load() {
		kernel.Fail(context.Cause(m.Ctx))
	}
}

// Caught returns the error of a recovered panic, located at the current instruction or, if there is none, at op.
func (m *Machine) Caught(v any, op *ir.Op) error {
	if m.at != nil {
		op = m.at.Op
	}
	return Locate(m.Prog.Module, op, kernel.Cause(v))
}

// Enter returns a frame for a call of f. Its arena is a part of the arena of fr, if the plan of the instruction says
// so.
func (m *Machine) Enter(f *Function, fr *Frame, ins *Instr) *Frame {
	inner := m.frame(f)
	switch {
	case f.Memory.Arena == 0:
		inner.arena = nil
	case fr != nil && ins.Frame >= 0:
		inner.arena = fr.arena[ins.Frame : ins.Frame+f.Memory.Arena]
	default:
		inner.owned = m.Alloc(tensor.I8, tensor.Shape{int64(f.Memory.Arena)}, f.Memory.Arena)
		inner.arena = inner.owned.Tensor.Bytes()
	}
	return inner
}

func (m *Machine) frame(f *Function) *Frame {
	if m.depth >= maxCallDepth {
		kernel.Fail(fmt.Errorf("calls nest deeper than %d", maxCallDepth))
	}
	m.depth++
	if list := m.frames[f]; len(list) > 0 {
		fr := list[len(list)-1]
		m.frames[f] = list[:len(list)-1]
		return fr
	}
	return &Frame{Slots: make([]*Buf, f.Nslots)}
}

// Leave returns the frame to the pool. All its slots must be empty.
func (m *Machine) Leave(f *Function, fr *Frame) {
	m.depth--
	m.Release(fr.owned)
	fr.arena, fr.owned = nil, nil
	m.frames[f] = append(m.frames[f], fr)
}

// Locate makes err a diagnostic at op, unless err already has a location.
func Locate(mod *ir.Module, op *ir.Op, err error) error {
	if located(err) {
		return err
	}
	return &OpError{Diag: mod.Errorf(op, "'%s' op %s", op.Name(), err.Error()), Op: op.Name(), Cause: err}
}

// PushRefs returns n empty references from the machine's stack; PopRefs pops the last n. If an error ends the run,
// PopRefs is not needed. Slices returned earlier stay valid when the stack grows.
func (m *Machine) PushRefs(n int) []*Buf {
	at := len(m.stack)
	m.stack = slices.Grow(m.stack, n)[:at+n]
	return m.stack[at : at+n : at+n]
}

func (m *Machine) PopRefs(n int) {
	at := len(m.stack) - n
	clear(m.stack[at:])
	m.stack = m.stack[:at]
}

// OpError is an error located at an op. It occurs during compilation or execution.
type OpError struct {
	Diag  *diag.Diagnostic
	Op    string // the op's name
	Cause error
}

func (e *OpError) Error() string { return e.Diag.Error() }

// Unwrap returns the diagnostic and the cause, such as an *UnsupportedError, or the context's error if the run was
// cancelled.
func (e *OpError) Unwrap() []error { return []error{e.Diag, e.Cause} }

// Render writes the diagnostic with its source line.
func (e *OpError) Render(w io.Writer) { e.Diag.Render(w) }

func located(err error) bool {
	return errors.As(err, new(*OpError)) || errors.As(err, new(*runtime.HookError))
}
