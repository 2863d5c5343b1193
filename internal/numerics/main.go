// Command numerics writes the table of bounds in docs/numerics.md.
package main

import (
	"fmt"
	"os"
	"strings"

	"github.com/hlocb/hlocb/internal/opgen"
)

func main() {
	const page = "docs/numerics.md"
	text, err := os.ReadFile(page)
	if err == nil {
		err = os.WriteFile(page, []byte(withTable(string(text))), 0o644)
	}
	if err != nil {
		fmt.Fprintln(os.Stderr, "numerics:", err)
		os.Exit(1)
	}
}

// withTable returns the page with a new table of bounds.
func withTable(page string) string {
	start := strings.Index(page, "| function |")
	if start < 0 {
		return page
	}
	end := start + strings.Index(page[start:], "\n\n") + 1
	return page[:start] + opgen.Table() + page[end:]
}
