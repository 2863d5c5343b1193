package place_test

import (
	"testing"

	"github.com/hlocb/hlocb/internal/golden"
	"github.com/hlocb/hlocb/internal/label"
	"github.com/hlocb/hlocb/internal/testkit"
)

// TestGolden runs the package's own cases, and the commands 'hlocb opt' of the cases of partitioned programs.
func TestGolden(t *testing.T) {
	golden.Run(t, golden.Opt(testkit.Testdata()), "testdata/*.txtar", testkit.Testdata("passes", "*partitioned*.txtar"),
		testkit.Testdata("passes", "*sharded*.txtar"), testkit.Testdata("passes", "*gspmd*.txtar"))
}

// TestFingerprints: rewriting the modules of testdata yields the same modules, manifests, origins and errors.
func TestFingerprints(t *testing.T) {
	label.Elsewhere(t, "hook/format")
	golden.Hooks(t)
}
