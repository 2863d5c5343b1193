package cli_test

import (
	"bytes"
	"context"
	"regexp"
	"strings"
	"testing"

	"github.com/hlocb/hlocb/internal/cli"
)

// TestBenchCallbacks checks that every line has its times.
func TestBenchCallbacks(t *testing.T) {
	var out, errs bytes.Buffer
	if code := cli.Run(context.Background(), []string{"bench", "callbacks", "--backend", "interp", "--rounds", "1"}, strings.NewReader(""), &out, &errs); code != 0 {
		t.Fatalf("exit code %d: %s", code, errs.String())
	}
	for pattern, want := range map[string]int{
		`(?m)^(callback of 16 B|with a time limit)( +\d+ ns){3}$`: 2,
		`(?m)^\d+ (?:B|KiB|MiB)( +\d+\.\d µs){3} +\d+$`:           5,
	} {
		if got := len(regexp.MustCompile(pattern).FindAllString(out.String(), -1)); got != want {
			t.Errorf("%d lines like %s, want %d:\n%s", got, pattern, want, out.String())
		}
	}
}
