package flow_test

import (
	"testing"

	"github.com/hlocb/hlocb/internal/golden"
)

// TestFingerprints: each pass yields the same modules and errors for the modules of testdata.
func TestFingerprints(t *testing.T) { golden.Passes(t) }
