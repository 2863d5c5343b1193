package interp

import (
	"fmt"
	"sync"

	"github.com/hlocb/hlocb/tensor"
)

// lazyKernel is a kernel of an op whose shapes are known only when it runs. The kernel of the last shapes is
// kept, so that a loop over one shape builds it once. It may be used by several machines.
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

// resolve returns the kernel for operands of these shapes and its result types.
func (l *lazyKernel) resolve(in []*tensor.Tensor) (*kernel, []vtype, error) {
	s := &spec{p: l.spec.p, op: l.spec.op}
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
	// Result shapes that come from operand values are computed every time; else equal operand shapes are enough.
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

// shape fills in the result shapes and checks them against what the program says.
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
