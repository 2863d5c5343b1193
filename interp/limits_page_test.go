package interp

import (
	"os"
	"path/filepath"
	"strings"
	"testing"

	"github.com/hlocb/hlocb/dialect/all"
	"github.com/hlocb/hlocb/interp/internal/ops"
)

// TestLimitsPage: the engine executes every op of the dialects that docs/limits.md names, but for declarations and
// terminators, which the ops around them read.
func TestLimitsPage(t *testing.T) {
	page, err := os.ReadFile(filepath.Join("..", "docs", "limits.md"))
	if err != nil {
		t.Fatal(err)
	}
	_, list, _ := strings.Cut(string(page), "every operation of ")
	list, _, _ = strings.Cut(list, ", and those")
	reg, err := all.Registry()
	if err != nil {
		t.Fatal(err)
	}
	table := ops.BuildTable(&ops.Host{})
	n := 0
	for _, name := range reg.OpNames() {
		dialect, op, _ := strings.Cut(name, ".")
		if !strings.Contains(list, "`"+dialect+"`") || op == "return" || name == "sdy.mesh" {
			continue
		}
		n++
		if _, ok := table[reg.Lookup([]byte(name))]; !ok {
			t.Errorf("the engine does not execute %s", name)
		}
	}
	if n < 150 {
		t.Errorf("only %d ops are in the dialects of the page", n)
	}
}
