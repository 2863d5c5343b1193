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
