// Package examples_test builds and tests the examples that are separate modules.
package examples_test

import (
	"testing"

	"github.com/hlocb/hlocb/internal/peer"
)

// TestPass: an outside module with a dialect, patterns, passes and an opt binary needs only public packages.
func TestPass(t *testing.T) {
	for _, args := range [][]string{{"vet", "./..."}, {"test", "./..."}} {
		c := peer.Command("go", args...)
		c.Dir = "pass"
		if out, err := c.CombinedOutput(); err != nil {
			t.Errorf("go %v: %v\n%s", args, err, out)
		}
	}
}
