package interp

import (
	"fmt"
	"sync"

	"github.com/hlocb/hlocb/dialect/fn"
	"github.com/hlocb/hlocb/dialect/stablehlo"
	"github.com/hlocb/hlocb/ir"
	"github.com/hlocb/hlocb/ir/flow"
	"github.com/hlocb/hlocb/tensor"
)

// lazyKernel is a kernel of an op whose shapes are known only at run time. It keeps the kernel of the last shapes, so a
// loop over one shape builds it once. Several machines may share a lazyKernel.
type lazyKernel struct {
	row  row
	spec *spec

	mu    sync.Mutex
	built *builtKernel
}

type builtKernel struct {
	in    []tensor.Shape
	kern  kernel
	types []vtype
}

// run executes the kernel for the shapes of the operands.
func (l *lazyKernel) run(m *machine, fr *frame, ins *instr) error {
	base := len(m.args)
	for _, s := range ins.in {
		m.args = append(m.args, &fr.slots[s].t)
	}
	kern, types, err := l.resolve(m.args[base:])
	m.args = m.args[:base]
	if err != nil {
		return err
	}
	return m.step(fr, ins, kern, types)
}

// resolve returns the kernel for operands of these shapes and its result types.
func (l *lazyKernel) resolve(in []*tensor.Tensor) (*kernel, []vtype, error) {
	s := newSpec(l.spec.p, l.spec.op, nil, nil)
	for i, t := range in {
		v := l.spec.in[i]
		v.shape, v.n = t.Shape(), t.NumElements()
		s.in = append(s.in, v)
	}
	static := true
	for _, t := range l.spec.out {
		static = static && !t.dynamic()
		s.out = append(s.out, t)
	}
	l.mu.Lock()
	defer l.mu.Unlock()
	// Compute result shapes that depend on operand values every time. For other ops, equal operand shapes are enough.
	if b := l.built; b != nil && sameShapes(b.in, in) && (static || l.row.shape == nil) {
		return &b.kern, b.types, nil
	}
	if !static {
		if err := l.shape(s, in); err != nil {
			return nil, nil, err
		}
	}
	for i, t := range s.out {
		if t.n < 0 {
			return nil, nil, unsupported("the dynamic shape of result %d", i)
		}
	}
	if b := l.built; b != nil && sameShapes(b.in, in) && sameTypes(b.types, s.out) {
		return &b.kern, b.types, nil
	}
	kern, err := s.p.kernel(l.row, s)
	if err != nil {
		return nil, nil, err
	}
	b := &builtKernel{kern: kern, types: s.out}
	for _, t := range in {
		b.in = append(b.in, t.Shape().Clone())
	}
	l.built = b
	return &b.kern, s.out, nil
}

// shape sets the result shapes and checks them against the types in the program.
func (l *lazyKernel) shape(s *spec, in []*tensor.Tensor) error {
	if l.row.shape != nil {
		if err := l.row.shape(s, in); err != nil {
			return err
		}
	} else {
		for i := range s.out {
			if len(s.in) == 0 {
				return unsupported("a dynamic shape without operands")
			}
			s.out[i].shape = s.in[0].shape
		}
	}
	for i := range s.out {
		t := &s.out[i]
		n := t.shape.NumElements()
		if n < 0 || n > maxElements {
			return fmt.Errorf("has a result of impossible shape %v", t.shape)
		}
		t.n = int(n)
		if want := l.spec.out[i].shape; want != nil {
			if len(want) != len(t.shape) {
				return fmt.Errorf("has a result of shape %v where %v was declared", t.shape, want)
			}
			for d, w := range want {
				if w >= 0 && w != t.shape[d] {
					return fmt.Errorf("has a result of shape %v whose dimension %d was declared %d", t.shape, d, w)
				}
			}
			if d := l.spec.out[i].beyond(t.shape); d >= 0 {
				return fmt.Errorf("has a result of shape %v whose dimension %d was declared at most %d", t.shape, d, l.spec.out[i].bound[d])
			}
		}
	}
	return nil
}

func sameShapes(a []tensor.Shape, b []*tensor.Tensor) bool {
	for i := range a {
		if !a[i].Equal(b[i].Shape()) {
			return false
		}
	}
	return true
}

func sameTypes(a, b []vtype) bool {
	for i := range a {
		if a[i].dt != b[i].dt || !a[i].shape.Equal(b[i].shape) {
			return false
		}
	}
	return true
}

// lazyControl is a control instruction of an op whose shapes are known only at run time. For given shapes it compiles
// the op as a function whose arguments are the operands and the outside values that the op's regions use. It keeps the
// instruction of the last shapes.
type lazyControl struct {
	row   row
	spec  *spec
	outer *planner

	mu    sync.Mutex
	built *builtControl
}

type builtControl struct {
	in       []tensor.Shape
	fn       *function
	ins      instr
	captured []int32 // slots of outside values, in the function
	outside  []int32 // slots of the same values in the outer frame
}

func (l *lazyControl) run(m *machine, fr *frame, ins *instr) error {
	shapes := make([]*tensor.Tensor, len(ins.in))
	for i, s := range ins.in {
		shapes[i] = &fr.slots[s].t
	}
	b, err := l.resolve(shapes)
	if err != nil {
		return err
	}
	inner, err := m.enter(b.fn)
	if err != nil {
		return err
	}
	for i, s := range b.ins.in {
		inner.slots[s] = retain(fr.slots[ins.in[i]])
	}
	for i, s := range b.captured {
		inner.slots[s] = retain(fr.slots[b.outside[i]])
	}
	if err := b.ins.run(m, inner, &b.ins); err != nil {
		return err
	}
	for i, s := range b.ins.out {
		fr.slots[ins.out[i]] = inner.slots[s]
		inner.slots[s] = nil
	}
	for s, v := range inner.slots {
		m.release(v)
		inner.slots[s] = nil
	}
	m.leave(b.fn, inner)
	return nil
}

func (l *lazyControl) resolve(in []*tensor.Tensor) (*builtControl, error) {
	l.mu.Lock()
	defer l.mu.Unlock()
	if l.built != nil && sameShapes(l.built.in, in) {
		return l.built, nil
	}
	f := &function{name: l.outer.fn.name}
	p := l.outer.prog.newPlanner(f)
	s := newSpec(p, l.spec.op, nil, nil)
	b := &builtControl{fn: f}
	for i, t := range in {
		v := l.spec.in[i]
		if v.class == classTensor {
			v.shape, v.n = t.Shape(), t.NumElements()
		}
		s.in = append(s.in, v)
		b.in = append(b.in, t.Shape().Clone())
		b.ins.in = append(b.ins.in, p.fresh())
		b.ins.move = append(b.ins.move, false)
	}
	static := true
	for _, t := range l.spec.out {
		static = static && !t.dynamic()
		s.out = append(s.out, t)
		b.ins.out = append(b.ins.out, p.fresh())
	}
	if !static {
		if err := (&lazyKernel{row: l.row, spec: l.spec}).shape(s, in); err != nil {
			return nil, err
		}
	}
	b.ins.op, b.ins.types = s.op, s.out
	if err := p.pick(&b.ins, s); err != nil {
		return nil, err
	}
	for v, slot := range p.slots {
		if o := v.ParentBlock().Parent(); o == s.op || s.op.IsAncestorOf(o) {
			continue
		}
		outside, ok := l.outer.slots[v]
		if !ok {
			return nil, unsupported("a value from outside in a region of dynamic shape")
		}
		b.captured = append(b.captured, slot)
		b.outside = append(b.outside, outside)
	}
	l.built = b
	return b, nil
}

// reserve prepares to compile the op during runs, which only read the outer plan: it assigns slots to the outside
// values that the op's regions use, and compiles the functions that they name. A custom call's functions do not execute.
func (l *lazyControl) reserve() error {
	var failed error
	for _, r := range l.spec.op.Regions() {
		for _, v := range flow.Captures(r) {
			l.outer.slot(v)
		}
		for _, b := range r.Blocks() {
			for o := range b.Ops() {
				o.Walk(func(x *ir.Op) bool {
					if opKind(x) != stablehlo.CustomCall {
						for _, a := range x.Attrs() {
							flow.Symbols(a.Attr, func(name string) {
								if f, ok := fn.AsFunc(l.outer.prog.symbols[name]); ok && !f.External() && failed == nil {
									_, failed = l.outer.prog.function(name, x)
								}
							})
						}
					}
					return failed == nil
				})
			}
		}
	}
	return failed
}

// reduceShape is the shape function of reduce: the results have the dimensions that are not reduced.
func reduceShape(s *spec, in []*tensor.Tensor) error {
	dims, err := intsAttr(s.op, stablehlo.AttrDimensions)
	if err != nil {
		return err
	}
	rank := len(s.in[0].shape)
	if err := checkDims("reduced", dims, rank); err != nil {
		return err
	}
	shape := tensor.Shape{}
	for _, d := range keptDims(rank, dims) {
		shape = append(shape, s.in[0].shape[d])
	}
	for i := range s.out {
		s.out[i].shape = shape
	}
	return nil
}

func reduceWindowShape(s *spec, in []*tensor.Tensor) error {
	w, err := windowOf(s, s.in[0].shape)
	if err != nil {
		return err
	}
	for i := range s.out {
		s.out[i].shape = w.out
	}
	return nil
}
