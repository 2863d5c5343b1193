package opgen

import (
	"errors"
	"fmt"
	"math"
	"strconv"
	"strings"

	"github.com/hlocb/hlocb/tensor"
)

// Value is the true value of an element: the sum of two floats for each part.
type Value struct {
	hi, lo [2]float64
	signed [2]bool // whether the sign of a zero is the one that C99 requires
}

// Known is an element of a function whose true value is known.
type Known struct {
	Op    string
	Args  []*tensor.Tensor // scalars
	Value Value
}

// ReadTruth reads elements whose values truth.py computed. A line has the op, the element type, the operands, "=", and
// for each part of the value its two floats, followed by "s" if the sign of a zero counts.
func ReadTruth(text string) ([]Known, error) {
	var out []Known
	for line := range strings.Lines(text) {
		left, right, ok := strings.Cut(strings.TrimSpace(line), " = ")
		head := strings.Fields(left)
		if !ok || len(head) < 3 {
			return nil, fmt.Errorf("cannot read %q", line)
		}
		d, ok := tensor.ParseDType(head[1])
		if !ok {
			return nil, fmt.Errorf("cannot read the type of %q", line)
		}
		k := Known{Op: head[0]}
		var err error
		number := func(s string) float64 {
			v, e := strconv.ParseFloat(s, 64)
			err = errors.Join(err, e)
			return v
		}
		for _, s := range head[2:] {
			a := tensor.New(d, nil)
			if re, im, ok := strings.Cut(s, ","); ok {
				a.SetComplex(0, complex(number(re), number(im)))
			} else {
				a.SetFloat(0, number(s))
			}
			k.Args = append(k.Args, a)
		}
		for p, s := range strings.Fields(right) {
			f := strings.Split(s, ",")
			k.Value.hi[p], k.Value.lo[p], k.Value.signed[p] = number(f[0]), number(f[1]), len(f) > 2
		}
		if err != nil {
			return nil, err
		}
		out = append(out, k)
	}
	return out, nil
}

// bare returns the op's name without the name of its case.
func bare(op string) string {
	name, _, _ := strings.Cut(op, " ")
	return name
}

// shortOp returns an op's name without its dialect and case.
func shortOp(op string) string {
	_, name, _ := strings.Cut(bare(op), ".")
	return name
}

// Error is the error of a computed element.
type Error struct {
	ULP     float64 // the larger error of the parts, each in units in the last place of the part
	Special bool    // infinite or NaN, and the true value is not, or the reverse
	Sign    bool    // a zero of the wrong sign
}

// Error compares element i of a result.
func (v Value) Error(t *tensor.Tensor, i int) (out Error) {
	z, d := at(t, i), t.DType()
	for k, got := range []float64{real(z), imag(z)} {
		if k > 0 && !d.IsComplex() {
			break
		}
		hi := v.hi[k]
		if math.IsInf(hi, 0) && math.IsNaN(v.hi[1-k]) {
			got = math.Copysign(got, hi) // C99 leaves the sign open
		}
		e := partError(d.Part(), got, hi, v.lo[k])
		out.ULP, out.Special = max(out.ULP, e.ULP), out.Special || e.Special
		out.Sign = out.Sign || v.signed[k] && hi == 0 && got == 0 && math.Signbit(got) != math.Signbit(hi)
	}
	return out
}

func partError(d tensor.DType, got, hi, lo float64) Error {
	rounded := tensor.DecodeFloat(d, tensor.EncodeFloat(d, hi))
	nan, inf := math.IsNaN(rounded), math.IsInf(rounded, 0)
	switch {
	case rounded == got && d.Bits() <= 8: // possibly saturated
		return Error{ULP: 0.5}
	case nan || math.IsNaN(got):
		return Error{Special: nan != math.IsNaN(got)}
	case inf || math.IsInf(got, 0):
		if rounded == got {
			return Error{}
		}
		// One of them is the largest number: count a distance of one.
		largest := tensor.DecodeFloat(d, tensor.EncodeFloat(d, math.Inf(1))-1)
		if d != tensor.F64 && math.Abs(hi) > largest && math.Abs(got) == largest || math.Abs(rounded) == largest {
			return Error{ULP: 1}
		}
		return Error{Special: true}
	}
	_, exp := math.Frexp(math.Max(math.Abs(hi), tensor.DecodeFloat(d, smallest(d))))
	return Error{ULP: math.Abs((got-hi)-lo) / math.Ldexp(Epsilon(d), exp-1)}
}

// smallest returns the code of the smallest normal number.
func smallest(d tensor.DType) uint64 {
	if d == tensor.F8E8M0FNU {
		return 0
	}
	return tensor.EncodeFloat(d, 2) - tensor.EncodeFloat(d, 1)
}
