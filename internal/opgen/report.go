package opgen

import (
	"fmt"
	"io"
	"strings"
)

// WriteReport writes the measurements as Markdown and returns the ones that exceed their bound without a note, or the
// note's limit.
func WriteReport(w io.Writer, rows []*Row, refused int, lacking []string, n int, seed uint64, asked, most int) (missing []string) {
	notes := Notes()
	fmt.Fprintf(w, intro, n, seed, most)
	columns := Columns()
	head := fmt.Sprintf("| op | %s |\n|---|%s\n", strings.Join(columns, " | "), strings.Repeat("---|", len(columns)))
	fmt.Fprint(w, head)
	total, proofs := 0, Proof{}
	for _, r := range rows {
		fmt.Fprintf(w, "| `%s` |", r.Op)
		for c, m := range r.Columns {
			if m == nil {
				fmt.Fprint(w, "  |")
				continue
			}
			total += m.Elements
			proofs.add(r.Proofs[c])
			fmt.Fprintf(w, " %s", cell(m))
			if v := r.Violation(notes, c); v != "" {
				fmt.Fprint(w, " !")
				missing = append(missing, v)
			} else if r.Exceeds(c) {
				fmt.Fprint(w, " *")
			}
			fmt.Fprint(w, " |")
		}
		fmt.Fprintln(w)
	}
	fmt.Fprintf(w, "\n%d results were compared; XLA refused %d programs, most of them for their element type.\n", total, refused)
	fmt.Fprintf(w, "%d of them exceed their bound: %s.\n", proofs.Beyond, proofs.text())
	if len(lacking) > 0 {
		fmt.Fprintf(w, "The embedded engine refuses what XLA takes: %s.\n", strings.Join(lacking, "; "))
	}
	if asked > 0 {
		fmt.Fprintf(w, truthIntro, asked)
		fmt.Fprint(w, head[:strings.Index(head, " integers |")]+head[strings.Index(head, " integers |")+len(" integers |"):])
		for _, r := range rows {
			line, any := "", false
			for _, a := range r.Truth[1:] {
				if a == nil || a.Asked == 0 {
					line += "  |"
					continue
				}
				any = true
				line += " " + roundULP(a.ULP[0]) + specials(a.Special[0]) + " / " + roundULP(a.ULP[1]) + specials(a.Special[1]) + " |"
			}
			if any {
				fmt.Fprintf(w, "| `%s` |%s\n", r.Op, line)
			}
		}
	}
	fmt.Fprint(w, "\n## What differs by more, and why\n\nThe limit says how far tests let the two be apart, of elements that are proven, too; where it is none XLA may be at any distance from the truth.\n\n")
	for _, note := range notes {
		var names []string
		for _, c := range note.Columns {
			names = append(names, columns[c])
		}
		limit := fmt.Sprintf("%d ULP", note.Limit)
		if note.Limit == Any {
			limit = "none"
		}
		fmt.Fprintf(w, "- `%s` (%s; limit: %s%s%s): %s.", note.Op, strings.Join(names, ", "), limit, when(note.Special, ", n"), when(note.Zero, ", z"), note.Why)
		proofs := Proof{}
		for _, r := range rows {
			if r.Op == note.Op {
				for _, c := range note.Columns {
					if r.Columns[c] != nil {
						proofs.add(r.Proofs[c])
					}
					if a := r.Truth[c]; a != nil && a.Asked > 0 && r.Exceeds(c) {
						fmt.Fprintf(w, " In %s XLA is off by %s ULP at %s, the engine by no more than %s.", columns[c], roundULP(a.ULP[1]), a.WorstInput[1], roundULP(a.ULP[0]))
					}
				}
			}
		}
		if proofs.Beyond > 0 {
			fmt.Fprintf(w, " Of %d elements beyond the bound %s.", proofs.Beyond, proofs.text())
		}
		fmt.Fprintln(w)
	}
	fmt.Fprint(w, "\nDeviations of XLA that explain elements are listed at the end; these are met only here:\n\n")
	for _, d := range tableDeviations() {
		fmt.Fprintf(w, "- %s: %s.\n", d.Name, d.Why)
	}
	fmt.Fprint(w, outro)
	WriteDeviations(w)
	return missing
}

func when(yes bool, s string) string {
	if yes {
		return s
	}
	return ""
}

func specials(n int) string {
	if n == 0 {
		return ""
	}
	return fmt.Sprintf(" s%d", n)
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

// WriteSamples writes every element with a known true value that at least one engine misses.
func WriteSamples(w io.Writer, rows []*Row) {
	for _, r := range rows {
		for c, m := range r.Columns {
			if m == nil {
				continue
			}
			acc := r.Truth[c]
			if f := r.Proofs[c]; f.Beyond > 0 {
				fmt.Fprintf(w, "%s %s: of %d beyond the bound %s\n", r.Op, Columns()[c], f.Beyond, f.text())
				for _, s := range f.Samples {
					fmt.Fprintf(w, "  nobody says: %s\n", s)
				}
			}
			if acc == nil {
				fmt.Fprintf(w, "%s %s: %s\n", r.Op, Columns()[c], cell(m))
				for _, s := range m.Samples {
					fmt.Fprintf(w, "  %s\n", s)
				}
				continue
			}
			fmt.Fprintf(w, "%s %s: %d asked; engine %s ULP at %s, %d special; XLA %s ULP at %s, %d special\n", r.Op, Columns()[c], acc.Asked,
				roundULP(acc.ULP[0]), acc.WorstInput[0], acc.Special[0], roundULP(acc.ULP[1]), acc.WorstInput[1], acc.Special[1])
			for _, s := range acc.Samples {
				if s.Error[0].Special || s.Error[1].Special || s.Error[0].ULP > 4 || s.Error[1].ULP > 4 {
					fmt.Fprintf(w, "  %-50s true %-45s engine %-45s %s XLA %-45s %s\n", s.Input, s.True, s.A, errorText(s.Error[0]), s.B, errorText(s.Error[1]))
				}
			}
		}
	}
}

func errorText(e Error) string {
	if e.Special {
		return "special"
	}
	return roundULP(e.ULP)
}
