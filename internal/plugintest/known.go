package plugintest

import (
	"fmt"
	"io"
	"strings"
)

// ReadKnown reads a list of cases that are known to fail, one GROUP/NAME per line. A line that starts with # is a
// comment. A name without a case is an error, because the list must match the suite.
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

// ApplyKnown marks the known failures and returns the cases on the list that pass.
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
