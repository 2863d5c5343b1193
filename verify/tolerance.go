package verify

import (
	"fmt"
	"math"
	"math/cmplx"
	"strconv"
	"strings"

	"github.com/hlocb/hlocb/tensor"
)

// Tolerance decides which floating-point numbers count as equal. The zero value accepts identical bits only, and counts
// all NaNs as equal. Integers and booleans must always be equal.
type Tolerance struct {
	kind  toleranceKind
	ulps  uint64
	limit float64
}

type toleranceKind uint8

const (
	exact toleranceKind = iota
	byULPs
	byAbsolute
	byRelative
)

// ULPs accepts numbers at most n units in the last place apart. Zeros of both signs are equal if n is not 0.
func ULPs(n uint64) Tolerance { return Tolerance{kind: byULPs, ulps: n} }

// Relative accepts |a-b| <= limit * max(|a|, |b|).
func Relative(limit float64) Tolerance { return Tolerance{kind: byRelative, limit: limit} }

// Absolute accepts |a-b| <= limit.
func Absolute(limit float64) Tolerance { return Tolerance{kind: byAbsolute, limit: limit} }

// ParseTolerance reads a number of ULPs, abs:NUMBER or rel:NUMBER. The empty text accepts identical bits only.
func ParseTolerance(s string) (Tolerance, error) {
	if s == "" {
		return Tolerance{}, nil
	}
	for prefix, make := range map[string]func(float64) Tolerance{"abs:": Absolute, "rel:": Relative} {
		if text, ok := strings.CutPrefix(s, prefix); ok {
			v, err := strconv.ParseFloat(text, 64)
			if err != nil || !(v >= 0) {
				return Tolerance{}, fmt.Errorf("%q is not a number of at least 0", text)
			}
			return make(v), nil
		}
	}
	n, err := strconv.ParseUint(s, 10, 64)
	if err != nil {
		return Tolerance{}, fmt.Errorf("expected a number of ULPs, abs:NUMBER or rel:NUMBER, got %q", s)
	}
	return ULPs(n), nil
}

// String returns the text that ParseTolerance reads.
func (t Tolerance) String() string {
	switch t.kind {
	case byULPs:
		return strconv.FormatUint(t.ulps, 10)
	case byAbsolute:
		return "abs:" + strconv.FormatFloat(t.limit, 'g', -1, 64)
	case byRelative:
		return "rel:" + strconv.FormatFloat(t.limit, 'g', -1, 64)
	}
	return ""
}

// Accepts reports whether element i of a and element i of b, tensors of one type, count as equal.
func (t Tolerance) Accepts(a, b *tensor.Tensor, i int) bool {
	size := a.DType().Size()
	if string(a.Bytes()[i*size:(i+1)*size]) == string(b.Bytes()[i*size:(i+1)*size]) {
		return true
	}
	switch a.DType().Kind() {
	case tensor.KindFloat:
		return t.acceptsFloat(a, b, i)
	case tensor.KindComplex:
		p, q := a.Parts(), b.Parts()
		whole := t.acceptsFloat(p, q, 2*i) && t.acceptsFloat(p, q, 2*i+1)
		if whole || t.kind != byRelative {
			return whole
		}
		// Judge a complex number as a whole: a small part may have lost its digits to a large one.
		x, y := a.ComplexAt(i), b.ComplexAt(i)
		return cmplx.Abs(x-y) <= t.limit*max(cmplx.Abs(x), cmplx.Abs(y)) && !cmplx.IsInf(x) && !cmplx.IsInf(y)
	}
	return false
}

func (t Tolerance) acceptsFloat(a, b *tensor.Tensor, i int) bool {
	v, w, distance := a.FloatAt(i), b.FloatAt(i), tensor.Distance(a, b, i)
	switch {
	case a.Bits(i) == b.Bits(i):
		return true
	case distance == tensor.NoDistance:
		return false
	case distance == 0:
		// Both NaN, or zeros of different sign.
		return t.kind != exact || math.IsNaN(v)
	}
	switch t.kind {
	case byULPs:
		return distance <= t.ulps
	case byAbsolute, byRelative:
		if math.IsInf(v, 0) || math.IsInf(w, 0) {
			return false
		}
		limit := t.limit
		if t.kind == byRelative {
			limit *= max(math.Abs(v), math.Abs(w))
		}
		return math.Abs(v-w) <= limit
	}
	return false
}
