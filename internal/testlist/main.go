// Command testlist prints arguments for 'go test': the directories with tests, those with most tests first, so that no
// core waits for a large package at the end. With -slow it prints the tests that package label's Slow, Part or Less
// labels: -run, an expression for their names, and their directories.
//
//	go test $(go run ./internal/testlist -slow)
package main

import (
	"cmp"
	"flag"
	"fmt"
	"go/ast"
	"go/parser"
	"go/token"
	"io/fs"
	"maps"
	"os"
	"path/filepath"
	"slices"
	"strings"
)

func main() {
	slow := flag.Bool("slow", false, "print the labelled tests only")
	flag.Parse()
	l, err := read(".")
	if err != nil {
		fmt.Fprintln(os.Stderr, "testlist:", err)
		os.Exit(1)
	}
	if *slow {
		fmt.Printf("-run ^(%s)$ ", strings.Join(slices.Sorted(maps.Keys(l.slow)), "|"))
		maps.DeleteFunc(l.size, func(dir string, _ int) bool { return !l.labelled[dir] })
	}
	fmt.Println(strings.Join(largest(l.size), " "))
}

// list holds the tests of one module.
type list struct {
	size     map[string]int  // bytes of the tests of each directory
	labelled map[string]bool // the directories with slow tests
	slow     map[string]bool // the names of the slow tests
}

// largest returns the keys, those with the largest values first.
func largest(sizes map[string]int) []string {
	return slices.SortedFunc(maps.Keys(sizes), func(a, b string) int {
		return cmp.Or(cmp.Compare(sizes[b], sizes[a]), cmp.Compare(a, b))
	})
}

// read lists the tests of the module in a directory. It fails if anything but a test labels itself.
func read(root string) (*list, error) {
	l := &list{map[string]int{}, map[string]bool{}, map[string]bool{}}
	return l, filepath.WalkDir(root, func(path string, d fs.DirEntry, err error) error {
		switch {
		case err != nil:
			return err
		case d.IsDir() && path != root && (d.Name() == "testdata" || strings.IndexAny(d.Name(), "._") == 0 || isFile(filepath.Join(path, "go.mod"))):
			return filepath.SkipDir
		case !strings.HasSuffix(path, "_test.go"):
			return nil
		}
		text, err := os.ReadFile(path)
		if err != nil {
			return err
		}
		rel, err := filepath.Rel(root, filepath.Dir(path))
		if err != nil {
			return err
		}
		dir := "./" + filepath.ToSlash(rel)
		l.size[dir] += len(text)
		file, err := parser.ParseFile(token.NewFileSet(), path, text, parser.SkipObjectResolution)
		if err != nil {
			return err
		}
		for _, decl := range file.Decls {
			if !callsLabel(decl) {
				continue
			}
			f, ok := decl.(*ast.FuncDecl)
			if !ok || f.Recv != nil || !strings.HasPrefix(f.Name.Name, "Test") {
				return fmt.Errorf("%s: only a test function may call label.Slow, label.Part or label.Less", path)
			}
			l.slow[f.Name.Name], l.labelled[dir] = true, true
		}
		return nil
	})
}

func isFile(path string) bool {
	info, err := os.Stat(path)
	return err == nil && info.Mode().IsRegular()
}

// callsLabel reports whether a declaration calls label.Slow, label.Part or label.Less.
func callsLabel(decl ast.Decl) (found bool) {
	ast.Inspect(decl, func(n ast.Node) bool {
		if s, ok := n.(*ast.SelectorExpr); ok {
			x, _ := s.X.(*ast.Ident)
			found = found || x != nil && x.Name == "label" && (s.Sel.Name == "Slow" || s.Sel.Name == "Less" || s.Sel.Name == "Part")
		}
		return !found
	})
	return found
}
