package opgen

import (
	"fmt"
	"io"
	"strings"
)

// WriteReport writes what was measured as Markdown and returns the ops and columns that exceed their bound without a note.
func WriteReport(w io.Writer, rows []*Row, refused int, lacking []string, n int, seed uint64) (missing []string) {
	notes := Notes()
	fmt.Fprintf(w, intro, n, seed)
	columns := Columns()
	fmt.Fprintf(w, "| op | %s |\n|---|%s\n", strings.Join(columns, " | "), strings.Repeat("---|", len(columns)))
	total := 0
	for _, r := range rows {
		fmt.Fprintf(w, "| `%s` |", r.Op)
		for c, m := range r.Columns {
			if m == nil {
				fmt.Fprint(w, "  |")
				continue
			}
			total += m.Elements
			fmt.Fprintf(w, " %s", cell(m))
			if r.Exceeds(c) {
				if Explained(notes, r.Op, c) {
					fmt.Fprint(w, " *")
				} else {
					fmt.Fprint(w, " !")
					missing = append(missing, r.Op+" "+columns[c])
				}
			}
			fmt.Fprint(w, " |")
		}
		fmt.Fprintln(w)
	}
	fmt.Fprintf(w, "\n%d results were compared; XLA refused %d programs, most of them for their element type.\n", total, refused)
	if len(lacking) > 0 {
		fmt.Fprintf(w, "The embedded engine refuses what XLA takes: %s.\n", strings.Join(lacking, "; "))
	}
	fmt.Fprint(w, "\n## What differs by more, and why\n\n")
	for _, note := range notes {
		var names []string
		for _, c := range note.Columns {
			names = append(names, columns[c])
		}
		fmt.Fprintf(w, "- `%s` (%s): %s\n", note.Op, strings.Join(names, ", "), note.Why)
	}
	fmt.Fprint(w, outro)
	return missing
}

// cell writes a measurement: the largest distance, then how many elements differ in infinity or NaN and in the sign of
// zero.
func cell(m *Measurement) string {
	s := fmt.Sprint(m.MaxULP)
	if m.MaxULP > 1<<20 {
		s = fmt.Sprintf("%.0e", float64(m.MaxULP))
	}
	if m.Specials > 0 {
		s += fmt.Sprintf(" n%d", m.Specials)
	}
	if m.Zeros > 0 {
		s += fmt.Sprintf(" z%d", m.Zeros)
	}
	return s
}
