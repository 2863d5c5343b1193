package interp

import (
	"context"
	"fmt"

	"github.com/hlocb/hlocb/ir"
	"github.com/hlocb/hlocb/runtime"
	"github.com/hlocb/hlocb/tensor"
)

// buf is what a slot holds: a tensor, a token or a tuple, counted.
//
// Invariants: refs counts the slots, carried values and tuples that hold the buf, plus the bufs whose base it
// is. A payload may be written only through a buf with refs 1 whose base, if any, has refs 1 too, and never
// where fixed is set.
type buf struct {
	t     tensor.Tensor
	refs  int32
	fixed bool   // constants, arguments, tokens: never written, never recycled
	base  *buf   // the owner of the payload, nil where the buf owns it
	elems []*buf // of a tuple
}

// frame holds the values of one activation of a function.
type frame struct{ slots []*buf }

// machine executes a plan once. It belongs to one goroutine.
type machine struct {
	ctx   context.Context
	prog  *program
	at    *instr // what is executing, for errors
	depth int    // of calls

	free   map[int][]*buf // recycled payload owners by size in bytes
	heads  []*buf         // recycled bufs without payload
	frames map[*function][]*frame
	args   []*tensor.Tensor // stack of operands and results of running kernels
	stack  []*buf           // stack of values in flight; see refs
	watch  *watch           // of the run
	first  bool             // of the devices
	loops  int              // that nest, in the calls under way

	call    runtime.Call // reused from hook to hook
	run     runState
	probes  map[string][]*tensor.Tensor // what probes saw, where the program asks
	world   *world                      // nil where there is one device
	manual  int                         // manual computations that are being executed
	written map[*writtenHook]*writtenState
}

func newMachine(p *program) *machine {
	return &machine{prog: p, free: map[int][]*buf{}, frames: map[*function][]*frame{}}
}

// alloc returns a buf with a payload of its own of the given static type. Its contents are arbitrary.
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
		// Recycled buffers of other sizes count too: let them go first.
		a.held.Add(-m.recycled())
		clear(m.free)
		if held = a.held.Load(); held > a.limit {
			a.held.Add(-size)
			return fmt.Errorf("needs %d bytes more than the %d in use; the memory limit is %d", size, held-size, a.limit)
		}
	}
	return nil
}

// uncharge gives back what charge accounted for.
func (m *machine) uncharge(size int64) { m.watch.memory.held.Add(-size) }

// recycled returns the bytes of the payloads that wait to be used again.
func (m *machine) recycled() int64 {
	n := int64(0)
	for size, list := range m.free {
		n += int64(size) * int64(len(list))
	}
	return n
}

// token returns the value of every token.
func (m *machine) token() *buf { return m.prog.tokenBuf }

// head returns a buf without payload.
func (m *machine) head() *buf {
	if n := len(m.heads); n > 0 {
		b := m.heads[n-1]
		m.heads = m.heads[:n-1]
		b.refs = 1
		return b
	}
	return &buf{refs: 1}
}

// alias returns a buf of another type over the payload of b, taking over the caller's reference to b.
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

// release gives up one reference.
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

// writable reports whether the payload may be overwritten by whoever holds the only reference.
func (b *buf) writable() bool {
	return !b.fixed && b.refs == 1 && (b.base == nil || (b.base.refs == 1 && !b.base.fixed))
}

// take returns operand i of ins as a reference that the caller owns: moved out of its slot where the value dies
// here, counted else.
func (m *machine) take(fr *frame, ins *instr, i int) *buf {
	s := ins.in[i]
	b := fr.slots[s]
	if ins.move[i] {
		fr.slots[s] = nil
		return b
	}
	return retain(b)
}

// block executes the instructions of b in the frame. The values that its terminator hands on are stored in
// out, which is as long as b.ret; the caller owns these references.
func (m *machine) block(fr *frame, b *block, out []*buf) error {
	for _, s := range b.argDead {
		m.release(fr.slots[s])
		fr.slots[s] = nil
	}
	for i := range b.instrs {
		ins := &b.instrs[i]
		if m.watch.stopped.Load() {
			return context.Cause(m.ctx) // located by whoever executes the block: the loop, not a place in it
		}
		m.at = ins
		if m.watch.observed && m.first {
			m.watch.at.Store(ins)
		}
		var err error
		if ins.ctl != nil {
			err = ins.ctl(m, fr, ins)
		} else {
			err = m.step(fr, ins)
		}
		if err != nil {
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

// step executes an instruction that is a kernel.
func (m *machine) step(fr *frame, ins *instr) error {
	kern, types := &ins.kern, ins.types
	base := len(m.args)
	for _, s := range ins.in {
		m.args = append(m.args, &fr.slots[s].t)
	}
	mid := len(m.args)
	if ins.lazy != nil {
		var err error
		if kern, types, err = ins.lazy.resolve(m.args[base:mid]); err != nil {
			m.args = m.args[:base]
			return err
		}
	}
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
	if kern.scratch > 0 {
		if err := m.charge(kern.scratch); err != nil {
			m.args = m.args[:base]
			return err
		}
	}
	err := kern.run(m.args[base:mid:mid], m.args[mid:])
	if kern.scratch > 0 {
		m.uncharge(kern.scratch)
	}
	m.args = m.args[:base]
	return err
}

// reuse returns the buffer of an operand that dies at ins for its first result. The operand's slot is emptied,
// but its payload is still what the kernel reads.
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

// poll returns an error where the run is to end. It is called in every loop.
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

// leave gives the frame back; all its slots are empty.
func (m *machine) leave(f *function, fr *frame) {
	m.depth--
	m.frames[f] = append(m.frames[f], fr)
}

// locate makes err a diagnostic at the op of ins, unless it is located already.
func (m *machine) locate(ins *instr, err error) error { return locate(m.prog.module, ins.op, err) }

func locate(mod *ir.Module, op *ir.Op, err error) error {
	if located(err) {
		return err
	}
	return &OpError{Diag: mod.Errorf(op, "'%s' op %s", op.Name(), err.Error()), Op: op.Name(), Cause: err}
}
