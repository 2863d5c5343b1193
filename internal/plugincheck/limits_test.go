package plugincheck

import (
	"os"
	"path/filepath"
	"strings"
	"testing"
)

// TestLimitsPage: docs/limits.md names every op that the CPU plugin does not run.
func TestLimitsPage(t *testing.T) {
	page, err := os.ReadFile(filepath.Join("..", "..", "docs", "limits.md"))
	if err != nil {
		t.Fatal(err)
	}
	for d := range cpuOps {
		if !strings.Contains(string(page), "`"+d.Name+"`") {
			t.Errorf("the page does not name %s", d.Name)
		}
	}
}
