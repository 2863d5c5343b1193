package interp

import (
	"context"
	"fmt"

	"github.com/hlocb/hlocb/ir"
	"github.com/hlocb/hlocb/runtime"
	"github.com/hlocb/hlocb/tensor"
)

// buf is the content of a slot: a tensor, a token or a tuple. It is reference-counted.
//
// Invariants: refs counts the slots, carried values and tuples that hold the buf, plus the bufs that have it as base. A
// payload may be written only through a buf with refs 1 whose base, if any, also has refs 1. A buf with fixed set is
// never written.
type buf struct {
	t     tensor.Tensor
	refs  int32
	fixed bool   // constants, arguments, tokens: never written, never recycled
	base  *buf   // the owner of the payload; nil if the buf owns it
	elems []*buf // of a tuple
}

// frame holds the values of one activation of a function.
type frame struct{ slots []*buf }

// machine executes a plan once. It belongs to one goroutine.
type machine struct {
	ctx   context.Context
	prog  *program
	at    *instr // the current instruction, for errors
	depth int    // of calls

	free   map[int][]*buf // recycled payload owners by size in bytes
	heads  []*buf         // recycled bufs without payload
	frames map[*function][]*frame
	args   []*tensor.Tensor // stack of operands and results of active kernels
	stack  []*buf           // stack of values in flight; see refs
	watch  *watch           // of the run
	first  bool             // whether this is the run's first device
	// donated says which arguments of the entry function the run may overwrite.
	donated []bool
	loops   int // nested loops in the active calls

	call   runtime.Call // reused from hook to hook
	run    runState
	probes map[string][]*tensor.Tensor // values that probes saw, if the program compares them
	world  *world                      // nil if there is only one device
	manual int                         // depth of nested manual computations
	held   map[any]holder              // what instructions keep until the run ends, by instruction
}

// holder keeps values from one instruction to the next.
type holder interface{ release(m *machine) }

func newMachine(p *program) *machine {
	return &machine{prog: p, free: map[int][]*buf{}, frames: map[*function][]*frame{}}
}

// alloc returns a buf of the given static type with its own payload. The elements are not initialized.
func (m *machine) alloc(dt tensor.DType, shape tensor.Shape, n int) (*buf, error) {
	size := n * dt.Size()
	if list := m.free[size]; len(list) > 0 {
		b := list[len(list)-1]
		m.free[size] = list[:len(list)-1]
		b.t.Borrow(dt, shape, b.t.Bytes())
		b.refs = 1
		return b, nil
	}
	if err := m.charge(int64(size)); err != nil {
		return nil, err
	}
	b := &buf{refs: 1}
	b.t = *tensor.New(dt, shape)
	return b, nil
}

// charge accounts for memory before it is allocated.
func (m *machine) charge(size int64) error {
	a := &m.watch.memory
	if held := a.held.Add(size); a.limit > 0 && held > a.limit {
		// Recycled buffers of other sizes count too: free them first.
		a.held.Add(-m.recycled())
		clear(m.free)
		if held = a.held.Load(); held > a.limit {
			a.held.Add(-size)
			return fmt.Errorf("needs %d bytes more than the %d in use; the memory limit is %d", size, held-size, a.limit)
		}
	}
	return nil
}

// uncharge reverses a charge of size bytes.
func (m *machine) uncharge(size int64) { m.watch.memory.held.Add(-size) }

// recycled returns the number of bytes in payloads that wait for reuse.
func (m *machine) recycled() int64 {
	n := int64(0)
	for size, list := range m.free {
		n += int64(size) * int64(len(list))
	}
	return n
}

// token returns the one value that all tokens share.
func (m *machine) token() *buf { return m.prog.token }

// head returns a buf without a payload.
func (m *machine) head() *buf {
	if n := len(m.heads); n > 0 {
		b := m.heads[n-1]
		m.heads = m.heads[:n-1]
		b.refs = 1
		return b
	}
	return &buf{refs: 1}
}

// alias returns a buf of another type over b's payload. It takes over the caller's reference to b.
func (m *machine) alias(b *buf, dt tensor.DType, shape tensor.Shape) *buf {
	if b.refs == 1 && !b.fixed {
		b.t.Borrow(dt, shape, b.t.Bytes())
		return b
	}
	a := m.head()
	a.t.Borrow(dt, shape, b.t.Bytes())
	owner := b
	if b.base != nil {
		owner = b.base
		retain(owner)
		m.release(b)
	}
	a.base, a.fixed = owner, owner.fixed
	return a
}

func retain(b *buf) *buf {
	if !b.fixed || b.base != nil {
		b.refs++
	}
	return b
}

// release drops one reference.
func (m *machine) release(b *buf) {
	if b == nil || (b.fixed && b.base == nil) {
		return
	}
	b.refs--
	if b.refs > 0 {
		return
	}
	switch {
	case b.base != nil:
		base := b.base
		b.base, b.fixed = nil, false
		b.t.Borrow(tensor.Invalid, nil, nil)
		m.heads = append(m.heads, b)
		m.release(base)
	case b.elems != nil:
		for _, e := range b.elems {
			m.release(e)
		}
		b.elems = nil
		m.heads = append(m.heads, b)
	default:
		size := len(b.t.Bytes())
		m.free[size] = append(m.free[size], b)
	}
}

// writable reports whether the holder of the only reference may overwrite the payload.
func (b *buf) writable() bool {
	return !b.fixed && b.refs == 1 && (b.base == nil || (b.base.refs == 1 && !b.base.fixed))
}

// take returns a reference to operand i of ins that the caller owns. If the value dies here, take moves it out of its
// slot; otherwise it adds a reference.
func (m *machine) take(fr *frame, ins *instr, i int) *buf {
	s := ins.in[i]
	b := fr.slots[s]
	if ins.move[i] {
		fr.slots[s] = nil
		return b
	}
	return retain(b)
}

// block executes the instructions of b in the frame. It stores the operands of b's terminator in out, which is as long
// as b.ret. The caller owns these references.
func (m *machine) block(fr *frame, b *block, out []*buf) error {
	for _, s := range b.argDead {
		m.release(fr.slots[s])
		fr.slots[s] = nil
	}
	for i := range b.instrs {
		ins := &b.instrs[i]
		if m.watch.stopped.Load() {
			return context.Cause(m.ctx) // the caller locates it: at the loop, not inside it
		}
		m.at = ins
		if m.watch.observed && m.first {
			m.watch.at.Store(ins)
		}
		if err := ins.run(m, fr, ins); err != nil {
			return m.locate(ins, err)
		}
		for _, s := range ins.dead {
			if v := fr.slots[s]; v != nil {
				m.release(v)
				fr.slots[s] = nil
			}
		}
	}
	for i, s := range b.ret {
		v := fr.slots[s]
		if b.retMove[i] {
			fr.slots[s] = nil
		} else {
			retain(v)
		}
		out[i] = v
	}
	for _, s := range b.after {
		m.release(fr.slots[s])
		fr.slots[s] = nil
	}
	return nil
}

// step executes a kernel that gives results of the given types.
func (m *machine) step(fr *frame, ins *instr, kern *kernel, types []vtype) error {
	base := len(m.args)
	for _, s := range ins.in {
		m.args = append(m.args, &fr.slots[s].t)
	}
	mid := len(m.args)
	for i, s := range ins.out {
		t := &types[i]
		allowed := kern.inplace
		if i > 0 {
			allowed = 0
			if i <= len(kern.others) {
				allowed = kern.others[i-1]
			}
		}
		if allowed != 0 {
			if b := m.reuse(fr, ins, allowed, t); b != nil {
				fr.slots[s] = b
				m.args = append(m.args, &b.t)
				continue
			}
		}
		b, err := m.alloc(t.dt, t.shape, t.n)
		if err != nil {
			m.args = m.args[:base]
			return err
		}
		fr.slots[s] = b
		m.args = append(m.args, &b.t)
	}
	err := m.charge(kern.scratch)
	if err == nil {
		err = kern.run(m.args[base:mid:mid], m.args[mid:])
		m.uncharge(kern.scratch)
	}
	m.args = m.args[:base]
	return err
}

// reuse returns the buffer of an operand that dies at ins, for the first result. It empties the operand's slot, but the
// kernel still reads the operand from the payload.
func (m *machine) reuse(fr *frame, ins *instr, allowed uint64, t *vtype) *buf {
	for i, s := range ins.in {
		if i >= 64 || allowed&(1<<i) == 0 || !ins.move[i] {
			continue
		}
		b := fr.slots[s]
		if b == nil || len(b.t.Bytes()) != t.bytes() || !b.writable() || b.t.DType() != t.dt {
			continue
		}
		fr.slots[s] = nil
		if !b.t.Shape().Equal(t.shape) {
			b.t.Borrow(t.dt, t.shape, b.t.Bytes())
		}
		return b
	}
	return nil
}

// poll returns an error if the run must end. Every loop calls it.
func (m *machine) poll() error {
	if m.watch.stopped.Load() {
		return context.Cause(m.ctx)
	}
	return nil
}

// enter returns a frame for a call of f.
func (m *machine) enter(f *function) (*frame, error) {
	if m.depth >= maxCallDepth {
		return nil, fmt.Errorf("calls nest deeper than %d", maxCallDepth)
	}
	m.depth++
	if list := m.frames[f]; len(list) > 0 {
		fr := list[len(list)-1]
		m.frames[f] = list[:len(list)-1]
		return fr, nil
	}
	return &frame{slots: make([]*buf, f.nslots)}, nil
}

// leave returns the frame to the pool. All its slots must be empty.
func (m *machine) leave(f *function, fr *frame) {
	m.depth--
	m.frames[f] = append(m.frames[f], fr)
}

// locate makes err a diagnostic at the op of ins, unless err already has a location.
func (m *machine) locate(ins *instr, err error) error { return locate(m.prog.module, ins.op, err) }

func locate(mod *ir.Module, op *ir.Op, err error) error {
	if located(err) {
		return err
	}
	return &OpError{Diag: mod.Errorf(op, "'%s' op %s", op.Name(), err.Error()), Op: op.Name(), Cause: err}
}
