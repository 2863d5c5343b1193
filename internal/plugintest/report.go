package plugintest

import (
	"encoding/xml"
	"fmt"
	"io"
	"slices"
	"strings"
	"text/tabwriter"

	"github.com/hlocb/hlocb/diag"
)

// WriteTable writes a line per group, a line for the total, and a line per case that did not pass.
func WriteTable(w io.Writer, results []Result) error {
	tw := tabwriter.NewWriter(w, 0, 8, 2, ' ', 0)
	fmt.Fprintln(tw, "GROUP\tPASSED\tFAILED\tKNOWN\tSKIPPED")
	var all = map[Status]int{}
	for _, g := range groups(results) {
		var n = map[Status]int{}
		for _, r := range results {
			if r.Case.Group == g {
				n[r.Status]++
				all[r.Status]++
			}
		}
		fmt.Fprintf(tw, "%s\t%d\t%d\t%d\t%d\n", g, n[Passed], n[Failed], n[Known], n[Skipped])
	}
	fmt.Fprintf(tw, "all\t%d\t%d\t%d\t%d\n", all[Passed], all[Failed], all[Known], all[Skipped])
	if err := tw.Flush(); err != nil {
		return err
	}
	for _, r := range results {
		if r.Status == Passed {
			continue
		}
		message := strings.TrimSpace(r.Message)
		if first, _, more := strings.Cut(message, "\n"); more {
			message = first + " ..."
		}
		if _, err := fmt.Fprintf(w, "%s %s: %s\n", r.Status, r.Case.ID(), diag.Escape(message)); err != nil {
			return err
		}
	}
	return nil
}

// groups returns the groups in order of appearance.
func groups(results []Result) []string {
	var out []string
	for _, r := range results {
		if !slices.Contains(out, r.Case.Group) {
			out = append(out, r.Case.Group)
		}
	}
	return out
}

type junitSuites struct {
	XMLName xml.Name `xml:"testsuites"`
	junitCounts
	Suites []junitSuite `xml:"testsuite"`
}

type junitSuite struct {
	junitCounts
	Cases []junitCase `xml:"testcase"`
}

type junitCounts struct {
	Name     string `xml:"name,attr"`
	Tests    int    `xml:"tests,attr"`
	Failures int    `xml:"failures,attr"`
	Skipped  int    `xml:"skipped,attr"`
	Time     string `xml:"time,attr"`
}

type junitCase struct {
	Class   string        `xml:"classname,attr"`
	Name    string        `xml:"name,attr"`
	Time    string        `xml:"time,attr"`
	Failure *junitMessage `xml:"failure"`
	Skipped *junitMessage `xml:"skipped"`
}

type junitMessage struct {
	Message string `xml:"message,attr"`
	Text    string `xml:",chardata"`
}

// WriteJUnit writes the results as JUnit XML, a suite per group. name is the name of the backend. A known failure
// counts as skipped.
func WriteJUnit(w io.Writer, name string, results []Result) error {
	out := junitSuites{junitCounts: junitCounts{Name: name}}
	var all float64
	for _, g := range groups(results) {
		s := junitSuite{junitCounts: junitCounts{Name: name + "." + g}}
		var total float64
		for _, r := range results {
			if r.Case.Group != g {
				continue
			}
			c := junitCase{Class: s.Name, Name: r.Case.Name, Time: seconds(r.Took.Seconds())}
			first, _, _ := strings.Cut(r.Message, "\n")
			switch r.Status {
			case Failed:
				s.Failures++
				c.Failure = &junitMessage{first, r.Message}
			case Known:
				s.Skipped++
				c.Skipped = &junitMessage{Message: "known failure: " + first}
			case Skipped:
				s.Skipped++
				c.Skipped = &junitMessage{Message: first}
			}
			total += r.Took.Seconds()
			s.Tests++
			s.Cases = append(s.Cases, c)
		}
		s.Time = seconds(total)
		out.Suites = append(out.Suites, s)
		out.Tests, out.Failures, out.Skipped, all = out.Tests+s.Tests, out.Failures+s.Failures, out.Skipped+s.Skipped, all+total
	}
	out.Time = seconds(all)
	if _, err := io.WriteString(w, xml.Header); err != nil {
		return err
	}
	e := xml.NewEncoder(w)
	e.Indent("", "  ")
	if err := e.Encode(out); err != nil {
		return err
	}
	_, err := io.WriteString(w, "\n")
	return err
}

func seconds(s float64) string { return fmt.Sprintf("%.6f", s) }
