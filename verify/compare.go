package verify

import (
	"fmt"
	"math"
	"math/bits"
	"math/cmplx"
	"strings"

	"github.com/hlocb/hlocb/hook"
	"github.com/hlocb/hlocb/tensor"
)

// Comparison describes how two tensors differ.
type Comparison struct {
	Type      string   `json:"type"`
	OtherType string   `json:"other_type,omitempty"` // set if the types differ; nothing else is compared then
	Elements  int      `json:"elements"`
	Different int      `json:"different"` // elements that the tolerance does not accept
	MaxULP    uint64   `json:"max_ulp"`   // the largest distance of two numbers, accepted or not; NaN against a number does not count
	MaxAbs    float64  `json:"max_abs"`   // the largest difference of two finite numbers
	NaN       int      `json:"nan_mismatches"`
	AllNaN    bool     `json:"all_nan,omitempty"`   // every element is NaN on both sides, so equality says little
	Histogram []Bucket `json:"histogram,omitempty"` // of floating-point types, in ULPs; empty if all elements are equal
	First     *Element `json:"first,omitempty"`     // the first element that the tolerance does not accept
}

// Bucket counts the elements whose distance is at least Low and at most High.
type Bucket struct {
	Low   uint64 `json:"low"`
	High  uint64 `json:"high"`
	Count int    `json:"count"`
}

// Element is a pair of elements that differ.
type Element struct {
	Index []int64 `json:"index"`
	A     string  `json:"a"`
	B     string  `json:"b"`
	ULP   uint64  `json:"ulp"` // tensor.NoDistance is written as 18446744073709551615
}

// Equal reports whether the tolerance accepts all elements.
func (c *Comparison) Equal() bool { return c.OtherType == "" && c.Different == 0 }

// Compare compares two tensors.
func Compare(a, b *tensor.Tensor, tol Tolerance) *Comparison {
	c := &Comparison{Type: hook.TypeOf(a).String(), Elements: a.NumElements()}
	if a.DType() != b.DType() || !a.Shape().Equal(b.Shape()) {
		c.OtherType = hook.TypeOf(b).String()
		return c
	}
	c.AllNaN = allNaN(a) && allNaN(b)
	if string(a.Bytes()) == string(b.Bytes()) {
		return c
	}
	var counts [65]int
	for i := range a.NumElements() {
		distance := tensor.Distance(a, b, i)
		if distance == tensor.NoDistance {
			c.NaN++
		} else {
			counts[bits.Len64(distance)]++
			c.MaxULP = max(c.MaxULP, distance)
			c.MaxAbs = max(c.MaxAbs, difference(a, b, i))
		}
		if tol.Accepts(a, b, i) {
			continue
		}
		c.Different++
		if c.First == nil {
			c.First = &Element{Index: a.Shape().Index(i), A: elementText(a, i), B: elementText(b, i), ULP: distance}
		}
	}
	if k := a.DType().Kind(); k == tensor.KindFloat || k == tensor.KindComplex {
		for n, count := range counts {
			if count > 0 {
				low := uint64(0)
				if n > 0 {
					low = 1 << (n - 1)
				}
				c.Histogram = append(c.Histogram, Bucket{Low: low, High: low + max(low, 1) - 1, Count: count})
			}
		}
	}
	return c
}

// allNaN reports whether t has elements and all are NaN; a complex element must be NaN in both parts.
func allNaN(t *tensor.Tensor) bool {
	d := t.DType()
	if !d.IsFloat() && !d.IsComplex() {
		return false
	}
	for i := range t.NumElements() {
		if d.IsComplex() {
			if v := t.ComplexAt(i); !math.IsNaN(real(v)) || !math.IsNaN(imag(v)) {
				return false
			}
		} else if !math.IsNaN(t.FloatAt(i)) {
			return false
		}
	}
	return t.NumElements() > 0
}

// difference returns |a-b| of element i, 0 if either is not finite.
func difference(a, b *tensor.Tensor, i int) float64 {
	var d float64
	if a.DType().IsComplex() {
		d = cmplx.Abs(a.ComplexAt(i) - b.ComplexAt(i))
	} else {
		d = math.Abs(a.FloatAt(i) - b.FloatAt(i))
	}
	if math.IsNaN(d) || math.IsInf(d, 0) {
		return 0
	}
	return d
}

// elementText writes an element with enough digits to distinguish it from its neighbors. A NaN is written with its
// bits.
func elementText(t *tensor.Tensor, i int) string {
	if t.DType().IsComplex() {
		return string(tensor.AppendElement(nil, t, i))
	}
	if t.DType().IsFloat() {
		switch v := t.FloatAt(i); {
		case math.IsNaN(v):
			return fmt.Sprintf("nan (0x%X)", t.Bits(i))
		case math.IsInf(v, 1):
			return "inf"
		case math.IsInf(v, -1):
			return "-inf"
		}
	}
	return string(tensor.AppendElement(nil, t, i))
}

// Summary describes in one line how the tensors differ.
func (c *Comparison) Summary() string {
	switch {
	case c.OtherType == notExecuted:
		return "the second module executes it less often"
	case c.OtherType != "":
		return fmt.Sprintf("is of type %s against %s", c.Type, c.OtherType)
	case c.AllNaN:
		return "equal, but NaN throughout"
	case c.Different == 0:
		return "equal"
	}
	s := fmt.Sprintf("%d of %d elements differ", c.Different, c.Elements)
	if e := c.First; e != nil {
		if len(e.Index) > 0 {
			s += fmt.Sprintf(", first at %v", e.Index)
		}
		s += fmt.Sprintf(": %s against %s", e.A, e.B)
		switch {
		case e.ULP == 0 && e.A != e.B && strings.TrimPrefix(e.A, "-") == strings.TrimPrefix(e.B, "-"):
			s += " (the sign of zero)"
		case e.ULP != tensor.NoDistance && len(c.Histogram) > 0:
			s += fmt.Sprintf(" (%d ULP)", e.ULP)
		}
	}
	return s
}
