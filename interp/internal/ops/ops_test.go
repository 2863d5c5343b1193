package ops_test

import (
	"fmt"
	"strings"
	"testing"

	"github.com/hlocb/hlocb/internal/golden"
	"github.com/hlocb/hlocb/internal/testkit"
)

// TestCases runs the modules in testdata on the engine and compares results, refusals and plans.
func TestCases(t *testing.T) { golden.Texts(t, "testdata/[^s]*.txtar", golden.Engine) }

// TestSamples runs every op of testdata/ops by itself. The results are the op's name and its values or the refusal.
func TestSamples(t *testing.T) {
	golden.Texts(t, "testdata/samples.txtar", func(t *testing.T, name, _ string) string {
		var out strings.Builder
		for _, s := range testkit.Samples(t, name) {
			fmt.Fprintf(&out, "%s\n%s", s.Op, golden.Engine(t, name, s.Main(t)))
		}
		return out.String()
	})
}

// TestFingerprints: plans, results and refusals of all modules of testdata and of random programs.
func TestFingerprints(t *testing.T) { golden.Programs(t) }

// TestModules: events, results and refusals of all modules of testdata, on one device or several.
func TestModules(t *testing.T) {
	golden.Modules(t)
}

// TestBroken: samples of ops with one wrong type, operand, result or number. The engine refuses
// them by itself, or compiles them, as before.
func TestBroken(t *testing.T) { golden.Broken(t) }
