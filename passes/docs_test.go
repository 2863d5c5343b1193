package passes_test

import (
	"bytes"
	"context"
	"os"
	"regexp"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"

	"github.com/hlocb/hlocb/hook/format"
	"github.com/hlocb/hlocb/internal/testkit"
	"github.com/hlocb/hlocb/passes"
	"github.com/hlocb/hlocb/print"
)

// TestDocumentedFormats runs the worked examples of docs/format-examples.md.
func TestDocumentedFormats(t *testing.T) {
	text, err := os.ReadFile("../docs/format-examples.md")
	if err != nil {
		t.Fatal(err)
	}
	examples := regexp.MustCompile("(?s)### (--to )?([a-z0-9-]+)\n.*?```mlir\n(.*?)```\n\nbecomes\n\n```mlir\n(.*?)```").FindAllStringSubmatch(string(text), -1)
	shown := map[string]bool{}
	for _, e := range examples {
		shown[e[1]+e[2]] = true
	}
	for _, f := range format.Builtin().Readers() {
		if !shown[f.Name] {
			t.Errorf("docs/format-examples.md has no worked example of %s", f.Name)
		}
	}
	for _, o := range format.Builtin().Writers() {
		if !shown["--to "+o.Name] && o.Name != "ffi" { // the other examples are written in it
			t.Errorf("docs/format-examples.md has no worked example of --to %s", o.Name)
		}
	}
	defer func() {
		if *update {
			if err := os.WriteFile("../docs/format-examples.md", text, 0o644); err != nil {
				t.Error(err)
			}
		}
	}()
	for _, e := range examples {
		t.Run(e[1]+e[2], func(t *testing.T) {
			to, want := "", "target"
			if e[1] != "" {
				to = e[2]
			} else {
				want = e[2]
			}
			m, err := testkit.TryParse("format-examples.md", []byte(e[3]))
			if err != nil {
				t.Fatal(err)
			}
			r, err := passes.Rewrite(context.Background(), m, passes.RewriteHooks{Targets: []string{"my_hook"}, To: to, Default: "zeros"})
			if err != nil {
				t.Fatal(err)
			}
			for _, s := range r.Manifest.Sites {
				if s.Format != want {
					t.Errorf("the example is in format %s", s.Format)
				}
			}
			var got []string
			lines := strings.Split(strings.TrimSpace(print.String(m, print.Options{})), "\n")
			for _, l := range lines[1 : len(lines)-1] { // without the module around it
				got = append(got, strings.TrimPrefix(l, "  "))
			}
			if *update {
				text = bytes.Replace(text, []byte(e[4]), []byte(strings.Join(got, "\n")+"\n"), 1)
				return
			}
			if d := cmp.Diff(strings.TrimSpace(e[4]), strings.Join(got, "\n")); d != "" {
				t.Errorf("-documented +got:\n%s", d)
			}
		})
	}
}
