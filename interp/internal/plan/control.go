package plan

import (
	"encoding/hex"
	"errors"
	"fmt"
	"strings"

	"github.com/hlocb/hlocb/dialect/fn"
	"github.com/hlocb/hlocb/dialect/stablehlo"
	"github.com/hlocb/hlocb/internal/dialect/view"
	"github.com/hlocb/hlocb/interp/internal/exec"
	"github.com/hlocb/hlocb/interp/internal/kernel"
	"github.com/hlocb/hlocb/ir"
	"github.com/hlocb/hlocb/tensor"
)

// PlanCall compiles func.call and similar ops: they execute in a new frame, with the operands as arguments.
func PlanCall(p *Planner, s *Spec) (exec.Runner, error) {
	if p.wide > 0 {
		return planLiftedCall(p, s)
	}
	return PlanCallTo(p, s, fn.Callee(s.Op))
}

func PlanCallTo(p *Planner, s *Spec, callee string) (exec.Runner, error) {
	f, err := p.Prog.Function(callee, s.Op)
	if err != nil {
		return nil, err
	}
	p.note().Callee = f
	if err := sameCount(s, f); err != nil {
		return nil, err
	}
	return func(m *exec.Machine, fr *exec.Frame, ins *exec.Instr) {
		inner := m.Enter(f)
		m.Poll()
		m.Inside(inner, f.Body, fr, ins)
		m.Leave(f, inner)
	}, nil
}

func sameCount(s *Spec, f *exec.Function) error {
	// A function that is still being compiled already has its types, but no body.
	if len(f.Args) != len(s.In) || len(f.Results) != len(s.Out) {
		return fmt.Errorf("calls '%s' with %d operands and %d results; it takes %d and gives %d",
			f.Name, len(s.In), len(s.Out), len(f.Args), len(f.Results))
	}
	return nil
}

// Region compiles region i of the op as a block in the frame of the function.
func (p *Planner) Region(op *ir.Op, i int) (*exec.Block, error) {
	if i >= len(op.Regions()) || len(op.Region(i).Blocks()) != 1 {
		return nil, fmt.Errorf("expects region #%d to have one block", i)
	}
	b, err := p.block(op.Region(i).Entry())
	p.note().Blocks = append(p.note().Blocks, b)
	return b, err
}

// PlanWhile compiles stablehlo.while (spec, "while"). The carried values move from iteration to iteration without
// copies. Iterations stop allocating once the free list holds the buffers that the body needs.
func PlanWhile(p *Planner, s *Spec) (exec.Runner, error) {
	cond, err := p.Region(s.Op, 0)
	if err != nil {
		return nil, err
	}
	body, err := p.Region(s.Op, 1)
	if err != nil {
		return nil, err
	}
	n := len(s.In)
	if len(cond.Args) != n || len(body.Args) != n || len(body.Ret) != n || len(s.Out) != n || len(cond.Ret) != 1 {
		return nil, errors.New("expects condition and body to take and give as many values as there are operands")
	}
	scalar := p.scalarLoop(s)
	p.note().Scalars = scalar
	return func(m *exec.Machine, fr *exec.Frame, ins *exec.Instr) {
		if scalar != nil && m.Watch.Profile == nil {
			scalar.Run(m, fr, ins)
			return
		}
		carried := m.Refs(n)
		for i := range carried {
			carried[i] = m.Take(fr, ins, i)
		}
		var pred [1]*exec.Buf
		m.Loops++
		for {
			m.Poll()
			if m.Watch.Observed && m.First && m.Loops == 1 {
				m.Watch.Loops.Add(1)
			}
			for i, b := range carried {
				fr.Slots[cond.Args[i]] = exec.Retain(b)
			}
			m.Block(fr, cond, pred[:])
			more := pred[0].Tensor.Bytes()[0] != 0
			m.Release(pred[0])
			if !more {
				break
			}
			for i, b := range carried {
				fr.Slots[body.Args[i]] = b
			}
			m.Block(fr, body, carried)
		}
		m.Loops--
		for i, b := range carried {
			fr.Slots[ins.Out[i]] = b
		}
		m.DropRefs(n)
	}, nil
}

// PlanIf compiles stablehlo.if (spec, "if").
func PlanIf(p *Planner, s *Spec) (exec.Runner, error) {
	return planBranches(p, s, func(t *tensor.Tensor) int {
		if t.Bytes()[0] != 0 {
			return 0
		}
		return 1
	})
}

// PlanCase compiles stablehlo.case (spec, "case"). An index out of range selects the last branch.
func PlanCase(p *Planner, s *Spec) (exec.Runner, error) {
	n := len(s.Op.Regions())
	return planBranches(p, s, func(t *tensor.Tensor) int {
		if i := tensor.View[int32](t)[0]; i >= 0 && int(i) < n {
			return int(i)
		}
		return n - 1
	})
}

func planBranches(p *Planner, s *Spec, choose func(*tensor.Tensor) int) (exec.Runner, error) {
	var branches []*exec.Block
	for i := range s.Op.Regions() {
		b, err := p.Region(s.Op, i)
		if err != nil {
			return nil, err
		}
		if len(b.Args) != 0 || len(b.Ret) != len(s.Out) {
			return nil, fmt.Errorf("expects branch %d to take nothing and give %d values", i, len(s.Out))
		}
		branches = append(branches, b)
	}
	if len(branches) == 0 || s.In[0].Class != kernel.ClassTensor {
		return nil, errors.New("expects an index and at least one branch")
	}
	return func(m *exec.Machine, fr *exec.Frame, ins *exec.Instr) {
		m.Poll()
		m.Inside(fr, branches[choose(&fr.Slots[ins.In[0]].Tensor)], fr, ins)
	}, nil
}

// PlanForward compiles ops whose results are their operands: optimization_barrier (spec, "optimization_barrier")
// and annotations such as sdy.sharding_constraint.
func PlanForward(p *Planner, s *Spec) (exec.Runner, error) {
	if len(s.In) != len(s.Out) {
		return nil, errors.New("expects as many results as operands")
	}
	return func(m *exec.Machine, fr *exec.Frame, ins *exec.Instr) {
		for i, o := range ins.Out {
			fr.Slots[o] = m.Take(fr, ins, i)
		}
	}, nil
}

// PlanToken compiles after_all and create_token (spec, "after_all"). A token is empty, since ops execute in program
// order.
func PlanToken(p *Planner, s *Spec) (exec.Runner, error) {
	return func(m *exec.Machine, fr *exec.Frame, ins *exec.Instr) {
		fr.Slots[ins.Out[0]] = m.Token()
	}, nil
}

// PlanTuple compiles stablehlo.tuple (spec, "tuple").
func PlanTuple(p *Planner, s *Spec) (exec.Runner, error) {
	return func(m *exec.Machine, fr *exec.Frame, ins *exec.Instr) {
		t := m.Head()
		t.Elems = make([]*exec.Buf, len(ins.In))
		for i := range ins.In {
			t.Elems[i] = m.Take(fr, ins, i)
		}
		fr.Slots[ins.Out[0]] = t
	}, nil
}

// PlanGetTupleElement compiles stablehlo.get_tuple_element (spec, "get_tuple_element").
func PlanGetTupleElement(p *Planner, s *Spec) (exec.Runner, error) {
	i := int(view.IntOr(s.Op.Attr(stablehlo.AttrIndex), -1))
	if len(s.In) != 1 || i < 0 || i >= len(s.In[0].Elems) {
		return nil, fmt.Errorf("index %d is out of bounds of the tuple", i)
	}
	return func(m *exec.Machine, fr *exec.Frame, ins *exec.Instr) {
		fr.Slots[ins.Out[0]] = exec.Retain(fr.Slots[ins.In[0]].Elems[i])
	}, nil
}

// PlanConstant compiles constants (spec, "constant"). A constant is decoded once and shared by all runs.
func PlanConstant(p *Planner, s *Spec) (exec.Runner, error) {
	t, err := constantTensor(p, s)
	if err != nil {
		return nil, err
	}
	b := &exec.Buf{Tensor: *t, Refs: 1, Fixed: true}
	p.note().Fixed = true
	return func(m *exec.Machine, fr *exec.Frame, ins *exec.Instr) {
		fr.Slots[ins.Out[0]] = b
	}, nil
}

func constantTensor(p *Planner, s *Spec) (*tensor.Tensor, error) {
	var t *tensor.Tensor
	var err error
	if s.Out[0].N >= 0 && !p.single[s.Op] {
		if err := p.reserve(int64(s.Out[0].Bytes())); err != nil {
			return nil, err
		}
	}
	switch a := s.Op.Attr(stablehlo.AttrValue).(type) {
	case *ir.DenseAttr:
		if p.single[s.Op] {
			t, _, err = a.Elements()
		} else {
			t, err = a.Tensor()
		}
	case *ir.ResourceAttr:
		t, err = resourceTensor(p.Prog.Module, a)
	default:
		return nil, errors.New("expects a dense value")
	}
	if err != nil {
		return nil, err
	}
	out := s.Out[0]
	if out.Quant != nil && t.DType().Size() == out.DType.Size() {
		t, err = tensor.FromBytes(out.DType, t.Shape(), t.Bytes())
		if err != nil {
			return nil, err
		}
	}
	if p.wide > 0 && t.NumElements() == 1 {
		return kernel.Splat(t, out), nil
	}
	if t.DType() != out.DType {
		return nil, fmt.Errorf("has a value of element type %s and a result of element type %s", t.DType(), out.DType)
	}
	return t, nil
}

// PlanReshape compiles ops that only change the shape or type of a payload: reshape (spec, "reshape"), and
// bitcast_convert between types of the same width.
func PlanReshape(p *Planner, s *Spec) (exec.Runner, error) {
	t := s.Out[0]
	if t.N < 0 || s.In[0].N < 0 {
		return nil, kernel.Unsupported("reshape to a dynamic shape")
	}
	if t.Bytes() != s.In[0].Bytes() {
		return nil, fmt.Errorf("cannot turn %s into %s", s.In[0], t)
	}
	return func(m *exec.Machine, fr *exec.Frame, ins *exec.Instr) {
		fr.Slots[ins.Out[0]] = m.Alias(m.Take(fr, ins, 0), t.DType, t.Shape)
	}, nil
}

// PlanNothing compiles annotations without results to no work.
func PlanNothing(p *Planner, s *Spec) (exec.Runner, error) {
	return func(*exec.Machine, *exec.Frame, *exec.Instr) {}, nil
}

// resourceTensor returns the elements of dense_resource<key>. The module's file metadata holds them as a hexadecimal
// string: a 32-bit alignment, then the payload, both little-endian.
func resourceTensor(m *ir.Module, a *ir.ResourceAttr) (*tensor.Tensor, error) {
	t, err := TypeOf(a.Type())
	if err != nil {
		return nil, err
	}
	if t.Dynamic() || t.Class != kernel.ClassTensor {
		return nil, fmt.Errorf("resource %q has type %s", a.Key(), t)
	}
	for _, r := range m.Resources() {
		if r.Section != "dialect_resources" || r.Key != a.Key() {
			continue
		}
		text, ok := strings.CutPrefix(strings.Trim(strings.TrimSpace(r.Text), `"`), "0x")
		if !ok {
			break
		}
		b, err := hex.DecodeString(text)
		if err != nil || len(b) < 4 {
			return nil, fmt.Errorf("resource %q is not a hexadecimal string", a.Key())
		}
		b = b[4:]
		if t.DType == tensor.I1 && len(b) == (t.N+7)/8 && len(b) != t.N {
			bits := make([]byte, t.N)
			for i := range bits {
				bits[i] = b[i/8] >> (i % 8) & 1
			}
			b = bits
		}
		// Copy the payload: a decoded string is not aligned.
		out := tensor.New(t.DType, t.Shape)
		if len(b) != len(out.Bytes()) {
			return nil, fmt.Errorf("resource %q has %d bytes for %s", a.Key(), len(b), t)
		}
		copy(out.Bytes(), b)
		return out, nil
	}
	return nil, fmt.Errorf("resource %q is not in the module's metadata", a.Key())
}
