package docs_test

import (
	"os"
	"path/filepath"
	"regexp"
	"strings"
	"testing"

	hookformat "github.com/hlocb/hlocb/hook/format"
	"github.com/hlocb/hlocb/runtime/handlers"
)

// TestDocsAreComplete: every handler and format is documented.
func TestDocsAreComplete(t *testing.T) {
	read := func(name string) string {
		text, err := os.ReadFile(filepath.Join("../..", name))
		if err != nil {
			t.Fatal(err)
		}
		return string(text)
	}
	handlersDoc, formatsDoc := read("docs/handlers.md"), read("docs/formats.md")
	for _, info := range handlers.Table() {
		if !strings.Contains(handlersDoc, "\n| `"+info.Name) {
			t.Errorf("docs/handlers.md does not list %s", info.Name)
		}
	}
	for _, f := range hookformat.Builtin().Readers() {
		if !strings.Contains(formatsDoc, "\n| `"+f.Name+"`") {
			t.Errorf("docs/formats.md does not list the input format %s", f.Name)
		}
	}
	for _, o := range hookformat.Builtin().Writers() {
		if !strings.Contains(formatsDoc, "\n| `"+o.Name+"`") {
			t.Errorf("docs/formats.md does not list the output format %s", o.Name)
		}
	}
}

// TestLossesAreDocumented: docs/formats.md says what each format loses. The golden case format_losses shows these
// losses.
func TestLossesAreDocumented(t *testing.T) {
	text, err := os.ReadFile("../../docs/formats.md")
	if err != nil {
		t.Fatal(err)
	}
	_, table, found := strings.Cut(string(text), "\n| written as | lost or changed |\n")
	if !found {
		t.Fatal("docs/formats.md has no table of losses")
	}
	table, _, _ = strings.Cut(table, "\n\n")
	for name, losses := range map[string][]string{
		"ffi":      {"`source_id`"},
		"exla":     {"a tap comes back with results", "alias"},
		"exla-io":  {"a tap comes back as with `exla`", "Refused: ", "`--order source`"},
		"sendrecv": {"hooks without order get one"},
		"outfeed":  {"the same as `sendrecv`"},
	} {
		_, row, _ := strings.Cut(table, "| `"+name+"` | ")
		row, _, _ = strings.Cut(row, "\n")
		for _, loss := range losses {
			if !strings.Contains(row, loss) {
				t.Errorf("docs/formats.md does not say %q of %s: %s", loss, name, row)
			}
		}
	}
}

// TestTrustIsDocumented: the sections on trust and on saving say that a compiled program is code.
func TestTrustIsDocumented(t *testing.T) {
	for name, section := range map[string]string{"docs/handlers.md": "Trust", "docs/embed.md": "Saving"} {
		text, err := os.ReadFile(filepath.Join("../..", name))
		if err != nil {
			t.Fatal(err)
		}
		_, section, _ := strings.Cut(string(text), "\n## "+section+"\n")
		section, _, _ = strings.Cut(section, "\n## ")
		if !strings.Contains(section, "native code") {
			t.Errorf("%s does not say that a compiled program is native code", name)
		}
	}
}

// TestSentencesAreWhole: no document has a sentence whose end was left out.
func TestSentencesAreWhole(t *testing.T) {
	names, err := filepath.Glob("../../docs/*.md")
	if err != nil || len(names) < 20 {
		t.Fatal(names, err)
	}
	end := regexp.MustCompile(`[a-z)] \.( |$)`)
	for _, name := range append(names, "../../README.md", "../../CONTRIBUTING.md") {
		text, err := os.ReadFile(name)
		if err != nil {
			t.Fatal(err)
		}
		code := false
		for line := range strings.Lines(string(text)) {
			if strings.HasPrefix(line, "```") {
				code = !code
			}
			if line = strings.TrimSuffix(line, "\n"); !code && end.MatchString(line) {
				t.Errorf("%s: a sentence ends too early: %s", filepath.Base(name), line)
			}
		}
	}
}

// TestDependenciesHaveReasons: docs/rationale.md names every module that a go.mod requires directly.
func TestDependenciesHaveReasons(t *testing.T) {
	var mod []byte
	for _, dir := range []string{"", "runtime/goxla", "tools"} {
		text, err := os.ReadFile(filepath.Join("../..", dir, "go.mod"))
		if err != nil {
			t.Fatal(err)
		}
		mod = append(mod, text...)
	}
	rationale, err := os.ReadFile("../../docs/rationale.md")
	if err != nil {
		t.Fatal(err)
	}
	n := 0
	for line := range strings.Lines(string(mod)) {
		path, rest, _ := strings.Cut(strings.TrimSpace(strings.TrimPrefix(line, "require ")), " ")
		if !strings.HasPrefix(rest, "v") || strings.Contains(rest, "// indirect") || path == "github.com/hlocb/hlocb" {
			continue
		}
		if n++; !strings.Contains(string(rationale), "`"+path+"`") {
			t.Errorf("docs/rationale.md gives no reason for %s", path)
		}
	}
	if n < 5 {
		t.Errorf("go.mod requires only %d modules", n)
	}
}
