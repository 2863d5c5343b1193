// Command gen writes files from the rows of the dialects and from the passes: the pages of docs/dialects, with an
// example of each op from testdata/ops, the typed views and builders of ops, dialect/*/views_gen.go, and
// docs/pass-reference.md.
//
//	go run ./internal/gen
package main

import (
	"fmt"
	"os"
	"path/filepath"
)

//go:generate go run . -root ../..

func main() {
	root := "."
	if len(os.Args) == 3 && os.Args[1] == "-root" {
		root = os.Args[2]
	} else if len(os.Args) != 1 {
		fmt.Fprintln(os.Stderr, "usage: gen [-root DIR]")
		os.Exit(2)
	}
	if err := run(root); err != nil {
		fmt.Fprintln(os.Stderr, "gen:", err)
		os.Exit(1)
	}
}

func run(root string) error {
	pages, err := files(root)
	if err != nil {
		return err
	}
	for _, p := range pages {
		if err := os.WriteFile(filepath.Join(root, p.name), p.text, 0o644); err != nil {
			return err
		}
	}
	return nil
}

// files returns the files that the command writes.
func files(root string) ([]page, error) {
	pages, err := dialectPages(filepath.Join(root, "testdata", "ops"))
	if err != nil {
		return nil, err
	}
	views, err := viewPages()
	return append(append(pages, passesPage()), views...), err
}
