package main

import (
	"bytes"
	"encoding/json"
	"errors"
	"fmt"
	"go/ast"
	"go/importer"
	"go/parser"
	"go/token"
	"go/types"
	"io"
	"os"
	"os/exec"
	"path"
	"path/filepath"
	"regexp"
	"strings"
)

// listed is a package as 'go list' describes it.
type listed struct {
	Dir, ImportPath, Name, Export string
	GoFiles, CgoFiles             []string
	Module                        *struct{ Path string }
}

// A build is a test binary with the mutants of a package.
type build struct {
	name    string // import path inside its module; the last element for a module's root
	dir     string
	binary  string
	short   bool // run tests with -short
	mutants []*mutant
}

// output runs a command and returns what it prints. The error contains the error output.
func output(dir, name string, args ...string) ([]byte, error) {
	cmd := exec.Command(name, args...)
	cmd.Dir = dir
	out, err := cmd.Output()
	var exit *exec.ExitError
	if errors.As(err, &exit) {
		err = fmt.Errorf("%s %s: %w\n%s", name, strings.Join(args, " "), err, exit.Stderr)
	}
	return out, err
}

// newBuild builds the tests of a package with mutants of all its code, except of generated files. Files go into temp.
func newBuild(pattern, temp string) (*build, error) {
	out, err := output("", "go", "list", "-export", "-deps", "-json=Dir,ImportPath,Name,Export,GoFiles,CgoFiles,Module", pattern)
	if err != nil {
		return nil, err
	}
	exports := map[string]string{}
	var p listed
	for d := json.NewDecoder(bytes.NewReader(out)); ; {
		var q listed
		if err := d.Decode(&q); err == io.EOF {
			break
		} else if err != nil {
			return nil, err
		}
		exports[q.ImportPath] = q.Export
		p = q // the last one is the package itself
	}
	b := &build{name: path.Base(p.ImportPath), dir: p.Dir, binary: filepath.Join(temp, "tests")}
	if p.Module != nil && p.ImportPath != p.Module.Path {
		b.name = strings.TrimPrefix(p.ImportPath, p.Module.Path+"/")
	}
	replaced, err := b.mutate(p, exports, temp)
	if err != nil {
		return nil, err
	}
	overlay, err := json.Marshal(map[string]any{"Replace": replaced})
	if err != nil {
		return nil, err
	}
	file := filepath.Join(temp, "overlay.json")
	if err := os.WriteFile(file, overlay, 0o666); err != nil {
		return nil, err
	}
	_, err = output("", "go", "test", "-c", "-vet=off", "-overlay", file, "-o", b.binary, p.ImportPath)
	if err == nil {
		if _, err := os.Stat(b.binary); err != nil {
			return nil, fmt.Errorf("%s has no tests", b.name)
		}
	}
	return b, err
}

var generated = regexp.MustCompile(`(?m)^// Code generated .* DO NOT EDIT\.$`)

// mutate makes the mutants of package p. It writes the changed files to temp, and returns their paths by the paths of
// the files that they replace.
func (b *build) mutate(p listed, exports map[string]string, temp string) (map[string]string, error) {
	fset := token.NewFileSet()
	var files []*ast.File
	var names []string
	sources := map[string][]byte{}
	for _, name := range append(p.GoFiles, p.CgoFiles...) {
		source, err := os.ReadFile(filepath.Join(p.Dir, name))
		if err != nil {
			return nil, err
		}
		f, err := parser.ParseFile(fset, name, source, parser.SkipObjectResolution)
		if err != nil {
			return nil, err
		}
		files, names, sources[name] = append(files, f), append(names, name), source
	}
	info := &types.Info{Types: map[ast.Expr]types.TypeAndValue{}}
	config := types.Config{
		FakeImportC: true,
		Importer: importer.ForCompiler(fset, "gc", func(path string) (io.ReadCloser, error) {
			return os.Open(exports[path])
		}),
		Error: func(error) {}, // the compiler reports errors; types of C are unknown here
	}
	pkg, _ := config.Check(p.ImportPath, fset, files, info)
	m := &mutator{fset: fset, pkg: pkg, info: info, names: map[string]int{}}
	replaced := map[string]string{}
	for i, f := range files {
		source := sources[names[i]]
		if generated.Match(source) {
			continue
		}
		changed := filepath.Join(temp, names[i])
		if err := os.WriteFile(changed, m.mutate(f, names[i], source), 0o666); err != nil {
			return nil, err
		}
		replaced[filepath.Join(p.Dir, names[i])] = changed
	}
	b.mutants = m.mutants
	added := filepath.Join(temp, "mutants__.go")
	replaced[filepath.Join(p.Dir, "mutants__.go")] = added
	return replaced, os.WriteFile(added, []byte("package "+p.Name+"\n"+support), 0o666)
}
