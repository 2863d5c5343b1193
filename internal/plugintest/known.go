package plugintest

import (
	"fmt"
	"io"
	"strings"
)

// ReadKnown reads a list of cases that are known to fail: GROUP/NAME, one a line; what follows a # at the start of a
// line is for people. A name that no case has is an error, so that the list does not outlive the suite.
func ReadKnown(r io.Reader) (map[string]bool, error) {
	text, err := io.ReadAll(r)
	if err != nil {
		return nil, err
	}
	names := map[string]bool{}
	for _, c := range Suite() {
		names[c.ID()] = true
	}
	known := map[string]bool{}
	for i, line := range strings.Split(string(text), "\n") {
		line = strings.TrimSpace(line)
		if line == "" || line[0] == '#' {
			continue
		}
		if !names[line] {
			return nil, fmt.Errorf("line %d: no case is called %q", i+1, line)
		}
		known[line] = true
	}
	return known, nil
}

// ApplyKnown marks the failures that were known and returns the cases that pass although they are on the list.
func ApplyKnown(results []Result, known map[string]bool) (passing []string) {
	for i := range results {
		r := &results[i]
		if !known[r.Case.ID()] {
			continue
		}
		switch r.Status {
		case Failed:
			r.Status = Known
		case Passed:
			passing = append(passing, r.Case.ID())
		}
	}
	return passing
}
