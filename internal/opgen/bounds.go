package opgen

import (
	"fmt"
	"math"
	"slices"
	"strings"

	"github.com/hlocb/hlocb/tensor"
)

// Bound returns how many units in the last place the engines may be apart on a column without a note: 0 if the
// specification or IEEE 754 defines the result exactly, a few for functions that both engines approximate.
func (r *Row) Bound(column int) uint64 {
	if r.Exact || column == 0 {
		return 0
	}
	return [...]uint64{0, 1, 2, 1, 4, 4, 4, 4}[column]
}

// Exceeds reports whether a column needs a note: it is above its bound, or infinities, NaN or signs of zeros differ.
func (r *Row) Exceeds(column int) bool {
	m := r.Columns[column]
	return m != nil && (m.MaxULP > r.Bound(column) || m.Specials > 0 || m.Zeros > 0)
}

// Any is the limit of a note that allows any distance.
const Any = math.MaxUint64

// Note explains why the engines differ on an op by more than the bound, and states the limit.
type Note struct {
	Op      string
	Columns []int  // the columns that the note explains
	Limit   uint64 // the distance in units in the last place
	Special bool   // infinities and NaN may differ
	Zero    bool   // signs of zeros may differ
	Why     string
}

// NoteOn returns the note on a column of an op, or nil if there is none.
func NoteOn(notes []Note, op string, column int) *Note {
	for i, n := range notes {
		if n.Op == op && slices.Contains(n.Columns, column) {
			return &notes[i]
		}
	}
	return nil
}

// Violation describes how a column exceeds both its bound and its note's limit. It returns "" if the column does not.
func (r *Row) Violation(notes []Note, column int) string {
	m := r.Columns[column]
	if m == nil {
		return ""
	}
	n := NoteOn(notes, r.Op, column)
	if n == nil {
		n = &Note{}
	}
	what := ""
	if m.MaxULP > max(r.Bound(column), n.Limit) {
		what += fmt.Sprintf(" %d ULP apart", m.MaxULP)
	}
	if m.Specials > 0 && !n.Special {
		what += fmt.Sprintf(" %d infinities or NaN differ", m.Specials)
	}
	if m.Zeros > 0 && !n.Zero {
		what += fmt.Sprintf(" %d zeros differ in sign", m.Zeros)
	}
	if f := r.Proofs[column]; f != nil && f.Unsettled > 0 {
		what += fmt.Sprintf(" nobody says who is right of %d elements: %s", f.Unsettled, strings.Join(f.Samples, "; "))
	}
	if a := r.Truth[column]; a != nil {
		if a.Sign[0] > 0 {
			what += fmt.Sprintf(" the engine has zeros of the wrong sign, %d times", a.Sign[0])
		}
		limit := EngineBound(r.Op, column)
		if a.ULP[0] > limit {
			what += fmt.Sprintf(" the engine is %.3g ULP off at %s, more than %g", a.ULP[0], a.WorstInput[0], limit)
		}
		if a.Special[0] > 0 && !math.IsInf(limit, 1) {
			what += fmt.Sprintf(" the engine is infinite or NaN where it should not be, or the other way round, %d times", a.Special[0])
		}
	}
	if what != "" {
		what = r.Op + " on " + Columns()[column] + ":" + what
	}
	return what
}

// Negligible returns a fraction of a complex result's modulus. A part below this fraction is too small to be judged
// on its own. Negligible returns 0 if the op's parts can always be judged. The engine computes angles of power and
// atan2 in double-double, with 104 bits; a part that is smaller than the other by more than this has no correct
// digits.
func Negligible(op string, d tensor.DType) float64 {
	switch {
	case bare(op) != "stablehlo.atan2" && bare(op) != "stablehlo.power":
		return 0
	case d == tensor.Complex64:
		return 0x1p-48
	}
	return 0x1p-20
}

// EngineBound returns how many units in the last place the embedded engine may differ from the true value of a
// function, per part for complex numbers. Except for f64 and some functions of f32, the
// engine rounds once from a wider type.
func EngineBound(op string, column int) float64 {
	switch column {
	case 4:
		switch shortOp(op) {
		case "exponential", "exponential_minus_one", "log", "log_plus_one", "logistic", "tanh", "erf", "erf_inv":
			return 3 // computed in f32
		}
		return 0.51
	case 1, 2, 3:
		return 0.51
	case 6:
		if op == "stablehlo.power" {
			return 2
		}
		return 0.51
	case 7:
		return 6
	}
	switch op {
	case "chlo.lgamma", "chlo.digamma":
		return 1 << 15 // near their zeros, where XLA loses as many digits
	case "chlo.polygamma", "chlo.zeta":
		return 1 << 30 // terms of any size cancel, as in XLA
	case "chlo.bessel_i1e":
		return 8
	}
	return 4
}
