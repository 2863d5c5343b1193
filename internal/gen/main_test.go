package main

import (
	"bytes"
	"os"
	"path/filepath"
	"testing"
)

// TestUpToDate compares the pages of docs/dialects with what the rows say.
func TestUpToDate(t *testing.T) {
	pages, err := dialectPages("../../testdata/ops")
	if err != nil {
		t.Fatal(err)
	}
	dir := "../../docs/dialects"
	want := map[string]bool{}
	for _, p := range pages {
		want[p.name] = true
		got, err := os.ReadFile(filepath.Join(dir, p.name))
		if err != nil {
			t.Errorf("%v: run go run ./internal/gen", err)
			continue
		}
		if !bytes.Equal(got, p.text) {
			t.Errorf("%s is not up to date: run go run ./internal/gen", p.name)
		}
	}
	files, err := os.ReadDir(dir)
	if err != nil {
		t.Fatal(err)
	}
	for _, f := range files {
		if !want[f.Name()] {
			t.Errorf("%s is no page of a dialect", f.Name())
		}
	}
}
