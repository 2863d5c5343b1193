package main

import (
	"os"
	"path/filepath"
	"strings"
	"testing"
)

// TestReport: a part needs every test of it. A whole run replaces a short one, and a failure stays.
func TestReport(t *testing.T) {
	p := part{"Everything", "./a", "TestA|TestB"}
	event := func(pkg, test, action, output string) string {
		return `{"Action":"` + action + `","Package":"github.com/hlocb/hlocb` + pkg + `","Test":"` + test + `","Output":"` + output + `"}` + "\n"
	}
	short := event("/a", "TestA", "output", `    a_test.go:1: 3 of 3 files\n`) + event("/a", "TestA", "pass", "") + event("/a", "TestB", "skip", "")
	long := event("/a", "TestB", "output", `    b_test.go:2: 70 files\n        more\n`) + event("/a", "TestB/sub", "fail", "") + event("/a", "TestB", "pass", "")
	again := event("/a", "TestA", "skip", "") + event("/a", "TestB", "skip", "")
	broken := event("/a", "TestB", "fail", "")
	for _, tt := range []struct {
		name, in, want string
		ok             bool
	}{
		{"short", short, "3 of 3 files", true},
		{"long", short + long + again, "3 of 3 files\n  70 files\n      more\n  ok ./a", true},
		{"one missing", event("/a", "TestA", "pass", ""), "TestB failed or did not run", false},
		{"another package", event("/b", "TestA", "pass", "") + long, "TestA failed or did not run", false},
		{"failed", short + broken + long, "TestB failed or did not run", false},
		{"died", short + event("/a", "TestB", "output", "SIGSEGV"), "TestB failed or did not run", false},
	} {
		var out strings.Builder
		if ok := report(p, read([]byte(tt.in)), &out); ok != tt.ok || !strings.Contains(out.String(), tt.want) {
			t.Errorf("%s: %v, output\n%s\nwant %q", tt.name, ok, &out, tt.want)
		}
	}
}

// TestParts: every test of a part exists.
func TestParts(t *testing.T) {
	for _, p := range parts {
		files, err := filepath.Glob(filepath.Join("../..", p.pkg, "*_test.go"))
		if err != nil {
			t.Fatal(err)
		}
		var source strings.Builder
		for _, f := range files {
			text, err := os.ReadFile(f)
			if err != nil {
				t.Fatal(err)
			}
			source.Write(text)
		}
		for name := range strings.SplitSeq(p.tests, "|") {
			if !strings.Contains(source.String(), "\nfunc "+name+"(t *testing.T)") {
				t.Errorf("%s: %s has no %s", p.title, p.pkg, name)
			}
		}
	}
}
