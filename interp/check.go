package interp

import (
	"errors"
	"fmt"
	"math"

	"github.com/hlocb/hlocb/dialect/stablehlo"
	"github.com/hlocb/hlocb/internal/dialect/check"
	"github.com/hlocb/hlocb/ir"
	"github.com/hlocb/hlocb/tensor"
)

// CheckError reports that a check in the program failed.
type CheckError struct {
	Index     int // of the first element that differs, row-major
	Got, Want string
	Rule      string
}

func (e *CheckError) Error() string {
	return fmt.Sprintf("expected element %d to be %s (%s), but got %s", e.Index, e.Want, e.Rule, e.Got)
}

// checker compares element i of two tensors of one type.
type checker struct {
	rule string
	ok   func(got, want *tensor.Tensor, i int) bool
}

// compare returns a *CheckError for the first element that differs.
func (c checker) compare(got, want *tensor.Tensor) error {
	if got.DType() != want.DType() || !got.Shape().Equal(want.Shape()) {
		return fmt.Errorf("compares a value of type %s with one of type %s", typeOfTensor(got), typeOfTensor(want))
	}
	for i := range got.NumElements() {
		if !c.ok(got, want, i) {
			return &CheckError{Index: i, Got: elementText(got, i), Want: elementText(want, i), Rule: c.rule}
		}
	}
	return nil
}

func elementText(t *tensor.Tensor, i int) string {
	switch {
	case t.DType().IsFloat():
		return fmt.Sprint(floatAt(t, i))
	case t.DType().IsComplex():
		return fmt.Sprint(complexAt(t, i))
	case t.DType() == tensor.UI64:
		return fmt.Sprint(tensor.View[uint64](t)[i])
	}
	return fmt.Sprint(intAt(t, i))
}

func floatAt(t *tensor.Tensor, i int) float64 {
	var x [1]float64
	decode64(t.DType(), x[:], t, i)
	return x[0]
}

func complexAt(t *tensor.Tensor, i int) complex128 {
	var x [1]complex128
	decodeComplex(t.DType(), x[:], t, i)
	return x[0]
}

// checkEqual returns a checker that expects equal elements: -0 equals 0, and NaN equals nothing.
func checkEqual() checker {
	return checker{"exactly", func(a, b *tensor.Tensor, i int) bool {
		switch {
		case a.DType().IsFloat():
			return floatAt(a, i) == floatAt(b, i)
		case a.DType().IsComplex():
			return complexAt(a, i) == complexAt(b, i)
		}
		size := a.DType().Size()
		return string(a.Bytes()[i*size:(i+1)*size]) == string(b.Bytes()[i*size:(i+1)*size])
	}}
}

// checkAlmost returns a checker that expects elements to be equal, both NaN, or at most tol apart.
func checkAlmost(tol float64) checker {
	near := func(x, y float64) bool {
		return x == y || math.IsNaN(x) && math.IsNaN(y) || math.Abs(x-y) <= tol
	}
	return checker{fmt.Sprintf("up to %v", tol), func(a, b *tensor.Tensor, i int) bool {
		switch {
		case a.DType().IsFloat():
			return near(floatAt(a, i), floatAt(b, i))
		case a.DType().IsComplex():
			x, y := complexAt(a, i), complexAt(b, i)
			return near(real(x), real(y)) && near(imag(x), imag(y))
		}
		return checkEqual().ok(a, b, i)
	}}
}

// checkClose returns a checker that expects elements to be between least and most units in the last place apart. All
// NaNs are equal; an infinity equals only itself.
func checkClose(least, most uint64) checker {
	return checker{fmt.Sprintf("up to %d ULP", most), func(a, b *tensor.Tensor, i int) bool {
		d := ulpDistance(a, b, i)
		return d >= least && d <= most
	}}
}

// ulpDistance returns the distance between two elements, in values of the type. If only one of them is NaN or infinite,
// the distance is the largest uint64.
func ulpDistance(a, b *tensor.Tensor, i int) uint64 {
	dt := a.DType()
	same := func(equal bool) uint64 {
		if equal {
			return 0
		}
		return math.MaxUint64
	}
	if !dt.IsFloat() && !dt.IsComplex() {
		return same(checkEqual().ok(a, b, i))
	}
	if dt.IsComplex() {
		part := tensor.F32
		if dt == tensor.Complex128 {
			part = tensor.F64
		}
		var x, y tensor.Tensor
		n := int64(a.NumElements())
		x.Borrow(part, tensor.Shape{2 * n}, a.Bytes())
		y.Borrow(part, tensor.Shape{2 * n}, b.Bytes())
		return max(ulpDistance(&x, &y, 2*i), ulpDistance(&x, &y, 2*i+1))
	}
	x, y := floatAt(a, i), floatAt(b, i)
	switch {
	case math.IsNaN(x) || math.IsNaN(y):
		return same(math.IsNaN(x) && math.IsNaN(y))
	case math.IsInf(x, 0) || math.IsInf(y, 0):
		return same(x == y)
	case x == y:
		return 0
	}
	var kx, ky [1]int64
	totalKeys(dt, kx[:], a, i)
	totalKeys(dt, ky[:], b, i)
	// Both zeros count as one value.
	if kx[0] < 0 {
		kx[0]++
	}
	if ky[0] < 0 {
		ky[0]++
	}
	if kx[0] > ky[0] {
		return uint64(kx[0]) - uint64(ky[0])
	}
	return uint64(ky[0]) - uint64(kx[0])
}

// planCheckOp compiles the ops check.expect_*.
func planCheckOp(kind string, constant bool) func(p *planner, s *spec) (control, error) {
	return func(p *planner, s *spec) (control, error) {
		c := checkEqual()
		switch kind {
		case "almost":
			tol := 1e-4
			if a, ok := s.op.Attr(check.AttrTolerance).(*ir.FloatAttr); ok {
				tol = tensor.DecodeFloat(a.Type().DType(), a.Bits())
			}
			c = checkAlmost(tol)
		case "close":
			c = checkClose(uint64(intAttr(s.op, check.AttrMinULPDifference, 0)), uint64(intAttr(s.op, check.AttrMaxULPDifference, 3)))
		}
		if !constant {
			return planExpect(s, c)
		}
		a, ok := s.op.Attr(stablehlo.AttrValue).(*ir.DenseAttr)
		if !ok || len(s.in) != 1 {
			return nil, errors.New("expects an operand and a dense value")
		}
		want, err := a.Tensor()
		if err != nil {
			return nil, err
		}
		return func(m *machine, fr *frame, ins *instr) error {
			got := &fr.slots[ins.in[0]].t
			w := want
			if got.DType() != w.DType() && got.DType().Size() == w.DType().Size() {
				if w, err = tensor.FromBytes(got.DType(), w.Shape(), w.Bytes()); err != nil {
					return err
				}
			}
			return c.compare(got, w)
		}, nil
	}
}

// planExpect compiles a comparison of two operands. The op's result, if it has one, is true.
func planExpect(s *spec, c checker) (control, error) {
	if len(s.in) < 2 || len(s.out) > 1 || s.in[0].class != classTensor || s.in[1].class != classTensor {
		return nil, errors.New("expects two tensors")
	}
	return func(m *machine, fr *frame, ins *instr) error {
		if err := c.compare(&fr.slots[ins.in[0]].t, &fr.slots[ins.in[1]].t); err != nil {
			return err
		}
		if len(ins.out) == 1 {
			b, err := m.alloc(ins.types[0].dt, ins.types[0].shape, ins.types[0].n)
			if err != nil {
				return err
			}
			fill(b.t.Bytes(), []byte{1})
			fr.slots[ins.out[0]] = b
		}
		return nil
	}, nil
}

// checkTarget returns the checker for custom calls of this target, as defined by upstream's translate tool.
func checkTarget(target string, t vtype) (checker, bool) {
	switch target {
	case "check.eq":
		if t.dt.IsFloat() || t.dt.IsComplex() {
			return checkAlmost(1e-4), true
		}
		return checkEqual(), true
	case check.ExpectEq.Name:
		return checkEqual(), true
	case check.ExpectAlmostEq.Name:
		return checkAlmost(1e-3), true
	case check.ExpectClose.Name:
		return checkClose(0, 3), true
	}
	return checker{}, false
}
