package alias_test

import (
	"testing"

	"github.com/hlocb/hlocb/internal/golden"
	"github.com/hlocb/hlocb/internal/label"
)

// TestFingerprints: rewriting the modules of testdata yields the same modules, manifests, origins and errors.
func TestFingerprints(t *testing.T) {
	label.Elsewhere(t, "hook/format")
	golden.Hooks(t)
}
