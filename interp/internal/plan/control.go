package plan

import (
	"errors"
	"fmt"

	"github.com/hlocb/hlocb/dialect/fn"
	"github.com/hlocb/hlocb/dialect/stablehlo"
	"github.com/hlocb/hlocb/interp/internal/exec"
	"github.com/hlocb/hlocb/interp/internal/kernel"
	"github.com/hlocb/hlocb/ir"
	"github.com/hlocb/hlocb/tensor"
)

// PlanCall compiles func.call and similar ops: they execute in a new frame, with the operands as arguments.
func PlanCall(p *Planner, s *Spec) exec.Runner {
	if p.wide > 0 {
		return planLiftedCall(p, s)
	}
	return PlanCallTo(p, s, fn.Callee(s.Op))
}

func PlanCallTo(p *Planner, s *Spec, callee string) exec.Runner {
	f := p.Prog.Function(callee)
	p.ins.Callee, p.ins.Frame = f, -1
	// A function that is still being compiled already has its types, but no body.
	kernel.FailIf(len(f.Args) != len(s.In) || len(f.Results) != len(s.Out), "calls '%s' with %d operands and %d results; it takes %d and gives %d",
		f.Name, len(s.In), len(s.Out), len(f.Args), len(f.Results))
	return func(m *exec.Machine, fr *exec.Frame, ins *exec.Instr) {
		inner := m.Enter(f, fr, ins)
		m.Poll()
		m.RunInside(inner, f.Body, fr, ins)
		m.Leave(f, inner)
	}
}

// Region compiles region i of the op as a block in the frame of the function.
func (p *Planner) Region(op *ir.Op, i int) *exec.Block {
	kernel.FailIf(i >= len(op.Regions()) || len(op.Region(i).Blocks()) != 1, "expects region #%d to have one block", i)
	b := p.block(op.Region(i).Entry())
	b.Name = regionName(op, i)
	p.ins.Blocks = append(p.ins.Blocks, b)
	return b
}

// regionName names region i of an op.
func regionName(op *ir.Op, i int) string {
	switch OpKind(op) {
	case stablehlo.While:
		return []string{"cond", "do"}[i]
	case stablehlo.If:
		return []string{"then", "else"}[i]
	case stablehlo.Case:
		return fmt.Sprintf("branch %d", i)
	}
	return fmt.Sprintf("region %d", i)
}

// PlanWhile compiles stablehlo.while (spec, "while"). The carried values move from iteration to iteration without
// copies. Iterations stop allocating once the free list holds the buffers that the body needs.
func PlanWhile(p *Planner, s *Spec) exec.Runner {
	cond := p.Region(s.Op, 0)
	body := p.Region(s.Op, 1)
	n := len(s.In)
	kernel.FailIf(len(cond.Args) != n || len(body.Args) != n || len(body.Ret) != n || len(s.Out) != n || len(cond.Ret) != 1,
		"expects condition and body to take and give as many values as there are operands")
	scalar := p.scalarLoop(s)
	p.ins.Scalars, p.ins.Effect = scalar, exec.Nests
	p.Describe("loop")
	return func(m *exec.Machine, fr *exec.Frame, ins *exec.Instr) {
		if scalar != nil && scalar.Pays() && m.Watch.Profile == nil {
			scalar.Run(m, fr, ins)
			return
		}
		carried := m.PushRefs(n)
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
			m.RunBlock(fr, cond, pred[:])
			more := pred[0].Tensor.Bytes()[0] != 0
			m.Release(pred[0])
			if !more {
				break
			}
			for i, b := range carried {
				fr.Slots[body.Args[i]] = b
			}
			m.RunBlock(fr, body, carried)
		}
		m.Loops--
		for i, b := range carried {
			fr.Slots[ins.Out[i]] = b
		}
		m.PopRefs(n)
	}
}

// PlanIf compiles stablehlo.if (spec, "if").
func PlanIf(p *Planner, s *Spec) exec.Runner {
	return planBranches(p, s, func(t *tensor.Tensor) int {
		if t.Bytes()[0] != 0 {
			return 0
		}
		return 1
	})
}

// PlanCase compiles stablehlo.case (spec, "case"). An index out of range selects the last branch.
func PlanCase(p *Planner, s *Spec) exec.Runner {
	n := len(s.Op.Regions())
	return planBranches(p, s, func(t *tensor.Tensor) int {
		if i := tensor.View[int32](t)[0]; i >= 0 && int(i) < n {
			return int(i)
		}
		return n - 1
	})
}

func planBranches(p *Planner, s *Spec, choose func(*tensor.Tensor) int) exec.Runner {
	var branches []*exec.Block
	for i := range s.Op.Regions() {
		b := p.Region(s.Op, i)
		kernel.FailIf(len(b.Args) != 0 || len(b.Ret) != len(s.Out), "expects branch %d to take nothing and give %d values", i, len(s.Out))
		branches = append(branches, b)
	}
	p.ins.Effect = exec.Nests
	p.Describe("branches")
	kernel.FailIf(len(branches) == 0 || s.In[0].Class != kernel.ClassTensor, "expects an index and at least one branch")
	return func(m *exec.Machine, fr *exec.Frame, ins *exec.Instr) {
		m.Poll()
		m.RunInside(fr, branches[choose(&fr.Slots[ins.In[0]].Tensor)], fr, ins)
	}
}

// PlanForward compiles ops whose results are their operands: optimization_barrier (spec, "optimization_barrier")
// and annotations such as sdy.sharding_constraint.
func PlanForward(p *Planner, s *Spec) exec.Runner {
	kernel.FailIf(len(s.In) != len(s.Out), "expects as many results as operands")
	p.ins.Effect = exec.Forwards
	p.Describe("the operands")
	return func(m *exec.Machine, fr *exec.Frame, ins *exec.Instr) {
		for i, o := range ins.Out {
			fr.Slots[o] = m.Take(fr, ins, i)
		}
	}
}

// PlanToken compiles after_all and create_token (spec, "after_all"). A token is empty, since ops execute in program
// order.
func PlanToken(p *Planner, s *Spec) exec.Runner {
	p.Describe("token")
	return func(m *exec.Machine, fr *exec.Frame, ins *exec.Instr) {
		fr.Slots[ins.Out[0]] = m.Token()
	}
}

// PlanTuple compiles stablehlo.tuple (spec, "tuple").
func PlanTuple(p *Planner, s *Spec) exec.Runner {
	p.Describe("tuple")
	return func(m *exec.Machine, fr *exec.Frame, ins *exec.Instr) {
		t := m.NewView()
		t.Elems = make([]*exec.Buf, len(ins.In))
		for i := range ins.In {
			t.Elems[i] = m.Take(fr, ins, i)
		}
		fr.Slots[ins.Out[0]] = t
	}
}

// PlanGetTupleElement compiles stablehlo.get_tuple_element (spec, "get_tuple_element").
func PlanGetTupleElement(p *Planner, s *Spec) exec.Runner {
	i := Attrs[struct {
		Index int `attr:"index,-1"`
	}](s.Op).Index
	kernel.FailIf(i < 0 || i >= len(s.In[0].Elems), "index %d is out of bounds of the tuple", i)
	p.Describe("element %d of the tuple", i)
	return func(m *exec.Machine, fr *exec.Frame, ins *exec.Instr) {
		fr.Slots[ins.Out[0]] = exec.Retain(fr.Slots[ins.In[0]].Elems[i])
	}
}

// PlanConstant compiles constants (spec, "constant"). A constant is decoded once and shared by all runs, unless it is
// large and has equal elements.
func PlanConstant(p *Planner, s *Spec) exec.Runner {
	if p.filled(s.Op) {
		one, _, _ := s.Op.Attr(stablehlo.AttrValue).(*ir.DenseAttr).Elements() // isSplat has read it
		kernel.FailIf(one.DType() != s.Out[0].DType, "has a value of element type %s and a result of element type %s", one.DType(), s.Out[0].DType)
		k := kernel.FillKernel(s.Out[0], one)
		p.ins.Kernel = &k
		return nil
	}
	t := constantTensor(p, s)
	b := &exec.Buf{Tensor: *t, Refs: 1, Fixed: true}
	p.ins.Fixed = true
	return func(m *exec.Machine, fr *exec.Frame, ins *exec.Instr) {
		fr.Slots[ins.Out[0]] = b
	}
}

func constantTensor(p *Planner, s *Spec) *tensor.Tensor {
	var t *tensor.Tensor
	if s.Out[0].N >= 0 && !p.single[s.Op] {
		p.reserve(int64(s.Out[0].Bytes()))
	}
	switch a := s.Op.Attr(stablehlo.AttrValue).(type) {
	case *ir.DenseAttr:
		if p.single[s.Op] {
			t, _, _ = a.Elements() // isSplat has read it
		} else {
			t = kernel.Must(a.Tensor())
		}
	case *ir.ResourceAttr:
		t = kernel.Must(p.Prog.Module.ResourceElements(a))
	default:
		kernel.Fail(errors.New("expects a dense value"))
	}
	out := s.Out[0]
	if out.Quant != nil && t.DType().Size() == out.DType.Size() {
		t = kernel.Must(tensor.FromBytes(out.DType, t.Shape(), t.Bytes()))
	}
	if p.wide > 0 && t.NumElements() == 1 {
		return kernel.Splat(t, out)
	}
	kernel.FailIf(t.DType() != out.DType, "has a value of element type %s and a result of element type %s", t.DType(), out.DType)
	return t
}

// PlanReshape compiles ops that only change the shape or type of a payload: reshape (spec, "reshape"), and
// bitcast_convert between types of the same width.
func PlanReshape(p *Planner, s *Spec) exec.Runner {
	t := s.Out[0]
	kernel.UnsupportedIf(t.N < 0 || s.In[0].N < 0, "reshape to a dynamic shape")
	kernel.FailIf(t.Bytes() != s.In[0].Bytes(), "cannot turn %s into %s", s.In[0], t)
	p.ins.Effect = exec.Forwards
	p.Describe("the operand's memory")
	return func(m *exec.Machine, fr *exec.Frame, ins *exec.Instr) {
		fr.Slots[ins.Out[0]] = m.Alias(m.Take(fr, ins, 0), t.DType, t.Shape)
	}
}

// PlanNothing compiles annotations without results to no work.
func PlanNothing(p *Planner, s *Spec) exec.Runner {
	p.Describe("no work")
	return func(*exec.Machine, *exec.Frame, *exec.Instr) {}
}
