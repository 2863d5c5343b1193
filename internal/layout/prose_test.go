package layout_test

import (
	"go/ast"
	"go/parser"
	"go/token"
	"regexp"
	"slices"
	"strings"
	"testing"
	"unicode/utf8"
)

// unplain matches wording that CONTRIBUTING.md rules out: word order that is not English, and words that have a plainer
// term.
var unplain = regexp.MustCompile(`(?i)\b(of (?:which|whom)|in front of|told (?:apart|from)|tell apart|hand(?:s|ed)? (?:on|over|out)|looks on|left behind|` +
	`behind|but for|taken for|where (?:nothing|nobody)|no such \w+ as|thereof|therein|wherein|whereof|hereof|hardly|the same goes for|that goes for|` +
	`the one [^.;]{0,80} the other|what is wrong with|stands? (?:twice|without|here|after|in no)|for ever|misspelt)\b`)

// negated matches "is no path" for "is not a path". "There is no path" is plain.
var negated = regexp.MustCompile(`(?i)\b(\w+) (?:is|are|was|were) no (\w+)`)

// unplainWords returns a phrase of text that is not plain, or "".
func unplainWords(text string) string {
	text = strings.ReplaceAll(text, "\n", " ")
	if m := unplain.FindString(text); m != "" {
		return m
	}
	for _, m := range negated.FindAllStringSubmatch(text, -1) {
		subject, object := strings.ToLower(m[1]), strings.ToLower(m[2])
		if subject != "there" && !slices.Contains([]string{"longer", "more", "less", "larger", "greater", "smaller", "slower", "faster", "such"}, object) {
			return m[0]
		}
	}
	return ""
}

// TestPlainWords: comments and messages in Go, and the prose of documents, use plain words. Comments have at most 120
// columns.
func TestPlainWords(t *testing.T) {
	files(t, ".go", func(name string, source []byte) {
		if name == "internal/layout/prose_test.go" || inside(name, "examples/pass") || // a module of its own
			regexp.MustCompile(`(?m)^// Code generated `).Match(source) {
			return
		}
		fset := token.NewFileSet()
		f, err := parser.ParseFile(fset, name, source, parser.ParseComments|parser.SkipObjectResolution)
		if err != nil {
			t.Fatal(err)
		}
		lines := strings.Split(string(source), "\n")
		for _, g := range f.Comments {
			if m := unplainWords(g.Text()); m != "" {
				t.Errorf("%s: a comment says %q, which CONTRIBUTING.md, \"How we write\", rules out", fset.Position(g.Pos()), m)
			}
			if strings.Contains(g.Text(), "Output:") {
				continue // of an example, to the byte
			}
			for _, c := range g.List {
				line := fset.Position(c.Pos()).Line
				text := strings.TrimSpace(lines[line-1])
				if n := utf8.RuneCountInString(lines[line-1]); strings.HasPrefix(text, "// ") && text[3] != ' ' && strings.Contains(text[3:], " ") && n > 120 {
					t.Errorf("%s:%d: the comment has %d columns; comments have at most 120", name, line, n)
				}
			}
		}
		if strings.HasSuffix(name, "_test.go") {
			return
		}
		ast.Inspect(f, func(n ast.Node) bool {
			if l, ok := n.(*ast.BasicLit); ok && l.Kind == token.STRING {
				if m := unplainWords(l.Value); m != "" {
					t.Errorf("%s: a message says %q, which CONTRIBUTING.md, \"How we write\", rules out", fset.Position(l.Pos()), m)
				}
			}
			return true
		})
	})
	code := regexp.MustCompile("(?s)```.*?```|`[^`\n]*`")
	files(t, ".md", func(name string, text []byte) {
		if m := unplainWords(code.ReplaceAllString(string(text), "")); m != "" {
			t.Errorf("%s says %q, which CONTRIBUTING.md, \"How we write\", rules out", name, m)
		}
	})
}

// TestNoFlagsInLibraries: no message of a library names a flag of the command line, which adds that itself. Flags of
// other programs are quoted.
func TestNoFlagsInLibraries(t *testing.T) {
	flag := regexp.MustCompile(`[^"][ ('"]?--[a-z][a-z-]+`)
	commands := []string{"cmd", "examples", "opt", "internal/cli", "internal/command", "internal/bench", "internal/launch",
		"internal/gen", "internal/plugintest", "internal/opgen", "internal/numerics", "internal/testsummary", "internal/testlist", "internal/corpusreport"}
	files(t, ".go", func(name string, source []byte) {
		for _, c := range commands {
			if inside(name, c) {
				return
			}
		}
		if strings.HasSuffix(name, "_test.go") {
			return
		}
		fset := token.NewFileSet()
		f, err := parser.ParseFile(fset, name, source, parser.SkipObjectResolution)
		if err != nil {
			t.Fatal(err)
		}
		ast.Inspect(f, func(n ast.Node) bool {
			if l, ok := n.(*ast.BasicLit); ok && l.Kind == token.STRING {
				if m := flag.FindString(l.Value); m != "" && !strings.Contains(m, "--xla") {
					t.Errorf("%s: a message names the flag %q; only commands know their flags, so name the thing", fset.Position(l.Pos()), m)
				}
			}
			return true
		})
	})
}
