package plan_test

import (
	"testing"

	"github.com/hlocb/hlocb/internal/golden"
	"github.com/hlocb/hlocb/internal/label"
)

// TestCases runs the modules in testdata on the engine and compares results, refusals and plans.
func TestCases(t *testing.T) { golden.Texts(t, "testdata/*.txtar", golden.Engine) }

// TestFingerprints: plans, results and refusals of all modules of testdata and of random programs.
func TestFingerprints(t *testing.T) {
	label.Elsewhere(t, "interp/internal/ops")
	golden.Programs(t)
}

// TestModules: events, results and refusals of all modules of testdata, on one device or several.
func TestModules(t *testing.T) {
	label.Elsewhere(t, "interp/internal/ops")
	golden.Modules(t)
}

// TestBroken: samples of ops with one wrong type, operand, result or number. The engine refuses them by itself, or
// compiles them, as before.
func TestBroken(t *testing.T) {
	label.Elsewhere(t, "interp/internal/ops")
	golden.Broken(t)
}
