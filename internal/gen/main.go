// Command gen writes the pages of docs/dialects from the rows: what every operation takes and gives, how it is written,
// and an example from testdata/ops.
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
	pages, err := dialectPages(filepath.Join(root, "testdata", "ops"))
	if err != nil {
		return err
	}
	dir := filepath.Join(root, "docs", "dialects")
	if err := os.MkdirAll(dir, 0o755); err != nil {
		return err
	}
	for _, p := range pages {
		if err := os.WriteFile(filepath.Join(dir, p.name), p.text, 0o644); err != nil {
			return err
		}
	}
	return nil
}
