package plan

import (
	"fmt"
	"slices"
	"sync"

	"github.com/hlocb/hlocb/dialect/fn"
	"github.com/hlocb/hlocb/dialect/stablehlo"
	"github.com/hlocb/hlocb/interp/internal/exec"
	"github.com/hlocb/hlocb/interp/internal/kernel"
	"github.com/hlocb/hlocb/ir"
	"github.com/hlocb/hlocb/ir/flow"
	"github.com/hlocb/hlocb/tensor"
)

// lazy is an instruction of an op whose shapes are known only at run time. For given shapes it compiles the op as a
// function whose arguments are the operands and the outside values that the op's regions use. It keeps the instruction
// of the last shapes; a loop over one shape builds it once. Several machines may share a lazy.
type lazy struct {
	recipe Recipe
	spec   *Spec
	outer  *Planner

	mu    sync.Mutex
	built *builtInstr
}

type builtInstr struct {
	in       []tensor.Shape
	fn       *exec.Function
	ins      exec.Instr
	captured []int32 // slots of outside values, in the function
	outside  []int32 // slots of the same values in the outer frame
}

// run executes the instruction for the shapes of the operands.
func (l *lazy) run(m *exec.Machine, fr *exec.Frame, ins *exec.Instr) {
	operands := make([]*tensor.Tensor, len(ins.In))
	for i, s := range ins.In {
		operands[i] = &fr.Slots[s].Tensor
	}
	b := l.resolve(operands, ins.Move)
	inner := &exec.Frame{Slots: make([]*exec.Buf, b.fn.Nslots)}
	for i, s := range b.ins.In {
		inner.Slots[s] = m.Take(fr, ins, i)
	}
	for i, s := range b.captured {
		inner.Slots[s] = exec.Retain(fr.Slots[b.outside[i]])
	}
	m.Execute(inner, &b.ins)
	for i, s := range b.ins.Out {
		fr.Slots[ins.Out[i]] = inner.Slots[s]
		inner.Slots[s] = nil
	}
	for _, v := range inner.Slots {
		m.Release(v)
	}
}

// resolve returns the instruction for operands of these shapes. It may overwrite the operands that move names.
func (l *lazy) resolve(in []*tensor.Tensor, move []bool) *builtInstr {
	l.mu.Lock()
	defer l.mu.Unlock()
	// Compute result shapes that depend on operand values every time. For other ops, equal operand shapes are enough.
	same := l.built != nil && sameShapes(l.built.in, in)
	static := !slices.ContainsFunc(l.spec.Out, kernel.Type.Dynamic)
	if same && (static || l.recipe.shape == nil) {
		return l.built
	}
	f := &exec.Function{Name: l.outer.Fn.Name}
	p := l.outer.Prog.NewPlanner(f)
	s := NewSpec(p, l.spec.Op, nil, nil)
	b := &builtInstr{fn: f, ins: exec.Instr{Op: s.Op, Move: move}}
	for i, t := range in {
		v := l.spec.In[i]
		if v.Class == kernel.ClassTensor {
			v.Shape, v.N = t.Shape(), t.NumElements()
		}
		s.In, b.in = append(s.In, v), append(b.in, t.Shape().Clone())
		b.ins.In = append(b.ins.In, p.Fresh())
	}
	for _, t := range l.spec.Out {
		s.Out, b.ins.Out = append(s.Out, t), append(b.ins.Out, p.Fresh())
	}
	if !static {
		l.shape(s, in)
	}
	if same && sameTypes(l.built.ins.Types, s.Out) {
		return l.built
	}
	b.ins.Types = s.Out
	p.Pick(&b.ins, s)
	for v, slot := range p.slots {
		if o := v.ParentBlock().Parent(); o == s.Op || s.Op.IsAncestorOf(o) {
			continue
		}
		outside, ok := l.outer.slots[v]
		kernel.UnsupportedIf(!ok, "a value from outside in a region of dynamic shape")
		b.captured = append(b.captured, slot)
		b.outside = append(b.outside, outside)
	}
	l.built = b
	return b
}

// shape sets the result shapes and checks them against the types in the program.
func (l *lazy) shape(s *Spec, in []*tensor.Tensor) {
	switch {
	case l.recipe.shape != nil:
		l.recipe.shape(s, in)
	case OpKind(s.Op).Infer != nil:
		inferShapes(s)
	case !l.recipe.elementwise || len(s.In) == 0:
		kernel.Fail(kernel.Unsupported("a result of dynamic shape"))
	default:
		for i := range s.Out {
			s.Out[i].Shape = s.In[0].Shape
		}
	}
	for i := range s.Out {
		t := &s.Out[i]
		n := t.Shape.NumElements()
		kernel.FailIf(n < 0 || n > kernel.MaxElements, "has a result of impossible shape %v", t.Shape)
		t.N = int(n)
		if want := l.spec.Out[i].Shape; want != nil {
			kernel.FailIf(len(want) != len(t.Shape), "has a result of shape %v where %v was declared", t.Shape, want)
			for d, w := range want {
				kernel.FailIf(w >= 0 && w != t.Shape[d], "has a result of shape %v whose dimension %d was declared %d", t.Shape, d, w)
			}
			if d := l.spec.Out[i].Beyond(t.Shape); d >= 0 {
				kernel.Fail(fmt.Errorf("has a result of shape %v whose dimension %d was declared at most %d", t.Shape, d, l.spec.Out[i].Bound[d]))
			}
		}
	}
}

// inferShapes sets the result shapes to those that the op's row infers from the operands' shapes.
func inferShapes(s *Spec) {
	ctx := s.Op.Module().Context()
	operands := ir.NewModule(ctx, nil).NewBlock() // its arguments have the types of this run
	for i, v := range s.Op.Operands() {
		t := v.Type()
		if dynamic, ok := t.(*ir.TensorType); ok && i < len(s.In) {
			t = ctx.Tensor(s.In[i].Shape, dynamic.Elem(), nil)
		}
		operands.AddArg(t, nil)
	}
	types := kernel.Must(OpKind(s.Op).Infer(ctx, &ir.OpState{Def: OpKind(s.Op), Operands: operands.Args(), Attrs: s.Op.Attrs(), Bodies: s.Op.Regions()}))
	for i := range s.Out {
		if t, ok := types[i].(*ir.TensorType); ok {
			s.Out[i].Shape = t.Shape()
		}
	}
}

func sameShapes(a []tensor.Shape, b []*tensor.Tensor) bool {
	return slices.EqualFunc(a, b, func(s tensor.Shape, t *tensor.Tensor) bool { return s.Equal(t.Shape()) })
}

func sameTypes(a, b []kernel.Type) bool {
	return slices.EqualFunc(a, b, func(s, t kernel.Type) bool { return s.DType == t.DType && s.Shape.Equal(t.Shape) })
}

// reserve prepares to compile the op during runs, which only read the outer plan: it assigns slots to the outside
// values that the op's regions use, and compiles the functions that they name. The functions that a custom call names
// do not execute.
func (l *lazy) reserve() {
	for _, r := range l.spec.Op.Regions() {
		for _, v := range flow.Captures(r) {
			l.outer.slot(v)
		}
	}
	l.spec.Op.Walk(func(x *ir.Op) bool {
		if x == l.spec.Op || OpKind(x) == stablehlo.CustomCall {
			return true
		}
		for _, a := range x.Attrs() {
			flow.Symbols(a.Attr, func(name string) {
				if f, ok := fn.AsFunc(l.outer.Prog.Symbols[name]); ok && !f.External() {
					l.outer.Prog.Function(name)
				}
			})
		}
		return true
	})
}
