package meter

import (
	"fmt"
	"io"
	"text/tabwriter"
)

// Row is a figure of hlocb beside the same figure of a peer, in seconds unless it has a unit. Its goal is a ratio:
// hlocb takes at most AtMost times the peer's time, or the peer takes at least AtLeast times hlocb's. A row without a
// goal has neither.
type Row struct {
	Name            string
	Ours, Peer      float64
	Unit            string // of both, instead of seconds
	AtMost, AtLeast float64
}

// Ratio returns the ratio that the goal limits: of hlocb to the peer, or of the peer to hlocb if the goal is a minimum.
func (r Row) Ratio() float64 {
	if r.AtLeast > 0 {
		return r.Peer / r.Ours
	}
	return r.Ours / r.Peer
}

// goal returns the goal and whether the row reaches it.
func (r Row) goal() string {
	text, reached := "", false
	switch ratio := r.Ratio(); {
	case r.AtLeast > 0:
		text, reached = fmt.Sprintf("at least %g", r.AtLeast), ratio >= r.AtLeast
	case r.AtMost > 0:
		text, reached = fmt.Sprintf("at most %g", r.AtMost), ratio <= r.AtMost
	default:
		return ""
	}
	if reached {
		return text + ": reached"
	}
	return text + ": MISSED"
}

// Table writes rows in columns.
func Table(w io.Writer, rows []Row) error {
	t := tabwriter.NewWriter(w, 0, 0, 2, ' ', 0)
	fmt.Fprintln(t, "NAME\tOURS\tPEER\tRATIO\tGOAL")
	for _, r := range rows {
		fmt.Fprintf(t, "%s\t%s\t%s\t%.3g\t%s\n", r.Name, r.format(r.Ours), r.format(r.Peer), r.Ratio(), r.goal())
	}
	return t.Flush()
}

func (r Row) format(v float64) string {
	if r.Unit != "" {
		return fmt.Sprintf("%.3g %s", v, r.Unit)
	}
	return seconds(v)
}

// seconds formats a time with three digits.
func seconds(s float64) string {
	switch {
	case s < 1e-6:
		return fmt.Sprintf("%.3g ns", s*1e9)
	case s < 1e-3:
		return fmt.Sprintf("%.3g µs", s*1e6)
	case s < 1:
		return fmt.Sprintf("%.3g ms", s*1e3)
	}
	return fmt.Sprintf("%.3g s", s)
}
