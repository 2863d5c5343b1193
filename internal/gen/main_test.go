package main

import (
	"bytes"
	"os"
	"path/filepath"
	"testing"
)

// TestUpToDate compares the command's output with the existing files.
func TestUpToDate(t *testing.T) {
	pages, err := files("../..")
	if err != nil {
		t.Fatal(err)
	}
	want := map[string]bool{}
	for _, p := range pages {
		want[p.name] = true
		got, err := os.ReadFile(filepath.Join("../..", p.name))
		if err != nil {
			t.Errorf("%v: run go run ./internal/gen", err)
			continue
		}
		if !bytes.Equal(got, p.text) {
			t.Errorf("%s is not up to date: run go run ./internal/gen", p.name)
		}
	}
	docs, err := os.ReadDir(filepath.Join("../..", pageDir))
	if err != nil {
		t.Fatal(err)
	}
	for _, f := range docs {
		if !want[pageDir+f.Name()] {
			t.Errorf("%s is not a page of a dialect", f.Name())
		}
	}
}
