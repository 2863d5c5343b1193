package flow_test

import (
	"testing"

	"github.com/hlocb/hlocb/internal/golden"
	"github.com/hlocb/hlocb/internal/label"
)

// TestFingerprints: each pass yields the same modules and errors for the modules of testdata.
func TestFingerprints(t *testing.T) {
	label.Elsewhere(t, "pass")
	golden.Passes(t)
}

// TestHookFingerprints: the hooks of the modules are ordered the same way, which follows values across regions.
func TestHookFingerprints(t *testing.T) {
	label.Elsewhere(t, "hook/format")
	golden.Hooks(t)
}
