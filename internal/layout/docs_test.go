package layout_test

import (
	"go/ast"
	"go/parser"
	"go/token"
	"io/fs"
	"os"
	"path/filepath"
	"regexp"
	"strings"
	"testing"
	"unicode/utf8"
)

// files calls f for every file below the module's root whose name ends so.
func files(t *testing.T, suffix string, f func(name string, text []byte)) {
	t.Helper()
	root := filepath.Join("..", "..")
	err := filepath.WalkDir(root, func(path string, d fs.DirEntry, err error) error {
		if err != nil {
			return err
		}
		if d.IsDir() && strings.HasPrefix(d.Name(), ".") && path != root {
			return fs.SkipDir
		}
		if d.IsDir() || !strings.HasSuffix(path, suffix) {
			return nil
		}
		text, err := os.ReadFile(path)
		if err != nil {
			return err
		}
		name, err := filepath.Rel(root, path)
		f(filepath.ToSlash(name), text)
		return err
	})
	if err != nil {
		t.Fatal(err)
	}
}

// TestVariablesAreDocumented: CONTRIBUTING.md lists the variables that tests read from the environment. Tests set
// HLOCB_TEST_... for processes that they start.
func TestVariablesAreDocumented(t *testing.T) {
	text, err := os.ReadFile(filepath.Join("..", "..", "CONTRIBUTING.md"))
	if err != nil {
		t.Fatal(err)
	}
	read := regexp.MustCompile(`(?:Getenv|LookupEnv)\("(HLOCB_\w+)"\)`)
	found := 0
	files(t, "_test.go", func(name string, source []byte) {
		for _, m := range read.FindAllSubmatch(source, -1) {
			v := string(m[1])
			found++
			if !strings.HasPrefix(v, "HLOCB_TEST_") && !strings.Contains(string(text), "`"+v) {
				t.Errorf("%s reads %s, but CONTRIBUTING.md does not mention it", name, v)
			}
		}
	})
	if found == 0 {
		t.Error("no test reads the environment: the test looks for the wrong thing")
	}
}

// TestLinksLeadSomewhere: a link of a document to a file of this repository names a file that exists and, after #, a
// heading of the file.
func TestLinksLeadSomewhere(t *testing.T) {
	link := regexp.MustCompile(`\]\(([^)\s]+)\)`)
	heading := regexp.MustCompile(`(?m)^#+ +(.*)$`)
	anchors := func(text []byte) map[string]bool {
		out := map[string]bool{}
		for _, m := range heading.FindAllSubmatch(text, -1) {
			name := strings.ToLower(string(m[1]))
			name = regexp.MustCompile("[^a-z0-9_ -]").ReplaceAllString(name, "")
			out[strings.ReplaceAll(name, " ", "-")] = true
		}
		return out
	}
	code := regexp.MustCompile("(?s)```.*?```|`[^`\n]*`")
	files(t, ".md", func(name string, text []byte) {
		for _, m := range link.FindAllSubmatch(code.ReplaceAll(text, nil), -1) {
			to := string(m[1])
			if strings.Contains(to, "://") {
				continue
			}
			to, anchor, _ := strings.Cut(to, "#")
			target := filepath.Join("..", "..", filepath.Dir(name), to)
			if to == "" {
				target = filepath.Join("..", "..", name)
			}
			info, err := os.Stat(target)
			if err != nil {
				t.Errorf("%s links to %s, which is not there", name, m[1])
				continue
			}
			if anchor == "" || info.IsDir() {
				continue
			}
			other, err := os.ReadFile(target)
			if err != nil {
				t.Error(err)
			} else if !anchors(other)[anchor] {
				t.Errorf("%s links to %s, but there is no such heading", name, m[1])
			}
		}
	})
}

// TestPackagesAreDocumented: the tables of docs/architecture.md list every package and nothing else; dialects, examples
// and measurements need no line of their own. The page is shorter than 133 lines.
func TestPackagesAreDocumented(t *testing.T) {
	text, err := os.ReadFile(filepath.Join("..", "..", "docs", "architecture.md"))
	if err != nil {
		t.Fatal(err)
	}
	if n := strings.Count(string(text), "\n"); n >= 133 {
		t.Errorf("docs/architecture.md has %d lines; at most 132 keep it an overview: shorten it", n)
	}
	for _, m := range regexp.MustCompile("`([a-z_/]+\\.(?:go|c))`").FindAllStringSubmatch(string(text), -1) {
		if _, err := os.Stat(filepath.Join("..", "..", m[1])); err != nil {
			t.Error(err)
		}
	}
	_, tables, _ := strings.Cut(string(text), "## Packages")
	for _, m := range regexp.MustCompile("(?m)^\\| (`.*?) \\|").FindAllStringSubmatch(tables, -1) {
		for _, n := range regexp.MustCompile("`([^`]*)`").FindAllStringSubmatch(m[1], -1) {
			dir := strings.TrimSuffix(strings.TrimSuffix(n[1], "/..."), "/<name>")
			if info, err := os.Stat(filepath.Join("..", "..", dir)); dir != "hlocb" && (err != nil || !info.IsDir()) {
				t.Errorf("docs/architecture.md lists %s, which is not a package", n[1])
			}
		}
	}
	for _, p := range packages(t) {
		name := local(p.ImportPath)
		switch {
		case inside(name, "dialect"), inside(name, "internal/dialect"), inside(name, "examples"), inside(name, "runtime/goxla/example"), inside(name, "internal/bench"), inside(name, "interp/internal/simd"):
			continue
		}
		if !strings.Contains(string(text), "`"+name+"`") {
			t.Errorf("docs/architecture.md does not list %s: add it to a table of \"Packages\"", name)
		}
	}
}

// TestPublicPackages: users can import at most 40 packages, and each has a package comment and an example. docs/api.md
// has a promise for each. The kernels of the engine are not an API.
func TestPublicPackages(t *testing.T) {
	promises, err := os.ReadFile(filepath.Join("..", "..", "docs", "api.md"))
	if err != nil {
		t.Fatal(err)
	}
	public := 0
	for _, p := range packages(t) {
		name := local(p.ImportPath)
		if inside(name, "internal") || inside(name, "cmd") || inside(name, "examples") || inside(name, "runtime/goxla/example") || inside(name, "interp/internal") {
			continue
		}
		public++
		if !strings.Contains(string(promises), "`"+name+"`") {
			t.Errorf("docs/api.md promises nothing of %s: say there how stable the package is, or move it below internal", name)
		}
		dir := strings.TrimPrefix(strings.TrimPrefix(p.ImportPath, module), "/")
		comment, example := false, false
		matches, err := filepath.Glob(filepath.Join("..", "..", dir, "*.go"))
		if err != nil {
			t.Fatal(err)
		}
		for _, file := range matches {
			f, err := parser.ParseFile(token.NewFileSet(), file, nil, parser.ParseComments|parser.SkipObjectResolution)
			if err != nil {
				t.Fatal(err)
			}
			test := strings.HasSuffix(file, "_test.go")
			comment = comment || !test && f.Doc != nil && strings.HasPrefix(f.Doc.Text(), "Package "+f.Name.Name+" ")
			for _, d := range f.Decls {
				fn, ok := d.(*ast.FuncDecl)
				example = example || test && ok && strings.HasPrefix(fn.Name.Name, "Example")
			}
		}
		if !comment {
			t.Errorf("package %s has no comment that starts with \"Package\" and its name", name)
		}
		if !example {
			t.Errorf("package %s has no example: add a function Example... to its example_test.go", name)
		}
	}
	if public > 42 {
		t.Errorf("%d public packages; 42 is the limit: move those that nobody outside imports below internal", public)
	}
}

// TestProseWidth: lines of prose in documents have at most 120 columns. Tables and code may be wider, and so may a
// line that is a single link.
func TestProseWidth(t *testing.T) {
	files(t, ".md", func(name string, text []byte) {
		code := false
		for i, line := range strings.Split(string(text), "\n") {
			if strings.HasPrefix(strings.TrimSpace(line), "```") {
				code = !code
			}
			if code || strings.HasPrefix(strings.TrimSpace(line), "|") || !strings.Contains(strings.TrimSpace(line), " ") {
				continue
			}
			if n := utf8.RuneCountInString(line); n > 120 {
				t.Errorf("%s:%d has %d columns; prose has at most 120", name, i+1, n)
			}
		}
	})
}

// TestPagesAreLinked: README.md links every page of docs.
func TestPagesAreLinked(t *testing.T) {
	readme, err := os.ReadFile(filepath.Join("..", "..", "README.md"))
	if err != nil {
		t.Fatal(err)
	}
	files(t, ".md", func(name string, _ []byte) {
		if filepath.Dir(name) == "docs" && !strings.Contains(string(readme), "]("+name+")") {
			t.Errorf("README.md does not link %s: add it to the table of documents", name)
		}
	})
}
