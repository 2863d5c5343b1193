package order_test

import (
	"testing"

	"github.com/hlocb/hlocb/internal/golden"
	"github.com/hlocb/hlocb/internal/testkit"
)

// TestGolden runs the package's own cases, and the commands 'hlocb opt' of the cases of passes
// that order hooks.
func TestGolden(t *testing.T) {
	golden.Run(t, golden.Opt(testkit.Testdata()), append(golden.Mentioning(t, testkit.Testdata("passes", "*.txtar"), "order-hooks", "thread-hooks",
		"check-order", "rewrite-hooks", "inline-functions"), "testdata/*.txtar")...)
}
