package opgen

import (
	"bytes"
	_ "embed"
	"encoding/json"
	"fmt"
	"math"
	"os/exec"
	"strconv"

	"github.com/hlocb/hlocb/tensor"
)

//go:embed truth.py
var truthScript string

// Truth computes true values of functions with a Python that has mpmath and numpy.
type Truth struct{ python string }

// NewTruth returns nil if the Python lacks mpmath.
func NewTruth(python string) *Truth {
	if python == "" || exec.Command(python, "-c", "import mpmath, numpy").Run() != nil {
		return nil
	}
	return &Truth{python}
}

// Value is the true value of an element: the sum of two floats for each part. Known is false if it could not be
// computed.
type Value struct {
	Known  bool
	hi, lo [2]float64
	signed [2]bool // whether the sign of a zero is the one that C99 requires
}

// Question asks for the values of a function at some elements of its operands.
type Question struct {
	Op       string // with its dialect
	Args     []*tensor.Tensor
	Elements []int
}

type truthJob struct {
	Fn      string     `json:"fn"`
	Complex bool       `json:"complex"`
	Args    [][]string `json:"args"`
}

// Ask returns the values for all questions.
func (t *Truth) Ask(questions []Question) ([][]Value, error) {
	var in struct {
		Jobs []truthJob `json:"jobs"`
	}
	hex := func(v float64) string { return strconv.FormatFloat(v, 'x', -1, 64) }
	for _, q := range questions {
		j := truthJob{Fn: shortOp(q.Op), Complex: q.Args[0].DType().IsComplex(), Args: [][]string{}}
		for _, a := range q.Args {
			list := []string{}
			for _, i := range q.Elements {
				if j.Complex {
					v := a.ComplexAt(i)
					list = append(list, hex(real(v)), hex(imag(v)))
				} else {
					list = append(list, hex(a.FloatAt(i)))
				}
			}
			j.Args = append(j.Args, list)
		}
		in.Jobs = append(in.Jobs, j)
	}
	text, err := json.Marshal(in)
	if err != nil {
		return nil, err
	}
	cmd := exec.Command(t.python, "-c", truthScript)
	var stderr bytes.Buffer
	cmd.Stdin, cmd.Stderr = bytes.NewReader(text), &stderr
	answer, err := cmd.Output()
	if err != nil {
		return nil, fmt.Errorf("%w\n%s", err, stderr.Bytes())
	}
	var raw [][][][]string
	if err := json.Unmarshal(answer, &raw); err != nil {
		return nil, err
	}
	out := make([][]Value, len(raw))
	for k, list := range raw {
		for _, parts := range list {
			v := Value{Known: parts != nil}
			for p, pair := range parts {
				hi, err1 := strconv.ParseFloat(pair[0], 64)
				lo, err2 := strconv.ParseFloat(pair[1], 64)
				if err1 != nil || err2 != nil {
					return nil, fmt.Errorf("cannot read %q", pair)
				}
				v.hi[p], v.lo[p], v.signed[p] = hi, lo, len(pair) > 2
			}
			out[k] = append(out[k], v)
		}
	}
	return out, nil
}

// shortOp returns an op's name without its dialect.
func shortOp(op string) string {
	for i := range op {
		if op[i] == '.' {
			return bare(op[i+1:])
		}
	}
	return op
}

// Error is the error of a computed element.
type Error struct {
	ULP     float64 // of the larger part, each part in units of its own last place
	Special bool    // infinite or NaN, and the true value is not, or the reverse
	Sign    bool    // a zero of the wrong sign
	Tiny    bool    // the true value, or a part of it, is below the smallest normal number
}

// Error compares element i of a result. A part of a complex number that is below the modulus times negligible only
// has to stay below this product: its error is in units of the product's last place, and the part may be infinite if
// the other one is.
func (v Value) Error(t *tensor.Tensor, i int, negligible float64) Error {
	d := t.DType()
	if !d.IsComplex() {
		return partError(d, t.FloatAt(i), v.hi[0], v.lo[0], 0)
	}
	c, part := t.ComplexAt(i), d.Part()
	size := math.Max(math.Abs(v.hi[0]), math.Abs(v.hi[1]))
	least := 0.0
	if negligible > 0 && !math.IsNaN(size) {
		least = negligible * math.Min(size, math.MaxFloat64)
	}
	of := func(got float64, k int) Error {
		if math.IsInf(v.hi[k], 0) && math.IsNaN(v.hi[1-k]) {
			got = math.Copysign(got, v.hi[k]) // C99 leaves the sign open
		}
		if math.Abs(v.hi[k]) < least && math.IsInf(got, 0) && math.IsInf(tensor.DecodeFloat(part, tensor.EncodeFloat(part, size)), 0) {
			return Error{}
		}
		return partError(part, got, v.hi[k], v.lo[k], least)
	}
	re, im := of(real(c), 0), of(imag(c), 1)
	sign := func(got float64, k int) bool {
		return v.signed[k] && v.hi[k] == 0 && got == 0 && math.Signbit(got) != math.Signbit(v.hi[k])
	}
	return Error{max(re.ULP, im.ULP), re.Special || im.Special, sign(real(c), 0) || sign(imag(c), 1), re.Tiny || im.Tiny}
}

func partError(d tensor.DType, got, hi, lo, least float64) Error {
	rounded := tensor.DecodeFloat(d, tensor.EncodeFloat(d, hi))
	nan, inf := math.IsNaN(rounded), math.IsInf(rounded, 0)
	switch {
	case rounded == got && d.Bits() <= 8: // possibly saturated
		return Error{ULP: 0.5, Tiny: math.Abs(hi) < tensor.DecodeFloat(d, smallest(d))}
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
	low := max(tensor.DecodeFloat(d, smallest(d)), least)
	e := Error{Tiny: math.Abs(hi) < tensor.DecodeFloat(d, smallest(d))}
	_, exp := math.Frexp(math.Max(math.Abs(hi), low))
	unit := math.Ldexp(Epsilon(d), exp-1)
	e.ULP = math.Abs((got-hi)-lo) / unit
	return e
}

// smallest returns the code of the smallest normal number.
func smallest(d tensor.DType) uint64 {
	if d == tensor.F8E8M0FNU {
		return 0
	}
	return tensor.EncodeFloat(d, 2) - tensor.EncodeFloat(d, 1)
}
