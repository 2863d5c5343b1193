package kernel

import (
	"fmt"
	"math"

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

// Checker compares element i of two tensors of one type.
type Checker struct {
	rule string
	ok   func(got, want *tensor.Tensor, i int) bool
}

// Compare fails with a *CheckError for the first element that differs.
func (c Checker) Compare(got, want *tensor.Tensor) {
	FailIf(got.DType() != want.DType() || !got.Shape().Equal(want.Shape()),
		"compares a value of type %s with one of type %s", TypeOfTensor(got), TypeOfTensor(want))
	for i := range got.NumElements() {
		if !c.ok(got, want, i) {
			Fail(&CheckError{Index: i, Got: ElementText(got, i), Want: ElementText(want, i), Rule: c.rule})
		}
	}
}

func ElementText(t *tensor.Tensor, i int) string {
	switch {
	case t.DType().IsFloat():
		return fmt.Sprint(t.FloatAt(i))
	case t.DType().IsComplex():
		return fmt.Sprint(t.ComplexAt(i))
	case t.DType() == tensor.UI64:
		return fmt.Sprint(tensor.View[uint64](t)[i])
	}
	return fmt.Sprint(IntAt(t, i))
}

// CheckEqual returns a checker that expects equal elements: -0 equals 0, and NaN equals nothing.
func CheckEqual() Checker {
	return Checker{"exactly", func(a, b *tensor.Tensor, i int) bool {
		switch {
		case a.DType().IsFloat():
			return a.FloatAt(i) == b.FloatAt(i)
		case a.DType().IsComplex():
			return a.ComplexAt(i) == b.ComplexAt(i)
		}
		size := a.DType().Size()
		return string(a.Bytes()[i*size:(i+1)*size]) == string(b.Bytes()[i*size:(i+1)*size])
	}}
}

// CheckAlmost returns a checker that expects elements to be equal, both NaN, or at most tol apart.
func CheckAlmost(tol float64) Checker {
	near := func(x, y float64) bool {
		return x == y || math.IsNaN(x) && math.IsNaN(y) || math.Abs(x-y) <= tol
	}
	return Checker{fmt.Sprintf("up to %v", tol), func(a, b *tensor.Tensor, i int) bool {
		switch {
		case a.DType().IsFloat():
			return near(a.FloatAt(i), b.FloatAt(i))
		case a.DType().IsComplex():
			x, y := a.ComplexAt(i), b.ComplexAt(i)
			return near(real(x), real(y)) && near(imag(x), imag(y))
		}
		return CheckEqual().ok(a, b, i)
	}}
}

// CheckClose returns a checker that expects elements to be between least and most units in the last place apart. All
// NaNs are equal; an infinity equals only itself.
func CheckClose(least, most uint64) Checker {
	return Checker{fmt.Sprintf("up to %d ULP", most), func(a, b *tensor.Tensor, i int) bool {
		d := UlpDistance(a, b, i)
		return d >= least && d <= most
	}}
}

// UlpDistance returns the distance between two elements, in values of the type. If only one of them is NaN or infinite,
// or if they are integers that differ, the distance is tensor.NoDistance.
func UlpDistance(a, b *tensor.Tensor, i int) uint64 {
	switch d := a.DType(); {
	case CheckEqual().ok(a, b, i):
		return 0
	case d.IsComplex():
		x, y := a.Parts(), b.Parts()
		return max(UlpDistance(x, y, 2*i), UlpDistance(x, y, 2*i+1))
	case !d.IsFloat() || math.IsInf(a.FloatAt(i), 0) || math.IsInf(b.FloatAt(i), 0):
		return tensor.NoDistance
	}
	return tensor.Distance(a, b, i)
}
