package opgen

import (
	_ "embed"
	"fmt"
	"maps"
	"math"
	"slices"
	"strconv"
	"strings"
	"sync"

	"github.com/hlocb/hlocb/tensor"
)

// Column returns the column of bounds.txt that has the bounds of a type: 0 for integers, which have none, 1 for floats
// of up to 8 bits, and 2 to 7 for the wide types.
func Column(d tensor.DType) int {
	i := slices.Index([]tensor.DType{tensor.F16, tensor.BF16, tensor.F32, tensor.F64, tensor.Complex64, tensor.Complex128}, d)
	switch {
	case i >= 0:
		return i + 2
	case d.IsFloat():
		return 1
	}
	return 0
}

//go:embed bounds.txt
var boundsText string

// Any is a bound that allows any distance.
const Any = math.MaxUint64

// Bound limits the distance of engine and XLA on a function.
type Bound struct {
	ULP     uint64
	Special bool // infinities and NaN may differ
	Zero    bool // signs of zeros may differ
}

// bounds holds the bounds in bounds.txt by function and column.
var bounds = sync.OnceValue(func() map[string][8]*Bound {
	table := map[string][8]*Bound{}
	for line := range strings.Lines(boundsText) {
		fields := strings.Fields(line)
		if fields[0][0] == '#' {
			continue
		}
		var row [8]*Bound
		for i, s := range fields[1:] {
			if s == "-" {
				continue
			}
			b := &Bound{ULP: Any, Special: strings.Contains(strings.TrimPrefix(s, "any"), "n"), Zero: strings.HasSuffix(s, "z")}
			if !strings.HasPrefix(s, "any") {
				b.ULP, _ = strconv.ParseUint(strings.TrimRight(s, "nz"), 10, 64)
			}
			row[i+1] = b
		}
		table[fields[0]] = row
	}
	return table
})

// boundOf returns the bound of a function on a type. It returns nil for ops with defined results.
func boundOf(op string, d tensor.DType) *Bound {
	return bounds()[strings.TrimPrefix(shortOp(op), "broadcast_")][Column(d)]
}

// Table returns the bounds of the common types as a table in Markdown: the bound on ordinary values, then the bound on
// all values if it is another.
func Table() string {
	var b strings.Builder
	b.WriteString("| function | f16 | bf16 | f32 | f64 | complex<f32> | complex<f64> |\n|---|---|---|---|---|---|---|\n")
	for _, name := range slices.Sorted(maps.Keys(bounds())) {
		row := bounds()[name]
		fmt.Fprintf(&b, "| `%s` |", name)
		for _, bound := range row[2:8] {
			switch {
			case bound == nil:
				b.WriteString(" - |")
			case bound.ULP == Any:
				fmt.Fprintf(&b, " %d, any |", onOrdinary)
			case bound.ULP > 128:
				fmt.Fprintf(&b, " %d, %d |", onOrdinary, bound.ULP)
			default:
				fmt.Fprintf(&b, " %d |", bound.ULP)
			}
		}
		b.WriteString("\n")
	}
	return b.String()
}

// FollowsXLA reports whether the engine computes an op on complex numbers by XLA's formula, which lacks some of C99's
// signs of zeros and NaN.
func FollowsXLA(op string, column int) bool {
	return column >= 6 && slices.Contains([]string{"acos", "acosh", "asin", "asinh", "atan", "atanh", "_asin_acos_kernel", "square"}, shortOp(op))
}

// EngineBound returns how many units in the last place the embedded engine may differ from the true value of a
// function, per part for complex numbers. It is infinite for functions that, like XLA's, lose all digits on some
// values. Except for f64 and some functions of f32 and complex<f32>, the engine rounds once from a wider type.
func EngineBound(op string, column int) float64 {
	switch follows := FollowsXLA(op, column); {
	case follows && shortOp(op) == "acosh":
		return math.Inf(1) // a real part below the smallest normal number is lost
	case follows && column == 6:
		return 3
	}
	op = shortOp(op)
	switch {
	case column == 4 && (op == "lgamma" || op == "digamma"):
		return math.Inf(1) // near their zeros
	case op == "polygamma" || op == "zeta" || column >= 6 && (op == "atan2" || op == "power"):
		return math.Inf(1)
	case column == 7 && (op == "exponential_minus_one" || op == "logistic"):
		return 1 << 20 // if the terms of the real part cancel
	case column == 7:
		return 6
	case column == 5 && (op == "lgamma" || op == "digamma"):
		return 1 << 15 // near their zeros, where XLA loses as many digits
	case column == 5 && op == "bessel_i1e":
		return 9 // below 8, where the terms of the series cancel
	case column == 5:
		return 4
	case column == 4 && slices.Contains([]string{"exponential", "exponential_minus_one", "log", "log_plus_one", "logistic", "tanh", "erf", "erf_inv"}, op):
		return 3 // computed in f32
	}
	return 0.51
}
