package opgen

import (
	"fmt"
	"io"
	"slices"
	"strings"

	"github.com/hlocb/hlocb/print"
	"github.com/hlocb/hlocb/tensor"
)

// Difference is a random program on which two engines differ.
type Difference struct {
	Number  int // of the program, in the order of generation
	Program *Program
	A, B    []*tensor.Tensor // results
	Why     error            // the error of JudgeRandom or of an engine
}

// WriteDifferences writes all differences, grouped by op and type: the count, then each with its module, its
// arguments and both results.
func WriteDifferences(w io.Writer, list []Difference) {
	groups := map[string][]Difference{}
	for _, d := range list {
		k := d.Program.Op + " on " + d.Program.DType.String()
		groups[k] = append(groups[k], d)
	}
	names := make([]string, 0, len(groups))
	for k := range groups {
		names = append(names, k)
	}
	slices.Sort(names)
	for _, k := range names {
		fmt.Fprintf(w, "%6d %s\n", len(groups[k]), k)
	}
	for _, k := range names {
		for _, d := range groups[k] {
			fmt.Fprintf(w, "\n== %s, program %d: %v\n%s", k, d.Number, d.Why, print.String(d.Program.Run.Module, print.Options{}))
			writeValues(w, "argument", d.Program.Args)
			writeValues(w, "engine", d.A)
			writeValues(w, "XLA", d.B)
		}
	}
}

func writeValues(w io.Writer, what string, list []*tensor.Tensor) {
	for i, t := range list {
		var b strings.Builder
		for k := range min(t.NumElements(), 400) {
			if k > 0 {
				b.WriteString(", ")
			}
			b.WriteString(elementText(t, k))
		}
		fmt.Fprintf(w, "%s %d %s: %s\n", what, i, typeText(t.DType(), t.Shape()), b.String())
	}
}

// Text formats element i of the operands and results of an element-wise program.
func Text(p *Program, results []*tensor.Tensor, i int) string {
	var parts []string
	for _, t := range append(p.Args[:len(p.Args):len(p.Args)], results...) {
		parts = append(parts, elementText(t, i))
	}
	return strings.Join(parts, ", ")
}

// elementText formats element i of a tensor.
func elementText(t *tensor.Tensor, i int) string {
	if t.DType().IsComplex() {
		v := t.ComplexAt(i)
		bits := 64
		if t.DType() == tensor.Complex64 {
			bits = 32
		}
		return fmt.Sprintf("%s%+si", floatText(real(v), bits), signedText(imag(v), bits))
	}
	if !t.DType().IsFloat() {
		return fmt.Sprint(t.IntAt(i))
	}
	return floatText(t.FloatAt(i), 64)
}

func floatText(v float64, bits int) string {
	if bits == 32 {
		return fmt.Sprintf("%v", float32(v))
	}
	return fmt.Sprintf("%v", v)
}

func signedText(v float64, bits int) string {
	s := floatText(v, bits)
	if s[0] != '-' && s[0] != '+' {
		s = "+" + s
	}
	return s
}
