package main

import (
	"strings"
	"testing"
)

// TestUsage: without a name, or with an unknown one, the command lists all measurements.
func TestUsage(t *testing.T) {
	for _, args := range [][]string{nil, {"nothing"}} {
		var out, errs strings.Builder
		if code := run(args, &out, &errs); code != 2 || out.String() != "" {
			t.Errorf("run(%q) is %d and prints %q", args, code, out.String())
		}
		for _, b := range benchmarks {
			if !strings.Contains(errs.String(), "  "+b.name+" ") {
				t.Errorf("run(%q) does not list %s:\n%s", args, b.name, &errs)
			}
		}
	}
}
