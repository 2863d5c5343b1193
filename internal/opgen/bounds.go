package opgen

import (
	_ "embed"
	"math"
	"slices"
	"strconv"
	"strings"

	"github.com/hlocb/hlocb/tensor"
)

// Columns returns the names of the groups of types. Each group has its own bounds.
func Columns() []string {
	return []string{"integers", "≤ 8 bits", "f16", "bf16", "f32", "f64", "complex<f32>", "complex<f64>"}
}

// Column returns the group of a type.
func Column(d tensor.DType) int {
	switch d {
	case tensor.F16:
		return 2
	case tensor.BF16:
		return 3
	case tensor.F32:
		return 4
	case tensor.F64:
		return 5
	case tensor.Complex64:
		return 6
	case tensor.Complex128:
		return 7
	}
	if d.IsFloat() {
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

// usual is the distance between two good implementations of a function, by column.
var usual = [...]uint64{0, 1, 2, 1, 4, 4, 4, 4}

// bounds returns the names in bounds.txt, in order, and their bounds by column. A column without a bound is nil.
func bounds() (names []string, table map[string][8]*Bound) {
	table = map[string][8]*Bound{}
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
		names = append(names, fields[0])
		table[fields[0]] = row
	}
	return names, table
}

// BoundOf returns the bound of an op on a column, and whether bounds.txt has it. Other ops have the usual bound.
func BoundOf(op string, column int) (Bound, bool) {
	_, table := bounds()
	if b := table[strings.TrimPrefix(shortOp(op), "broadcast_")][column]; b != nil {
		return *b, true
	}
	return Bound{ULP: usual[column]}, false
}

// Table returns the bounds of the common types as a table in Markdown.
func Table() string {
	shown := []int{2, 3, 4, 5}
	var b strings.Builder
	b.WriteString("| function |")
	for _, c := range shown {
		b.WriteString(" " + Columns()[c] + " |")
	}
	b.WriteString("\n|---|" + strings.Repeat("---|", len(shown)) + "\n")
	names, table := bounds()
	for _, name := range names {
		row := table[name]
		if !slices.ContainsFunc(shown, func(c int) bool { return row[c] != nil }) {
			continue
		}
		b.WriteString("| `" + name + "` |")
		for _, c := range shown {
			if row[c] == nil {
				b.WriteString("  |")
			} else {
				b.WriteString(" " + strings.Replace(strconv.FormatUint(row[c].ULP, 10), strconv.FormatUint(Any, 10), "any", 1) + " |")
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
	case column == 4 && slices.Contains([]string{"exponential", "exponential_minus_one", "log", "log_plus_one", "logistic", "tanh", "erf", "erf_inv", "acosh", "asinh", "atanh"}, op):
		return 3 // computed in f32
	}
	return 0.51
}
