package format_test

import (
	"testing"

	"github.com/hlocb/hlocb/internal/golden"
	"github.com/hlocb/hlocb/internal/testkit"
)

// TestGolden runs the package's own cases, and the commands 'hlocb opt' of the cases of passes
// that mention hooks.
func TestGolden(t *testing.T) {
	golden.Run(t, golden.Opt(testkit.Testdata()), append(golden.Mentioning(t, testkit.Testdata("passes", "*.txtar"), "hook"), "testdata/*.txtar")...)
}

// TestFingerprints: rewriting the modules of testdata yields the same modules, manifests, origins and errors.
func TestFingerprints(t *testing.T) { golden.Hooks(t) }
