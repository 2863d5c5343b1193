package conformance_test

import (
	"errors"
	"maps"
	"os"
	"path/filepath"
	"regexp"
	"slices"
	"strconv"
	"strings"
	"testing"

	"github.com/hlocb/hlocb/diag"
	"github.com/hlocb/hlocb/internal/testkit"
	"github.com/hlocb/hlocb/ir"
	"github.com/hlocb/hlocb/parse"
)

// parseOnly matches the RUN lines of files that upstream's tool only reads and verifies, and whose types it infers.
var parseOnly = regexp.MustCompile(`(?m)^// RUN: *stablehlo-opt((?: +(?:%s|--?verify-diagnostics|--?split-input-file|--?allow-unregistered-dialect|--?hlo-test-infer))+) *(\||$)`)

// findings reads and verifies one chunk.
func findings(reg *ir.Registry, src *diag.Source) diag.List {
	m, err := parse.Parse(src, ir.NewContext(reg), parse.Options{MaxErrors: 100})
	if err == nil {
		err = ir.Verify(m)
	}
	return listOf(err)
}

func listOf(err error) diag.List {
	var list diag.List
	var one *diag.Diagnostic
	switch {
	case err == nil:
	case errors.As(err, &list):
	case errors.As(err, &one):
		list = diag.List{one}
	}
	return list
}

// TestExpectedErrors reads the chunks of upstream's test files that expect errors. hlocb must refuse each chunk on the
// expected line with the expected message.
func TestExpectedErrors(t *testing.T) {
	dir := testkit.Upstream(t)
	reg := testkit.Registry(t)
	lines := tally{}
	messages := tally{}
	accepted, used := acceptedDifferences(t), map[string]bool{}
	for _, f := range mlirFiles(t, dir) {
		text, err := os.ReadFile(filepath.Join(dir, f))
		if err != nil {
			t.Fatal(err)
		}
		if !parseOnly.Match(text) || !strings.Contains(string(text), "expected-error") {
			continue
		}
		for _, src := range diag.NewSource(f, text).Split() {
			expected, err := diag.Expectations(src)
			if err != nil {
				t.Error(err)
				continue
			}
			if len(expected) == 0 {
				continue
			}
			found := findings(reg, src)
			for i := range expected {
				e := &expected[i]
				if e.Severity != diag.Error {
					continue
				}
				line, _ := src.LineColumn(e.At)
				name := f + ":" + strconv.Itoa(line)
				onLine, matches := false, false
				got := "nothing"
				for _, d := range found {
					at, _ := d.Source.LineColumn(d.Pos)
					if at == e.Line {
						onLine = true
						got = d.Message
					} else if !onLine {
						got = d.Error()
					}
					matches = matches || at == e.Line && e.MatchesMessage(d.Message)
				}
				lines.add(f, name, failUnless(onLine, "want "+e.Message+"\n    got "+got))
				messages.add(f, name, failUnless(matches, "message"))
				if !matches {
					if accepted[name] == "" {
						t.Errorf("%s\n    want %s\n    got  %s", name, e.Message, got)
					}
					used[name] = true
				}
			}
		}
	}
	ok, all, right := 0, 0, 0
	for _, g := range lines.names {
		ok, all, right = ok+lines.ok[g], all+lines.all[g], right+messages.ok[g]
		t.Logf("%-52s %4d of %4d on the line, %4d with the message", g, lines.ok[g], lines.all[g], messages.ok[g])
	}
	t.Logf("%d of %d refused on the line, %d with the message", ok, all, right)
	for _, name := range slices.Sorted(maps.Keys(accepted)) {
		if used[name] {
			t.Logf("accepted: %s: %s", name, accepted[name])
		} else {
			t.Errorf("as expected now, and testdata/accepted.txt lists it: %s", name)
		}
	}
	if ok*100 < all*98 {
		t.Errorf("%d of %d refused on the expected line, want 98%%", ok, all)
	}
	if right*100 < all*90 {
		t.Errorf("%d of %d with the expected message, want 90%%", right, all)
	}
}

// acceptedDifferences reads testdata/accepted.txt. A line has the place of an expected error, a tab, and the reason for
// hlocb's different error.
func acceptedDifferences(t *testing.T) map[string]string {
	t.Helper()
	text, err := os.ReadFile(filepath.Join("testdata", "accepted.txt"))
	if err != nil {
		t.Fatal(err)
	}
	out := map[string]string{}
	for _, l := range strings.Split(string(text), "\n") {
		if name, why, ok := strings.Cut(l, "\t"); ok && !strings.HasPrefix(l, "#") {
			out[name] = why
		}
	}
	return out
}

func failUnless(ok bool, text string) error {
	if ok {
		return nil
	}
	return errors.New(text)
}

// TestSuggestions reads misspelled ops. A note must name the intended op.
func TestSuggestions(t *testing.T) {
	reg := testkit.Registry(t)
	for text, want := range map[string]string{
		"func.func @f(%a: tensor<f32>) { %0 = stablehlo.ad %a, %a : tensor<f32> return }":          "did you mean 'stablehlo.add'?",
		"func.func @f(%a: tensor<f32>) { %0 = stablehlo.broadcast_indim %a : tensor<f32> return }": "did you mean 'stablehlo.broadcast_in_dim'?",
		"func.func @f() { retrun }":                 "did you mean 'func.return'?",
		"func.func @f() { nothing_like_it return }": "",
	} {
		list := listOf(func() error { _, err := read(t, reg, text); return err }())
		got := ""
		if len(list) == 1 && len(list[0].Notes) == 1 {
			got = list[0].Notes[0].Message
		}
		if len(list) != 1 || got != want {
			t.Errorf("%s: got %v with note %q, want %q", text, list, got, want)
		}
	}
}
