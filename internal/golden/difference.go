package golden

import (
	"fmt"
	"os"
	"path/filepath"
	"strconv"
	"strings"
	"testing"
	"unicode/utf8"
)

// maxLines and maxWidth limit what a failing test shows.
const (
	maxLines = 40
	maxWidth = 400
)

// difference shows the lines in which a text differs from the expected one: "-" marks expected lines, "+" found ones.
// It leaves out the lines before and after them, except for two.
func difference(got, want string) string {
	g, w := strings.Split(got, "\n"), strings.Split(want, "\n")
	first := 0
	for first < min(len(g), len(w)) && g[first] == w[first] {
		first++
	}
	same := 0
	for same < min(len(g), len(w))-first && g[len(g)-1-same] == w[len(w)-1-same] {
		same++
	}
	var out strings.Builder
	fmt.Fprintf(&out, "from line %d (- expected, + found):", first+1)
	show := func(mark string, lines []string) {
		for i, line := range lines {
			if i == maxLines {
				fmt.Fprintf(&out, "\n%s ... %d more lines", mark, len(lines)-i)
				return
			}
			out.WriteString("\n" + strings.TrimRight(mark+" "+plain(line), " "))
		}
	}
	show(" ", g[max(0, first-2):first])
	show("-", w[first:len(w)-same])
	show("+", g[first:len(g)-same])
	show(" ", g[len(g)-same:min(len(g), len(g)-same+2)])
	return out.String()
}

// head returns the first lines of a text.
func head(text string) string {
	lines := strings.Split(strings.TrimSuffix(text, "\n"), "\n")
	var out strings.Builder
	for i, line := range lines {
		if i == maxLines {
			fmt.Fprintf(&out, "... %d more lines\n", len(lines)-i)
			break
		}
		out.WriteString(plain(line) + "\n")
	}
	return out.String()
}

// plain returns a line for a terminal: quoted if it holds bytes of another kind than text, and without its end if it is
// long.
func plain(line string) string {
	end := ""
	if len(line) > maxWidth {
		cut := maxWidth
		for cut > maxWidth-utf8.UTFMax && !utf8.RuneStart(line[cut]) {
			cut--
		}
		line, end = line[:cut], fmt.Sprintf(" ... %d more bytes", len(line)-cut)
	}
	for _, r := range line {
		if r == utf8.RuneError || !strconv.IsPrint(r) && r != '\t' {
			return strconv.Quote(line) + end
		}
	}
	return line + end
}

// updateCommand tells how to write the expected texts of the test that runs.
func updateCommand(t *testing.T) string {
	t.Helper()
	dir, err := os.Getwd()
	if err != nil {
		t.Fatal(err)
	}
	pkg := "."
	for root := dir; filepath.Dir(root) != root; root = filepath.Dir(root) {
		if _, err := os.Stat(filepath.Join(root, "go.mod")); err == nil {
			if rel, err := filepath.Rel(root, dir); err == nil && rel != "." {
				pkg = "./" + filepath.ToSlash(rel)
			}
			break
		}
	}
	return fmt.Sprintf("If you meant the change, write it and review the diff: go test %s -run '^%s$' -update", pkg, strings.ReplaceAll(t.Name(), "/", "$/^"))
}
