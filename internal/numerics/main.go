// Command numerics writes the table of bounds in docs/numerics.md, and true values of elements of every function to
// internal/opgen/testdata/truth.txt: mpmath computes them.
package main

import (
	"bytes"
	"flag"
	"fmt"
	"os"
	"path/filepath"
	"strings"

	"github.com/hlocb/hlocb/internal/opgen"
)

func main() {
	n := flag.Int("n", 24, "elements per function and group of types")
	seed := flag.Uint64("seed", 1, "what the values depend on")
	table := flag.Bool("table", false, "write only the table in docs/numerics.md")
	python := flag.String("python", "python3", "a Python with mpmath")
	flag.Parse()
	if err := run(*python, *n, *seed, *table); err != nil {
		fmt.Fprintln(os.Stderr, "numerics:", err)
		os.Exit(1)
	}
}

func run(python string, n int, seed uint64, table bool) error {
	const page = "docs/numerics.md"
	text, err := os.ReadFile(page)
	if err != nil {
		return err
	}
	if err := os.WriteFile(page, []byte(withTable(string(text))), 0o644); err != nil || table {
		return err
	}
	g, err := opgen.New(seed)
	if err != nil {
		return err
	}
	truth, err := opgen.NewTruth(python)
	if err != nil {
		return err
	}
	known, err := truth.Ask(g.Questions(n))
	if err != nil {
		return err
	}
	var b bytes.Buffer
	if err := opgen.WriteTruth(&b, known); err != nil {
		return err
	}
	return os.WriteFile(filepath.Join("internal", "opgen", "testdata", "truth.txt"), b.Bytes(), 0o644)
}

// withTable returns the page with the table of bounds renewed.
func withTable(page string) string {
	start := strings.Index(page, "| function |")
	if start < 0 {
		return page
	}
	end := start + strings.Index(page[start:], "\n\n") + 1
	return page[:start] + opgen.Table() + page[end:]
}
