package opgen

import (
	"fmt"
	"io"
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

// WriteDifferences writes all differences, each with its module, its arguments and both results.
func WriteDifferences(w io.Writer, list []Difference) {
	for _, d := range list {
		p := d.Program
		fmt.Fprintf(w, "\n== %s on %s, program %d: %v\n%s", p.Op, p.DType, d.Number, d.Why, print.String(p.Run.Module, print.Options{}))
		for i, values := range [][]*tensor.Tensor{p.Args, d.A, d.B} {
			for k, t := range values {
				fmt.Fprintf(w, "%s %d %s:", []string{"argument", "engine", "XLA"}[i], k, typeText(t.DType(), t.Shape()))
				for e := range min(t.NumElements(), 400) {
					fmt.Fprint(w, " ", elementText(t, e))
				}
				fmt.Fprintln(w)
			}
		}
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
	switch d := t.DType(); {
	case d == tensor.Complex64:
		return fmt.Sprint(complex64(t.ComplexAt(i)))
	case d.IsComplex():
		return fmt.Sprint(t.ComplexAt(i))
	case d.IsFloat():
		return fmt.Sprint(t.FloatAt(i))
	}
	return fmt.Sprint(t.IntAt(i))
}
