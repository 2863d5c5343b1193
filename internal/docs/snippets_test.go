package docs_test

import (
	"bytes"
	"encoding/json"
	"fmt"
	"os"
	"path/filepath"
	"regexp"
	"slices"
	"strings"
	"testing"

	"github.com/hlocb/hlocb/internal/label"
	"github.com/hlocb/hlocb/internal/peer"
)

// goBlock matches a block of Go in a document.
var goBlock = regexp.MustCompile("(?ms)^```go\n(.*?)^```$")

// snippetDocs are the documents with blocks of Go that a module compiles and runs, by the directory of the module.
var snippetDocs = map[string][]string{
	"":              {"README.md", "docs/handlers.md", "docs/embed.md"},
	"runtime/goxla": {"docs/start-gomlx.md"},
}

// snippetImports are the packages that documents may name.
var snippetImports = []string{"context", "math", "os", "time", "fmt",
	"github.com/gomlx/compute/dtypes", "github.com/gomlx/go-xla/stablehlo", "github.com/gomlx/go-xla/types/shapes",
	"github.com/hlocb/hlocb", "github.com/hlocb/hlocb/runtime/handlers", "github.com/hlocb/hlocb/runtime", "github.com/hlocb/hlocb/tensor"}

// declared matches the variables that a snippet declares at its first level.
var declared = regexp.MustCompile(`(?m)^(\w+)(?:, (\w+))? :=`)

// TestSnippets compiles every block of Go in the documents, and runs them from the root of their module. A block is the
// body of a function that has a ctx and returns an error.
func TestSnippets(t *testing.T) {
	label.Slow(t)
	label.Once(t)
	var out string
	for module, docs := range snippetDocs {
		out += runSnippets(t, module, docs)
	}
	if !strings.Contains(out, "#1 value (tap)\n   tensor<f32>: 32.\n") {
		t.Errorf("the snippets print\n%s", out)
	}
}

// runSnippets runs the blocks of Go of documents, and returns the output.
func runSnippets(t *testing.T, module string, docs []string) string {
	root, err := filepath.Abs("../..")
	if err != nil {
		t.Fatal(err)
	}
	dir := t.TempDir()
	overlay := map[string]string{}
	add := func(name, text string) {
		file := filepath.Join(dir, name)
		if err := os.WriteFile(file, []byte(text), 0o644); err != nil {
			t.Fatal(err)
		}
		overlay[filepath.Join(root, module, "internal", "snippets", name)] = file
	}
	var calls strings.Builder
	n := 0
	for _, doc := range docs {
		text, err := os.ReadFile(filepath.Join(root, doc))
		if err != nil {
			t.Fatal(err)
		}
		for _, m := range goBlock.FindAllStringSubmatch(script.ReplaceAllString(string(text), ""), -1) {
			n++
			var imports, used strings.Builder
			for _, path := range snippetImports {
				if regexp.MustCompile(`\b`+filepath.Base(path)+`\.[A-Z]`).MatchString(m[1]) || path == "context" {
					fmt.Fprintf(&imports, "\t%q\n", path)
				}
			}
			var names []string
			for _, v := range declared.FindAllStringSubmatch(m[1], -1) {
				for _, name := range v[1:] {
					if name != "" && name != "err" && !slices.Contains(names, name) {
						names = append(names, name)
					}
				}
			}
			for _, name := range names {
				fmt.Fprintf(&used, "\t_ = %s\n", name)
			}
			err := "nil"
			if strings.Contains(m[1], "err :=") {
				err = "err"
			}
			add(fmt.Sprintf("snippet%d.go", n), fmt.Sprintf("package main\n\nimport (\n%s)\n\n// From %s.\nfunc snippet%d(ctx context.Context) error {\n%s%s\treturn %s\n}\n",
				&imports, doc, n, m[1], &used, err))
			fmt.Fprintf(&calls, "\tif err := snippet%d(context.Background()); err != nil {\n\t\tlog.Fatalf(\"snippet %d of %s: %%v\", err)\n\t}\n", n, n, doc)
		}
	}
	if n == 0 {
		t.Errorf("%v have no block of Go", docs)
	}
	add("main.go", "package main\n\nimport (\n\t\"context\"\n\t\"log\"\n)\n\nfunc main() {\n"+calls.String()+"}\n")
	text, err := json.Marshal(map[string]any{"Replace": overlay})
	if err != nil {
		t.Fatal(err)
	}
	file := filepath.Join(dir, "overlay.json")
	if err := os.WriteFile(file, text, 0o644); err != nil {
		t.Fatal(err)
	}
	cmd := peer.Command("go", "run", "-overlay", file, "./internal/snippets")
	cmd.Dir = filepath.Join(root, module)
	var out, errs bytes.Buffer
	cmd.Stdout, cmd.Stderr = &out, &errs
	if err := cmd.Run(); err != nil {
		t.Fatalf("%v\n%s", err, errs.String())
	}
	return out.String()
}
