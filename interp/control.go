package interp

import (
	"errors"
	"fmt"
	"slices"

	"github.com/hlocb/hlocb/dialect/fn"
	"github.com/hlocb/hlocb/dialect/stablehlo"
	"github.com/hlocb/hlocb/ir"
	"github.com/hlocb/hlocb/tensor"
)

// planCall compiles func.call and similar ops: they execute in a new frame, with the operands as arguments.
func planCall(p *planner, s *spec) (control, error) {
	if p.wide > 0 {
		return planLiftedCall(p, s)
	}
	return planCallTo(p, s, fn.Callee(s.op))
}

func planCallTo(p *planner, s *spec, callee string) (control, error) {
	f, err := p.prog.function(callee, s.op)
	if err != nil {
		return nil, err
	}
	if err := sameCount(s, f); err != nil {
		return nil, err
	}
	nargs, nres := len(s.in), len(s.out)
	return func(m *machine, fr *frame, ins *instr) error {
		inner, err := m.enter(f)
		if err != nil {
			return err
		}
		if err := m.poll(); err != nil {
			return err
		}
		for i := 0; i < nargs; i++ {
			inner.slots[f.body.args[i]] = m.take(fr, ins, i)
		}
		out := m.refs(nres)
		if err := m.block(inner, f.body, out); err != nil {
			return err
		}
		for i, b := range out {
			fr.slots[ins.out[i]] = b
		}
		m.dropRefs(nres)
		m.leave(f, inner)
		return nil
	}, nil
}

func sameCount(s *spec, f *function) error {
	// A function that is still being compiled already has its types, but no body.
	if len(f.args) != len(s.in) || len(f.results) != len(s.out) {
		return fmt.Errorf("calls '%s' with %d operands and %d results; it takes %d and gives %d",
			f.name, len(s.in), len(s.out), len(f.args), len(f.results))
	}
	return nil
}

// region compiles region i of the op as a block in the frame of the function.
func (p *planner) region(op *ir.Op, i int) (*block, error) {
	if i >= op.NumRegions() || len(op.Region(i).Blocks()) != 1 {
		return nil, fmt.Errorf("expects region #%d to have one block", i)
	}
	return p.block(op.Region(i).Entry())
}

// planWhile compiles stablehlo.while (spec, "while"). The carried values move from iteration to iteration without
// copies. Iterations stop allocating once the free list holds the buffers that the body needs.
func planWhile(p *planner, s *spec) (control, error) {
	cond, err := p.region(s.op, 0)
	if err != nil {
		return nil, err
	}
	body, err := p.region(s.op, 1)
	if err != nil {
		return nil, err
	}
	n := len(s.in)
	if len(cond.args) != n || len(body.args) != n || len(body.ret) != n || len(s.out) != n || len(cond.ret) != 1 {
		return nil, errors.New("expects condition and body to take and give as many values as there are operands")
	}
	return func(m *machine, fr *frame, ins *instr) error {
		carried := m.refs(n)
		for i := range carried {
			carried[i] = m.take(fr, ins, i)
		}
		var pred [1]*buf
		m.loops++
		for {
			if err := m.poll(); err != nil {
				return err
			}
			if m.watch.observed && m.first && m.loops == 1 {
				m.watch.loops.Add(1)
			}
			for i, b := range carried {
				fr.slots[cond.args[i]] = retain(b)
			}
			if err := m.block(fr, cond, pred[:]); err != nil {
				return err
			}
			more := pred[0].t.Bytes()[0] != 0
			m.release(pred[0])
			if !more {
				break
			}
			for i, b := range carried {
				fr.slots[body.args[i]] = b
			}
			if err := m.block(fr, body, carried); err != nil {
				return err
			}
		}
		m.loops--
		for i, b := range carried {
			fr.slots[ins.out[i]] = b
		}
		m.dropRefs(n)
		return nil
	}, nil
}

// planIf compiles stablehlo.if (spec, "if").
func planIf(p *planner, s *spec) (control, error) {
	return planBranches(p, s, func(t *tensor.Tensor) int {
		if t.Bytes()[0] != 0 {
			return 0
		}
		return 1
	})
}

// planCase compiles stablehlo.case (spec, "case"). An index out of range selects the last branch.
func planCase(p *planner, s *spec) (control, error) {
	n := s.op.NumRegions()
	return planBranches(p, s, func(t *tensor.Tensor) int {
		if i := tensor.View[int32](t)[0]; i >= 0 && int(i) < n {
			return int(i)
		}
		return n - 1
	})
}

func planBranches(p *planner, s *spec, choose func(*tensor.Tensor) int) (control, error) {
	var branches []*block
	for i := range s.op.Regions() {
		b, err := p.region(s.op, i)
		if err != nil {
			return nil, err
		}
		if len(b.args) != 0 || len(b.ret) != len(s.out) {
			return nil, fmt.Errorf("expects branch %d to take nothing and give %d values", i, len(s.out))
		}
		branches = append(branches, b)
	}
	if len(s.in) != 1 || len(branches) == 0 || s.in[0].class != classTensor {
		return nil, errors.New("expects an index and at least one branch")
	}
	if opKind(s.op) == stablehlo.Case && s.in[0].dt.Size() != 4 {
		return nil, errors.New("expects an index of type i32")
	}
	nres := len(s.out)
	return func(m *machine, fr *frame, ins *instr) error {
		if err := m.poll(); err != nil {
			return err
		}
		i := choose(&fr.slots[ins.in[0]].t)
		out := m.refs(nres)
		if err := m.block(fr, branches[i], out); err != nil {
			return err
		}
		for i, b := range out {
			fr.slots[ins.out[i]] = b
		}
		m.dropRefs(nres)
		return nil
	}, nil
}

// refs returns n empty references from the machine's stack; dropRefs pops the last n. References need no dropRefs if an
// error ends the run. Slices returned earlier stay valid when the stack grows.
func (m *machine) refs(n int) []*buf {
	at := len(m.stack)
	m.stack = slices.Grow(m.stack, n)[:at+n]
	return m.stack[at : at+n : at+n]
}

func (m *machine) dropRefs(n int) {
	at := len(m.stack) - n
	clear(m.stack[at:])
	m.stack = m.stack[:at]
}

// planForward compiles ops whose results are their operands: optimization_barrier (spec, "optimization_barrier")
// and annotations such as sdy.sharding_constraint.
func planForward(p *planner, s *spec) (control, error) {
	if len(s.in) != len(s.out) {
		return nil, errors.New("expects as many results as operands")
	}
	return func(m *machine, fr *frame, ins *instr) error {
		for i, o := range ins.out {
			fr.slots[o] = m.take(fr, ins, i)
		}
		return nil
	}, nil
}

// planToken compiles after_all and create_token (spec, "after_all"). A token is empty, since ops execute in program
// order.
func planToken(p *planner, s *spec) (control, error) {
	if len(s.out) != 1 {
		return nil, errors.New("expects one result")
	}
	return func(m *machine, fr *frame, ins *instr) error {
		fr.slots[ins.out[0]] = m.token()
		return nil
	}, nil
}

// planTuple compiles stablehlo.tuple (spec, "tuple").
func planTuple(p *planner, s *spec) (control, error) {
	return func(m *machine, fr *frame, ins *instr) error {
		t := m.head()
		t.elems = make([]*buf, len(ins.in))
		for i := range ins.in {
			t.elems[i] = m.take(fr, ins, i)
		}
		fr.slots[ins.out[0]] = t
		return nil
	}, nil
}

// planGetTupleElement compiles stablehlo.get_tuple_element (spec, "get_tuple_element").
func planGetTupleElement(p *planner, s *spec) (control, error) {
	i := int(intAttr(s.op, stablehlo.AttrIndex, -1))
	if len(s.in) != 1 || i < 0 || i >= len(s.in[0].elems) {
		return nil, fmt.Errorf("index %d is out of bounds of the tuple", i)
	}
	return func(m *machine, fr *frame, ins *instr) error {
		fr.slots[ins.out[0]] = retain(fr.slots[ins.in[0]].elems[i])
		return nil
	}, nil
}

// planConstant compiles constants (spec, "constant"). A constant is decoded once and shared by all runs.
func planConstant(p *planner, s *spec) (control, error) {
	t, err := constantTensor(p, s)
	if err != nil {
		return nil, err
	}
	b := &buf{t: *t, refs: 1, fixed: true}
	return func(m *machine, fr *frame, ins *instr) error {
		fr.slots[ins.out[0]] = b
		return nil
	}, nil
}

func constantTensor(p *planner, s *spec) (*tensor.Tensor, error) {
	var t *tensor.Tensor
	var err error
	if s.out[0].n >= 0 {
		if err := p.reserve(int64(s.out[0].bytes())); err != nil {
			return nil, err
		}
	}
	switch a := s.op.Attr(stablehlo.AttrValue).(type) {
	case *ir.DenseAttr:
		t, err = a.Tensor()
	case *ir.ResourceAttr:
		t, err = resourceTensor(p.prog.module, a)
	default:
		return nil, errors.New("expects a dense value")
	}
	if err != nil {
		return nil, err
	}
	out := s.out[0]
	if out.quant != nil && t.DType().Size() == out.dt.Size() {
		t, err = tensor.FromBytes(out.dt, t.Shape(), t.Bytes())
		if err != nil {
			return nil, err
		}
	}
	if p.wide > 0 && t.NumElements() == 1 {
		return splat(t, out), nil
	}
	if t.DType() != out.dt {
		return nil, fmt.Errorf("has a value of element type %s and a result of element type %s", t.DType(), out.dt)
	}
	return t, nil
}

// splat returns a tensor of type v filled with the single element of t.
func splat(t *tensor.Tensor, v vtype) *tensor.Tensor {
	out := tensor.New(v.dt, v.shape)
	fill(out.Bytes(), t.Bytes())
	return out
}

// fill fills dst with copies of pattern. The length of dst is a multiple of the pattern's length.
func fill(dst, pattern []byte) {
	if len(dst) == 0 {
		return
	}
	n := copy(dst, pattern)
	for n < len(dst) {
		n += copy(dst[n:], dst[:n])
	}
}

// planReplicaID and planPartitionID compile replica_id and partition_id (spec, "partition_id", "replica_id").
func planReplicaID(p *planner, s *spec) (control, error) {
	return planID(s, func(m *machine) int { return m.run.replica })
}

func planPartitionID(p *planner, s *spec) (control, error) {
	return planID(s, func(m *machine) int { return m.run.partition })
}

func planID(s *spec, id func(*machine) int) (control, error) {
	t := s.out[0]
	if t.class != classTensor || t.n != 1 || t.dt.Size() != 4 {
		return nil, errors.New("expects a result of type tensor<ui32>")
	}
	return func(m *machine, fr *frame, ins *instr) error {
		b, err := m.alloc(t.dt, t.shape, 1)
		if err != nil {
			return err
		}
		tensor.View[uint32](&b.t)[0] = uint32(id(m))
		fr.slots[ins.out[0]] = b
		return nil
	}, nil
}

// planReshape compiles ops that only change the shape or type of a payload: reshape (spec, "reshape"), and
// bitcast_convert between types of the same width.
func planReshape(p *planner, s *spec) (control, error) {
	if len(s.in) != 1 || len(s.out) != 1 {
		return nil, errors.New("expects one operand and one result")
	}
	t := s.out[0]
	if t.n < 0 || s.in[0].n < 0 {
		return nil, unsupported("reshape to a dynamic shape")
	}
	if t.bytes() != s.in[0].bytes() {
		return nil, fmt.Errorf("cannot turn %s into %s", s.in[0], t)
	}
	return func(m *machine, fr *frame, ins *instr) error {
		fr.slots[ins.out[0]] = m.alias(m.take(fr, ins, 0), t.dt, t.shape)
		return nil
	}, nil
}

// planNothing compiles annotations without results to no work.
func planNothing(p *planner, s *spec) (control, error) {
	if len(s.out) != 0 {
		return nil, errors.New("expects no results")
	}
	return func(*machine, *frame, *instr) error { return nil }, nil
}
