package cli_test

import (
	"bytes"
	"os"
	"path/filepath"
	"regexp"
	"strings"
	"testing"
	"time"

	"github.com/hlocb/hlocb/hook"
	"github.com/hlocb/hlocb/runtime/handlers"
)

// TestReadme: what the README shows of the first command and of 'hlocb hooks' is what they print.
func TestReadme(t *testing.T) {
	text, err := os.ReadFile("../../README.md")
	if err != nil {
		t.Fatal(err)
	}
	t.Chdir("../..")
	for _, args := range [][]string{
		{"run", "testdata/mlir/train_step.mlir", "--fill", "iota", "--print-callbacks", "--backend", "interp"},
		{"hooks", "testdata/mlir/train_step.mlir"},
	} {
		code, stdout, stderr := runCLI(t, time.Minute, args...)
		if code != 0 {
			t.Fatalf("%v: exit code %d: %s", args, code, stderr)
		}
		if !bytes.Contains(text, []byte(stdout)) {
			t.Errorf("README.md does not show what %v prints:\n%s", args, stdout)
		}
	}
}

// TestDocsAreComplete: every handler and notation is documented, and links lead to files.
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
	for _, f := range hook.Formats() {
		if !strings.Contains(formatsDoc, "\n| `"+f.Name+"`") {
			t.Errorf("docs/formats.md does not list the input format %s", f.Name)
		}
	}
	for _, o := range hook.Outputs() {
		if !strings.Contains(formatsDoc, "\n| `"+o.Name+"`") {
			t.Errorf("docs/formats.md does not list the output format %s", o.Name)
		}
	}
	link := regexp.MustCompile(`\]\(([^)#:\[\]]+)\)`)
	files, _ := filepath.Glob("../../docs/*.md")
	for _, file := range append(files, "../../README.md", "../../CONTRIBUTING.md") {
		text, err := os.ReadFile(file)
		if err != nil {
			t.Fatal(err)
		}
		for _, m := range link.FindAllStringSubmatch(string(text), -1) {
			if _, err := os.Stat(filepath.Join(filepath.Dir(file), m[1])); err != nil {
				t.Errorf("%s links to %s, which is not there", filepath.Base(file), m[1])
			}
		}
	}
}
