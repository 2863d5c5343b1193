package alias_test

import (
	"testing"

	"github.com/hlocb/hlocb/internal/golden"
)

// TestFingerprints: rewriting the modules of testdata yields the same modules, manifests, origins and errors.
func TestFingerprints(t *testing.T) { golden.Hooks(t) }
