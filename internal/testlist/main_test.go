package main

import (
	"maps"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"testing"
)

func TestRead(t *testing.T) {
	dir := t.TempDir()
	write := func(name, text string) {
		file := filepath.Join(dir, name)
		if err := os.MkdirAll(filepath.Dir(file), 0o777); err != nil {
			t.Fatal(err)
		}
		if err := os.WriteFile(file, []byte(text), 0o666); err != nil {
			t.Fatal(err)
		}
	}
	write("go.mod", "")
	write("a/a_test.go", "package a\nfunc TestB(t *testing.T) { label.Slow(t) }\nfunc TestA(t *testing.T) { t.Run(``, func(t *testing.T) { _ = label.Less() }) }\nfunc TestC(t *testing.T) { label.Once(t) }\n")
	write("a/testdata/b_test.go", "not Go")
	write("c/c_test.go", "package c\nfunc TestC(t *testing.T) {}\n")
	write("nested/go.mod", "")
	write("nested/d_test.go", "package d\nfunc TestD(t *testing.T) { label.Slow(t) }\n")
	l, err := read(dir)
	if err != nil {
		t.Fatal(err)
	}
	if slow := slices.Sorted(maps.Keys(l.slow)); !slices.Equal(slow, []string{"TestA", "TestB"}) || len(l.labelled) != 1 || !l.labelled["./a"] {
		t.Errorf("slow tests %v in %v", slow, l.labelled)
	}
	if dirs := largest(l.size); !slices.Equal(dirs, []string{"./a", "./c"}) {
		t.Errorf("directories %v", dirs)
	}
	write("c/d_test.go", "package c\nfunc helper(t *testing.T) { label.Slow(t) }\n")
	if _, err := read(dir); err == nil || !strings.Contains(err.Error(), "d_test.go") {
		t.Errorf("a label outside of a test: %v", err)
	}
}

// TestLabelsOfThisModule: every test that 'go test -short' changes has a label.
func TestLabelsOfThisModule(t *testing.T) {
	l, err := read("../..")
	if err != nil || len(l.slow) < 10 || len(l.labelled) < 5 {
		t.Errorf("%d slow tests in %d packages, %v", len(l.slow), len(l.labelled), err)
	}
	for dir := range l.size {
		files, _ := filepath.Glob(filepath.Join("../..", dir, "*_test.go"))
		for _, file := range files {
			if text, err := os.ReadFile(file); err != nil || strings.Contains(string(text), "testing."+"Short(") {
				t.Errorf("%s calls testing.Short; call label.Slow, label.Part or label.Less (%v)", file, err)
			}
		}
	}
}
