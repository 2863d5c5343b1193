package passes_test

import (
	"context"
	"os"
	"regexp"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"

	"github.com/hlocb/hlocb/passes"
	"github.com/hlocb/hlocb/print"
)

// TestDocumentedFormats runs the worked examples of docs/formats.md.
func TestDocumentedFormats(t *testing.T) {
	text, err := os.ReadFile("../docs/formats.md")
	if err != nil {
		t.Fatal(err)
	}
	examples := regexp.MustCompile("(?s)### ([a-z0-9-]+)\n.*?```mlir\n(.*?)```\n\nbecomes\n\n```mlir\n(.*?)```").FindAllStringSubmatch(string(text), -1)
	if len(examples) < 9 {
		t.Fatalf("docs/formats.md has %d worked examples", len(examples))
	}
	for _, e := range examples {
		t.Run(e[1], func(t *testing.T) {
			m, err := parseText("formats.md", []byte(e[2]))
			if err != nil {
				t.Fatal(err)
			}
			r, err := passes.RewriteHooks(context.Background(), m, passes.RewriteOptions{Targets: []string{"my_hook"}})
			if err != nil {
				t.Fatal(err)
			}
			for _, s := range r.Manifest.Sites {
				if s.Format != e[1] {
					t.Errorf("the example is in format %s", s.Format)
				}
			}
			var got []string
			lines := strings.Split(strings.TrimSpace(print.String(m, print.Options{})), "\n")
			for _, l := range lines[1 : len(lines)-1] { // without the module around it
				got = append(got, strings.TrimPrefix(l, "  "))
			}
			if d := cmp.Diff(strings.TrimSpace(e[3]), strings.Join(got, "\n")); d != "" {
				t.Errorf("-documented +got:\n%s", d)
			}
		})
	}
}
